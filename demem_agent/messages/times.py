"""When a message was said, by its own account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.turns import time_field

__all__ = ["TIMES", "moment", "own_time"]

#: The fields that say when something was said, the first that is there.
TIMES = ("at", "created_at", "createdAt", "create_time", "timestamp", "date", "time")
#: More seconds than this is a number of milliseconds: it would be the year 5138.
_MILLISECONDS = 1e11


def own_time(
    fields: Mapping[str, Any], where: str, names: Iterable[str] = TIMES
) -> datetime | None:
    """Return when something was said by the first of these fields that is set; None without one.

    Raises:
        InvalidInput: naming the field whose value is no time.
    """
    for name in names:
        given = fields.get(name)
        if given is not None and given != "":
            return moment(f"{where}.{name}", given)
    return None


def moment(field: str, given: object) -> datetime | None:
    """Return a time from what ``Turn.at`` takes, or from seconds or milliseconds since 1970.

    Raises:
        InvalidInput: naming the field.
    """
    number = _number(given)
    if number is None:
        return time_field(field, given)
    seconds = number / 1000 if abs(number) > _MILLISECONDS else number
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidInput(field, given, "a time") from error


def _number(given: object) -> float | None:
    """Return a count of seconds; eight digits are a date in ISO 8601, and a year is one."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    if isinstance(given, str) and len(given) > 8 and given.replace(".", "", 1).isdigit():
        return float(given)
    return None
