"""Text as people write it: words, sentences, dates, what a question asks for, how a line is said,
how long it is.
"""
