"""Find the times that conversation speaks of, and which days they mean.

What relative expressions mean is in :mod:`demem_agent.text.times.relative_dates`, with its
conventions, and in :mod:`demem_agent.text.times.foreign_dates` for other languages than English;
absolute ones are read by :mod:`demem_agent.text.times.absolute_dates`, in English alone; questions
for a day in other languages by :mod:`demem_agent.text.times.foreign_days`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime

from demem_agent.text.times.absolute_dates import ABSOLUTE, absolute_meaning
from demem_agent.text.times.asked_dates import asked_dates
from demem_agent.text.times.asked_parts import asked_parts
from demem_agent.text.times.compound_dates import begins
from demem_agent.text.times.foreign_dates import foreign_times
from demem_agent.text.times.periods import day_name
from demem_agent.text.times.relative_dates import (
    RELATIVE,
    RUNNING,
    may_hold_time,
    relative_meaning,
    running_since,
)
from demem_agent.text.times.stretches import Span, joined, two_ended

__all__ = ["Span", "absolute", "find", "moment", "ranges", "running", "stretches"]

_EPOCH = datetime(1970, 1, 1)


def find(text: str, anchor: date) -> list[Span]:
    """Find the relative time expressions in a text said on the day ``anchor``.

    Returns:
        One span for each expression that can be resolved, in order, without overlaps. The
        conventions are those of :mod:`demem_agent.text.times.relative_dates`. Of two that overlap,
        an English one is kept, and else the longer.
    """
    low = _lower(text)
    day = _plain(anchor)
    spans: list[Span] = []
    if may_hold_time(low):
        for match in RELATIVE.finditer(low):
            meaning = relative_meaning(match, text, day)
            if meaning is not None:
                spans.append(Span(begins(match), match.end(), *meaning))
    others = [Span(start, end, *meaning) for start, end, meaning in foreign_times(low, text, day)]
    return _with(spans, others) if others else spans


def absolute(text: str, anchor: date | None = None) -> list[Span]:
    """Find the absolute dates in a text, in order, without overlaps.

    A date without a year is skipped when there is no anchor. With one, "May 7th" is in the anchor's
    year and "in May" is the latest May that began by the anchor. "8/5/2023" is skipped: it is May
    in one country, August in another.
    """
    low = _lower(text)
    day = None if anchor is None else _plain(anchor)
    spans: list[Span] = []
    for match in ABSOLUTE.finditer(low):
        meaning = absolute_meaning(match, text, day)
        if meaning is not None:
            spans.append(Span(match.start(), match.end(), *meaning))
    return spans


def ranges(query: str, asked: date | None) -> list[Span]:
    """Find the times that a query is about: relative ones only where ``asked`` is known.

    "In the past two weeks" ends on the day it is asked. Where two overlap, as in "this June the
    5th", the absolute date is kept, and a relative one before a running one ("this past week").
    "Between 3 and 10 March" and "since May" are one time each.
    """
    return stretches(query, asked, asked)


def stretches(query: str, asked: date | None, newest: date | None) -> list[Span]:
    """Find the times that a query is about, as :func:`ranges` does.

    A query may write a date in numbers, and name a month with nothing before it but what asks for
    what was said then (:mod:`demem_agent.text.times.asked_dates`), or a part of a month or year
    (``asked_parts``).

    Args:
        newest: the day that dates without a year go by, where it is not known when it is asked.
    """
    low = _lower(query)
    anchor = newest if asked is None else asked
    day = None if anchor is None else _plain(anchor)
    spans = list(two_ended(low, day))
    spans += _apart_from(spans, asked_parts(low, day))
    spans += _apart_from(spans, absolute(query, day))
    spans += _apart_from(spans, asked_dates(low, day))
    if asked is not None:
        spans += _apart_from(spans, find(query, asked))
        spans += _apart_from(spans, _windows(query, asked))
    return joined(low, sorted(spans, key=lambda span: span.start), day)


def running(query: str) -> list[tuple[int, int]]:
    """Return the (start, end) of every time in a query that ends when it is asked.

    Such a time is "in the past two weeks".
    """
    return [match.span() for match in RUNNING.finditer(_lower(query))]


def moment(at: datetime | None) -> float:
    """Return seconds since 1970, for ordering.

    A time without a zone counts as UTC, an unknown one as -inf.
    """
    if at is None:
        return float("-inf")
    if at.tzinfo:
        return at.timestamp()
    return (at - _EPOCH).total_seconds()


def _windows(query: str, asked: date) -> Iterator[Span]:
    today = _plain(asked)
    for match in RUNNING.finditer(_lower(query)):
        first = running_since(match, today)
        if first is not None:
            text = f"{day_name(first)} to {day_name(today)}"
            yield Span(match.start(), match.end(), first, today, text)


def _with(spans: list[Span], others: list[Span]) -> list[Span]:
    """Add those of some other spans that overlap none before them, the longest first."""
    for span in sorted(others, key=lambda span: span.start - span.end):
        spans += _apart_from(spans, [span])
    return sorted(spans, key=lambda span: span.start)


def _apart_from(spans: list[Span], more: Iterable[Span]) -> list[Span]:
    """Return those of ``more`` that overlap none of ``spans``."""
    return [span for span in more if not _overlaps(span, spans)]


def _overlaps(span: Span, others: list[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)


def _lower(text: str) -> str:
    """Lower the case and keep every position; a letter that would grow stays as it is."""
    low = text.lower()
    if len(low) == len(text):
        return low
    letters = []
    for letter in text:
        lower = letter.lower()
        letters.append(letter if len(lower) > 1 else lower)
    return "".join(letters)


def _plain(day: date) -> date:
    """Cut a datetime to its day, since dates and datetimes do not compare."""
    return date(day.year, day.month, day.day)
