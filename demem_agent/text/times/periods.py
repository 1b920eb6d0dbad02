"""Calendar periods: which days a week, month, season or year is, and how a person writes them.

A week runs from Monday to Sunday, a weekend is Saturday and Sunday, seasons are the northern ones
in whole months (spring is March to May). A winter bears both its years, "winter 2022-2023". The
arithmetic is that of ``relativedelta`` from the well-kept dateutil.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal, NamedTuple

from dateutil.relativedelta import FR, MO, SA, SU, TH, TU, WE, relativedelta

__all__ = [
    "ALSO_WORDS",
    "DAY",
    "MONTH",
    "SEASON",
    "SEASONS",
    "STEPS",
    "WEEKDAY",
    "Meaning",
    "Step",
    "day_alone",
    "day_name",
    "days_name",
    "either_day",
    "month_in",
    "named",
    "period",
    "period_name",
    "unit_name",
    "whole_months",
]

_MONTH_NAMES = tuple(
    "January February March April May June July August September October November December".split()
)
_MONTHS = {name[:3].lower(): number for number, name in enumerate(_MONTH_NAMES, 1)}
_WEEKDAYS = {name: number for number, name in enumerate("mon tue wed thu fri sat sun".split())}
_DATEUTIL_DAYS = (MO, TU, WE, TH, FR, SA, SU)
#: The month that each season begins in.
SEASONS = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
}
#: These are names of months and days only with a capital.
ALSO_WORDS = frozenset({"may", "march", "mar", "sun", "sat", "wed"})
_RELATIONS = {-1: "before", 0: "of", 1: "after"}

#: Patterns of the calendar's words in lower case.
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?"
    r"|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
#: The weekdays in full alone.
DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
SEASON = r"(?:spring|summer|autumn|fall|winter)"


#: How many units away: 0 is the running one, -1 the last, 1 the next; or the first to come.
Step = int | Literal["coming"]
STEPS: Mapping[str, Step] = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": "coming"}
_WITHOUT_NAMES = frozenset({"day", "night", "week", "weekend", "month", "year"})


class Meaning(NamedTuple):
    """The days ``[first, last]`` that a time means, and the time as a person would write it."""

    first: date
    last: date
    text: str


def named(unit: str, step: Step, anchor: date) -> Meaning:
    """Return the period that lies ``step`` units from the anchor's own, with its name.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.
    """
    first, last = period(unit, step, anchor)
    text = period_name(unit, first)
    if not text:
        text = _placed(unit, step, first, anchor)
    return Meaning(first, last, text)


def _placed(unit: str, step: Step, first: date, anchor: date) -> str:
    """Write which week or weekend it is: by the anchor, where it is the one next to that."""
    number = 1 if step == "coming" else step
    if abs(number) > 1 or (unit == "weekend" and number >= 0):
        return f"the {unit} of {day_name(first)}"
    return f"the {unit} {_RELATIONS[number]} {day_name(anchor)}"


def unit_name(match: re.Match[str], text: str, group: str) -> str:
    """Return the unit that a match names as it is known here.

    It is "" for a word that is written like an ordinary one.
    """
    word = match[group]
    if word in ALSO_WORDS and not text[match.start(group)].isupper():
        return ""
    return word if word in SEASONS or word in _WITHOUT_NAMES else word[:3]


def period(unit: str, step: Step, anchor: date) -> tuple[date, date]:
    """Return the first and last day of a unit.

    The last weekday, weekend, month or season is the most recent that was over before the anchor;
    the next is that of the next week or year, and the coming one the first that begins after the
    anchor. A unit that is not known here is a day or a night.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.
    """
    if unit in _WEEKDAYS:
        day = _weekday(_WEEKDAYS[unit], step, anchor)
        return day, day
    if unit in SEASONS:
        return _yearly(SEASONS[unit], 3, step, anchor)
    if unit in _MONTHS:
        return _yearly(_MONTHS[unit], 1, step, anchor)
    return _counted(unit, step, anchor)


def _counted(unit: str, step: Step, anchor: date) -> tuple[date, date]:
    """Place what has no name of its own: weekends, weeks, months, years and days."""
    if unit == "weekend":
        return _weekend(step, anchor)
    if step == "coming":  # of what follows without a gap, the coming one is the next
        step = 1
    if unit == "fortnight":
        unit, step = "week", 2 * step
    if unit == "week":
        monday = _weekday(0, 0, anchor) + relativedelta(weeks=step)
        return monday, monday + relativedelta(days=6)
    if unit == "month":
        return whole_months(anchor + relativedelta(months=step, day=1), 1)
    if unit == "year":
        return whole_months(anchor + relativedelta(years=step, month=1, day=1), 12)
    day = anchor + relativedelta(days=step)
    return day, day


def _weekday(number: int, step: Step, anchor: date) -> date:
    if step == "coming":
        after = _DATEUTIL_DAYS[number](1)
        return anchor + relativedelta(days=1, weekday=after)
    if step < 0:
        before = _DATEUTIL_DAYS[number](-1)
        return anchor + relativedelta(days=-1, weeks=step + 1, weekday=before)
    return anchor + relativedelta(weeks=step, days=number - anchor.weekday())


def _weekend(step: Step, anchor: date) -> tuple[date, date]:
    if step != "coming" and step < 0:  # by its Sunday, which must lie before the anchor
        saturday = _weekday(6, step, anchor) - relativedelta(days=1)
    else:
        saturday = _weekday(5, step, anchor)
    return saturday, saturday + relativedelta(days=1)


def _yearly(month: int, length: int, step: Step, anchor: date) -> tuple[date, date]:
    """Place what comes once a year, from the first of ``month`` on, ``length`` months long."""
    year = anchor.year
    passes_new_year = month + length > 13
    if step == "coming":
        year += date(year, month, 1) <= anchor
    elif step < 0:
        while whole_months(date(year, month, 1), length)[1] >= anchor:
            year -= 1
        year += step + 1
    else:
        year += step - (passes_new_year and anchor.month <= 6)
    return whole_months(date(year, month, 1), length)


def whole_months(first: date, length: int) -> tuple[date, date]:
    """Return the first and the last day of ``length`` months that begin on the day ``first``."""
    return first, first + relativedelta(months=length - 1, day=31)


def period_name(unit: str, first: date) -> str:
    """Write a day, month, season or year; "" for weeks and weekends, which have no names."""
    if unit in ("week", "weekend", "fortnight"):
        return ""
    if unit == "year":
        return str(first.year)
    if unit == "month" or unit in _MONTHS:
        return f"{_MONTH_NAMES[first.month - 1]} {first.year}"
    if unit == "winter":
        return f"winter {first.year}-{first.year + 1}"
    if unit in SEASONS:
        return f"{unit} {first.year}"
    return day_name(first)


def day_name(day: date) -> str:
    """Write a day as in "7 May 2023": in English, whatever the process's locale."""
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"


