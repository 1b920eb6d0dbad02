"""How a line is said: by whom, on which day, with what its relative times mean."""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.text.dates import Span, find, noted
from demem_agent.text.words import clean
from demem_agent.types import Evidence

__all__ = ["day", "name_of", "said", "say"]

#: English whatever the process's locale, as the dates that are resolved in the text.
_MONTHS = (
    "", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def said(evidence: Evidence, start: int, end: int) -> str:
    """Give a stretch of an item as "Speaker: words", with relative times resolved against its date."""
    words = clean(evidence.text[start:end])
    times = find(words, evidence.at.date()) if evidence.at is not None else ()
    return say(name_of(evidence), words, times)


def say(name: str, words: str, times: Sequence[Span]) -> str:
    """Write words as said by a speaker ("" for none), with what its times mean beside them."""
    if times:
        words = noted(words, times)
    words = words.replace("\n", "\n  ")
    line = f"{name}: {words}" if name else words
    return line.replace(
        "demem:memory", "demem-memory"
    )  # nothing remembered may forge the marks of a reading


def name_of(evidence: Evidence) -> str:
    """Give the speaker's name on one line, or ""."""
    return " ".join(clean(evidence.speaker).split()) if evidence.speaker else ""


def day(evidence: Evidence) -> str:
    """Give the day of an item as a person writes it, or "undated"."""
    return (
        f"{evidence.at.day} {_MONTHS[evidence.at.month]} {evidence.at.year}"
        if evidence.at
        else "undated"
    )
