"""Encoders: the one that ships with DeMem, and what makes any other usable as it is."""

from __future__ import annotations

from demem_agent.encoders.crossing import CrossEncoderReranker
from demem_agent.encoders.info import EncoderInfo, as_matrix, describe, query_method
from demem_agent.encoders.loading import load_encoder
from demem_agent.encoders.static import StaticEncoder, is_word

__all__ = [
    "CrossEncoderReranker",
    "EncoderInfo",
    "StaticEncoder",
    "as_matrix",
    "default_encoder",
    "describe",
    "is_word",
    "load_encoder",
    "query_method",
]

_SHARED = StaticEncoder()


def default_encoder() -> StaticEncoder:
    """Return the encoder that ships with DeMem.

    One shared instance, loaded at its first use, never from a network.
    """
    return _SHARED
