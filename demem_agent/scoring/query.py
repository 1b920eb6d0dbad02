"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.focus import focus
from demem_agent.scoring.spelling import Heard
from demem_agent.text.words import content_words, stems

__all__ = ["GUESSED", "Query", "Stretch", "Words", "words_of"]

#: A stretch of an evidence item: (id, start, end).
Stretch = tuple[str, int, int]

#: What meeting a word counts that is only guessed to be meant. Set by hand.
GUESSED = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query as the scorer sees it.

    Attributes:
        vector: of unit length, shape (d,).
        asked: the day it is asked, if known.
        asker: who asks, if known.
        relevance: by passage, what a reranker says; empty where it was not asked.
        unranked: how a reranker failed; "" where none did.
    """

    text: str
    vector: NDArray[np.float32]
    asked: date | None = None
    asker: str | None = None
    relevance: Mapping[Stretch, float] = field(default_factory=dict)
    unranked: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct words that a query is about, as they are written and as stems, in one order.

    Attributes:
        guessed: the stems of which it is not sure that they are meant.
    """

    forms: list[str]
    stems: list[str]
    guessed: frozenset[str] = frozenset()

    def trust(self, stem: str) -> float:
        """Return what meeting a stem counts, in (0, 1]."""
        return GUESSED if stem in self.guessed else 1.0


def words_of(heard: Heard) -> Words:
    """Return the words that a query is about."""
    forms = list(dict.fromkeys(content_words(focus(heard.text))))
    meant = heard.meant
    if not meant:
        return Words(forms, stems(forms))
    stemmed = stems([meant.get(form, form) for form in forms])
    guessed = set()
    for form, stem in zip(forms, stemmed, strict=True):
        if form in meant:
            guessed.add(stem)
    return Words(forms, stemmed, frozenset(guessed))
