"""When a message of a chat was said, by the stamp that its line begins with.

As WhatsApp writes them in the language of a phone: "[01.02.24, 10:00:12] Ana: ...", "1/2/24, 10:00
AM - Ana: ...", "2024/02/01 午後10:00 - ...". Which number is the day and which the month is told by
no line alone; all of a file together mostly do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Literal

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass

__all__ = ["Dates", "Stamp", "dates_in", "stamped"]

#: Which of two numbers of a date comes first.
Dates = Literal["day", "month"]

#: Marks of the direction of writing, which stand before a line and show nothing.
_MARKS = "\u200e\u200f\u202a\u202b\u202c\ufeff"
_SPACE = r"[ \u00a0\u2009\u202f]*"
_DATE = (
    rf"(?P<first>\d{{1,4}})(?P<mark>[./-]){_SPACE}(?P<second>\d{{1,2}})(?P=mark)"
    rf"{_SPACE}(?P<third>\d{{1,4}})\.?"
)
_BETWEEN = rf"(?:[,،、]|T(?=\d))?{_SPACE}[\u200e\u200f]?(?:(?:à|às|at|um|klo|kl\.|om|alle|a las) )?"
#: Of the second half of a day, and of the first.
_PM = r"p\.?[ \u00a0\u202f]?m\.?|下午|晚上|午後|오후|م|μ\.?μ\.?|अपराह्न"
_AM = r"a\.?[ \u00a0\u202f]?m\.?|上午|凌晨|早上|中午|午前|오전|ص|π\.?μ\.?|पूर्वाह्न"
_TIME = (
    rf"(?:(?P<pm_before>{_PM})|(?P<am_before>{_AM}))?{_SPACE}"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second_of_minute>\d{2}))?"
    rf"(?:{_SPACE}(?:(?P<pm>{_PM})|(?P<am>{_AM})))?"
)
_STAMP = rf"{_DATE}{_BETWEEN}{_TIME}"
_BRACKETED = re.compile(
    rf"[{_MARKS}]*\[{_STAMP}(?: ?(?:UTC|Z))?\][ \t]*(?P<rest>.*)", re.DOTALL | re.IGNORECASE
)
_DASHED = re.compile(
    rf"[{_MARKS}]*{_STAMP}{_SPACE}[\u200e\u200f]?[-–] (?P<rest>.*)", re.DOTALL | re.IGNORECASE
)
_SAY = '"day" or "month", whichever the dates in it begin with, since they do not tell'
#: The longest month; and the months of a year.
_DAYS, _MONTHS = 31, 12
_CENTURY = 100
#: A year from here on is one of the Buddhist era, by which Thai phones count.
_BUDDHIST, _BEFORE_CHRIST = 2400, 543


@dataclass(frozen=True, slots=True)
class Stamp:
    """The date and the time of a line, as they are written.

    Attributes:
        numbers: of the date, in their order; the year is the first or the last.
        time: hour, minute and second, of 24 hours.
        written: the date as the line has it.
    """

    numbers: tuple[int, int, int]
    time: tuple[int, int, int]
    written: str

    @property
    def year_first(self) -> bool:
        """Whether the year comes first, and so the month before the day."""
        return self.numbers[0] > _DAYS

    def moment(self, dates: Dates) -> datetime | None:
        """Return when that is; None for no day of the calendar."""
        first, second, third = self.numbers
        if self.year_first:
            year, month, day = first, second, third
        elif dates == "day":
            day, month, year = first, second, third
        else:
            month, day, year = first, second, third
        if year < _CENTURY:
            year += 2000
        if year > _BUDDHIST:
            year -= _BEFORE_CHRIST
        try:
            return datetime(year, month, day, *self.time)
        except ValueError:
            return None


def stamped(line: str) -> tuple[Stamp, str] | None:
    """Return the stamp that a line begins with and what stands behind it; None without one."""
    found = _BRACKETED.fullmatch(line) or _DASHED.fullmatch(line)
    if found is None:
        return None
    numbers = int(found["first"]), int(found["second"]), int(found["third"])
    time = _time(found)
    stamp = Stamp(numbers, time, line[found.start("first") : found.end("third")])
    is_moment = time < (24, 0, 0) and time[1] < 60 and time[2] < 60
    if not is_moment or not (stamp.moment("day") or stamp.moment("month")):
        return None
    return stamp, found["rest"]


def _time(found: re.Match[str]) -> tuple[int, int, int]:
    hour = int(found["hour"])
    is_pm = found["pm_before"] or found["pm"]
    if is_pm or found["am_before"] or found["am"]:
        hour = hour % 12 + (12 if is_pm else 0)
    return hour, int(found["minute"]), int(found["second_of_minute"] or 0)


def dates_in(stamps: Sequence[Stamp], name: str) -> Dates:
    """Return whether the dates of a file begin with the day or with the month.

    A number above 12 is a day. Where there is none, a chat goes on in time: the order tells in
    which no message is dated before the one above it. A date with points or dashes in it begins
    with the day.

    Args:
        name: of the file, for the error.

    Raises:
        InvalidInput: where nothing tells, or one date tells the one and another the other.
    """
    told = [stamp for stamp in stamps if not stamp.year_first]
    by_day = next((stamp for stamp in told if stamp.moment("month") is None), None)
    by_month = next((stamp for stamp in told if stamp.moment("day") is None), None)
    if by_day and by_month:
        both = f"{by_day.written} and {by_month.written}"
        raise InvalidInput(f"{name}: dates", both, _SAY)
    if by_day or by_month:
        return "day" if by_day else "month"
    if all(stamp.moment("day") == stamp.moment("month") for stamp in told):
        return "day"  # whichever it is, they are the same
    rises = {dates: _rises(told, dates) for dates in ("day", "month")}
    if rises["day"] != rises["month"]:
        return "day" if rises["day"] else "month"
    other = next(one for one in told if one.moment("day") != one.moment("month"))
    if "/" not in other.written:
        return "day"
    raise InvalidInput(f"{name}: dates", other.written, _SAY)


def _rises(stamps: Sequence[Stamp], dates: Dates) -> bool:
    """Whether no date comes before the one above it."""
    days = [moment.date() for one in stamps if (moment := one.moment(dates)) is not None]
    return all(earlier <= later for earlier, later in pairwise(days))
