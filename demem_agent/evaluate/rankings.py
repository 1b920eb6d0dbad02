"""Rank the passages of one dialogue for a query: by meaning, by words, by both, or by neither."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import default_encoder
from demem_agent.reading.packing import in_time_order
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.text.language.words import content_terms, terms
from demem_agent.text.pieces import pieces
from demem_agent.turns import Turn, as_turn
from demem_agent.types import Evidence, Line

__all__ = ["Held", "Scores", "bm25", "cosine", "hybrid", "random", "recency", "rrf"]

#: One number a passage of :class:`Held`, the best the highest.
Scores = NDArray[np.float64]

#: What BM25 weighs beside the cosine in "hybrid", both in standard deviations within the dialogue.
_BM25_WEIGHT = 0.6
#: The constant of reciprocal-rank fusion in Cormack, Clarke and Buettcher (2009).
_RRF = 60


class Held:
    """The passages of one dialogue, in time order, and what they are searched by.

    An index is made at its first use.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        lines: list[Line] = []
        for number, turn in enumerate(turns, 1):
            item = _evidence(number, turn)
            for start, end in pieces(item.text):
                lines.append(Line(item, start, end))
        self.lines = in_time_order(lines)

    @cached_property
    def passages(self) -> list[str]:
        """The passages as they are searched."""
        return list(map(_indexed, self.lines))

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Unit vectors of shape (passages, d)."""
        return default_encoder().encode(self.passages)

    @cached_property
    def lexical(self) -> LexicalIndex:
        """The words of every passage, in their order."""
        index = LexicalIndex()
        for passage in self.passages:
            index.add(terms(passage))
        return index


def _evidence(number: int, given: Turn) -> Evidence:
    turn = as_turn(given)
    return Evidence(
        id=f"e{number}",
        text=turn.text,
        speaker=turn.speaker,
        at=turn.at if isinstance(turn.at, datetime) else None,  # as_turn gives one of the two
        session=turn.session,
        source=turn.source,
        source_id=turn.source_id,
        trust=turn.trust,
    )


def _indexed(line: Line) -> str:
    """Return a passage as it is searched: who speaks is part of it, as questions name people."""
    speaker = line.evidence.speaker
    return f"{speaker}: {line.text}" if speaker else line.text


# Scores are rounded, so that the last bits of a product, which differ between machines, cannot
# change an order.


def cosine(held: Held, query: str) -> Scores:
    """Score by the cosine of the embedded encoder."""
    (vector,) = default_encoder().encode([query])
    return _rounded(np.einsum("ij,j->i", held.vectors, vector))


def bm25(held: Held, query: str) -> Scores:
    """Score by the words in common."""
    asked = content_terms(query)
    scores, *_ = held.lexical.scores(asked)
    return _rounded(scores)


def hybrid(held: Held, query: str) -> Scores:
    """Score by the sum of both z-scores, BM25 at a weight of its own."""
    by_meaning = _standard(cosine(held, query))
    by_words = _standard(bm25(held, query))
    return _rounded(by_meaning + _BM25_WEIGHT * by_words)


def rrf(held: Held, query: str) -> Scores:
    """Score by both places: reciprocal-rank fusion (Cormack, Clarke and Buettcher, 2009)."""
    by_meaning = _places(cosine(held, query))
    by_words = _places(bm25(held, query))
    fused: Scores = 1 / (_RRF + by_meaning) + 1 / (_RRF + by_words)
    return fused


def recency(held: Held, query: str) -> Scores:
    """Score by time: the newest is the best."""
    return np.arange(len(held.lines), dtype=np.float64)


def random(held: Held, query: str) -> Scores:
    """Score by chance, the same for the same query."""
    seed = crc32(query.encode("utf-8", "replace"))
    return np.random.default_rng(seed).random(len(held.lines))


def _rounded(values: NDArray[np.float32] | Scores) -> Scores:
    return np.asarray(values, np.float64).round(5)


def _standard(values: Scores) -> Scores:
    deviation = max(float(values.std()), 1e-6)
    standard: Scores = (values - values.mean()) / deviation
    return standard


def _places(values: Scores) -> Scores:
    """Return the place of each value, 1 for the highest; of equals the first is ahead."""
    order = np.argsort(-values, kind="stable")
    places = np.empty(len(values))
    places[order] = np.arange(1, len(values) + 1)
    return places
