"""What kind of thing a question asks for, and which texts hold one: times, numbers, names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from demem_agent.later import pattern

__all__ = ["NAME", "asks_for", "asks_how_many", "asks_when", "asks_who", "has_number"]

_DIGIT = pattern(r"\d")
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten"
    " once twice dozen hundred several couple".split()
)
#: A capital inside a sentence.
NAME = pattern(r"(?<=[a-z,] )[A-Z][a-z]+")

_WHEN = pattern(r"\bwhen\b|\bwhat date\b|\bhow long\b|\bdays\b", re.IGNORECASE)
_HOW_MANY = pattern(r"\bhow (?:many|much|long|old|often)\b", re.IGNORECASE)
_WHO = pattern(r"^\W*(?:who|which|where)\b|\bname[sd]?\b", re.IGNORECASE)

#: Words that ask, by what they ask for, in some languages; the first in a text counts. Those that
#: mean something else in another of these languages are left out (German "was").
_ASKED_FOR = {
    "number": "how (?:many|much|old|often|far)|wie viele?|wie oft|combien|cuánt[oa]s?",
    "while": "how long|wie lange",
    "time": "when|(?:what|which) (?:date|day|month|year|time)|wann|quand|cuándo",
    "place": "where|wohin|woher|où|dónde",
    "person": "whom|whose|who|wer|wem|wessen|quién(?:es)?",
    "reason": "why|warum|wieso|weshalb|pourquoi|por qué",
    "way": "how",
    "thing": "what|which|welche[rsmn]?|quel(?:le)?s?|qué|cuál(?:es)?",
}
_ASKS = pattern(
    "|".join(rf"(?P<{kind}>\b(?:{words})\b)" for kind, words in _ASKED_FOR.items()), re.IGNORECASE
)


def asks_for(question: str) -> str:
    """Return what kind of thing a question asks for; "" where no word tells."""
    found = _ASKS.search(question)
    return (found.lastgroup or "") if found else ""


def has_number(text: str, words: Iterable[str]) -> bool:
    """Whether a text, whose words in lower case are given, has a digit or a number word."""
    return _DIGIT.search(text) is not None or not _NUMBERS.isdisjoint(words)


def asks_when(question: str) -> bool:
    """Whether a question asks for a time."""
    return _WHEN.search(question) is not None


def asks_how_many(question: str) -> bool:
    """Whether a question asks for a number."""
    return _HOW_MANY.search(question) is not None


def asks_who(question: str) -> bool:
    """Whether a question asks for a person, a place or a name."""
    return _WHO.search(question) is not None
