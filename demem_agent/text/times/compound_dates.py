"""Times that are counted from others: "the Friday before last", "a week from Tuesday".

Conventions, beside those of :mod:`demem_agent.text.times.relative_dates`:

* "the week before last" is the one before "last week", "the Friday after next" the one after "next
  Friday".
* "Friday week", "a week on Friday" and "a week from Friday" are 7 days after the coming Friday;
  "two weeks from today" and "a year ago today" are days, not weeks or years.
* "early" and "the beginning" are the first third, "mid" and "the middle" the second, "late" and
  "the end" the last: of a year in whole months, of a month from the 1st, 11th and 21st on; of a
  week Monday to Wednesday, Tuesday to Thursday and Thursday to Sunday.
* "In the new year" is early in the next year, from July on; before that nothing.
* Holidays have a day where they are the same everywhere: not Thanksgiving, not Easter. "Next
  Christmas" is left alone: which of two it is nobody knows.
"""

from __future__ import annotations

import re
from datetime import date

from dateutil.relativedelta import relativedelta

from demem_agent.later import pattern
from demem_agent.text.times.amounts import COUNT, LENGTHS, amount, coming
from demem_agent.text.times.periods import (
    DAY,
    MONTH,
    SEASON,
    SEASONS,
    STEPS,
    WEEKDAY,
    Meaning,
    Step,
    day_alone,
    day_name,
    named,
    period,
    period_name,
    unit_name,
)

__all__ = [
    "BESIDE",
    "FROM",
    "HENCE",
    "HOLIDAY",
    "IN_WEEK",
    "NO_MORE",
    "PART_OF_DAY",
    "THEN",
    "begins",
    "beside",
    "early_next_year",
    "from_day",
    "holiday",
    "in_week",
    "part_of",
]

_HOLIDAYS = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new years eve": (12, 31),
    "new year's day": (1, 1),
    "new years day": (1, 1),
    "valentine's day": (2, 14),
    "valentines day": (2, 14),
    "halloween": (10, 31),
}
_PARTS = {
    "early": 0,
    "beginning": 0,
    "start": 0,
    "mid": 1,
    "middle": 1,
    "late": 2,
    "end": 2,
}
#: The first and last day of each third of a week, Monday being 0.
_OF_WEEK = ((0, 2), (1, 3), (3, 6))
_NEAR = {"today": 0, "tomorrow": 1, "yesterday": -1}

# Patterns of what such times are put together from, for text in lower case.
HOLIDAY = f"(?:{'|'.join(_HOLIDAYS)})".replace("'", "['’]").replace(" ", r"\s+")
PART_OF_DAY = r"(?:\s+(?:morning|afternoon|evening|night))?"
#: Behind a weekday that is not the first of several.
NO_MORE = rf"(?!['’]s|\s*(?:-|–|to|or|and|through|till|until)\s*{DAY})"
#: What "before last" is before, if no other word follows: not "before last Christmas".
BESIDE = (
    r"(?P<beside>before\s+last|after\s+next)\b"
    r"(?=\s*(?:[^\s\w]|\Z)|\s+(?:i|we|you|they|he|she|it|and|but|or|so|when|while|at|in|on|with|for"
    r"|is|are|was|were|will|would|had|works|suits|because|since|to|from|my|our|the|a|that|there)\b)"
)
#: "Friday of next week".
IN_WEEK = rf"(?P<day>{DAY}){PART_OF_DAY}\s+(?:of\s+)?(?P<of>last|next|this)\s+week\b(?!['’]s)"
#: What a week of some kind is behind: "on Monday week plan".
_NAMES = r"(?:plans?|schedules?|menu|meals?|specials?|deals?|sales?)\b"
#: "Friday week", where it is no name: behind what a day stands behind, or where the clause ends.
HENCE = (
    r"(?:(?:(?<=\bon\s)|(?<=\bby\s)|(?<=\btill\s)|(?<=\buntil\s)|(?<=\byou\s)|(?<=\bfrom\s)"
    r"|(?<=\bis\s)|(?<=['’]s\s)|(?<=\bfor\s)|(?<=\bto\s))"
    rf"(?P<hence>{DAY})\s+week\b(?!\s*(?:\d|one\b|two\b|-|{_NAMES}))"
    r"|(?<!\bthe\s)(?<!\ba\s)(?<!\bevery\s)(?<!\beach\s)(?<!\bthis\s)(?<!\blast\s)(?<!\bnext\s)"
    r"(?<!\bof\s)(?<!\bmy\s)(?<!\bour\s)"
    rf"(?P<week_hence>{DAY})\s+week\b(?=\s*(?:[.!?;,)]|\Z)|\s+(?:at|then|works|suits|is|i|we|if)\b))"
)
#: Behind a count: "from Tuesday", and behind "ago": "today".
FROM = rf"from\s+(?P<base>(?:(?:the|this|next|last)\s+)?{DAY}|today|tomorrow|yesterday)"
THEN = rf"(?P<then>today|tomorrow|yesterday|last\s+{DAY})"

