"""Find relative time expressions in English conversation and say which days they mean.

"I went yesterday" tells a reader little once the day it was said is out of sight, so a date can be
written beside it. The rules are our own, with ``relativedelta`` of the well-kept dateutil for the
arithmetic: dateparser 1.5 took 160 to 510 us a sentence, gives one moment where "last week" means
seven days, and does not know "last weekend".

Conventions; the anchor is the day on which the text was said:

* A week runs from Monday to Sunday, a weekend is Saturday and Sunday, seasons are the northern ones
  in whole months (spring is March to May). A winter bears both its years, "winter 2022-2023".
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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

from dateutil.relativedelta import FR, MO, SA, SU, TH, TU, WE, relativedelta

__all__ = ["Span", "absolute", "annotate", "find", "moment", "noted", "ranges", "running"]

_Meaning = tuple[date, date, str]


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


_MONTH_NAMES = tuple(
    "January February March April May June July August September October November December".split()
)
_MONTHS = {name[:3].lower(): number for number, name in enumerate(_MONTH_NAMES, 1)}
_WEEKDAYS = {name: number for number, name in enumerate("mon tue wed thu fri sat sun".split())}
_DATEUTIL_DAYS = (MO, TU, WE, TH, FR, SA, SU)
_SEASONS = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
}  # the month each begins in
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
_ALSO_WORDS = frozenset({"may", "march", "mar", "sun", "sat", "wed"})  # a name only with a capital

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_UNIT = rf"(?:week(?:end)?|month|year|{_WEEKDAY}|{_SEASON}(?!\s+\d)|{_MONTH}(?!\.?,?\s+\d))"
_COUNT = (
    r"(?:\d{1,4}|(?:a\s+)?(?:couple(?:\s+of)?|few)|several"
    rf"|(?:{'|'.join(_TENS)})(?:[-\s](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS + _ONES)}|an?)"
)
_COUNTED = (
    rf"{_COUNT}(?:\s*(?:-|–|\bor\b|\bto\b)\s*{_COUNT})?\s+(?:day|night|week(?:end)?|month|year)s?"
)
_PART = r"(?:\s+(?:morning|afternoon|evening|night))?"

# Matched against lower-case text, which is faster than ignoring case. The lookahead names the first
# words of all that follows: plain literals are tried four times as fast as the alternatives
# themselves.
_RELATIVE = re.compile(
    rf"\b(?=the\sday|day\s|yesterday|to(?:morrow|day|night)|earlier|later|this|coming|past|last|next|in\s|\d|an?\s"
    rf"|couple|few|several|{'|'.join(_ONES + _TEENS + _TENS)})(?:"
    rf"(?:the\s+)?(?P<fixed>day\s+before\s+yesterday|day\s+after\s+tomorrow){_PART}"
    rf"|(?P<near>yesterday|tomorrow){_PART}"
    r"|(?P<now>today|tonight|this\s+(?:morning|afternoon|evening)|(?<!\bthe\s)last\s+night(?!\s+of\b))"
    r"|(?P<which>(?:earlier|later)\s+this|this\s+(?:past|coming)|this|coming|past"
    r"|(?<!\bthe\s)(?<!\bone\s)(?<!\bmy\s)(?<!\byour\s)(?<!\bhis\s)(?<!\bour\s)(?<!\btheir\s)(?:last|next))"
    rf"\s+(?P<unit>{_UNIT})\b{_PART}(?!\s+of\b)"
    rf"|(?<!\d[.,:/])(?<!half\s)(?<!hundred\s)(?<!hundred\sand\s)(?P<counted>{_COUNTED})\s+(?P<way>ago|from\s+now)"
    rf"|in\s+(?P<ahead>{_COUNTED})(?:['’]?s?['’]?\s+time|\s+from\s+now)?(?!\s+(?:ago|of|and\s+a\s+half|or\s+(?:two|so))\b)"
    r")\b(?!-\w)"
)
#: Only in queries: a turn that speaks of "the past two weeks" is seldom about their dates.
_RUNNING = re.compile(
    r"\b(?:(?:in|over|during|within|for)\s+)?(?:(?:(?:the|these|this|my|our)\s+)?(?:past|last|previous)\s+"
    rf"(?P<count>{_COUNT})|the\s+(?:past|last)|past)\s+(?P<unit>day|week|month|year)s?\b"
)
_AMOUNT = re.compile(rf"({_COUNT})(?:\s*(?:-|–|\bor\b|\bto\b)\s*({_COUNT}))?\s+([a-z]+)")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)

_COUNTABLE = frozenset({"day", "week", "month", "year", "night"})
# One of these is in whatever _RELATIVE matches: "day" in today and yesterday, "night" in tonight, a
# unit before "ago".
_TRIGGERS = (*sorted(_COUNTABLE), "tomorrow", "last", "next", "this", "past", "coming")

_CLAUSE_ENDS = re.compile(r"[.!?;:,\n]|\b(?:and|but|so)\b")
# Words before "in two weeks" that make it a length of time: a past tense, a frequency. The
# participles listed first go with a plan ("getting married in two weeks"), and "need" or "feed"
# only look like a past tense.
_ELAPSED = re.compile(
    r"\b(?:(?!married|scheduled|supposed|expected|planned|excited)\w\w+(?<!e)ed"
    r"|was|were|had|did|got|took|went|made|read|left|saw|lost|won|wrote|built|ran|came"
    r"|(?:was|were|did|have|has|had)n['’]?t|not|never|ever|once|twice|times?)\b"
)


def find(text: str, anchor: date) -> list[Span]:
    """Find the relative time expressions in a text said on the day ``anchor``, in order, without
    overlaps.

    Returns:
        one span for each expression that can be resolved; the conventions are in the module
        docstring.
    """
    low = _lower(text)
    if not _triggered(low):
        return []
    day = _plain(anchor)
    return [
        span
        for match in _RELATIVE.finditer(low)
        if (span := _span(match, _relative(match, text, day)))
    ]


def absolute(text: str, anchor: date | None = None) -> list[Span]:
    """Find the absolute dates in a text, in order, without overlaps.

    A date without a year is skipped when there is no anchor. With one, "May 7th" is in the anchor's
    year and "in May" is the latest May that began by the anchor. "8/5/2023" is skipped: it is May
    in one country, August in another.
    """
    low = _lower(text)
    day = None if anchor is None else _plain(anchor)
    return [
        span
        for match in _ABSOLUTE.finditer(low)
        if (span := _span(match, _dated(match, text, day)))
    ]


def annotate(text: str, anchor: date) -> str:
    """Write its date after each relative expression: "I went yesterday (7 May 2023) and ...".

    Nothing is removed or changed, and a date that already stands there is not written again.
    """
    return noted(text, find(text, anchor))


def noted(text: str, spans: Iterable[Span]) -> str:
    """Write what each span of a text means after it, as :func:`annotate` does; spans in order."""
    pieces, done = [], 0
    for span in spans:
        possessive = _POSSESSIVE.match(text, span.end)
        end = possessive.end() if possessive else span.end
        note = f" ({span.text})"
        if not text.startswith(note, end):
            pieces += [text[done:end], note]
            done = end
    return "".join([*pieces, text[done:]])


def ranges(query: str, asked: date | None) -> list[Span]:
    """Find what time a query is about: its absolute dates and, when it is known when it was asked,
    its relative ones.

    "In the past two weeks" ends on the day it is asked. Where two overlap, as in "this June the
    5th", the absolute date is kept, and a relative one before a running one ("this past week").
    """
    spans = absolute(query, asked)
    for more in (find(query, asked), list(_windows(query, asked))) if asked else ():
        spans += [
            span
            for span in more
            if all(span.end <= other.start or other.end <= span.start for other in spans)
        ]
    return sorted(spans, key=lambda span: span.start)


def running(query: str) -> list[tuple[int, int]]:
    """Give the (start, end) of every time in a query that ends when it is asked: "in the past two
    weeks".
    """
    return [match.span() for match in _RUNNING.finditer(_lower(query))]


def _windows(query: str, asked: date) -> Iterator[Span]:
    for match in _RUNNING.finditer(_lower(query)):
        most = _amount(match["count"])[1] if match["count"] else 1
        try:
            first = _plain(asked) - most * _LENGTHS[match["unit"]]
        except (OverflowError, ValueError):  # before the year 1
            continue
        yield Span(
            match.start(), match.end(), first, _plain(asked), f"{_day(first)} to {_day(asked)}"
        )


def _lower(text: str) -> str:
    """Lower the case and keep every position: the one letter whose lower case is longer stays as it
    is.
    """
    low = text.lower()
    return (
        low
        if len(low) == len(text)
        else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
    )


def _triggered(low: str) -> bool:
    for word in _TRIGGERS:  # noqa: SIM110  any() over a generator takes twice as long
        if word in low:
            return True
    return False


def _plain(day: date) -> date:
    """Cut a datetime to its day, since dates and datetimes do not compare."""
    return date(day.year, day.month, day.day)


def _span(match: re.Match[str], meaning: _Meaning | None) -> Span | None:
    return Span(match.start(), match.end(), *meaning) if meaning else None


def _relative(match: re.Match[str], text: str, anchor: date) -> _Meaning | None:
    try:
        if which := match["which"]:
            return _stepped(which.split(), _unit(match, text), anchor)
        if counted := match["counted"]:
            return _shifted(counted, -1 if match["way"] == "ago" else 1, anchor)
        if ahead := match["ahead"]:
            return None if _is_length(match) else _shifted(ahead, 1, anchor)
        days = _FIXED[" ".join((match["fixed"] or match["near"] or match["now"]).split())]
        return _named("day", days, anchor)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def _unit(match: re.Match[str], text: str) -> str:
    """Give a unit's canonical name, or "" for a word that is written like an ordinary one."""
    word = match["unit"]
    if word in _ALSO_WORDS and not text[match.start("unit")].isupper():
        return ""
    return word if word in _SEASONS or word in _COUNTABLE or word == "weekend" else word[:3]