def either_day(one: date, other: date) -> str:
    """Write two days of which one is meant: "17 or 24 May 2025"."""
    if one.year != other.year:
        return f"{day_name(one)} or {day_name(other)}"
    if one.month != other.month:
        return f"{one.day} {_MONTH_NAMES[one.month - 1]} or {day_name(other)}"
    return f"{one.day} or {day_name(other)}"


def days_name(first: date, last: date) -> str:
    """Write the days from one to another: "20 to 26 May 2024", or a single one.

    Of whole months and years the days are left out: "May to July 2024".
    """
    if first == last:
        return day_name(first)
    if first.day == 1 and (last + relativedelta(days=1)).day == 1:
        return _months_name(first, last)
    if first.year != last.year:
        return f"{day_name(first)} to {day_name(last)}"
    if first.month != last.month:
        return f"{first.day} {_MONTH_NAMES[first.month - 1]} to {day_name(last)}"
    return f"{first.day} to {day_name(last)}"


def _months_name(first: date, last: date) -> str:
    """Write whole months: "2018 to 2021", "May to July 2024"."""
    if first.month == 1 and last.month == len(_MONTH_NAMES):
        return str(first.year) if first.year == last.year else f"{first.year} to {last.year}"
    begins, ends = period_name("month", first), period_name("month", last)
    if begins == ends:
        return ends
    if first.year == last.year:
        begins = _MONTH_NAMES[first.month - 1]
    return f"{begins} to {ends}"


def day_alone(day: date) -> Meaning:
    """Return a day as a time of its own."""
    return Meaning(day, day, day_name(day))


def month_in(phrase: str) -> int:
    """Return the number of the one month named in a phrase in lower case."""
    found: list[str] = re.findall(rf"{MONTH}\b", phrase)
    return _MONTHS[found[0][:3]]
