"""Relative times in other languages than English, and which days they mean.

The phrases are data, ``foreign_dates.json`` beside this module; what they mean is reckoned by
:mod:`demem_agent.text.times.periods`, as for English. dateparser 1.5 takes 2 to 40 ms a text, gives
one moment where "letzte Woche" means seven days, and the Friday before for "nächsten Freitag".

A row of the table has words for days at a fixed distance, for units, weekdays and numbers, and
phrases. ``{unit}`` stands for a period or a weekday, ``{count} {counted}`` for a number of units.
The kind of a phrase says what it means:

* ``step N``: the period or weekday N places from the running one; ``step N week`` names it itself.
* ``next``: step 1; of a weekday that is still to come this week both that one and the next are
  named, since either may be meant: "17 or 24 May 2025".
* ``weekday N``: the day of the week N weeks from the running one.
* ``shift S``: a count of units before (-1) or after (1); ``shift S N week`` names it itself. After
  is not resolved where ``length`` (a past tense, mostly) stands in the sentence: "in zwei Wochen
  geschafft".
* ``ago`` and ``did``: before, only where ``past`` stands in the sentence; ``will``: after, only
  where ``future`` does. So Hindi "kal", yesterday or tomorrow, is told by its verb.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Any

from dateutil.relativedelta import relativedelta

from demem_agent.later import dataclass, pattern
from demem_agent.shipped import shipped
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.scripts import may_be_other
from demem_agent.text.language.words import is_surely_english, language_of
from demem_agent.text.remembered import kept_lately
from demem_agent.text.times.periods import (
    Meaning,
    day_alone,
    day_name,
    either_day,
    named,
    period,
    period_name,
)
from demem_agent.text.times.rates import counts

__all__ = ["foreign_times"]

_SENTENCE_ENDS = "[.!?;\n。！？।؟]"
_SCRIPTS = {
    "japanese": "[\u3041-\u30ff]",
    "chinese": "[\u4e00-\u9fff]",
    "korean": "[\uac00-\ud7af]",
    "arabic": "[\u0621-\u064a]",
    "hindi": "[\u0900-\u097f]",
    "russian": "[\u0400-\u04ff]",
}
#: Words for times that no other language has: what is short tells its language by nothing else.
_OWN_WORDS = pattern(
    r"(?<![\w-])(?:(?P<german>(?:vor)?gestern|heute|(?:ü|ue)bermorgen)"
    r"|(?P<french>demain|aujourd['’]hui|avant-hier|apr[èe]s-demain)|(?P<spanish>anteayer|ayer|anoche)"
    r"|(?P<portuguese>amanh[ãa]|(?:ante)?ontem)|(?P<italian>(?:dopo)?domani|ieri|stasera)"
    r"|(?P<dutch>(?:eer)?gisteren|vandaag|overmorgen|vanavond|vanmiddag|vanmorgen"
    r"|(?:volgende?|vorige?) (?:week|maand|jaar|\w{3,6}dag)|aanstaande))(?![\w-])",
    re.IGNORECASE,
)
#: Where a word may begin and end.
_BOUNDS = {
    "japanese": ("", ""),
    "chinese": ("", ""),
    "korean": (r"(?<!\w)", ""),
    "arabic": (r"(?:(?<!\w)|(?<=(?<!\w)و))", "(?![\\w\u064b-\u0652])"),
    "hindi": ("(?<![\\w\u0900-\u097f])", "(?![\\w\u0900-\u097f])"),
}
_WORDS = (r"(?<![\w-])", r"(?!\w|-\w)")
_HAN_NUMBERS = "一二三四五六七八九"
_HAN_COUNT = (
    "(?<![〇一二两兩三四五六七八九十百千\\d])"
    "(?P<han>[一二两兩三四五六七八九]?十?[一二三四五六七八九]?)"
)
_WEEKDAYS: tuple[str, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_COUNTABLE = ("day", "week", "month", "year")
#: Characters of a text of which it is not kept which languages it is in.
_LONG = 1000
_MOST_READ = 100_000
#: Counts of more are no times of a conversation.
_MOST = 999


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A pattern of a language and what it means, by kind, number and unit ("" is in the text)."""

    kind: str
    step: int
    count: int
    unit: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Language:
    """The phrases of a language, and what in a sentence decides; those that never match are None.

    Attributes:
        any: whether there may be one at all.
        numbers: the value of each group of a count.
    """

    any: re.Pattern[str]
    phrases: tuple[_Phrase, ...]
    length: re.Pattern[str] | None
    past: re.Pattern[str] | None
    future: re.Pattern[str] | None


