"""A query as the scorer sees it, and the words that it is about."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from datetime import date
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import is_word
from demem_agent.later import dataclass, pattern
from demem_agent.scoring.columns import Column
from demem_agent.scoring.focus import focus
from demem_agent.scoring.intent import Intent, intent_of
from demem_agent.scoring.letters import marked, plain
from demem_agent.scoring.lexical import Elsewhere, LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.spelling import Heard
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.scripts import SCRIPTS, script_of
from demem_agent.text.language.words import is_surely_english, language_of, stems, worded, words

__all__ = ["GUESSED", "Query", "Stretch", "Words", "elsewhere_than", "words_of"]

#: A stretch of an evidence item: (id, start, end).
Stretch = tuple[str, int, int]

#: A name, where it is told by its capital: not the first word.
_NAME = pattern(r"(?<=[^\W_.?!¿] )[^\W\d_a-zà-öø-ÿ][\w'’-]+")
_NOUNS_IN_CAPITALS = "german"
#: What the sides of a chat with a model are called: no names.
SIDES = frozenset({"user", "human", "assistant"})
#: Share of all lines from which on the name of who says them is no word to look for.
MUCH = 0.2
#: What meeting a word counts that is only guessed to be meant. Set by hand.
GUESSED = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query as the scorer sees it.

    Attributes:
        vector: of unit length, shape (d,).
        asked: the day it is asked, if known.
        asker: who asks, if known.
        multilingual: whether its vector is near those of the same meaning in other languages.
        relevance: by passage, what a reranker says; empty where it was not asked.
        unranked: how a reranker failed; "" where none did.
        directed: the slot that a router chose; None where it was not asked, or failed.
        unrouted: how a router failed; "" where none did.
    """

    text: str
    vector: NDArray[np.float32]
    asked: date | None = None
    asker: str | None = None
    multilingual: bool = False
    relevance: Mapping[Stretch, float] = field(default_factory=dict)
    unranked: str = ""
    directed: int | None = None
    unrouted: str = ""

    @property
    def intent(self) -> Intent:
        """What it asks for."""
        return intent_of(self.text, self.asked)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """All that the score goes by, by which a ranking may be kept; nothing that others say."""
        return self.text, self.vector.tobytes(), self.asked, self.asker, self.multilingual


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

    @property
    def groups(self) -> list[list[int]]:
        """The places of each word's stems: one that has several is no more than one word."""
        places: dict[str, list[int]] = {}
        for nth, form in enumerate(self.forms):
            places.setdefault(form, []).append(nth)
        return list(places.values())


class Vocabulary(Protocol):
    """What a query's words are looked up in: the terms of passages, their languages, who speaks."""

    lexical: LexicalIndex
    languages: Names
    speaker: Column
    speakers: Names


class Languages(Protocol):
    """The languages of passages, as an index keeps them, and who speaks."""

    language: Column
    told: Column
    script: Column
    languages: Names
    speakers: Names


def elsewhere_than(text: str, index: Languages) -> Elsewhere | None:
    """Return which passages are of another language than a query, as far as both are known.

    None where none is. Names are the same in any language; in German they cannot be told by their
    capitals.
    """
    other = index.script.view() != SCRIPTS.index(script_of(words(text)))
    if len(index.languages.codes) < 2 and not other.any():  # as of most memories
        return None
    language = language_of(text)
    rows = np.zeros_like(other)
    if language != ENGLISH or is_surely_english(text):
        code = index.languages.codes.get(language, -1)
        rows = index.told.view() & (index.language.view() != code) & ~other
    if not (rows.any() or other.any()):
        return None
    names = list(chain.from_iterable(_parts(name or "") for name in index.speakers.codes))
    names += _names_in(text, language)
    return Elsewhere(rows, other, frozenset(stems(names, language)).union(stems(names)))


def words_of(heard: Heard, index: Vocabulary) -> Words:
    """Return the words that a query is about, as the passages of an index have them.

    A few words may be of any of the languages of a memory, and so may a short line: a word counts
    by its stem in each of these that some passage holds. Of a query that is surely English that
    goes for names alone. Left out is the name of somebody who says much of all that was said: lines
    that have it are what others say to them, and how they once introduced themselves.
    """
    found = _words_of(heard, index)
    names = _names_of_many_lines(heard.text, index)
    kept = [nth for nth, form in enumerate(found.forms) if plain(form).lower() not in names]
    if not kept or len(kept) == len(found.forms):
        return found
    forms = [found.forms[nth] for nth in kept]
    return Words(forms, [found.stems[nth] for nth in kept], found.guessed)


def _names_of_many_lines(text: str, index: Vocabulary) -> set[str]:
    """Return the words of a query that name who says at least :data:`MUCH` of the lines.

    A name that is a word as well, such as "Summer", is one only with its capital.
    """
    low = text.lower()
    named = [(name, code) for name, code in index.speakers.codes.items() if name]
    near = [(name, code) for name, code in named if any(part in low for part in _parts(name))]
    if not near:  # as in most
        return set()
    lines = np.bincount(index.speaker.view(), minlength=1 + max(code for _, code in near))
    found: set[str] = set()
    for name, code in near:
        if name.lower() not in SIDES and lines[code] >= MUCH * len(index.speaker):
            parts = name.split()
            found.update(
                part.lower() for part in parts if part in text or not is_word(part.lower())
            )
    return found


def _parts(name: str) -> list[str]:
    return name.lower().split()


def _words_of(heard: Heard, index: Vocabulary) -> Words:
    told = worded(focus(heard.text), content=True)
    meant = heard.meant
    words = [meant.get(word, word) for word in told.words] if meant else told.words
    stem_of = dict(zip(marked(told), told.stems_for(words), strict=True))
    others = [name for name in index.languages.codes if name and name != told.language]
    is_english = is_surely_english(heard.text)
    names = _names_in(heard.text, told.language) if others and is_english else frozenset[str]()
    if not meant and not names and (not others or is_english):
        return Words(list(stem_of), list(stem_of.values()))
    found = Words([], [], set())
    for form, stem in stem_of.items():
        word = meant.get(plain(form), plain(form))
        of_any = bool(meant) or not is_english or word in names
        held = _held(word, stem, others if of_any else (), index.lexical) or [stem]
        found.forms.extend([form] * len(held))
        found.stems.extend(held)
        if plain(form) in meant:
            found.guessed.update(held)
    return found


def _names_in(text: str, language: str) -> frozenset[str]:
    """Return the words of a text that are names by their capitals, in lower case."""
    if language == _NOUNS_IN_CAPITALS:
        return frozenset()
    return frozenset(word.lower() for word in _NAME.findall(text))


def _held(word: str, stem: str, languages: Iterable[str], lexical: LexicalIndex) -> list[str]:
    """Return the stems of a word, its own and those in some languages, that passages hold."""
    every = {stem: None}
    for language in languages:
        (other,) = stems([word], language)
        every[other] = None
    return [one for one in every if lexical.holds(one)]