def _is_length(match: re.Match[str]) -> bool:
    """Tell whether "in three weeks" is how long something took, or how often it happens, and not
    when it will be.
    """
    ahead = match[
        "ahead"
    ]  # "in a day" is mostly a rate, and "in 30 day" goes on as in "in 30 day steps"
    if not ahead.endswith("s") and not re.fullmatch(
        r"(?:a|one)\s+(?:week(?:end)?|month|year)", ahead
    ):
        return True
    before = match.string[max(0, match.start() - 80) : match.start()]
    return _ELAPSED.search(_CLAUSE_ENDS.split(before)[-1]) is not None


def _stepped(which: list[str], unit: str, anchor: date) -> _Meaning | None:
    """Resolve last, this or next with a unit; ``which`` holds the words before the unit."""
    if not unit:
        return None
    if "past" in which and unit in _LENGTHS:
        return _running(unit, anchor) if "this" in which else None
    first, last, text = _named(unit, _STEPS[which[-1]], anchor)
    if which[0] == "earlier":
        last = min(last, anchor)
    elif which[0] == "later":
        first = max(first, anchor)
    return (first, last, text) if first <= last else None


def _running(unit: str, anchor: date) -> _Meaning:
    return (
        anchor - _LENGTHS[unit],
        anchor - relativedelta(days=1),
        f"the {unit} before {_day(anchor)}",
    )


