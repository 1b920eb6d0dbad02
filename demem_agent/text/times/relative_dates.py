"""Relative time expressions of English conversation, and which days they mean.

The rules are our own: dateparser 1.5 took 160 to 510 us a sentence, gives one moment where "last
week" means seven days, and does not know "last weekend".

Conventions; the anchor is the day on which the text was said:

* last: the most recent one that lies wholly before the anchor, so "last Friday" said on a Friday is
  7 days back. this: the one of the anchor's week, month or year; "this winter" is the one that
  began last December until June, and the one to come from July on. next: that of the week or year
  after, so "next Friday" said on a Wednesday is 9 days ahead and "next September" said in May is in
  the next year; what comes first is "this Friday" or "the coming Friday". Dictionaries allow for
  both readings; this is how most speakers and guides to usage tell "next" from "this".
* "this past" is "last" for a weekday, weekend, month name or season; "this past week", "month" or
  "year" is the one that ends the day before the anchor.
* "earlier this week" ends at the anchor, "later this week" begins there.
* What counts mean is in :mod:`demem_agent.text.times.amounts`, what is counted from other times ("a
  week from Tuesday") in :mod:`demem_agent.text.times.compound_dates`, which "on Friday" it is in
  :mod:`demem_agent.text.times.bare_weekdays`.
* "In two weeks" lies ahead, unless the words before it speak of how long or how often: "finished it
  in two weeks", "the battery dies in a month", or only count something: "9 visits in two weeks".
* "Saw him next Friday" is left alone: what has happened lies behind, and "next" does not.
* Not resolved: "the other day", "the last week", "my last year", "the last week of May"; and "may",
  "march", "sun", "sat" and "wed" in lower case, which are more often other words.
* What would fall outside the years 1 to 9999 is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from dateutil.relativedelta import relativedelta

from demem_agent.later import pattern
from demem_agent.text.times.amounts import (
    COUNT,
    COUNTED,
    FIRST_WORDS,
    LENGTHS,
    amount,
    one_spaced,
    shifted,
)
from demem_agent.text.times.bare_weekdays import BARE, bare_weekday, has_happened
from demem_agent.text.times.compound_dates import (
    BESIDE,
    FROM,
    HENCE,
    HOLIDAY,
    IN_WEEK,
    NO_MORE,
    PART_OF_DAY,
    THEN,
    beside,
    early_next_year,
    from_day,
    holiday,
    in_week,
    part_of,
)
from demem_agent.text.times.periods import (
    DAY,
    MONTH,
    SEASON,
    STEPS,
    WEEKDAY,
    Meaning,
    day_name,
    named,
    unit_name,
)
from demem_agent.text.times.rates import counts

__all__ = ["RELATIVE", "RUNNING", "may_hold_time", "relative_meaning", "running_since"]

_FIXED = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
#: "Tomorrow" as it is written in haste.
_TOMORROW = (
    *("tmrw", "tmrrw", "tmr", "tomoz", "2moro", "2morrow", "2mrw", "2mro"),
    *("tomorow", "tommorow", "tommorrow"),
)
_HASTY = "|".join(_TOMORROW)

_UNIT = rf"(?:week(?:end)?|month|year|{WEEKDAY}|{SEASON}(?!\s+\d)|{MONTH}(?!\.?,?\s+\d))"
_NOT_OWNED = (
    r"(?<!\bthe\s)(?<!\bone\s)(?<!\bmy\s)(?<!\byour\s)(?<!\bhis\s)(?<!\bour\s)(?<!\btheir\s)"
)

_BEGINNINGS = (
    *("the day", "day ", "yesterday", "tomorrow", "today", "tonight", "earlier", "later", "this"),
    *_TOMORROW,
    *("coming", "past", "last", "next", "in ", "before last", "after next", *FIRST_WORDS),
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)


def _ahead(words: Iterable[str]) -> str:
    """Return a lookahead for the words that something may begin with, or a digit.

    By their first letters: at most places one look is enough.
    """
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[0], []).append(word[1:].replace(" ", r"\s+"))
    letters = "".join(sorted(by_letter))
    branches = [f"{letter}(?:{'|'.join(rest)})" for letter, rest in sorted(by_letter.items())]
    return rf"(?=[{letters}\d])(?={'|'.join(branches)}|\d)"


# Matched against lower-case text, which is faster than ignoring case. The lookahead names the first
# words of all that follows: plain literals are tried four times as fast as the alternatives
# themselves.
RELATIVE = pattern(
    rf"\b{_ahead(_BEGINNINGS)}(?:"
    rf"(?:the\s+)?(?P<fixed>day\s+before\s+yesterday|day\s+after\s+tomorrow){PART_OF_DAY}"
    rf"|(?P<soon>today|tomorrow)\s+week\b(?!\s*\d)"
    rf"|(?<!\bweek\s)(?<!\bweeks\s)(?P<near>yesterday|tomorrow|{_HASTY}){PART_OF_DAY}"
    r"(?!\s+never\b)"
    r"|(?<!\bweek\s)(?<!\bweeks\s)(?P<now>today|tonight|this\s+(?:morning|afternoon|evening)"
    r"|(?<!\bthe\s)last\s+night(?!\s+of\b))"
    r"|(?P<which>(?:earlier|later)\s+this|this\s+(?:past|coming)|coming|past"
    rf"|(?P<whole>this|{_NOT_OWNED}(?:last|next)))"
    rf"\s+(?:(?P<feast>{HOLIDAY})|(?P<unit>{_UNIT})\b"
    rf"(?:(?<=\bweek)\s*,?\s*(?:on\s+)?(?P<on>{DAY})\b{NO_MORE})?{PART_OF_DAY}"
    r"(?!\s+(?:of|but\s+(?:one|the\s+one))\b))"
    rf"|{BESIDE}|{IN_WEEK}|{HENCE}|{BARE}"
    r"|(?<!\d[.,:/])(?<!half\s)(?<!hundred\s)(?<!hundred\sand\s)"
    rf"(?P<counted>{COUNTED})\s+(?:(?P<way>ago|from\s+now)(?:\s+{THEN})?|{FROM})"
    rf"|(?<!\bbe\s)(?:a|one)\s+week\s+on\s+(?P<week_on>{DAY})\b{NO_MORE}"
    r"|in\s+(?P<new>the\s+new\s+year)(?!['’])"
    rf"|in\s+(?P<ahead>{COUNTED})(?:['’]?s?['’]?\s+time|\s+from\s+now)?"
    r"(?!\s+(?:ago|of|and\s+a\s+half|or\s+(?:two|so))\b)"
    r")\b(?!-\w)"
)
#: Only in queries: a turn that speaks of "the past two weeks" is seldom about their dates.
RUNNING = pattern(
    r"\b(?=in\s|over|during|within|for\s|the|this|my\s|our\s|past|last|previous)"
    r"(?:(?:in|over|during|within|for)\s+)?"
    r"(?:(?:(?:the|these|this|my|our)\s+)?(?:past|last|previous)\s+"
    rf"(?P<count>{COUNT})|the\s+(?:past|last)|past)\s+(?P<unit>day|week|month|year)s?\b"
)
_CLAUSE_ENDS = pattern(r"[.!?;:,\n]|\b(?:and|but|so)\b")
# Words before "in two weeks" that make it a length of time: a past tense, a frequency. The
# participles listed first go with a plan ("getting married in two weeks"), and "need" or "feed"
# only look like a past tense.
_ELAPSED = pattern(
    r"\b(?:(?!married|scheduled|supposed|expected|planned|excited)\w\w+(?<!e)ed"
    r"|was|were|had|did|got|took|went|made|read|left|saw|lost|won|wrote|built|ran|came"
    r"|(?:was|were|did|have|has|had)n['’]?t|not|never|ever|once|twice|times?)\b"
)
#: What takes so long whenever it happens: "the battery dies in a month", "she earns 90 in a day".
_HAPPENS = pattern(
    r"\b(?:dies|drains|dries|empties|melts|rots|rusts|fades|wears|spoils|heals|burns|doubles|grows"
    r"|eats|drinks|uses|reads|smokes|earns|costs|loses|gains|saves|clogs"
    r"|die|drain|dry|empty|melt|rot|rust|fade|spoil|heal|clog|go(?:es)? (?:bad|flat|off|stale|mad)"
    r")\b"
    r"|\b(?:nobody|no one|anyone|anybody|everyone|you can(?:['’]?t|not)?|you could(?:n['’]?t)?)\b"
)
_ONE_UNIT = pattern(
    r"(?:(?:a|one|half\s+an?)\s+(?:week(?:end)?|fortnight|month|year))(?:\s+and\s+a\s+half)?"
)


def may_hold_time(low: str) -> bool:
    """Whether a text in lower case has a word that every relative time has one of.

    "Day" is in today and yesterday, "night" in tonight.
    """
    return (  # written out: a loop takes longer than what it looks for
        "day" in low
        or "week" in low
        or "year" in low
        or "month" in low
        or "night" in low
        or "last" in low
        or "next" in low
        or "this" in low
        or "past" in low
        or " ago" in low
        or "coming" in low
        or "tomo" in low
        or "tomm" in low
        or "tmr" in low
        or "2mo" in low
        or "2mr" in low
    )


def relative_meaning(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Return what a match of :data:`RELATIVE` in a text means; None where it cannot be resolved."""
    try:
        return _resolved(match, text, anchor)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def running_since(match: re.Match[str], anchor: date) -> date | None:
    """Return the first day of a match of :data:`RUNNING`; None where it is before the year 1."""
    count = match["count"]
    most = amount(count)[1] if count else 1
    try:
        return anchor - most * LENGTHS[match["unit"]]
    except (OverflowError, ValueError):
        return None


