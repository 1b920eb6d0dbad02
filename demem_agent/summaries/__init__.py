"""Compress_L: the summary of a slot, by rule or by a model, never longer than L."""
