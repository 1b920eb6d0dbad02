"""Times that are counted from others: "the Friday before last", "a week from Tuesday".

Conventions, beside those of :mod:`demem_agent.text.relative_dates`:

* "the week before last" is the one before "last week", "the Friday after next" the one after "next
  Friday".
* "Friday week", "a week on Friday" and "a week from Friday" are 7 days after the coming Friday;
  "two weeks from today" and "a year ago today" are days, not weeks or years.
* "two Sundays ago" is the Sunday before "last Sunday", "three Fridays from now" counts from the
  coming Friday.
* Half a year is 6 months, half a month 2 weeks, half a week 3 to 4 days: "a year and a half ago" is
  the calendar month 18 months back.
* "early" and "the beginning" are the first third, "mid" and "the middle" the second, "late" and
  "the end" the last: of a year in whole months, of a month from the 1st, 11th and 21st on; of a
  week Monday to Wednesday, Tuesday to Thursday and Thursday to Sunday.
* "In the new year" is early in the next year, from July on; before that nothing.
* Holidays have a day where they are the same everywhere: not Thanksgiving, not Easter. "Next
  Christmas" is left alone, which of two it is nobody knows.
"""

from __future__ import annotations

import re
from datetime import date

from dateutil.relativedelta import relativedelta

from demem_agent.text.periods import (
    DAY,
    SEASON,
    SEASONS,
    WEEKDAY,
    Meaning,
    Step,
    day_alone,
    day_name,
    named,
    period,
    period_name,
)
from demem_agent.text.relative_dates import (
    COUNT,
    STEPS,
    UNIT,
    amount,
    in_relation,
    is_length,
    unit_name,
)

__all__ = ["COMPOUND", "compound_meaning", "may_be_compound"]

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
_HOLIDAY = "|".join(name.replace("'", "['’]").replace(" ", r"\s+") for name in _HOLIDAYS)
_PARTS = {
    "early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2,
}  # fmt: skip
#: The days of a week that each third of it is, Monday being 0.
_OF_WEEK = ((0, 2), (1, 3), (3, 6))

_TIME_PART = r"(?:\s+(?:morning|afternoon|evening|night))?"
#: Behind "before last" and "after next": with another word it goes on, "before last Christmas".
_ENDS = (
    r"(?=\s*(?:[^\s\w]|\Z)|\s+(?:i|we|you|they|he|she|it|and|but|or|so|when|while|at|in|on|with|for"
    r"|is|are|was|were|will|would|had|works|suits|because|since|to|from|my|our|the|a|that|there)\b)"
)
_FROM = rf"(?:the\s+|this\s+|next\s+|last\s+)?{DAY}|today|tomorrow|yesterday"
_HALVED = r"(?:week|month|year)"
_HALF = (
    rf"(?:{COUNT}\s+and\s+a\s+half\s+{_HALVED}s|(?:an?|one)\s+{_HALVED}\s+and\s+a\s+half"
    rf"|half\s+an?\s+{_HALVED}|an?\s+half[-\s]{_HALVED})"
)
_NO_MORE = rf"(?!['’]s|\s*(?:-|–|to|or|and|through|till|until)\s*{DAY})"

