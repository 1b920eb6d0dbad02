"""Loaders: public benchmarks, and a user's own turns and questions, as dialogues."""
