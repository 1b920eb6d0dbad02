"""Coding agents that a memory is set up for: their files, and what their hooks are told."""
