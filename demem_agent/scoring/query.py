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
from demem_agent.text.words import is_surely_english, stems, worded

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

    A few words may be of any of the languages of a memory, and so may a short line: a word counts
    by its stem in each of these that some passage holds. Not so those of a query that is surely
    English.
    """
    told = worded(focus(query.text), content=True)
    words = dict(zip(marked(told), told.stems, strict=True))
    others = [name for name in index.languages.codes if name and name != told.language]
    if not others or is_surely_english(query.text):
        return Words(list(words), list(words.values()))
    found = Words([], [])
    for form, stem in words.items():
        for held in _held(form, stem, others, index.lexical) or [stem]:
            found.forms.append(form)
            found.stems.append(held)
    return found


def _held(form: str, stem: str, languages: Iterable[str], lexical: LexicalIndex) -> list[str]:
    """Return the stems of a word, its own and those in some languages, that passages hold."""
    every = {stem: None}
    for language in languages:
        (other,) = stems([plain(form)], language)
        every[other] = None
    return [one for one in every if lexical.holds(one)]
