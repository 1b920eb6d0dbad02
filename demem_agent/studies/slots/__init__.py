"""Slots audited: what a partition and its routing hold of a question's evidence."""
