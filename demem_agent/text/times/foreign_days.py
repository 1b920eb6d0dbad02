"""Absolute dates in other languages than English: "am 11. März", "el 10 de mayo de 2025", "en mai".

The names of months are those of German, Spanish, French, Portuguese, Italian and Dutch; no two of
these mean two months by one name. Numbers alone ("11.3.") are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from demem_agent.later import pattern
from demem_agent.text.times.periods import day_name, period_name, whole_months
from demem_agent.text.times.stretches import Span

__all__ = ["FOREIGN_MONTHS", "foreign_days"]

_NAMES = (
    "januar jänner enero janvier janeiro gennaio januari",
    "februar febrero février fevereiro febbraio februari",
    "märz maerz marzo mars março maart",
    "april abril avril aprile",
    "mai mayo maio maggio mei",
    "juni junio juin junho giugno",
    "juli julio juillet julho luglio",
    "august agosto août aout augustus",
    "september septiembre setiembre septembre setembro settembre",
    "oktober octubre octobre outubro ottobre",
    "november noviembre novembre novembro",
    "dezember diciembre décembre dezembro dicembre december",
)
#: The number of each month by its name in lower case.
FOREIGN_MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_YEAR = r"(?:\s+(?:del?\s+)?(?P<year{n}>[12]\d{{3}})\b)?"
#: Matched against lower-case text.
_DATE = pattern(
    r"(?<!\w)(?:"
    r"(?:(?:am|vom|el|le|il|op|em|no|del?|du)\s+)?(?:d[ií]a\s+)?"
    r"(?P<day>\d{1,2})(?:\.|er|º|°)?\s+(?:de\s+|di\s+)?"
    rf"(?P<of>{'|'.join(FOREIGN_MONTHS)})\b{_YEAR.format(n=1)}"
    rf"|(?:im|in|en|em|a)\s+(?P<month>{'|'.join(FOREIGN_MONTHS)})\b{_YEAR.format(n=2)}"
    r")"
)


def foreign_days(low: str, anchor: date | None) -> Iterator[Span]:
    """Yield the absolute dates of a text in lower case, in order.

    One without a year is the latest that began by the anchor; without an anchor it is none.
    """
    for match in _DATE.finditer(low):
        try:
            span = _meant(match, anchor)
        except ValueError:  # 31 June, or 29 February of a common year
            continue
        if span is not None:
            yield span


def _meant(match: re.Match[str], anchor: date | None) -> Span | None:
    month = FOREIGN_MONTHS[match["of"] or match["month"]]
    day = int(match["day"] or 1)
    told = match["year1"] or match["year2"]
    if told:
        first = date(int(told), month, day)
    elif anchor is None:
        return None
    else:
        year = anchor.year - (date(anchor.year, month, day) > anchor)
        first = date(year, month, day)
    if match["day"]:
        return Span(match.start(), match.end(), first, first, day_name(first))
    _, last = whole_months(first, 1)
    return Span(match.start(), match.end(), first, last, period_name("month", first))
