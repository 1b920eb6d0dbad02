"""The paper, measured: its synthetic world, its splits, its slots and its ablations.

A memory needs none of it.
"""
