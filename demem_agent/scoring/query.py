"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.focus import focus
from demem_agent.text.words import content_words, stems

__all__ = ["Query", "Words", "words_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query as the scorer sees it.

    Attributes:
        vector: of unit length, shape (d,).
        asked: the day it is asked, if known.
        asker: who asks, if known.
    """

    text: str
    vector: NDArray[np.float32]
    asked: date | None = None
    asker: str | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct words that a query is about, as they are written and as stems, in one order."""

    forms: list[str]
    stems: list[str]


def words_of(query: Query) -> Words:
    """Return the words that a query is about."""
    forms = list(dict.fromkeys(content_words(focus(query.text))))
    return Words(forms, stems(forms))
