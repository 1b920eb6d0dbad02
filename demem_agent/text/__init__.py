"""Text as people write it: its words, sentences and dates, what it asks for, how it is said.

Units measure how long it is.
"""
