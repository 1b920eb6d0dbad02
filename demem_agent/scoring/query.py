"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
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
from demem_agent.text.words import stems, worded

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
    guessed: frozenset[str] = frozenset()

    def trust(self, stem: str) -> float:
        """Return what meeting a stem counts, in (0, 1]."""
        return GUESSED if stem in self.guessed else 1.0


class Vocabulary(Protocol):
    """What a query's words are looked up in: the terms of passages, and their languages."""

    lexical: LexicalIndex
    languages: Names


def words_of(heard: Heard, index: Vocabulary) -> Words:
    """Return the words that a query is about, as the passages of an index have them.

    A few words may be in any of the languages of a memory: a stem that no passage holds is replaced
    by the word's stem in another of these, if one does.
    """
    told = worded(focus(heard.text), content=True)
    meant = heard.meant
    found = [meant.get(word, word) for word in told.words] if meant else told.words
    stemmed = stems(found, told.language)
    words = dict(zip(marked(told), zip(found, stemmed, strict=True), strict=True))
    guessed = set()
    stem_of = {}
    for form, (word, stem) in words.items():
        stem_of[form] = held_stem(word, stem, told.language, index)
        if plain(form) in meant:
            guessed.add(stem_of[form])
    return Words(list(stem_of), list(stem_of.values()), frozenset(guessed))


def held_stem(word: str, stem: str, language: str, index: Vocabulary) -> str:
    """Return the stem of a word that a passage holds: in its language, else in any of the others.

    Args:
        stem: in its language; it comes back where no other is held either.
    """
    if index.lexical.holds(stem):
        return stem
    for other in index.languages.codes:
        if other and other != language:
            (found,) = stems([word], other)
            if index.lexical.holds(found):
                return found
    return stem
