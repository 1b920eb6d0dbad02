"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from datetime import date
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass, pattern
from demem_agent.scoring.columns import Column
from demem_agent.scoring.focus import focus
from demem_agent.scoring.letters import marked, plain
from demem_agent.scoring.lexical import Elsewhere, LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.spelling import Heard
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.words import is_surely_english, language_of, stems, worded

__all__ = ["GUESSED", "Query", "Stretch", "Words", "elsewhere_than", "words_of"]

#: A stretch of an evidence item: (id, start, end).
Stretch = tuple[str, int, int]

#: A name, where it is told by its capital: not the first word.
_NAME = pattern(r"(?<=[^\W_.?!¿] )[^\W\d_a-zà-öø-ÿ][\w'’-]+")
_NOUNS_IN_CAPITALS = "german"
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


class Languages(Protocol):
    """The languages of passages, as an index keeps them, and who speaks."""

    language: Column
    told: Column
    languages: Names
    speakers: Names


def elsewhere_than(text: str, index: Languages) -> Elsewhere | None:
    """Return which passages are of another language than a query, as far as both are known.

    None where none is. Names are the same in any language; in German they cannot be told by their
    capitals.
    """
    if len(index.languages.codes) < 2:  # as of most memories
        return None
    language = language_of(text)
    if language == ENGLISH and not is_surely_english(text):
        return None
    code = index.languages.codes.get(language, -1)
    rows = index.told.view() & (index.language.view() != code)
    if not rows.any():
        return None
    names = [word.lower() for name in index.speakers.codes for word in (name or "").split()]
    if language != _NOUNS_IN_CAPITALS:
        names += [word.lower() for word in _NAME.findall(text)]
    return Elsewhere(rows, frozenset(stems(names, language)).union(stems(names)))


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
