"""How a line is said: by whom, on which day, with what its relative times mean."""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.text.dates import Span, find, noted
from demem_agent.text.periods import day_name
from demem_agent.text.words import clean
from demem_agent.types import Evidence

__all__ = ["contained", "day", "name_of", "on_one_line", "said", "say"]


def said(evidence: Evidence, start: int, end: int) -> str:
    """Return a stretch of an item as in "Speaker: words", its relative times resolved."""
    words = clean(evidence.text[start:end])
    times = find(words, evidence.at.date()) if evidence.at is not None else ()
    return say(name_of(evidence), words, times)


def say(name: str, words: str, times: Sequence[Span]) -> str:
    """Write words as said by a speaker ("" for none), with what its times mean beside them."""
    if times:
        words = noted(words, times)
    words = words.replace("\n", "\n  ")
    line = f"{name}: {words}" if name else words
    return contained(line)


def contained(text: str) -> str:
    """Return a text in which nothing forges the marks of a reading."""
    return text.replace("demem:memory", "demem-memory")


def on_one_line(name: str) -> str:
    """Return a name without line breaks and without what could pass for the marks of a reading."""
    return contained(" ".join(clean(name).split()))


def name_of(evidence: Evidence) -> str:
    """Return the speaker's name on one line, or ""."""
    if not evidence.speaker:
        return ""
    return on_one_line(evidence.speaker)


def day(evidence: Evidence) -> str:
    """Return the day of an item as a person writes it, or "undated"."""
    return day_name(evidence.at) if evidence.at else "undated"
