"""Absolute dates in English conversation, and which days they mean.

"8/5/2023" is not read: it is May in one country, August in another.
"""

from __future__ import annotations

import re
from datetime import date

from demem_agent.later import pattern
from demem_agent.text.times.periods import (
    ALSO_WORDS,
    MONTH,
    SEASON,
    SEASONS,
    Meaning,
    day_alone,
    month_in,
    period_name,
    whole_months,
)

__all__ = ["ABSOLUTE", "absolute_meaning", "full_year"]

_ORDINAL = r"(?:st|nd|rd|th)?"
_YEAR = r"(?:\.?,?\s+(?:of\s+)?[12]\d{3}\b)"
_NUMBER_ENDS = r"(?![\w%]|[.,:/-]\d)"
#: Digits of a year that leaves its century out, and what it is of where nothing tells.
_SHORT = 2
_NEWEST, _CENTURY = 49, 2000
#: Matched against lower-case text, as relative times are.
ABSOLUTE = pattern(
    r"\b(?=\d|jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec|in\s|during|throughout"
    r"|spring|summer|autumn|fall|winter)"
    r"(?<![/.:-])(?:"
    r"(?P<iso>\d{4}-\d\d-\d\d)(?![\d-])"
    rf"|(?P<day>\d{{1,2}}{_ORDINAL}\s+(?:of\s+)?{MONTH}\b{_YEAR}?"
    rf"|{MONTH}\.?\s+(?:the\s+)?\d{{1,2}}{_ORDINAL}{_NUMBER_ENDS}{_YEAR}?)"
    rf"|(?P<month>{MONTH}{_YEAR})"
    rf"|(?P<season>{SEASON}\s+(?:of\s+)?[12]\d{{3}}\b)"
    rf"|(?P<recent>in\s+(?:early\s+|mid[-\s]|late\s+)?{MONTH}\b"
    rf"(?!{_YEAR}|\.?\s+\d|,?\s+(?:of\s+)?(?:last|this|next)\b))"
    rf"|(?:in|during|throughout)\s+(?P<year>(?:1[89]|20)\d\d|['’‘]\d\d(?!s))"
    rf"{_NUMBER_ENDS}"
    r")"
)


def absolute_meaning(match: re.Match[str], text: str, anchor: date | None) -> Meaning | None:
    """Return what a match of :data:`ABSOLUTE` in a text means; None where it is no date.

    Without an anchor a date without a year is none.
    """
    try:
        return _parsed(match, text, anchor)
    except ValueError:  # 31 June, or 29 February of a common year
        return None


def _parsed(match: re.Match[str], text: str, anchor: date | None) -> Meaning | None:
    if match["iso"]:
        return day_alone(date.fromisoformat(match["iso"]))
    if match["day"]:
        return _day(match, text, anchor)
    if match["recent"]:
        return _recent_month(month_in(match["recent"]), anchor)
    if match["year"]:
        year = full_year(match["year"].lstrip("'’‘"), anchor)
        return Meaning(date(year, 1, 1), date(year, 12, 31), str(year))
    return _ending_in_year(match)


def full_year(digits: str, anchor: date | None) -> int:
    """Return a year, one of two digits as the latest that may have begun by the next of the anchor.

    Without an anchor those up to 49 are of this century.
    """
    year = int(digits)
    if len(digits) > _SHORT:
        return year
    newest = _NEWEST if anchor is None else anchor.year % 100 + 1
    century = _CENTURY if anchor is None else anchor.year // 100 * 100
    return century + year - (100 if year > newest else 0)


def _day(match: re.Match[str], text: str, anchor: date | None) -> Meaning | None:
    """Read "7 May 2023", "May 7, 2023" or "May 7th"; the last needs the anchor for its year."""
    numbers = list(map(int, re.findall(r"\d+", match[0])))
    year = _year_among(numbers, anchor)
    if year is None:
        return None
    if len(numbers) == 1 and _reads_as_verb(match, text):
        return None
    month = month_in(match[0])
    return day_alone(date(year, month, min(numbers)))


def _year_among(numbers: list[int], anchor: date | None) -> int | None:
    """Return the number that can be no day of a month, or else the anchor's year."""
    for number in numbers:
        if number > 999:
            return number
    return None if anchor is None else anchor.year


def _reads_as_verb(match: re.Match[str], text: str) -> bool:
    """Tell "we march 7 miles" from "March 7" and "on march 7"."""
    word = re.search(MONTH, match[0])
    if word is None or word[0] not in ALSO_WORDS:
        return False
    if text[match.start() + word.start()].isupper():
        return False
    return not match.string.endswith("on ", 0, match.start())


def _recent_month(month: int, anchor: date | None) -> Meaning | None:
    """Read "in May": the latest one that began by the anchor."""
    if anchor is None:
        return None
    year = anchor.year - 1 if month > anchor.month else anchor.year
    return _month(year, month)


def _ending_in_year(match: re.Match[str]) -> Meaning:
    """Read "May 2023" or "summer 2023"."""
    year = int(match[0][-4:])
    if match["month"]:
        return _month(year, month_in(match["month"]))
    return _season(year, match["season"].split()[0])


def _month(year: int, month: int) -> Meaning:
    first, last = whole_months(date(year, month, 1), 1)
    return Meaning(first, last, period_name("month", first))


def _season(year: int, season: str) -> Meaning:
    first, last = whole_months(date(year, SEASONS[season], 1), 3)
    return Meaning(first, last, period_name(season, first))
