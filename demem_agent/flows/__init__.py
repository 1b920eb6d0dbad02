"""The public operations, each written once as a generator of requests: ingest, read, answer,
feedback and the others.
"""