def foreign_times(low: str, text: str, anchor: date) -> Iterator[tuple[int, int, Meaning]]:
    """Yield the relative times of a text that is not English, each with where it starts and ends.

    Args:
        low: the text in lower case, character by character.
        anchor: the day on which it was said.

    Of a longer text only the first 100,000 characters are looked at.
    """
    low = low[:_MOST_READ]
    for name in _languages(text):
        language = _language(name)
        if language is None or not language.any.search(low):
            continue
        for phrase in language.phrases:
            for match in phrase.pattern.finditer(low):
                meaning = _meaning(phrase, language, match, text, anchor)
                if meaning is not None:
                    yield match.start(), match.end(), meaning


def _languages(text: str) -> tuple[str, ...]:
    """Return the languages whose phrases may be in a text."""
    return _told_languages(text) if len(text) > _LONG else _languages_lately(text)


@kept_lately(4096)  # lines are read again and again
def _languages_lately(text: str) -> tuple[str, ...]:
    return _told_languages(text)


def _told_languages(text: str) -> tuple[str, ...]:
    found = []
    latin = language_of(text)
    if latin != ENGLISH:
        found.append(latin)
    elif not is_surely_english(text) and (own := _OWN_WORDS.search(text[:_LONG])) is not None:
        found.append(own.lastgroup or latin)
    if not text.isascii() and may_be_other(text):
        of_script = [name for name, letters in _SCRIPTS.items() if re.search(letters, text)]
        if "japanese" in of_script and "chinese" in of_script:
            of_script.remove("chinese")
        found += of_script
    return tuple(found)


def _meaning(
    phrase: _Phrase, language: _Language, match: re.Match[str], text: str, anchor: date
) -> Meaning | None:
    if _is_noun(match, text) or not _is_decided(phrase, language, match):
        return None
    try:
        return _reckoned(phrase, match, anchor)
    except (OverflowError, ValueError):  # before the year 1 or after 9999
        return None


def _is_noun(match: re.Match[str], text: str) -> bool:
    """Whether a word has a capital within a sentence: German "Morgen" is the morning."""
    first = text[match.start()]
    if match[0] != "morgen" or not first.isupper():
        return False
    before = text[: match.start()].rstrip()
    greets = not text[match.end() : match.end() + 2].strip(" ").isalpha()
    return greets or not (not before or re.match(_SENTENCE_ENDS, before[-1]))


def _is_decided(phrase: _Phrase, language: _Language, match: re.Match[str]) -> bool:
    """Whether the sentence around a phrase says that it lies before or after."""
    if phrase.kind in ("ago", "did", "will"):
        sentence = _sentence_of(match)
        past = language.past is not None and language.past.search(sentence) is not None
        future = language.future is not None and language.future.search(sentence) is not None
        return (future and not past) if phrase.kind == "will" else (past and not future)
    if phrase.kind != "shift" or phrase.step <= 0:
        return True
    before, after = _around(match)
    if language.length is not None and language.length.search(f"{before} {after}"):
        return False
    return bool(after.strip()) or not counts(before)


def _sentence_of(match: re.Match[str]) -> str:
    """Return the sentence that a match is in, without the match."""
    return " ".join(_around(match))


def _around(match: re.Match[str]) -> tuple[str, str]:
    """Return what stands before and behind a match in its sentence."""
    before = re.split(_SENTENCE_ENDS, match.string[max(0, match.start() - 120) : match.start()])[-1]
    after = re.split(_SENTENCE_ENDS, match.string[match.end() : match.end() + 120])[0]
    return before, after


def _reckoned(phrase: _Phrase, match: re.Match[str], anchor: date) -> Meaning | None:
    unit = phrase.unit or _unit_of(match)
    if phrase.kind == "day":
        return day_alone(anchor + relativedelta(days=phrase.step))
    if phrase.kind == "weekday":
        return _in_week(unit, phrase.step, anchor)
    if phrase.kind == "next":
        return _next(unit, anchor)
    if phrase.kind == "step":
        return named(unit, "coming" if phrase.step == 1 else phrase.step, anchor)
    count = phrase.count or _count_of(match)
    return _shifted(count, unit, phrase.step, anchor) if 0 < count <= _MOST else None


def _may_be_either(unit: str, anchor: date) -> bool:
    """Whether "next Friday" may be that of this week as well as that of the next."""
    if unit == "weekend":
        return anchor.weekday() < _WEEKDAYS.index("sat")
    return unit in _WEEKDAYS and _WEEKDAYS.index(unit) > anchor.weekday()


def _next(unit: str, anchor: date) -> Meaning | None:
    """Return what "next Friday" means; None of a weekend that may be either of two."""
    coming = named(unit, "coming", anchor)
    if not _may_be_either(unit, anchor):
        return coming
    if unit == "weekend":
        return None
    later = coming.first + relativedelta(weeks=1)
    return Meaning(coming.first, later, either_day(coming.first, later))


