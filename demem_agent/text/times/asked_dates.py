"""Dates that questions alone are read for: "03/06/2026", "am 3.6.", and "Summarise May".

What is said in a turn is told beside it as a fact, so a date is read there only where it can mean
one day. A question is better answered by the likelier day than by none.

Conventions:

* "03/06/2026", "3.6.2026" and "03-06-2026" are 3 June: the day stands before the month, as most
  countries write it. Where the second number can be no month it is the day: "06/13/2026" is 13
  June. "2026/06/03" is 3 June as well.
* A year of two digits is one behind such a word alone, as in "am 3.6.24", and of this century
  unless it would be later than the next one: "1.2.34" alone may be anything.
* Without a year it is a date behind a word such as "on", "am" or "le", and the latest that began by
  the anchor.
* A month behind a word that asks for what was said in it, as in "Summarise May", "recap of June" or
  "Résume le mois de mai", is the latest that began by the anchor.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from demem_agent.later import pattern
from demem_agent.text.times.absolute_dates import full_year
from demem_agent.text.times.foreign_days import FOREIGN_MONTHS
from demem_agent.text.times.periods import MONTH, day_name, month_in, period_name, whole_months
from demem_agent.text.times.stretches import Span

__all__ = ["asked_dates"]

_MONTHS = 12
_NUMBERS = pattern(r"(?<![\w/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?![\w/-]|\.\d)")
_SHORT_YEAR = pattern(
    r"\b(?:on|of|from|since|until|by|dated|am|vom|seit|bis|zum|le|du|au|el|del|al|em|no|do|dia|il"
    r"|dal|op|van)\s+(?P<date>(\d{1,2})([/.-])(\d{1,2})\3(\d{2}))(?![\w/%-]|[.,]\d)"
)
_YEAR_FIRST = pattern(r"(?<![\w/.-])(\d{4})/(\d{1,2})/(\d{1,2})(?![\w/-])")
_NO_YEAR = pattern(
    r"\b(?:on|am|vom|le|du|el|del|em|no|dia|il|op)\s+"
    r"(?P<day>\d{1,2})(?:/|\.(?=\d{1,2}\.?(?!\d)))(?P<month>\d{1,2})"
    r"(?![\w/%-]|\.\d|\s*(?:[%€$£]|percent\b|prozent\b|of\b|k[mg]\b|points?\b|euros?\b))"
)
_SUMMED_UP = pattern(
    r"\b(?:summari[sz]e|summary\s+(?:of|for)|sum\s+up|recap(?:\s+of)?|overview\s+of)\s+"
    rf"(?:the\s+month\s+of\s+)?(?P<month>{MONTH})\b(?!['’]|\.?\s+\d)"
)
_SUMMED_UP_ELSEWHERE = pattern(
    r"\b(?:fass\w*|zusammenfassung|zusammen\s+für|résum\w+|resum\w+|resúm\w+|riassum\w+|samenvatting)"
    r"\s+(?:(?:mir|uns|moi|nous|me|mi|por\s+favor|bitte)\s+)?"
    r"(?:(?:de[nsmr]?|le|du|l[ao]|el|del|os?|do|il|van)\s+)?(?:(?:mois|monats?|m[eê]s|mese)\s+(?:de\s+|d['’]|di\s+)?)?"
    rf"(?P<month>{'|'.join(FOREIGN_MONTHS)})\b(?!['’]|\.?\s+\d)"
)


def asked_dates(low: str, anchor: date | None) -> Iterator[Span]:
    """Yield such dates in a question in lower case; those without a year only with an anchor."""
    for match in _NUMBERS.finditer(low):
        yield from _day(match.span(), int(match[4]), int(match[3]), int(match[1]))
    for match in _YEAR_FIRST.finditer(low):
        yield from _day(match.span(), int(match[1]), int(match[2]), int(match[3]))
    if anchor is None:
        return
    for match in _SHORT_YEAR.finditer(low):
        year = full_year(match[5], anchor)
        yield from _day(match.span("date"), year, int(match[4]), int(match[2]))
    for match in _NO_YEAR.finditer(low):
        place = match.start("day"), match.end("month")
        yield from _day(place, None, int(match["month"]), int(match["day"]), anchor)
    for match in _SUMMED_UP.finditer(low):
        yield _month(match.span("month"), month_in(match["month"]), anchor)
    for match in _SUMMED_UP_ELSEWHERE.finditer(low):
        yield _month(match.span("month"), FOREIGN_MONTHS[match["month"]], anchor)


def _month(place: tuple[int, int], month: int, anchor: date) -> Span:
    year = anchor.year - (month > anchor.month)
    first, last = whole_months(date(year, month, 1), 1)
    return Span(*place, first, last, period_name("month", first))


def _day(
    place: tuple[int, int], year: int | None, month: int, day: int, anchor: date = date.min
) -> Iterator[Span]:
    """Yield a day, or nothing where there is none such: "31/02/2026".

    Args:
        year: None for the latest that began by the anchor.
    """
    if month > _MONTHS:
        day, month = month, day
    try:
        meant = _dated(year, month, day, anchor)
    except ValueError:
        return
    yield Span(*place, meant, meant, day_name(meant))


def _dated(year: int | None, month: int, day: int, anchor: date) -> date:
    if year is not None:
        return date(year, month, day)
    meant = date(anchor.year, month, day)
    return meant if meant <= anchor else date(anchor.year - 1, month, day)
