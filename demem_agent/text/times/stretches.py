"""Times with two ends, in questions: "between 3 and 10 March", "since May 2024", "before Friday".

Conventions, beside those of :mod:`demem_agent.text.times.absolute_dates`:

* What one end leaves out is that of the other: "between 3 and 10 March 2024" is eight days of one
  month. Without a year it is the latest such stretch that began by the anchor.
* "since" begins with the time it names and ends on the anchor; "after" begins the day behind it.
  "before" ends the day ahead of it, "until" and "up to" with it. "The week before 3 March" is left
  alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from demem_agent.later import dataclass, pattern
from demem_agent.text.times.periods import MONTH, day_name, month_in, whole_months

__all__ = ["Span", "joined", "two_ended"]

_DAY = timedelta(days=1)
_ORDINAL = r"(?:st|nd|rd|th)?"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch ``[start, end)`` of a text and the days ``[first, last]`` it means.

    Attributes:
        text: the meaning as a person would write it: ``7 May 2023``, ``May 2023``, ``2022``,
            ``summer 2022``, ``the week before 9 June 2023``, ``a few days before 9 June 2023``.
    """

    start: int
    end: int
    first: date
    last: date
    text: str


def _end(n: int) -> str:
    """Return the pattern of an end: a day, a month or a year, or what of it is said."""
    year = rf"(?:\.?,?\s+(?:of\s+)?(?P<{{}}{n}>[12]\d{{{{3}}}})\b)?"
    return (
        rf"(?:(?P<iso{n}>\d{{4}}-\d\d-\d\d)(?![\d-])"
        rf"|(?:the\s+)?(?P<day{n}>\d{{1,2}}){_ORDINAL}(?![\w%:/.])"
        rf"(?:\s+(?:of\s+)?(?P<of{n}>{MONTH})\b)?{year.format('year')}"
        rf"|(?P<month{n}>{MONTH})\b\.?(?:\s+(?:the\s+)?(?P<nth{n}>\d{{1,2}}){_ORDINAL}(?![\w%:/.]))?"
        rf"{year.format('its')}"
        rf"|(?P<all{n}>(?:19|20)\d\d)(?![\w%:/.-]))"
    )


#: Matched against lower-case text, as all times are.
_TWO_ENDS = pattern(
    rf"(?<![\w/.:-])(?:between\s+{_end(1)}\s+and\s+{_end(2)}"
    rf"|(?:from\s+)?{_end(3)}\s*(?:[-–—]|\bto\b|\buntil\b|\btill\b|\bthrough\b)\s*{_end(4)})"
)
#: What each of these has.
_MAY_HOLD = pattern(r"\d|\b(?:between|from)\s")
_AND = pattern(r"\s*(?:and|to|until|till|through|[-–—])\s*(?:the\s+)?")
_OPENS = pattern(r"\b(?:between|from)\s+(?:the\s+)?\Z")
_ONE_END = pattern(
    r"(?<!\bday\s)(?<!\bnight\s)(?<!\bweek\s)(?<!\bweekend\s)(?<!\bmonth\s)(?<!\byear\s)"
    r"(?<!\bdays\s)(?<!\bweeks\s)(?<!\bmonths\s)(?<!\byears\s)(?<!day\s)"
    r"\b(?P<how>(?:ever\s+)?since|after|before|until|till|up\s+to)\s+(?:the\s+)?\Z"
)
#: How far back such a word begins at most.
_REACH = 24


@dataclass(frozen=True, slots=True)
class _End:
    """What is said of an end; 0 where it is not."""

    year: int
    month: int
    day: int


def two_ended(low: str, anchor: date | None) -> Iterator[Span]:
    """Yield the stretches between two absolute ends in a text in lower case.

    Without an anchor one of no year is none.
    """
    if not _MAY_HOLD.search(low):  # as few do; much faster
        return
    for match in _TWO_ENDS.finditer(low):
        numbers = (1, 2) if low.startswith("between", match.start()) else (3, 4)
        opens, closes = (_said(match, n) for n in numbers)
        try:
            days = _days(opens, closes, anchor)
        except ValueError:  # 31 June, or 29 February of a common year
            continue
        if days is not None:
            first, last = days
            text = f"{day_name(first)} to {day_name(last)}"
            yield Span(match.start(), match.end(), first, last, text)


