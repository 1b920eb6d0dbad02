"""Relative time expressions of English conversation, and which days they mean.

The rules are our own: dateparser 1.5 took 160 to 510 us a sentence, gives one moment where "last
week" means seven days, and does not know "last weekend".

Conventions; the anchor is the day on which the text was said:

* last: the most recent one that lies wholly before the anchor, so "last Friday" said on a Friday is
  7 days back. next and coming: the first that lies wholly after it. this: the one of the anchor's
  week, month or year; "this winter" is the one that began last December until June, and the one to
  come from July on.
* "this past" is "last" for a weekday, weekend, month name or season; "this past week", "month" or
  "year" is the one that ends the day before the anchor.
* "earlier this week" ends at the anchor, "later this week" begins there.
* "three months ago" is a calendar month, "two years ago" a calendar year, "two weeks ago" the
  Monday to Sunday around the day 14 days back. "A couple" is 2, "a few" is 2 to 5, "several" is 3
  to 8.
* "In two weeks" lies ahead, unless the words before it speak of how long or how often: "finished it
  in two weeks".
* Not resolved: a bare "on Friday", "the other day", "the last week", "my last year", "the last week
  of May"; and "may", "march", "sun", "sat" and "wed" in lower case, which are more often other
  words.
* What would fall outside the years 1 to 9999 is left alone.
"""

from __future__ import annotations

import re
from datetime import date

from dateutil.relativedelta import relativedelta

from demem_agent.later import pattern
from demem_agent.text.periods import (
    ALSO_WORDS,
    MONTH,
    SEASON,
    SEASONS,
    WEEKDAY,
    Meaning,
    day_name,
    named,
    period,
    period_name,
)

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
_LENGTHS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}
_STEPS = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}
_ONES = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS = (
    {"a": 1, "an": 1, "couple": 2}
    | {word: number for number, word in enumerate(_ONES + _TEENS, 1)}
    | {word: 10 * number for number, word in enumerate(_TENS, 2)}
)
_VAGUE = {"few": (2, 5), "several": (3, 8)}

_UNIT = rf"(?:week(?:end)?|month|year|{WEEKDAY}|{SEASON}(?!\s+\d)|{MONTH}(?!\.?,?\s+\d))"
_COUNT = (
    r"(?:\d{1,4}|(?:a\s+)?(?:couple(?:\s+of)?|few)|several"
    rf"|(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS + _ONES)}|an?)"
)
_COUNTED = (
    rf"{_COUNT}(?:\s*(?:-|–|\bor\b|\bto\b)\s*{_COUNT})?\s+(?:day|night|week(?:end)?|month|year)s?"
)
_PART = r"(?:\s+(?:morning|afternoon|evening|night))?"
_NOT_OWNED = (
    r"(?<!\bthe\s)(?<!\bone\s)(?<!\bmy\s)(?<!\byour\s)(?<!\bhis\s)(?<!\bour\s)(?<!\btheir\s)"
)

# Matched against lower-case text, which is faster than ignoring case. The lookahead names the first
# words of all that follows: plain literals are tried four times as fast as the alternatives
# themselves.
RELATIVE = pattern(
    r"\b(?=the\sday|day\s|yesterday|to(?:morrow|day|night)|earlier|later|this|coming|past|last|next"
    rf"|in\s|\d|an?\s|couple|few|several|{'|'.join(_ONES + _TEENS + _TENS)})(?:"
    rf"(?:the\s+)?(?P<fixed>day\s+before\s+yesterday|day\s+after\s+tomorrow){_PART}"
    rf"|(?P<near>yesterday|tomorrow){_PART}"
    r"|(?P<now>today|tonight|this\s+(?:morning|afternoon|evening)"
    r"|(?<!\bthe\s)last\s+night(?!\s+of\b))"
    r"|(?P<which>(?:earlier|later)\s+this|this\s+(?:past|coming)|this|coming|past"
    rf"|{_NOT_OWNED}(?:last|next))"
    rf"\s+(?P<unit>{_UNIT})\b{_PART}(?!\s+of\b)"
    r"|(?<!\d[.,:/])(?<!half\s)(?<!hundred\s)(?<!hundred\sand\s)"
    rf"(?P<counted>{_COUNTED})\s+(?P<way>ago|from\s+now)"
    rf"|in\s+(?P<ahead>{_COUNTED})(?:['’]?s?['’]?\s+time|\s+from\s+now)?"
    r"(?!\s+(?:ago|of|and\s+a\s+half|or\s+(?:two|so))\b)"
    r")\b(?!-\w)"
)
#: Only in queries: a turn that speaks of "the past two weeks" is seldom about their dates.
RUNNING = pattern(
    r"\b(?:(?:in|over|during|within|for)\s+)?"
    r"(?:(?:(?:the|these|this|my|our)\s+)?(?:past|last|previous)\s+"
    rf"(?P<count>{_COUNT})|the\s+(?:past|last)|past)\s+(?P<unit>day|week|month|year)s?\b"
)
_AMOUNT = pattern(rf"({_COUNT})(?:\s*(?:-|–|\bor\b|\bto\b)\s*({_COUNT}))?\s+([a-z]+)")

_COUNTABLE = frozenset({"day", "week", "month", "year", "night"})
# One of these is in whatever RELATIVE matches: "day" in today and yesterday, "night" in tonight, a
# unit before "ago".
_TRIGGERS = (*sorted(_COUNTABLE), "tomorrow", "last", "next", "this", "past", "coming")