def _named(unit: str, step: int, anchor: date) -> _Meaning:
    first, last = _period(unit, step, anchor)
    around = _day(first if unit == "weekend" and not step else anchor)
    return (
        first,
        last,
        _name(unit, first) or f"the {unit} {('of', 'after', 'before')[step]} {around}",
    )


def _shifted(phrase: str, sign: int, anchor: date) -> _Meaning | None:
    """Resolve a count of units before (``sign`` -1) or after (1) the anchor."""
    match = _AMOUNT.fullmatch(phrase)
    if match is None:
        return None
    counts = [count for words in match.group(1, 2) if words for count in _amount(words)]
    unit = match[3].removesuffix("s")
    near, far = (_period(unit, sign * count, anchor) for count in (min(counts), max(counts)))
    name = _name(unit, near[0]) if near == far else ""
    text = name or f"{' '.join(phrase.split())} {'before' if sign < 0 else 'after'} {_day(anchor)}"
    return min(near[0], far[0]), max(near[1], far[1]), text


def _amount(words: str) -> tuple[int, int]:
    """Read a count of 0 to 9999; give the least and the most it may mean."""
    if words.isdigit():
        return int(words), int(words)
    parts = re.split(r"[-\s]+", words)
    for part in parts:
        if part in _VAGUE:
            return _VAGUE[part]
    if "couple" in parts:
        return 2, 2
    total = sum(_NUMBERS[part] for part in parts)
    return total, total


