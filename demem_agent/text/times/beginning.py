"""From which day on something is said to hold: "310 from September", "ab 1. Juni", "vanaf mei".

A month or a day without a year is the nearest one, and one that is over says nothing: "from March"
in May is of what holds already. What has an end as well, "from March to May", is a length.
"""

from __future__ import annotations

from datetime import date, timedelta

from demem_agent.later import pattern
from demem_agent.text.times.dates import find
from demem_agent.text.times.foreign_days import FOREIGN_MONTHS
from demem_agent.text.times.periods import MONTH, month_in

__all__ = ["begins"]

#: Words of beginning in English, German, Dutch, French, Spanish, Portuguese and Italian.
_FROM = (
    r"(?<!\w)(?:from|starting(?: on| from| in)?|as (?:of|from)|effective|ab(?: de[mr]?)?|vanaf"
    r"|met ingang van|(?:à partir|a partir|a contar) d(?:e|u|o|el?)(?: l[oae])?|dès(?: le)?"
    r"|desde(?: el| o)?|a (?:decorrere|partire) da(?:l(?:l['’])?)?|dal(?:l['’])?|da)"
)
_MONTHS = f"{MONTH}|{'|'.join(FOREIGN_MONTHS)}"
_UNTIL = (
    r"(?!\.?\s*(?:[-–—]|(?:to|till|until|through|bis|tot|t/m|jusqu\w*|au?|al|hasta|até|fino)\b))"
)
_BEGINS = pattern(
    rf"{_FROM}\s*(?:the\s+)?(?:(?P<iso>\d{{4}}-\d\d-\d\d)(?!\d)"
    rf"|(?:(?P<day>\d{{1,2}})(?:\.|er|e|st|nd|rd|th|º|°)?\s+(?:of\s+|de\s+|di\s+)?)?"
    rf"(?P<month>{_MONTHS})\b(?:\.?\s+(?P<nth>\d{{1,2}})(?:st|nd|rd|th)?(?![\w%:.,/]\d|\w))?"
    rf"(?:,?\s+(?:del?\s+)?(?P<year>[12]\d{{3}})\b)?){_UNTIL}"
)
#: The same before a time that goes by the day on which it is said.
_BEFORE = pattern(rf"{_FROM}\s*$")
#: A day is the nearest of its name within so many days either way.
_HALF_YEAR = timedelta(days=183)


def begins(text: str, said: date) -> date | None:
    """Return the first day on which what a text tells holds, where it names a later one.

    Args:
        said: the day on which it was said.

    None where it names none that is later than that.
    """
    low = text.lower()
    days = [_day(match.groupdict(), said) for match in _BEGINS.finditer(low)]
    times = (time for time in find(text, said) if _BEFORE.search(low[: time.start]))
    ahead = [day for day in [*days, *(time.first for time in times)] if day and day > said]
    return min(ahead, default=None)


def _day(named: dict[str, str | None], said: date) -> date | None:
    """Return the day that a match names; None where the calendar has none."""
    try:
        if named["iso"]:
            return date.fromisoformat(named["iso"])
        month = _month(named["month"] or "")
        day = int(named["day"] or named["nth"] or 1)
        if named["year"]:
            return date(int(named["year"]), month, day)
        return _nearest(month, day, said)
    except (OverflowError, ValueError):  # 31 June
        return None


def _nearest(month: int, day: int, said: date) -> date | None:
    years = range(max(said.year - 1, 1), min(said.year + 1, 9999) + 1)
    return next(
        (
            one
            for one in (date(year, month, day) for year in years)
            if abs(one - said) <= _HALF_YEAR
        ),
        None,
    )


def _month(name: str) -> int:
    return FOREIGN_MONTHS.get(name) or month_in(name)