_CLAUSE_ENDS = pattern(r"[.!?;:,\n]|\b(?:and|but|so)\b")
# Words before "in two weeks" that make it a length of time: a past tense, a frequency. The
# participles listed first go with a plan ("getting married in two weeks"), and "need" or "feed"
# only look like a past tense.
_ELAPSED = pattern(
    r"\b(?:(?!married|scheduled|supposed|expected|planned|excited)\w\w+(?<!e)ed"
    r"|was|were|had|did|got|took|went|made|read|left|saw|lost|won|wrote|built|ran|came"
    r"|(?:was|were|did|have|has|had)n['’]?t|not|never|ever|once|twice|times?)\b"
)
_ONE_UNIT = pattern(r"(?:a|one)\s+(?:week(?:end)?|month|year)")


def may_hold_time(low: str) -> bool:
    """Whether a text in lower case has a word that every relative time has one of."""
    for word in _TRIGGERS:  # noqa: SIM110  any() over a generator takes twice as long
        if word in low:
            return True
    return False


def relative_meaning(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    """Return what a match of :data:`RELATIVE` in a text means; None where it cannot be resolved."""
    try:
        return _resolved(match, text, anchor)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def running_since(match: re.Match[str], anchor: date) -> date | None:
    """Return the first day of a match of :data:`RUNNING`; None where it is before the year 1."""
    count = match["count"]
    most = _amount(count)[1] if count else 1
    try:
        return anchor - most * _LENGTHS[match["unit"]]
    except (OverflowError, ValueError):
        return None


def _resolved(match: re.Match[str], text: str, anchor: date) -> Meaning | None:
    which = match["which"]
    if which:
        return _stepped(which.split(), _unit(match, text), anchor)
    counted = match["counted"]
    if counted:
        sign = -1 if match["way"] == "ago" else 1
        return _shifted(counted, sign, anchor)
    ahead = match["ahead"]
    if ahead:
        return None if _is_length(match) else _shifted(ahead, 1, anchor)
    return _near_day(match, anchor)


def _near_day(match: re.Match[str], anchor: date) -> Meaning:
    """Resolve what is always as many days away, such as "yesterday"."""
    phrase = match["fixed"] or match["near"] or match["now"]
    days = _FIXED[_one_spaced(phrase)]
    return named("day", days, anchor)


def _one_spaced(phrase: str) -> str:
    return " ".join(phrase.split())


def _unit(match: re.Match[str], text: str) -> str:
    """Return a unit's canonical name, or "" for a word that is written like an ordinary one."""
    word = match["unit"]
    if word in ALSO_WORDS and not text[match.start("unit")].isupper():
        return ""
    if word in SEASONS or word in _COUNTABLE or word == "weekend":
        return word
    return word[:3]


def _is_length(match: re.Match[str]) -> bool:
    """Whether "in three weeks" is how long something took, or how often it happens, and not when.

    "In a day" is mostly a rate, and "in 30 day" goes on, as in "in 30 day steps".
    """
    ahead = match["ahead"]
    if not ahead.endswith("s") and not _ONE_UNIT.fullmatch(ahead):
        return True
    before = match.string[max(0, match.start() - 80) : match.start()]
    clause = _CLAUSE_ENDS.split(before)[-1]
    return _ELAPSED.search(clause) is not None


def _stepped(which: list[str], unit: str, anchor: date) -> Meaning | None:
    """Resolve last, this or next with a unit; ``which`` holds the words before the unit."""
    if not unit:
        return None
    if "past" in which and unit in _LENGTHS:
        return _just_past(unit, anchor) if "this" in which else None
    first, last, text = named(unit, _STEPS[which[-1]], anchor)
    if which[0] == "earlier":
        last = min(last, anchor)
    elif which[0] == "later":
        first = max(first, anchor)
    return Meaning(first, last, text) if first <= last else None


def _just_past(unit: str, anchor: date) -> Meaning:
    """Resolve "this past week": the one that ends the day before the anchor."""
    first = anchor - _LENGTHS[unit]
    last = anchor - relativedelta(days=1)
    return Meaning(first, last, f"the {unit} before {day_name(anchor)}")


def _shifted(phrase: str, sign: int, anchor: date) -> Meaning | None:
    """Resolve a count of units before (``sign`` -1) or after (1) the anchor."""
    match = _AMOUNT.fullmatch(phrase)
    if match is None:
        return None
    least, most = _amounts(match[1], match[2])
    unit = match[3].removesuffix("s")
    near = period(unit, sign * least, anchor)
    far = period(unit, sign * most, anchor)
    text = period_name(unit, near[0]) if near == far else ""
    if not text:
        text = _in_relation(phrase, sign, anchor)
    first = min(near[0], far[0])
    last = max(near[1], far[1])
    return Meaning(first, last, text)


def _in_relation(phrase: str, sign: int, anchor: date) -> str:
    """Write a count of units as in "a few days before 9 June 2023"."""
    relation = "before" if sign < 0 else "after"
    return f"{_one_spaced(phrase)} {relation} {day_name(anchor)}"


def _amounts(words: str, others: str | None) -> tuple[int, int]:
    """Return the least and the most that one count, or one "to" or "or" another, may mean."""
    least, most = _amount(words)
    if others:
        other_least, other_most = _amount(others)
        least = min(least, other_least)
        most = max(most, other_most)
    return least, most


def _amount(words: str) -> tuple[int, int]:
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
