"""Counts of days, weeks and years in English, and how far away they are.

"Three months ago" is a calendar month, "two years ago" a calendar year, "two weeks ago" or "a
fortnight ago" the Monday to Sunday around the day 14 days back; "two Sundays ago" is the Sunday
before "last Sunday". "A couple" is 2, "a few" is 2 to 5, "several" is 3 to 8. Half a year is 6
months, half a month 2 weeks, half a week 3 to 4 days: "a year and a half ago" is the calendar month
18 months back.
"""

from __future__ import annotations

import re
from datetime import date

from dateutil.relativedelta import relativedelta

from demem_agent.later import pattern
from demem_agent.text.times.periods import (
    DAY,
    SEASON,
    SEASONS,
    Meaning,
    day_alone,
    day_name,
    named,
    period,
    period_name,
)

__all__ = [
    "COUNT",
    "COUNTED",
    "FIRST_WORDS",
    "LENGTHS",
    "amount",
    "coming",
    "one_spaced",
    "shifted",
]

_ONES = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS = (
    {"a": 1, "an": 1, "couple": 2}
    | {word: number for number, word in enumerate(_ONES + _TEENS, 1)}
    | {word: 10 * number for number, word in enumerate(_TENS, 2)}
)
_VAGUE = {"few": (2, 5), "several": (3, 8)}
LENGTHS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "fortnight": relativedelta(weeks=2),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}

#: What a count begins with, but for digits.
FIRST_WORDS = ("a ", "an ", "couple", "few", "several", "half ", *_ONES, *_TEENS, *_TENS)
#: Patterns, for text in lower case.
COUNT = (
    r"(?:\d{1,4}|(?:a\s+)?(?:couple(?:\s+of)?|few)|several"
    rf"|(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS + _ONES)}|an?)"
)
_TO = rf"(?:\s*(?:-|–|\bor\b|\bto\b)\s*{COUNT})?"
_HALF = r"(?:[-\s]+and[-\s]+a[-\s]+half)?"
COUNTED = (
    rf"(?:{COUNT}{_TO}{_HALF}\s+"
    rf"(?:(?:day|night|week(?:end)?|fortnight|month|year)s?{_HALF}|(?:{DAY}|{SEASON})s)"
    r"|half\s+an?\s+(?:week|month|year))"
)
_AMOUNT = pattern(
    rf"({COUNT})(?:\s*(?:-|–|\bor\b|\bto\b)\s*({COUNT}))?(?:[-\s]+and.*?)?\s+([a-z]+)"
)
_HALVED = pattern(rf"(?:half\s+an?|({COUNT}){_HALF})\s+(week|month|year)s?{_HALF}")


def shifted(phrase: str, sign: int, anchor: date) -> Meaning | None:
    """Resolve a count of units before (``sign`` -1) or after (1) the anchor.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.
    """
    if "half" in phrase:
        return _half_more(phrase, sign, anchor)
    match = _AMOUNT.fullmatch(phrase)
    if match is None:
        return None
    least, most = _amounts(match[1], match[2])
    unit = match[3].removesuffix("s")
    if unit in SEASONS or (unit.endswith("day") and unit != "day"):
        return _by_name(unit, sign, (least, most), anchor)
    near = period(unit, sign * least, anchor)
    far = period(unit, sign * most, anchor)
    text = period_name(unit, near[0]) if near == far else ""
    if not text:
        text = _in_relation(phrase, sign, anchor)
    return Meaning(min(near[0], far[0]), max(near[1], far[1]), text)


def _by_name(unit: str, sign: int, counts: tuple[int, int], anchor: date) -> Meaning | None:
    """Resolve "two Sundays ago", "three Fridays from now" and "two summers ago"."""
    count, most = counts
    if count != most or count < 1:
        return None
    if unit in SEASONS:
        return named(unit, -count, anchor) if sign < 0 else None
    if sign < 0:
        return named(unit[:3], -count, anchor)
    return day_alone(coming(unit, anchor) + relativedelta(weeks=count - 1))


def _half_more(phrase: str, sign: int, anchor: date) -> Meaning | None:
    """Resolve so many units and a half, or the half of one."""
    match = _HALVED.fullmatch(phrase)
    if match is None:
        return None
    least, most = amount(match[1]) if match[1] else (0, 0)
    unit = match[2]
    near = _and_half(unit, sign, least, anchor)
    far = _and_half(unit, sign, most, anchor)
    text = period_name("month", near[0]) if unit == "year" and near == far else ""
    if not text:
        text = _in_relation(phrase, sign, anchor)
    return Meaning(min(near[0], far[0]), max(near[1], far[1]), text)


def _and_half(unit: str, sign: int, count: int, anchor: date) -> tuple[date, date]:
    if unit == "year":
        return period("month", sign * (12 * count + 6), anchor)
    whole = anchor + sign * count * LENGTHS[unit]
    if unit == "month":
        return period("week", sign * 2, whole)
    ends = whole + relativedelta(days=3 * sign), whole + relativedelta(days=4 * sign)
    return min(ends), max(ends)


def coming(weekday: str, anchor: date) -> date:
    """Return the first such weekday after the anchor."""
    return period(weekday[:3], "coming", anchor)[0]


def _in_relation(phrase: str, sign: int, anchor: date) -> str:
    """Write a count of units as in "a few days before 9 June 2023"."""
    relation = "before" if sign < 0 else "after"
    return f"{one_spaced(phrase)} {relation} {day_name(anchor)}"


def one_spaced(phrase: str) -> str:
    """Return a phrase with one space between its words."""
    return " ".join(phrase.split())


def _amounts(words: str, others: str | None) -> tuple[int, int]:
    """Return the least and the most that one count, or one "to" or "or" another, may mean."""
    least, most = amount(words)
    if others:
        other_least, other_most = amount(others)
        least = min(least, other_least)
        most = max(most, other_most)
    return least, most


def amount(words: str) -> tuple[int, int]:
    """Read a count of 0 to 9999; return the least and the most it may mean."""
    if words.isdigit():
        number = int(words)
        return number, number
    parts = re.split(r"[-\s]+", words)
    for part in parts:
        if part in _VAGUE:
            return _VAGUE[part]
    if "couple" in parts:
        return 2, 2
    total = sum(_NUMBERS[part] for part in parts)
    return total, total