#: Matched against lower-case text, as relative times are.
COMPOUND = re.compile(
    r"\b(?:"
    rf"(?:the\s+)?(?P<unit>{UNIT}|night)\s+(?P<beside>before\s+last|after\s+next)\b{_ENDS}"
    rf"|(?P<day>{DAY}){_TIME_PART}\s+(?:of\s+)?(?P<of>last|next|this)\s+week\b(?!['’]s)"
    rf"|(?P<week>last|next|this)\s+week\s*,?\s*(?:on\s+)?(?P<on>{DAY}){_TIME_PART}\b{_NO_MORE}"
    rf"|(?:(?<=\bon\s)|(?<=\bby\s)|(?<=\btill\s)|(?<=\buntil\s)|(?<=\byou\s)|(?<=\bfrom\s))"
    rf"(?P<hence>{DAY})\s+week\b(?!\s*(?:\d|one\b|two\b|-))"
    r"|(?P<soon>today|tomorrow)\s+week\b(?!\s*\d)"
    rf"|(?<!\bbe\s)(?P<after>(?:a|one)\s+week)\s+on\s+(?P<start>{DAY})\b{_NO_MORE}"
    rf"|(?P<later>{COUNT}\s+(?:day|fortnight|week|month|year)s?)\s+from\s+(?P<base>{_FROM})\b"
    rf"|(?P<earlier>{COUNT}\s+(?:day|fortnight|week|month|year)s?)\s+ago"
    rf"\s+(?P<then>today|tomorrow|yesterday|last\s+{DAY})\b"
    rf"|(?P<times>{COUNT})\s+(?P<counted>{DAY}|{SEASON})s\s+(?P<way>ago|from\s+now)\b"
    rf"|(?<!\d[.,])(?P<half>{_HALF})\s+(?P<half_way>ago|from\s+now)\b"
    rf"|in\s+(?P<half_ahead>{_HALF})(?:['’]?s?['’]?\s+time)?\b(?!\s+(?:ago|of)\b)"
    rf"|(?:the\s+)?(?:(?P<part>beginning|start|middle|end)\s+of\s+|(?P<early>early|mid|late)[-\s]+)"
    rf"(?P<whose>last|this|next)\s+(?P<whole>{UNIT})\b(?!['’]s|\s+of\b)"
    r"|in\s+(?P<new>the\s+new\s+year)\b(?!['’])"
    rf"|(?P<feast>last|this(?:\s+(?:past|coming))?|coming)\s+(?P<name>{_HOLIDAY})\b"
    r")"
)
_HALF_OF = re.compile(rf"(?:({COUNT})\s+and|(half)\b|a\s+(half)|({COUNT}))")


def may_be_compound(low: str) -> bool:
    """Whether a text in lower case has words that such a time has one of."""
    if "day" in low and ("nday" in low or "sday" in low or "rday" in low or "iday" in low):
        return True
    if "half" in low or "fortnight" in low or "new year" in low:
        return True
    if "today" in low or "tomorrow" in low or "yesterday" in low:
        return "week" in low or "ago" in low or "from" in low
    if " ago" in low and ("rs ago" in low or "ns ago" in low or "gs ago" in low):
        return True
    return (
        "re last" in low
        or "er next" in low
        or " of " in low
        or "early" in low
        or "late" in low
        or "mid" in low
        or "christmas" in low
        or "halloween" in low
        or "boxing" in low
        or "valentine" in low
    )


