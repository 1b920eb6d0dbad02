"""Contributed adapters: kept as long as somebody keeps them (``docs/adapters.md`` says what is
promised of each tier).
"""
