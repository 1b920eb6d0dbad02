"""Figures of an evaluation. Need matplotlib, from the extra `lab`."""
