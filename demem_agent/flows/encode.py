"""Encode queries and passages, and refuse vectors that are not of this memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import (
    EncoderMismatch,
    InvalidInput,
    StaleState,
)
from demem_agent.requests import Encode, Flow
from demem_agent.scoring import (
    Query,
    focus,
)
from demem_agent.slots.records import Vector
from demem_agent.slots.state import State
from demem_agent.text.words import clean

__all__ = ["encoded"]


def _same_encoder(state: State, encoder: EncoderInfo) -> None:
    """Make sure that the memory was not moved to another encoder while this one was at work."""
    if state.head.encoder and (state.head.encoder, state.head.encoder_fingerprint) != (
        encoder.name,
        encoder.fingerprint,
    ):
        raise StaleState("the memory was encoded anew meanwhile")


def _encode_spans(
    texts: Sequence[str], spans: Sequence[tuple[tuple[int, int], ...]]
) -> Flow[list[Vector]]:
    """Encode the passages of many texts in one go; one matrix per text, empty for a text without
    passages.
    """
    pieces = tuple(clean(text[a:b]) for text, cut in zip(texts, spans, strict=True) for a, b in cut)
    matrix = (yield Encode(pieces)) if pieces else np.zeros((0, 0), np.float32)
    ends = np.cumsum([len(cut) for cut in spans])
    return [matrix[end - len(cut) : end] for end, cut in zip(ends, spans, strict=True)]


def encoded(
    state: State,
    encoder: EncoderInfo,
    query: str,
    at: datetime | None,
    vector: Vector | None = None,
) -> Flow[Query]:
    """Give a query as the scorer sees it.

    Args:
        vector: of the query, of unit length, where it is known already.
    """
    if vector is not None:
        if state.head.dimensions not in (0, len(vector)):
            raise InvalidInput(
                "vector",
                f"{len(vector)} numbers",
                f"{state.head.dimensions} numbers, as in the memory",
            )
        return Query(query, vector, at.date() if at else None)
    matrix: Vector = yield Encode((clean(focus(query)),))
    _same_encoder(state, encoder)
    if state.head.dimensions not in (0, matrix.shape[1]):
        built_with = f"{state.head.encoder} ({state.head.dimensions} dimensions)"
        raise EncoderMismatch(built_with, f"{encoder.name} ({matrix.shape[1]} dimensions)")
    return Query(query, matrix[0], at.date() if at else None)