def _period(unit: str, step: int, anchor: date) -> tuple[date, date]:
    """Give the first and last day of a unit: of the running one for step 0, the last for -1, the
    next for 1, and so on.

    Any other unit is a day or a night. Raises OverflowError or ValueError outside the years 1 to
    9999.
    """
    if unit in _WEEKDAYS:
        day = _weekday(_WEEKDAYS[unit], step, anchor)
        return day, day
    if unit in _SEASONS:
        return _yearly(_SEASONS[unit], 3, step, anchor)
    if unit in _MONTHS:
        return _yearly(_MONTHS[unit], 1, step, anchor)
    if unit == "weekend":
        saturday = (
            _weekday(5, step, anchor)
            if step >= 0
            else _weekday(6, step, anchor) - relativedelta(days=1)
        )
        return saturday, saturday + relativedelta(days=1)
    if unit == "week":
        monday = _weekday(0, 0, anchor) + relativedelta(weeks=step)
        return monday, monday + relativedelta(days=6)
    if unit == "month":
        return _months(anchor + relativedelta(months=step, day=1), 1)
    if unit == "year":
        return _months(anchor + relativedelta(years=step, month=1, day=1), 12)
    day = anchor + relativedelta(days=step)
    return day, day


def _weekday(number: int, step: int, anchor: date) -> date:
    if step < 0:
        return anchor + relativedelta(days=-1, weeks=step + 1, weekday=_DATEUTIL_DAYS[number](-1))
    if step > 0:
        return anchor + relativedelta(days=1, weeks=step - 1, weekday=_DATEUTIL_DAYS[number](1))
    return anchor + relativedelta(days=number - anchor.weekday())


def _yearly(month: int, length: int, step: int, anchor: date) -> tuple[date, date]:
    """Place what comes once a year, from the first of ``month`` on, ``length`` months long;
    ``step`` is -1, 0 or 1.
    """
    year = anchor.year
    if step == 0 and month + length > 13 and anchor.month <= 6:
        year -= 1
    while step < 0 and _months(date(year, month, 1), length)[1] >= anchor:
        year -= 1
    while step > 0 and date(year, month, 1) <= anchor:
        year += 1
    return _months(date(year, month, 1), length)


def _months(first: date, length: int) -> tuple[date, date]:
    return first, first + relativedelta(months=length - 1, day=31)


def _name(unit: str, first: date) -> str:
    """Write a day, month, season or year; "" for weeks and weekends, which have no names."""
    if unit in ("week", "weekend"):
        return ""
    if unit == "year":
        return str(first.year)
    if unit == "month" or unit in _MONTHS:
        return f"{_MONTH_NAMES[first.month - 1]} {first.year}"
    if unit == "winter":
        return f"winter {first.year}-{first.year + 1}"
    return f"{unit} {first.year}" if unit in _SEASONS else _day(first)


def _day(day: date) -> str:
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"


