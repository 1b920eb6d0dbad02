"""Number words as digits, so that "sixty" and "60" are the same word."""

from __future__ import annotations

import re

__all__ = ["digits"]

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: number for number, word in enumerate(_ONES)}
_VALUES |= {word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)}
_UNITS = "|".join(_ONES[1:10])
_NUMBER = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[- ]({_UNITS}))?|({'|'.join(_ONES)}))\b", re.IGNORECASE
)
_LETTERS = re.compile("[a-z]+")


def digits(text: str) -> str:
    """Return a text with its number words below a hundred in digits, all else as it is."""
    if _VALUES.keys().isdisjoint(_LETTERS.findall(text.lower())):  # much faster, and most have none
        return text
    return _NUMBER.sub(_in_digits, text)


def _in_digits(found: re.Match[str]) -> str:
    return str(sum(_VALUES[word.lower()] for word in found.groups() if word))
