"""A question as sentences are compared with it: its words, and how much each of them counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from demem_agent.answering.candidates import Sentence
from demem_agent.answering.kind_told import kind_wanted
from demem_agent.later import dataclass, pattern
from demem_agent.scoring.intent import intent_of
from demem_agent.text.language.words import content_terms
from demem_agent.text.times.dates import Span
from demem_agent.text.unsaid import parted
from demem_agent.types import Question

__all__ = ["LEAST", "Asked", "asked_of", "by_words", "is_named"]

_CONTEXT = 0.3
_SPEAKER = 0.2
_ASKS = 0.4
_CORRECTS = 0.3
#: The words of the conversation count less than those of the question, all together.
_AFTER = 0.5
#: A sentence that shares no more than this with the question answers nothing.
LEAST = 0.25
#: Words of asking for an amount of money.
_OF_MONEY = frozenset(
    content_terms("cost price pay paid charge worth expensive fee earn salary wage")
)
_HOW_MANY = ("how many", "how much", "how long", "how old")
_HOW = pattern(r"\bhow (many|much|long|old|often|far|tall|big)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in lower case, how rare each word of it is in the reading, and their sum.

    Those words are ``aside`` that match nothing alone where others are read: the times and the
    kind that it asks for; ``matter`` is the question without the times.

    Attributes:
        after: what was said before it, where it names of itself what it is about.
    """

    query: str
    matter: str
    rarity: dict[str, float]
    mass: float
    aside: frozenset[str]
    after: Asked | None = None

    def share(self, words: frozenset[str]) -> float:
        """Return how much of the question some words hold, in [0, 1], by rarity."""
        shared = self.rarity.keys() & words
        if shared <= self.aside:
            return 0.0
        return sum(self.rarity[word] for word in shared) / self.mass

    def lexical(self, sentence: Sentence, overlap: float) -> float:
        """Return what a sentence scores besides vectors and kind; ``overlap`` is its share."""
        score = overlap + _CONTEXT * self.share(sentence.around)
        if self.after is not None:
            score += _AFTER * self.after.share(sentence.around)
        score += _SPEAKER * is_named(self.query, sentence.evidence.speaker)
        score -= _ASKS * sentence.asks
        score += _CORRECTS * sentence.corrects
        return score


def asked_of(question: Question, found: list[Sentence]) -> Asked:
    own, before = parted(question.query)
    rarity = _rarity(_wanted(own, found), found)
    mass = max(sum(rarity.values()), 1e-9)
    after = asked_of(replace(question, query=before), found) if before else None
    times = _times(replace(question, query=own), found)
    aside = _aside(own, times)
    matter = rarity.keys() - aside
    if all(matter.isdisjoint(one.words) for one in found):
        return Asked(own.lower(), own, rarity, mass, frozenset(), after)
    return Asked(own.lower(), _without(own, times), rarity, mass, aside, after)


def _times(question: Question, found: list[Sentence]) -> tuple[Span, ...]:
    asked_on = question.at.date() if question.at else None
    days = (one.evidence.at.date() for one in found if one.evidence.at)
    return intent_of(question.query, asked_on).times(max(days, default=None))


def _aside(query: str, times: Iterable[Span]) -> frozenset[str]:
    """Return the words of the times that a question asks about, and of asking for a price.

    What was "in March" need not say so: its day does. What something cost is told by a number.
    """
    aside: set[str] = set()
    for time in times:
        aside.update(content_terms(query[time.start : time.end]))
    is_number = any(words in query.lower() for words in _HOW_MANY)
    return frozenset(aside | _OF_MONEY if is_number else aside)


def _without(query: str, times: Iterable[Span]) -> str:
    for time in sorted(times, key=lambda time: time.start, reverse=True):
        query = f"{query[: time.start]}{query[time.end :]}"
    return query


def _wanted(query: str, found: list[Sentence]) -> frozenset[str]:
    """Return the words of the question, without the speakers' names if others are left.

    Who speaks counts apart. Nor is "old" one of "how old": "new (old) car" tells no age.
    """
    words = frozenset(content_terms(query))
    words = words - set(content_terms(" ".join(_HOW.findall(query)))) or words
    names: set[str] = set()
    for speaker in {sentence.evidence.speaker for sentence in found}:
        names.update(content_terms(speaker or ""))
    return words - names or words


def _rarity(wanted: frozenset[str], found: list[Sentence]) -> dict[str, float]:
    """Weigh each word of the question by how few sentences of the reading hold it."""
    rarity: dict[str, float] = {}
    for word in wanted:
        holding = sum(word in sentence.words for sentence in found)
        rarity[word] = float(np.log1p(len(found) / (1 + holding)))
    return rarity


def by_words(asked: Asked, found: list[Sentence]) -> np.ndarray:
    """Return three rows, a column a sentence: its share, its lexical score and its kind."""
    columns = []
    kind_of = kind_wanted(asked.query)
    for sentence in found:
        share = asked.share(sentence.words)
        lexical = asked.lexical(sentence, share)
        columns.append((share, lexical, kind_of(sentence)))
    return np.array(columns).T


def is_named(query: str, speaker: str | None) -> float:
    names = speaker.lower().split() if speaker else []
    return 1.0 if any(name in query for name in names) else 0.0
