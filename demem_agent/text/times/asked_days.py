"""Questions that ask for nothing but a time: "What was said on 26 May?", "anything last week?".

What is left of one without its times, stop words and the names of speakers are words of asking what
was said, done or happened. A time to come is none of these, and neither is one that goes on, as in
"How are you today?", unless the question speaks of the past. "On Monday" is the last one.

English questions are understood, and those of some other languages as far as their relative times
(:mod:`demem_agent.text.times.foreign_dates`) and dates (``foreign_days``) are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import date, datetime

from demem_agent.later import pattern
from demem_agent.text.language.languages import stop_words
from demem_agent.text.language.words import language_of, worded
from demem_agent.text.times.dates import Span, absolute, find
from demem_agent.text.times.foreign_days import FOREIGN_MONTHS, foreign_days
from demem_agent.text.times.periods import DAY, MONTH, day_name, period

__all__ = [
    "ASKING",
    "asked_days",
    "asks_of_saying",
    "echoes",
    "said_within",
    "speaks_within",
    "when_said",
]

#: Words of asking what was said or what happened; times need none of them.
ASKING = frozenset(
    """say says said saying tell tells told telling talk talked talking speak spoke spoken discuss
    discussed discussing mention mentioned chat chatted write wrote written message messages
    happen happened happening going went go come came up do did done thing things stuff topic
    topics subject subjects conversation conversations discussion discussions chats note notes
    notable noteworthy important interesting main new news event events recap summary summarise
    summarize summarised summarized sum overview remind recall remember know show list give find
    look read get got like anything everything something nothing anybody anyone everybody everyone
    else please exactly again together back then around bring brought share shared far weekend

    was hat habe haben hast wurde wurden tat taten machte machten unternommen gesagt sagte sagtest
    erzählt erzählte besprochen geredet gesprochen passiert geschehen los gab getan gemacht etwas
    alles worüber
    qué dijo dijiste dije dijimos dicho hablamos hablado hablaste contó contaste pasó pasado hizo
    hicimos ocurrió hice hiciste hecho hablé
    gezegd verteld besproken gehad gebeurd deed deden gedaan zei zeiden vertelde gesproken gepraat
    a dit parlé raconté passé fait discuté fis arrivé
    disse dissemos falamos falou aconteceu contou fizemos conversamos fiz feito falei
    cosa abbiamo detto parlato successo raccontato fatto discusso feci facemmo accaduto
    говорили сказал сказала сказали говорил говорила обсуждали произошло случилось было рассказал
    рассказала

    무슨 얘기 얘기를 이야기 이야기를 말 말을 말했어 했어 했지 했나요 했습니까 있었어
    있었나요 일이 뭐라고
    قال قالت قلنا تحدثنا حدث حصل
    कहा बात बातें हुआ हुई हुए बताया बोला""".split()
)
#: The same in scripts without spaces, sign by sign.
_SIGNS = frozenset(
    "我们們你您他她都说說了什么麼谈談聊过過的吗嗎呢在和跟有没沒发發生事情讨論论討告诉訴些做"
    "私僕何なにをはがのとでた話しまかす言いっんあり起きこてくれちだよね"
)
#: What speaks of the past, for a time that is not over: "today".
_PAST = pattern(
    r"\b(?:did|was|were|had|(?:have|has)\s+(?:i|we|you|he|she|they|anybody|anyone|been|\w+ed)|said"
    r"|told|talked|spoke|spoken|discussed|mentioned|happened|went|came|wrote|shared|brought"
    r"|recap|overview|summary|summari[sz]ed?|sum\s+up|since|past|last"
    r"|gesagt|erzählt|besprochen|geredet|passiert|dijo|dijiste|dije|hablamos|pasó|dit|parlé"
    r"|gezegd|verteld|besproken|gepraat|gebeurd|gedaan|deed|zei|falamos|disse|aconteceu|detto|parlato|successo|сказал|сказала|говорили|обсуждали"
    r"|произошло|случилось)\b|[说說谈談聊]了|ました|った|[했었]"
)
#: Who tells something and asks for nothing, or asks for a place, a time or a reason.
_TELLS = pattern(
    r"\s*(?:i|we|you|he|she|it|they|this|that|there|nothing)\b[^?]*\Z"
    r"|.*\b(?:where|when|why|how|whose)\b",
    re.IGNORECASE,
)
_WEEKDAY = pattern(rf"\bon\s+(?P<day>{DAY})\b(?!\s*(?:,|\d|the\b|and\b|or\b|to\b|of\b))")
_WORDS = pattern(r"\w+")
#: A date that comes every year, and what makes it that of one.
_YEARLY = pattern(rf"\b(?:{MONTH}|{'|'.join(FOREIGN_MONTHS)})\b|\b\d{{1,2}}[/.]\d{{1,2}}\b")
_OF_ONE_YEAR = pattern(r"\b(?:[12]\d{3}|last|this|next|past|coming)\b")
#: A question of more is about something.
_MOST = 200


def asked_days(
    question: str,
    times: Iterable[Span],
    asked: date | None,
    newest: date | None,
    names: Collection[str],
) -> list[Span]:
    """Return the times that a question asks for and for nothing else; none for any other question.

    Args:
        times: that it speaks of, by :func:`~demem_agent.text.times.dates.stretches`.
        asked: the day it is asked, if known.
        newest: the day that dates without a year go by where that is not known.
        names: words of the names of speakers, in lower case; a question may name them as well.
    """
    if len(question) > _MOST or _TELLS.match(question):
        return []
    found = list(times)
    found += _foreign(question, newest if asked is None else asked, found)
    found += _weekday(question, asked, found)
    found = [
        _in_past(span, question, asked)
        for span in found
        if question[span.start : span.end].lower() not in names  # of somebody called May
    ]
    if not found or not _asks_alone(question, found, names):
        return []
    today = asked or date.max
    if any(span.first > today for span in found):
        return []
    goes_on = any(span.last >= today for span in found)
    return found if not goes_on or _PAST.search(question.lower()) else []


def asks_of_saying(question: str, names: Collection[str]) -> bool:
    """Whether a question asks for nothing but what somebody said: "What did Ben say?".

    Args:
        names: as in :func:`asked_days`.
    """
    return len(question) <= _MOST and _asks_alone(question, [], names)


def echoes(said: str, question: str) -> bool:
    """Whether what was said is the question itself, in other letters or signs at most."""
    return len(said) <= _MOST + len(question) and _every_word(said) == _every_word(question)


def _every_word(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def when_said(
    asked: list[Span], question: str, oldest: date, is_held: Callable[[list[Span]], bool]
) -> list[Span]:
    """Return times as those of the latest year in which something was said then.

    They stay as they are where something was said then as they are meant, in no year, or where one
    of them is of a year that is told.

    Args:
        oldest: the day of the first that was said.
        is_held: whether something was said in some times.
    """
    if not all(_is_yearly(question[span.start : span.end].lower()) for span in asked):
        return asked
    meant = asked
    while meant and not is_held(meant) and max(span.last for span in meant) >= oldest:
        meant = [one for span in meant for one in _a_year_before(span)]
    return meant if meant and is_held(meant) else asked


def _is_yearly(named: str) -> bool:
    return _YEARLY.search(named) is not None and not _OF_ONE_YEAR.search(named)


def _a_year_before(span: Span) -> list[Span]:
    """Return a time as that of the year before; none for 29 February."""
    try:
        first = span.first.replace(year=span.first.year - 1)
        last = span.last.replace(year=span.last.year - 1)
    except ValueError:
        return []
    return [replace(span, first=first, last=last)]


def speaks_within(text: str, at: datetime | None, asked: Iterable[Span]) -> bool:
    """Whether a text that was said at a time names one that lies within one that is asked for."""
    if at is None:
        return False
    times = [*find(text, at.date()), *absolute(text, at.date())]
    for span in asked:
        if any(span.first <= time.first and time.last <= span.last for time in times):
            return True
    return False


def said_within(at: datetime | None, asked: Iterable[Span]) -> bool:
    """Whether a moment is on one of the days asked for; one that is not known is not."""
    return at is not None and any(span.first <= at.date() <= span.last for span in asked)


def _foreign(question: str, anchor: date | None, found: Iterable[Span]) -> list[Span]:
    """Return the dates in other languages where no time is told yet."""
    low = question.lower()
    if any(found) or len(low) != len(question):
        return []
    return list(foreign_days(low, anchor))


def _weekday(question: str, asked: date | None, found: list[Span]) -> list[Span]:
    """Return the last Monday for "on Monday", where no time is told yet."""
    match = _WEEKDAY.search(question.lower())
    if match is None or asked is None or found:
        return []
    day, _ = period(match["day"][:3], -1, asked)
    return [Span(match.start(), match.end(), day, day, day_name(day))]


def _in_past(span: Span, question: str, asked: date | None) -> Span:
    """Return a date without a year that is to come as that of the year before."""
    named = question[span.start : span.end]
    if asked is None or span.first <= asked or str(span.first.year) in named:
        return span
    before = _a_year_before(span)
    return before[0] if before and _is_date(named) else span


def _is_date(named: str) -> bool:
    """Whether a time is a date and not "next week"."""
    return any(letter.isdigit() for letter in named)


def _asks_alone(question: str, spans: Iterable[Span], names: Collection[str]) -> bool:
    rest = question
    for span in spans:
        rest = f"{rest[: span.start]}{' ' * (span.end - span.start)}{rest[span.end :]}"
    known = ASKING | stop_words(language_of(question)) | set(names)
    return all(word in known or _SIGNS.issuperset(word) for word in worded(rest).words)
