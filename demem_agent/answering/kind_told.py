"""How far a sentence tells the kind of thing that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from demem_agent.answering.candidates import Sentence
from demem_agent.answering.following import Stretch
from demem_agent.later import pattern
from demem_agent.text.language.kinds import holds, kind_asked
from demem_agent.text.language.quantities import (
    asks_for_amount,
    counted,
    tells_amount,
    tells_count,
)
from demem_agent.text.language.questions import NAME, has_number
from demem_agent.text.quoting.greetings import without_greetings
from demem_agent.text.times.dates import absolute, find
from demem_agent.text.times.named import names_time

__all__ = ["WORDS", "kind_in", "kind_told", "kind_wanted", "tells_time"]

#: What a number counts that does not stand before the word for what is counted.
_NUMBER_ALONE = 0.5
_HOW_MANY = ("how many", "how much", "how long", "how old")
_PLACE = pattern(r"\b(?:in|at|to|from|near|on)\s+(?:the\s+)?\w+")
#: Where something is, behind a preposition that no time stands behind.
_STANDS = pattern(
    r"\b(?:in(?:side|to)?|at|to|from|near|on(?:to)?|under(?:neath)?|behind|beside|by|next to|above"
    r"|below|between|outside|over|opposite|around|with)\s+(?:the\s+|a\s+)?"
    r"(?!\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]m|o['’]clock)?\b(?!\s[A-Z])|noon|midnight|night|time|last\b"
    r"|next\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december)\b|morning|evening|afternoon|weekend)\w+"
    r"|\b(?:upstairs|downstairs|outside|inside|here|there|home|online)\b",
    re.IGNORECASE,
)
_YEAR = pattern(r"\d{4}")
WORDS = pattern(r"\w+")


def kind_in(query: str, sentence: Sentence | Stretch) -> float:
    """Return 1.0 when the sentence holds the kind of thing that the question word asks for.

    A place counts half: many words follow "in" or "at". The query is in lower case.
    """
    return kind_wanted(query)(sentence)


def kind_wanted(query: str) -> Callable[[Sentence | Stretch], float]:
    """Return :func:`kind_in` of a query, which is looked at once for all sentences."""
    if "when" in query.split() or "what date" in query:
        return lambda one: float(_has_time(one))
    if asks_for_amount(query):
        return lambda one: float(tells_amount(one.text, query))
    what = counted(query)
    if what or any(words in query for words in _HOW_MANY):
        return lambda one: _number_told(one.text, what)
    if query.startswith("who"):
        return lambda one: float(NAME.search(without_greetings(one.text)) is not None)
    if query.startswith("where"):
        return lambda one: 0.5 * (_PLACE.search(one.text) is not None)
    return lambda one: 0.0


def _number_told(text: str, what: str) -> float:
    """Return how far a text tells a number, or one of what is counted where that is named."""
    if what and tells_count(text, what):
        return 1.0
    if not has_number(text, text.lower().split()):
        return 0.0
    return _NUMBER_ALONE if what else 1.0


def kind_told(query: str, stretch: Stretch) -> float:
    """Return how far a stretch tells the kind of thing asked for, more exactly than a score needs.

    A place is one behind more words than "in", but no time ("at noon"), or a name; colours and
    sizes count as well. The query is in lower case.
    """
    known = set(WORDS.findall(f"{query} {stretch.evidence.speaker or ''}".lower()))
    if query.startswith("where"):
        is_told = _STANDS.search(stretch.text) is not None or holds("name", stretch.text, known)
        return 0.5 if is_told else 0.0
    if asks_for_amount(query):
        return 1.0 if tells_amount(stretch.text, query) else 0.0
    kind = kind_asked(query)
    if kind in ("colour", "number"):
        return 1.0 if holds(kind, stretch.text, known) else 0.0
    return kind_in(query, stretch)


def tells_time(sentence: Sentence | Stretch) -> bool:
    """Whether a sentence tells a day, a date or an hour."""
    text = sentence.text
    return _has_time(sentence) or names_time(text) or bool(absolute(text))


def _has_time(sentence: Sentence | Stretch) -> bool:
    return _has_relative_time(sentence) or _YEAR.search(sentence.text) is not None


def _has_relative_time(sentence: Sentence | Stretch) -> bool:
    """Whether a sentence says a relative time that the day it was said resolves."""
    at = sentence.evidence.at
    return at is not None and bool(find(sentence.text, at.date()))
