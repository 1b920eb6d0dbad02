"""A graph memory in small: passages joined by the rarer words that they share.

It stands for systems that fuse a walk over entities with semantic search (EMem-G in the paper,
HippoRAG and others). Words that few passages have are entities; passages that follow each other in
a session are joined as well. A walk with restarts begins at the entities of the question and at the
passages nearest to it, and what it brings a passage is added to its cosine, both as z-scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from demem_agent.text.language.words import content_terms, terms
from demem_agent.types import Line

__all__ = ["PassageGraph"]

Floats = NDArray[np.float64]

#: A word joins passages where at least two have it, and at most this share.
_MOST = 0.05
#: Passages by cosine that a walk begins at, beside the question's own words.
_SEEDS = 10
#: Steps of a walk, and how probably it goes back to where it began.
_STEPS, _RESTART = 12, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class PassageGraph:
    """Passages and the words that join them.

    Attributes:
        words: the columns of each word.
        held: which passage has which word, shape (N, W), each row summing to 1 or 0.
        holders: the same by word, shape (W, N), each row summing to 1.
        following: passages beside each other in a session, shape (N, N), rows summing to 1 or 0.
    """

    words: dict[str, int]
    held: Floats
    holders: Floats
    following: Floats

    @classmethod
    def of(cls, lines: Sequence[Line]) -> PassageGraph:
        """Join passages, in order of time."""
        own = [frozenset(terms(line.text)) for line in lines]
        counts: dict[str, int] = {}
        for words in own:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        most = max(2, _MOST * len(lines))
        kept = sorted(word for word, count in counts.items() if 2 <= count <= most)
        columns = {word: n for n, word in enumerate(kept)}
        table = np.zeros((len(lines), len(columns)))
        for row, words in enumerate(own):
            table[row, [columns[word] for word in words if word in columns]] = 1.0
        return cls(columns, _shares(table), _shares(table.T), _shares(_beside(lines)))

    def scores(self, query: str, cosines: Floats) -> Floats:
        """Score passages for a question, shape (N,).

        Args:
            cosines: of the passages to the question.
        """
        began = np.zeros(len(cosines))
        nearest = np.argsort(-cosines, kind="stable")[:_SEEDS]
        began[nearest] = 1.0
        asked = {self.words[word] for word in content_terms(query) if word in self.words}
        for word in asked:
            began += self.holders[word] * _SEEDS / len(asked)
        began /= max(began.sum(), 1e-12)
        mass = began
        for _ in range(_STEPS):
            by_words = (mass @ self.held) @ self.holders
            walked = 0.75 * by_words + 0.25 * (mass @ self.following)
            mass = _RESTART * began + (1 - _RESTART) * walked
        return (_standard(np.log(mass + 1e-6)) + _standard(cosines)).round(5)


def _beside(lines: Sequence[Line]) -> Floats:
    """Mark passages that follow each other in a session, shape (N, N)."""
    beside = np.zeros((len(lines), len(lines)))
    for n, (line, after) in enumerate(pairwise(lines)):
        if line.evidence.session == after.evidence.session:
            beside[n, n + 1] = beside[n + 1, n] = 1.0
    return beside


def _shares(table: Floats) -> Floats:
    shares: Floats = table / np.maximum(table.sum(axis=1, keepdims=True), 1.0)
    return shares


def _standard(values: Floats) -> Floats:
    standard: Floats = (values - values.mean()) / max(float(values.std()), 1e-6)
    return standard
