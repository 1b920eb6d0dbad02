"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from datetime import date
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.focus import focus
from demem_agent.scoring.letters import marked, plain
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.spelling import Heard
from demem_agent.text.language.words import is_surely_english, stems, worded

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

    @property
    def key(self) -> tuple[Hashable, ...]:
        """All that the score goes by, by which a ranking may be kept; not what a reranker says."""
        return self.text, self.vector.tobytes(), self.asked, self.asker


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct words that a query is about, as they are written and as stems, in one order.

    Those that are not English stand behind a mark (:func:`~demem_agent.scoring.letters.marked`).

    Attributes:
        guessed: the stems of which it is not sure that they are meant.
    """

    forms: list[str]
    stems: list[str]
    guessed: set[str] = field(default_factory=set)

    def trust(self, stem: str) -> float:
        """Return what meeting a stem counts, in (0, 1]."""
        return GUESSED if stem in self.guessed else 1.0


class Vocabulary(Protocol):
    """What a query's words are looked up in: the terms of passages, and their languages."""

    lexical: LexicalIndex
    languages: Names


def words_of(heard: Heard, index: Vocabulary) -> Words:
    """Return the words that a query is about, as the passages of an index have them.

    A few words may be of any of the languages of a memory, and so may a short line: a word counts
    by its stem in each of these that some passage holds. Not so those of a query that is surely
    English.
    """
    told = worded(focus(heard.text), content=True)
    meant = heard.meant
    words = [meant.get(word, word) for word in told.words] if meant else told.words
    stem_of = dict(zip(marked(told), stems(words, told.language), strict=True))
    others = [name for name in index.languages.codes if name and name != told.language]
    if not meant and (not others or is_surely_english(heard.text)):
        return Words(list(stem_of), list(stem_of.values()))
    found = Words([], [], set())
    for form, stem in stem_of.items():
        word = meant.get(plain(form), plain(form))
        held = _held(word, stem, others, index.lexical) or [stem]
        found.forms.extend([form] * len(held))
        found.stems.extend(held)
        if plain(form) in meant:
            found.guessed.update(held)
    return found


def _held(word: str, stem: str, languages: Iterable[str], lexical: LexicalIndex) -> list[str]:
    """Return the stems of a word, its own and those in some languages, that passages hold."""
    every = {stem: None}
    for language in languages:
        (other,) = stems([word], language)
        every[other] = None
    return [one for one in every if lexical.holds(one)]
