"""Number words as digits, so that "sixty" and "60" are the same word."""

from __future__ import annotations

import re
from collections.abc import Iterable

from demem_agent.later import pattern

__all__ = ["digits", "spelt"]

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: number for number, word in enumerate(_ONES)}
_VALUES |= {word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)}
_UNITS = "|".join(_ONES[1:10])
_NUMBER = pattern(
    rf"\b(?:({'|'.join(_TENS)})(?:[- ]({_UNITS}))?|({'|'.join(_ONES)}))\b", re.IGNORECASE
)
_LETTERS = pattern("[a-z]+")


def digits(text: str) -> str:
    """Return a text with its number words below a hundred in digits, all else as it is."""
    if _VALUES.keys().isdisjoint(_LETTERS.findall(text.lower())):  # much faster, and most have none
        return text
    return _NUMBER.sub(_in_digits, text)


def spelt(words: Iterable[str]) -> bool:
    """Whether one of some words in lower case is a number below a hundred."""
    return not _VALUES.keys().isdisjoint(words)


def _in_digits(found: re.Match[str]) -> str:
    return str(sum(_VALUES[word.lower()] for word in found.groups() if word))
