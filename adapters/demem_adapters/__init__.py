"""Adapters that plug DeMem into agent frameworks: one file a framework, built on the public API
alone.
"""