_ORDINAL = r"(?:st|nd|rd|th)?"
_YEAR = r"(?:\.?,?\s+(?:of\s+)?[12]\d{3}\b)"
_NUMBER_ENDS = r"(?![\w%]|[.,:/-]\d)"
_ABSOLUTE = re.compile(
    r"\b(?=\d|jan|feb|mar|apr|may|ju[nl]|aug|sep|oct|nov|dec|in\s|during|throughout|spring|summer|autumn|fall|winter)"
    r"(?<![/.:-])(?:"
    r"(?P<iso>\d{4}-\d\d-\d\d)(?![\d-])"
    rf"|(?P<day>\d{{1,2}}{_ORDINAL}\s+(?:of\s+)?{_MONTH}\b{_YEAR}?"
    rf"|{_MONTH}\.?\s+(?:the\s+)?\d{{1,2}}{_ORDINAL}{_NUMBER_ENDS}{_YEAR}?)"
    rf"|(?P<month>{_MONTH}{_YEAR})"
    rf"|(?P<season>{_SEASON}\s+(?:of\s+)?[12]\d{{3}}\b)"
    rf"|(?P<recent>in\s+(?:early\s+|mid[-\s]|late\s+)?{_MONTH}\b(?!{_YEAR}|\.?\s+\d|,?\s+(?:of\s+)?(?:last|this|next)\b))"
    rf"|(?:in|during|throughout)\s+(?P<year>(?:1[89]|20)\d\d){_NUMBER_ENDS}"
    r")"
)


def _dated(match: re.Match[str], text: str, anchor: date | None) -> _Meaning | None:
    try:
        return _parsed(match, text, anchor)
    except ValueError:  # 31 June, or 29 February of a common year
        return None


def _parsed(match: re.Match[str], text: str, anchor: date | None) -> _Meaning | None:
    if match["iso"]:
        return _one(date.fromisoformat(match["iso"]))
    if match["day"]:
        return _one_day(match, text, anchor)
    if match["recent"]:
        return _recent(_month(match["recent"]), anchor)
    year = int(match[0][-4:])
    if match["month"]:
        first, last = _months(date(year, _month(match["month"]), 1), 1)
        return first, last, _name("month", first)
    if match["season"]:
        season = match["season"].split()[0]
        first, last = _months(date(year, _SEASONS[season], 1), 3)
        return first, last, _name(season, first)
    return date(year, 1, 1), date(year, 12, 31), str(year)


def _one(day: date) -> _Meaning:
    return day, day, _day(day)


def _one_day(match: re.Match[str], text: str, anchor: date | None) -> _Meaning | None:
    """Read "7 May 2023", "May 7, 2023" or "May 7th"; the last needs the anchor for its year."""
    numbers = [int(digits) for digits in re.findall(r"\d+", match[0])]
    year = next((number for number in numbers if number > 999), anchor.year if anchor else None)
    if year is None or (len(numbers) == 1 and _reads_as_verb(match, text)):
        return None
    return _one(date(year, _month(match[0]), min(numbers)))


def _reads_as_verb(match: re.Match[str], text: str) -> bool:
    """Tell "we march 7 miles" from "March 7" and "on march 7"."""
    word = re.search(_MONTH, match[0])
    if word is None or word[0] not in _ALSO_WORDS or text[match.start() + word.start()].isupper():
        return False
    return not match.string.endswith("on ", 0, match.start())


def _recent(month: int, anchor: date | None) -> _Meaning | None:
    if anchor is None:
        return None
    first, last = _months(date(anchor.year - (month > anchor.month), month, 1), 1)
    return first, last, _name("month", first)


def _month(phrase: str) -> int:
    """Give the number of the one month named in a phrase."""
    return next(_MONTHS[word[:3]] for word in re.findall(rf"{_MONTH}\b", phrase))


def moment(at: datetime | None) -> float:
    """Give seconds since 1970 for ordering; a time without zone counts as UTC, an unknown one as
    -inf.
    """
    if at is None:
        return float("-inf")
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
