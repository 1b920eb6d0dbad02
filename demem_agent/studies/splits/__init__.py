"""Splits audited: how often, how rightly, under which noise, beside the paper's figures."""