def _in_week(unit: str, weeks: int, anchor: date) -> Meaning:
    """Return a weekday, or the weekend, of the week so many weeks from the anchor's."""
    monday, sunday = period("week", weeks, anchor)
    if unit == "weekend":
        saturday = sunday - relativedelta(days=1)
        return Meaning(saturday, sunday, f"{day_name(saturday)} to {day_name(sunday)}")
    return day_alone(monday + relativedelta(days=_WEEKDAYS.index(unit)))


def _shifted(count: int, unit: str, sign: int, anchor: date) -> Meaning:
    """Return a count of units before (``sign`` -1) or after (1) the anchor."""
    first, last = period(unit, sign * count, anchor)
    text = period_name(unit, first)
    if not text:
        much = f"a {unit}" if count == 1 else f"{count} {unit}s"
        text = f"{much} {'before' if sign < 0 else 'after'} {day_name(anchor)}"
    return Meaning(first, last, text)


def _unit_of(match: re.Match[str]) -> str:
    """Return the unit or weekday whose group matched."""
    groups = match.groupdict()
    return next((name for name in (*_UNITS, *_WEEKDAYS) if groups.get(name)), "")


def _count_of(match: re.Match[str]) -> int:
    groups = match.groupdict()
    if groups.get("digits"):
        return int(groups["digits"])
    if groups.get("han"):
        return _han_number(groups["han"])
    found = [
        name for name, value in groups.items() if value and name[0] == "n" and name[1:].isdigit()
    ]
    return int(found[0][1:]) if found else 0


def _han_number(signs: str) -> int:
    """Read a Chinese number below a hundred."""
    tens, ten, ones = signs.replace("两", "二").replace("兩", "二").rpartition("十")
    value = _HAN_NUMBERS.find(ones) + 1 if ones else 0
    if ten:
        value += 10 * (_HAN_NUMBERS.find(tens) + 1 if tens else 1)
    return value


_UNITS = ("day", "weekend", "week", "month", "year")


@cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(shipped("text/times/foreign_dates.json"))
    return table


@cache
def _language(name: str) -> _Language | None:
    """Compile the patterns of a language; None where the table has none."""
    row = _table().get(name)
    if row is None:
        return None
    phrases = [_day_phrase(name, int(step), words) for step, words in row["days"].items()]
    phrases += [_phrase(name, kind, pattern, row) for kind, pattern in row["phrases"]]
    every = "|".join(_ungrouped(phrase.pattern.pattern) for phrase in phrases)
    return _Language(
        any=re.compile(every),
        phrases=tuple(phrases),
        length=_compiled(row.get("length")),
        past=_compiled(row.get("past")),
        future=_compiled(row.get("future")),
    )


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern)


def _ungrouped(pattern: str) -> str:
    """Return a pattern without the names of its groups."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def _day_phrase(language: str, step: int, words: str) -> _Phrase:
    return _Phrase("day", step, 0, "day", _bounded(language, words))


def _phrase(language: str, kind: str, pattern: str, row: dict[str, Any]) -> _Phrase:
    name, step, count, unit = _kind_of(kind)
    filled = pattern.replace("{unit}", _units(row, _UNITS[1:], weekdays=True))
    filled = filled.replace("{counted}", _units(row, _COUNTABLE, weekdays=False))
    filled = filled.replace("{weekday}", _units(row, (), weekdays=True))
    filled = filled.replace("{count}", _counts(row))
    return _Phrase(name, step, count, unit, _bounded(language, filled))


def _kind_of(kind: str) -> tuple[str, int, int, str]:
    """Read a kind: its name, and what it says of step, count and unit."""
    name, *rest = kind.split()
    sign = {"ago": -1, "did": -1, "will": 1, "next": 1}.get(name, 0)
    step = sign or int(rest.pop(0))
    count = int(rest.pop(0)) if len(rest) > 1 else 0
    return name, step, count, rest[0] if rest else ""


def _units(row: dict[str, Any], names: tuple[str, ...], *, weekdays: bool) -> str:
    known = row["units"]
    groups = [f"(?P<{name}>{known[name]})" for name in names if name in known]
    if weekdays:
        pairs = zip(_WEEKDAYS, row["weekdays"], strict=True)
        groups += [f"(?P<{name}>{words})" for name, words in pairs]
    return f"(?:{'|'.join(groups)})"


def _counts(row: dict[str, Any]) -> str:
    if not row["numbers"]:
        return f"(?:{_HAN_COUNT}|(?<!\\d)(?P<digits>\\d{{1,3}}))"
    groups = [f"(?P<n{value}>{words})" for value, words in row["numbers"].items()]
    return f"(?:{'|'.join(groups)}|(?<!\\d)(?P<digits>\\d{{1,3}}))"


def _bounded(language: str, pattern: str) -> re.Pattern[str]:
    before, after = _BOUNDS.get(language, _WORDS)
    return re.compile(f"{before}(?:{pattern}){after}")
