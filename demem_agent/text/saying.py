"""How a line is said: by whom, on which day, with what its relative times mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

from demem_agent.text.containing import contained, entry, on_one_line, unsigned
from demem_agent.text.dates import Span, find, noted
from demem_agent.text.periods import day_name
from demem_agent.text.words import clean
from demem_agent.types import Evidence

__all__ = ["day", "name_of", "said", "say"]

#: A colon ends a name in a line, and brackets stand around a margin.
_ENDS_NAME = re.compile(r":(?=\s|$)|[\[\]]")


def said(evidence: Evidence, start: int, end: int) -> str:
    """Return a stretch of an item as in "Speaker: words", its relative times resolved."""
    words = clean(evidence.text[start:end])
    times = find(words, evidence.at.date()) if evidence.at is not None else ()
    return say(name_of(evidence), words, times)


def say(name: str, words: str, times: Sequence[Span]) -> str:
    """Write words as said by a speaker ("" for none), with what its times mean beside them."""
    if times:
        words = noted(words, times)
    words = entry(words)
    return contained(f"{name}: {words}" if name else unsigned(words))


def name_of(evidence: Evidence) -> str:
    """Return the speaker's name on one line, without what would end it there, or ""."""
    if not evidence.speaker:
        return ""
    return _ENDS_NAME.sub("", on_one_line(evidence.speaker))


def day(evidence: Evidence) -> str:
    """Return the day of an item as a person writes it, or "undated"."""
    return day_name(evidence.at) if evidence.at else "undated"