def _said(match: re.Match[str], n: int) -> _End:
    iso: str | None = match[f"iso{n}"]
    if iso:
        return _End(*map(int, iso.split("-")))
    month: str | None = match[f"of{n}"] or match[f"month{n}"]
    return _End(
        year=int(match[f"year{n}"] or match[f"its{n}"] or match[f"all{n}"] or 0),
        month=month_in(month) if month else 0,
        day=int(match[f"day{n}"] or match[f"nth{n}"] or 0),
    )


def _days(opens: _End, closes: _End, anchor: date | None) -> tuple[date, date] | None:
    """Return the first and the last day; None where they are no days, or in no order."""
    if not (opens.month or closes.month or (opens.year and closes.year)):
        return None  # between 3 and 10
    first_month = opens.month or (closes.month if opens.day else 0)
    last_month = closes.month or (first_month if closes.day else 0)
    if bool(first_month) != bool(last_month):
        return None
    passes_new_year = first_month > last_month
    years = _years(opens, closes, passes_new_year)
    if years is None:
        if anchor is None:
            return None
        begins = date(anchor.year, first_month, opens.day or 1)
        year = anchor.year - (begins > anchor)
        years = year, year + passes_new_year
    first, _ = _whole(_End(years[0], first_month, opens.day))
    _, last = _whole(_End(years[1], last_month, closes.day))
    return (first, last) if first <= last else None


def _years(opens: _End, closes: _End, passes_new_year: bool) -> tuple[int, int] | None:
    if closes.year:
        return opens.year or closes.year - passes_new_year, closes.year
    return (opens.year, opens.year + passes_new_year) if opens.year else None


def _whole(end: _End) -> tuple[date, date]:
    """Return the first and the last day of a day, a month or a year."""
    if end.day:
        day = date(end.year, end.month, end.day)
        return day, day
    if end.month:
        return whole_months(date(end.year, end.month, 1), 1)
    return date(end.year, 1, 1), date(end.year, 12, 31)


def joined(low: str, spans: Sequence[Span], anchor: date | None) -> list[Span]:
    """Put times together that are two ends of one, and open those that have one end alone.

    Args:
        spans: in order, without overlaps.
        anchor: the last day of what has no end; None where it is not known.
    """
    found: list[Span] = []
    rest = list(spans)
    while rest:
        span = rest.pop(0)
        if rest and _are_ends(low, span, rest[0]):
            span = _between(low, span, rest.pop(0))
        found.append(_opened(low, span, anchor))
    return found


def _are_ends(low: str, one: Span, other: Span) -> bool:
    if one.first > other.last or not _AND.fullmatch(low, one.end, other.start):
        return False
    return _before(_OPENS, low, one) is not None


def _between(low: str, one: Span, other: Span) -> Span:
    opens = _before(_OPENS, low, one)
    start = opens.start() if opens else one.start
    last = max(one.last, other.last)
    text = f"{day_name(one.first)} to {day_name(last)}"
    return Span(start, other.end, one.first, last, text)


def _opened(low: str, span: Span, anchor: date | None) -> Span:
    """Return "since May" as it is meant; a time without such a word as it is."""
    word = _before(_ONE_END, low, span)
    if word is None:
        return span
    how = word["how"].split()[-1]
    days = _without_end(how, span, anchor)
    if days is None:
        return span
    first, last = days
    return Span(word.start(), span.end, first, last, f"{how} {span.text}")


def _without_end(how: str, span: Span, anchor: date | None) -> tuple[date, date] | None:
    newest = date.max if anchor is None else anchor
    if how in ("since", "after"):
        first = span.first if how == "since" else min(span.last, newest) + _DAY
        return (first, newest) if first <= newest else None
    if how == "before":
        return (date.min, span.first - _DAY) if span.first > date.min else None
    return date.min, span.last


def _before(pattern: re.Pattern[str], low: str, span: Span) -> re.Match[str] | None:
    return pattern.search(low, max(0, span.start - _REACH), span.start)