def compound_meaning(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Return what a match of :data:`COMPOUND` in a text means; None where it cannot be resolved."""
    try:
        return _resolved(match, text, anchor)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def _resolved(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    if match["beside"]:
        return _beside(match, text, anchor)
    if match["of"] or match["week"]:
        return _in_week(match, anchor)
    if match["whose"]:
        return _part(match, text, anchor)
    if match["new"]:
        return _thirds("year", 1, 0, anchor) if anchor.month > 6 else None
    if match["name"]:
        return _holiday(match, anchor)
    if match["half"] or match["half_ahead"]:
        return _halves(match, anchor)
    if match["times"]:
        return _several(match, anchor)
    return _from_day(match, anchor)


def _beside(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Resolve "the week before last" and "the Friday after next"."""
    unit = unit_name(match, text)
    if not unit:
        return None
    step = -2 if match["beside"].startswith("before") else 2
    return named(unit, step, anchor)


def _in_week(match: re.Match[str], anchor: date) -> Meaning:
    """Resolve "Friday of next week" and "last week on Tuesday"."""
    monday, _ = period("week", STEPS[match["of"] or match["week"]], anchor)
    first, _ = period((match["day"] or match["on"])[:3], 0, monday)
    return day_alone(first)


def _part(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Resolve "early next week" and "the end of last month"."""
    unit = unit_name(match, text, "whole")
    part = _PARTS[match["part"] or match["early"]]
    if unit in ("", "weekend") or _WEEKDAY.fullmatch(match["whole"]):
        return None
    return _thirds(unit, STEPS[match["whose"]], part, anchor)


def _thirds(unit: str, step: Step, part: int, anchor: date) -> Meaning:
    """Return the first, second or last third (``part``) of the period that is ``step`` away."""
    first, last = period(unit, step, anchor)
    if unit == "week":
        opens, closes = _OF_WEEK[part]
        last = first + relativedelta(days=closes)
        first = first + relativedelta(days=opens)
        return Meaning(first, last, f"{day_name(first)} to {day_name(last)}")
    text = f"{('early', 'mid', 'late')[part]} {period_name(unit, first)}"
    months = 4 if unit == "year" else 1
    if unit == "year" or unit in SEASONS:
        first = first + relativedelta(months=part * months)
        return Meaning(first, first + relativedelta(months=months - 1, day=31), text)
    begins = first + relativedelta(days=10 * part)
    return Meaning(begins, last if part == 2 else begins + relativedelta(days=9), text)


def _holiday(match: re.Match[str], anchor: date) -> Meaning | None:
    name = " ".join(match["name"].replace("’", "'").split())
    month, day = _HOLIDAYS[name]
    which = match["feast"].split()
    here = date(anchor.year, month, day)
    if which[-1] in ("last", "past"):
        return day_alone(here if here < anchor else here.replace(year=anchor.year - 1))
    if which[-1] == "coming":
        return day_alone(here if here > anchor else here.replace(year=anchor.year + 1))
    # In January this Christmas may be the one that was.
    return day_alone(here) if abs((here - anchor).days) < 300 else None


def _halves(match: re.Match[str], anchor: date) -> Meaning | None:
    """Resolve "a year and a half ago" and "in half a year"."""
    if match["half_ahead"] and is_length(match, "half_ahead"):
        return None
    phrase = match["half"] or match["half_ahead"]
    sign = -1 if match["half_way"] == "ago" else 1
    counted = _HALF_OF.match(phrase)
    if counted is None:
        return None
    number = counted[1] or counted[4]
    least, most = amount(number) if number else (0, 0)
    unit = re.findall(_HALVED, phrase)[0]
    near = _half_more(unit, sign, least, anchor)
    far = _half_more(unit, sign, most, anchor)
    first, last = min(near[0], far[0]), max(near[1], far[1])
    text = period_name("month", first) if unit == "year" and near == far else ""
    return Meaning(first, last, text or in_relation(phrase, sign, anchor))


def _half_more(unit: str, sign: int, count: int, anchor: date) -> tuple[date, date]:
    """Return when so many units and a half are over."""
    if unit == "year":
        return period("month", sign * (12 * count + 6), anchor)
    if unit == "month":
        months = anchor + relativedelta(months=sign * count)
        return period("week", sign * 2, months)
    days = [anchor + relativedelta(weeks=sign * count, days=sign * more) for more in (3, 4)]
    return min(days), max(days)


def _several(match: re.Match[str], anchor: date) -> Meaning | None:
    """Resolve "two Sundays ago" and "three Fridays from now"."""
    least, most = amount(match["times"])
    unit = match["counted"] if match["counted"] in SEASONS else match["counted"][:3]
    ago = match["way"] == "ago"
    if least < 1 or (unit in SEASONS and not ago):
        return None
    if least == most and ago:
        return named(unit, -least, anchor)
    if least == most:
        return day_alone(_coming(unit, anchor) + relativedelta(weeks=least - 1))
    return None


def _from_day(match: re.Match[str], anchor: date) -> Meaning | None:
    """Resolve what is counted from a day: "a week from Tuesday", "a year ago today"."""
    if match["hence"] or match["soon"]:
        base = _base(match["hence"] or match["soon"], anchor)
        return day_alone(base + relativedelta(weeks=1))
    if match["after"]:
        return day_alone(_base(match["start"], anchor) + relativedelta(weeks=1))
    sign = 1 if match["later"] else -1
    phrase = match["later"] or match["earlier"]
    base = _base(match["base"] or match["then"], anchor)
    count, unit = phrase.rsplit(maxsplit=1)
    least, most = amount(count)
    if least != most:
        return None
    return day_alone(base + sign * least * _LENGTHS[unit.removesuffix("s")])


_LENGTHS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "fortnight": relativedelta(weeks=2),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}
_NEAR = {"today": 0, "tomorrow": 1, "yesterday": -1}
_WEEKDAY = re.compile(WEEKDAY)


def _base(phrase: str, anchor: date) -> date:
    """Return the day that a phrase names: "tomorrow", "next Tuesday" or "Tuesday", the coming."""
    if phrase in _NEAR:
        return anchor + relativedelta(days=_NEAR[phrase])
    *which, day = phrase.split()
    unit = day[:3]
    if not which or which[0] == "the":
        return _coming(unit, anchor)
    return period(unit, STEPS[which[0]], anchor)[0]


def _coming(unit: str, anchor: date) -> date:
    return period(unit, "coming", anchor)[0]
