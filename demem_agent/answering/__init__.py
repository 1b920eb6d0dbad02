"""Answers without a model, and what scores them."""
