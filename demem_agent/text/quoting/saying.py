"""How a line is said: by whom, on which day, with what its relative times mean.

The words stand as they were said. What is known of them beside that stands in a margin.
"""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.words import clean
from demem_agent.text.quoting.containing import (
    UNSIGNED,
    contained,
    entry,
    on_one_line,
    passes_for_entry,
    unsigned,
)
from demem_agent.text.quoting.cutting import excerpt, through_turn
from demem_agent.text.quoting.fences import is_fenced
from demem_agent.text.quoting.pasted import of_oneself, pasted
from demem_agent.text.quoting.spoken import spoken
from demem_agent.text.sentences import sentences
from demem_agent.text.times.dates import Span, find
from demem_agent.text.times.periods import day_name, days_name
from demem_agent.types import Evidence

__all__ = ["Told", "dated", "day", "margin", "meant", "name_of", "noted", "said", "told"]

#: A colon ends a name in a line, and brackets stand around a margin.
_ENDS_NAME = pattern(r":(?=\s|$)|[\[\]]")
#: A time that is told by another day: "3 weeks after 15 May 2024".
_FROM_A_DAY = pattern(r" (?:before|after) \d")


@dataclass(frozen=True, slots=True)
class Told:
    """A stretch of an item as a line of a reading tells it.

    Attributes:
        words: as in "Speaker: words", as they were said.
        meant: what the relative times in it mean, each as in "yesterday: 7 May 2023".
    """

    words: str
    meant: tuple[str, ...]


def told(evidence: Evidence, start: int, end: int) -> Told:
    """Return a stretch of an item as it is told: with what turns it round, cuts marked."""
    end = through_turn(evidence.text, end)
    words = excerpt(evidence.text, start, end)
    return Told(_say(evidence, words), meant(evidence, start, end))


def said(evidence: Evidence, start: int, end: int) -> str:
    """Return a stretch of an item as in "Speaker: words"."""
    return _say(evidence, evidence.text[start:end])


def noted(evidence: Evidence, start: int, end: int) -> str:
    """Return a stretch of an item behind its margin: "[yesterday: 7 May 2023] Ana: words"."""
    return margin(meant(evidence, start, end)) + said(evidence, start, end)


def dated(evidence: Evidence, start: int, end: int) -> str:
    """Return a stretch of an item as a model sees it: "3 March 2024, Ana: words", with what its
    relative times mean.
    """
    stamp = f"{day(evidence)}, " if evidence.at else ""
    return f"{stamp}{noted(evidence, start, end)}"


def _say(evidence: Evidence, words: str) -> str:
    name = name_of(evidence)
    told = entry(words)
    if is_fenced(words) or passes_for_entry(words):  # a fence is one alone on its line only
        return contained(f"{f'{name}:' if name else UNSIGNED.rstrip()}\n  {told}")
    return contained(f"{name}: {told}" if name else unsigned(told))


def meant(evidence: Evidence, start: int, end: int, *, alone: bool = False) -> tuple[str, ...]:
    """Return what the relative times that the speaker uses mean: "yesterday: 7 May 2023".

    Left out is what means the very day on which it was said, under which it stands; unless it
    stands ``alone``, under no day. A document was written on some other day than the one on which
    it was passed on, and of its times only those are told that somebody has of themselves.
    """
    if evidence.at is None:
        return ()
    day = evidence.at.date()
    times = find(clean(evidence.text[start:end]), day)
    found: dict[str, None] = {}
    said = spoken(evidence.text, start, end, times)
    if said and _is_document(evidence):
        said = [time for time in said if _of_oneself(evidence.text, start, end, time)]
    for time in said:
        if alone or not time.first == time.last == day:
            phrase = " ".join(evidence.text[start + time.start : start + time.end].split())
            found[f"{phrase}: {_dated(time)}"] = None
    return tuple(found)


def _is_document(evidence: Evidence) -> bool:
    """Whether an item is long and nobody speaks in it, or is of a source in which nobody does."""
    if pasted(evidence.text):
        return True
    of_source = evidence.source is not None and not evidence.speaker
    return of_source and not of_oneself(evidence.text)


def _of_oneself(text: str, start: int, end: int, time: Span) -> bool:
    """Whether somebody speaks of themselves in the sentence that a time is in."""
    for first, last in sentences(text, start, end):
        if first <= start + time.start < last:
            return of_oneself(text[first:last])
    return False


def _dated(time: Span) -> str:
    """Write a time, with its own days where it is told by how far it is from another."""
    if not _FROM_A_DAY.search(time.text):
        return time.text
    days = days_name(time.first, time.last)
    year = f" {time.last.year}"
    is_told = time.text.endswith(year) and time.first.year == time.last.year
    return f"{time.text}, {days.removesuffix(year) if is_told else days}"


def margin(notes: Sequence[str]) -> str:
    """Return what is noted of a line as it stands before it: "[until 6 July 2024] ", or ""."""
    return f"[{'; '.join(notes)}] " if notes else ""


def name_of(evidence: Evidence) -> str:
    """Return the speaker's name on one line, without what would end it there, or ""."""
    if not evidence.speaker:
        return ""
    return _ENDS_NAME.sub("", on_one_line(evidence.speaker))


def day(evidence: Evidence) -> str:
    """Return the day of an item as a person writes it, or "undated"."""
    return day_name(evidence.at) if evidence.at else "undated"