_UNIT_BEFORE = pattern(
    rf"\b(?:the\s+)?(?P<unit>week(?:end)?|month|year|night|{WEEKDAY}|{SEASON}|{MONTH})\s+\Z"
)
#: Behind these "late" and "early" are of the day: "stayed up late last week".
_OF_THE_DAY = (
    "up too so very was were been came home arrived worked working left leave slept".split()
)
_NOT_OF_THE_DAY = "".join(rf"(?<!\b{word}\s)" for word in _OF_THE_DAY)
_PART_BEFORE = pattern(
    r"\b(?:(?:the\s+)?(?P<part>beginning|start|middle|end)\s+of\s+"
    rf"|{_NOT_OF_THE_DAY}(?P<early>early|mid|late)[-\s]+)\Z"
)
_WITHOUT_PARTS = pattern(rf"{WEEKDAY}|weekend|")
#: How far back these begin at most.
_REACH = 24
_COUNT_OF = pattern(rf"({COUNT})\s+([a-z]+?)s?")


def begins(match: re.Match[str]) -> int:
    """Return where a relative time begins: with what stands before it, as in "early next week"."""
    if match["beside"]:
        before = _before(_UNIT_BEFORE, match)
    elif match["whole"] and not _WITHOUT_PARTS.fullmatch(match["unit"] or ""):
        before = _part_before(match)
    else:
        return match.start()
    return match.start() if before is None else before.start()


def _part_before(match: re.Match[str]) -> re.Match[str] | None:
    # Few times have one: one look at the letter that it would end with is much faster.
    before = match.string[max(0, match.start() - 2) : match.start()]
    if before[-1:] != "-" and before[:1] not in "fyde":
        return None
    if match.string.startswith(("'s", "’s"), match.end()):  # the end of last year's harvest
        return None
    return _before(_PART_BEFORE, match)


def _before(pattern: re.Pattern[str], match: re.Match[str]) -> re.Match[str] | None:
    start = match.start()
    return pattern.search(match.string, max(0, start - _REACH), start)


def beside(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Resolve "the week before last" and "the Friday after next"."""
    before = _before(_UNIT_BEFORE, match)
    unit = unit_name(before, text, "unit") if before else ""
    if not unit:
        return None
    step = -2 if match["beside"].startswith("before") else 2
    return named(unit, step, anchor)


def in_week(week: str, weekday: str, anchor: date) -> Meaning:
    """Resolve "Friday of next week" and "last week on Tuesday"; ``week`` is "next" or "last"."""
    monday, _ = period("week", STEPS[week], anchor)
    return day_alone(period(weekday[:3], 0, monday)[0])


def part_of(match: re.Match[str], unit: str, anchor: date) -> Meaning | None:
    """Resolve "early next week" and "the end of last month"; None where no such words are."""
    before = _part_before(match)
    if before is None or not unit or _WITHOUT_PARTS.fullmatch(match["unit"]):
        return None
    part = _PARTS[before["part"] or before["early"]]
    return _third(unit, STEPS[match["whole"]], part, anchor)


def early_next_year(anchor: date) -> Meaning | None:
    """Resolve "in the new year"."""
    return _third("year", 1, 0, anchor) if anchor.month > 6 else None


def _third(unit: str, step: Step, part: int, anchor: date) -> Meaning:
    """Return the first, second or last third (``part``) of the period that is ``step`` away."""
    first, last = period(unit, step, anchor)
    if unit == "week":
        opens, closes = _OF_WEEK[part]
        last = first + relativedelta(days=closes)
        first = first + relativedelta(days=opens)
        return Meaning(first, last, f"{day_name(first)} to {day_name(last)}")
    text = f"{('early', 'mid', 'late')[part]} {period_name(unit, first)}"
    if unit == "year" or unit in SEASONS:
        months = 4 if unit == "year" else 1
        first = first + relativedelta(months=part * months)
        return Meaning(first, first + relativedelta(months=months - 1, day=31), text)
    first = first + relativedelta(days=10 * part)
    return Meaning(first, last if part == 2 else first + relativedelta(days=9), text)


def holiday(name: str, step: Step, anchor: date) -> Meaning | None:
    """Resolve "last Christmas" and "this Halloween"."""
    month, day = _HOLIDAYS[" ".join(name.replace("’", "'").split())]
    here = date(anchor.year, month, day)
    if step == "coming":
        return day_alone(here if here > anchor else here.replace(year=anchor.year + 1))
    if step == 1:
        return None
    if step == -1:
        return day_alone(here if here < anchor else here.replace(year=anchor.year - 1))
    # In January this Christmas may be the one that was.
    return day_alone(here) if abs((here - anchor).days) < 300 else None


def from_day(phrase: str, base: str, sign: int, anchor: date) -> Meaning | None:
    """Resolve what is counted from a day: "a week from Tuesday", "a year ago today"."""
    counted = _COUNT_OF.fullmatch(phrase)
    if counted is None or counted[2] not in LENGTHS:
        return None
    least, most = amount(counted[1])
    if least != most:
        return None
    return day_alone(_base(base, anchor) + sign * least * LENGTHS[counted[2]])


def _base(phrase: str, anchor: date) -> date:
    """Return the day that a phrase names: "tomorrow", "next Tuesday" or "Tuesday", the coming."""
    if phrase in _NEAR:
        return anchor + relativedelta(days=_NEAR[phrase])
    *which, day = phrase.split()
    if not which or which[0] == "the":
        return coming(day, anchor)
    return period(day[:3], STEPS[which[0]], anchor)[0]
