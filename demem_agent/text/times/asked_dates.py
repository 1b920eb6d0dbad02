"""Dates that questions alone are read for: "03/06/2026", and "Summarise May".

What is said in a turn is told beside it as a fact, so a date is read there only where it can mean
one day. A question is better answered by the likelier day than by none.

Conventions:

* "03/06/2026", "3.6.2026" and "03-06-2026" are 3 June: the day stands before the month, as most
  countries write it. Where the second number can be no month it is the day: "06/13/2026" is 13
  June.
* A month behind a word that asks for what was said in it, as in "Summarise May" or "recap of June",
  is the latest that began by the anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from demem_agent.later import pattern
from demem_agent.text.times.periods import MONTH, day_name, month_in, period_name, whole_months
from demem_agent.text.times.stretches import Span

__all__ = ["asked_dates"]

_MONTHS = 12
_NUMBERS = pattern(r"(?<![\w/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?![\w/-]|\.\d)")
_SUMMED_UP = pattern(
    r"\b(?:summari[sz]e|summary\s+of|sum\s+up|recap(?:\s+of)?|overview\s+of)\s+"
    rf"(?:the\s+month\s+of\s+)?(?P<month>{MONTH})\b(?!['’]|\.?\s+\d)"
)


def asked_dates(low: str, anchor: date | None) -> Iterator[Span]:
    """Yield such dates in a question in lower case; a month only with an anchor."""
    for match in _NUMBERS.finditer(low):
        try:
            yield _day(match)
        except ValueError:  # 31/02/2026
            continue
    if anchor is None:
        return
    for match in _SUMMED_UP.finditer(low):
        month = month_in(match["month"])
        year = anchor.year - (month > anchor.month)
        first, last = whole_months(date(year, month, 1), 1)
        yield Span(*match.span("month"), first, last, period_name("month", first))


def _day(match: re.Match[str]) -> Span:
    day, month = int(match[1]), int(match[3])
    if month > _MONTHS:
        day, month = month, day
    meant = date(int(match[4]), month, day)
    return Span(match.start(), match.end(), meant, meant, day_name(meant))
