"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.focus import focus
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.spelling import marked, plain
from demem_agent.text.words import stems, worded

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
    """The distinct words that a query is about, as they are written and as stems, in one order.

    Those that are not English stand behind a mark (:func:`~demem_agent.scoring.spelling.marked`).
    """

    forms: list[str]
    stems: list[str]


class Vocabulary(Protocol):
    """What a query's words are looked up in: the terms of passages, and their languages."""

    lexical: LexicalIndex
    languages: Names


def words_of(query: Query, index: Vocabulary) -> Words:
    """Return the words that a query is about, as the passages of an index have them.

    A few words may be in any of the languages of a memory: a stem that no passage holds is replaced
    by the word's stem in another of these, if one does.
    """
    told = worded(focus(query.text), content=True)
    words = dict(zip(marked(told), told.stems, strict=True))
    others = [name for name in index.languages.codes if name and name != told.language]
    if others:
        for form, stem in words.items():
            if not index.lexical.holds(stem):
                words[form] = _held(form, others, index.lexical) or stem
    return Words(list(words), list(words.values()))


def _held(form: str, languages: Iterable[str], lexical: LexicalIndex) -> str:
    """Return the first stem of a word in some languages that a passage holds, else ""."""
    for language in languages:
        (stem,) = stems([plain(form)], language)
        if lexical.holds(stem):
            return stem
    return ""