def _resolved(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    if match["which"]:
        return _stepped(match, text, anchor)
    if match["counted"]:
        return _counted(match, anchor)
    if match["ahead"]:
        return None if _is_length(match) else shifted(match["ahead"], 1, anchor)
    if match["fixed"] or match["near"] or match["now"]:
        return _near_day(match, anchor)
    return _compound(match, text, anchor)


def _compound(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    if match["bare"]:
        return bare_weekday(match, anchor)
    if match["beside"]:
        return beside(match, text, anchor)
    if match["of"]:
        return in_week(match["of"], match["day"], anchor)
    if match["new"]:
        return early_next_year(anchor)
    base = match["hence"] or match["week_hence"] or match["soon"] or match["week_on"]
    return from_day("a week", base, 1, anchor)


def _counted(match: re.Match[str], anchor: date) -> Meaning | None:
    """Resolve "two weeks ago", "a week ago today" and "a week from Tuesday"."""
    sign = -1 if match["way"] == "ago" else 1
    base = match["base"] or match["then"]
    if base:
        return from_day(match["counted"], base, sign, anchor)
    return shifted(match["counted"], sign, anchor)


def _near_day(match: re.Match[str], anchor: date) -> Meaning:
    """Resolve what is always as many days away, such as "yesterday"."""
    phrase = match["fixed"] or match["near"] or match["now"]
    days = 1 if phrase in _TOMORROW else _FIXED[one_spaced(phrase)]
    return named("day", days, anchor)


def _is_length(match: re.Match[str]) -> bool:
    """Whether "in three weeks" is how long something took, or how often it happens, and not when.

    "In a day" is mostly a rate, and "in 30 day" goes on, as in "in 30 day steps".
    """
    ahead = match["ahead"]
    if not ahead.endswith("s") and not _ONE_UNIT.fullmatch(ahead):
        return True
    before = match.string[max(0, match.start() - 80) : match.start()]
    clause = _CLAUSE_ENDS.split(before)[-1]
    return bool(_ELAPSED.search(clause) or _HAPPENS.search(clause)) or counts(clause)


def _stepped(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Resolve last, this or next with a unit, and parts of what it is."""
    which = match["which"].split()
    step = STEPS[which[-1]]
    if match["feast"]:
        return holiday(match["feast"], step, anchor) if len(which) == 1 or step != 0 else None
    unit = unit_name(match, text, "unit")
    if not unit:
        return None
    if which == ["next"] and has_happened(match):
        return None
    if match["on"]:
        return in_week(which[-1], match["on"], anchor)
    if "past" in which and unit in LENGTHS:
        return _just_past(unit, anchor) if "this" in which else None
    part = part_of(match, unit, anchor) if match["whole"] else None
    if part is not None:
        return part
    first, last, text = named(unit, step, anchor)
    if which[0] == "earlier":
        last = min(last, anchor)
    elif which[0] == "later":
        first = max(first, anchor)
    return Meaning(first, last, text) if first <= last else None


def _just_past(unit: str, anchor: date) -> Meaning:
    """Resolve "this past week": the one that ends the day before the anchor."""
    first = anchor - LENGTHS[unit]
    last = anchor - relativedelta(days=1)
    return Meaning(first, last, f"the {unit} before {day_name(anchor)}")
