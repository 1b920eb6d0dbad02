"""Partitions dropped into retrievers that know nothing of slots."""
