"""Which items of a memory are meant: one filter for reading, listing, forgetting and exporting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass, module, pattern
from demem_agent.metadata import Metadata, frozen
from demem_agent.turns import time_field, unit_field, whole_field

if TYPE_CHECKING:
    import calendar
else:
    calendar = module("calendar")

__all__ = ["Where", "as_where", "where_field"]

#: A text, or several of which any will do.
Texts = str | Iterable[str] | None
#: A moment, a day, a month or a year.
Time = datetime | date | str | None

#: A year, a month or a day, as ISO 8601 writes it.
_PERIOD = pattern(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_TEXTS = "a text, or a list of texts of which any will do"
_TIMES = "a datetime, a date, or an ISO 8601 string such as '2024', '2024-05' or '2024-05-03T10:30'"
_CONDITIONS = "a JSON value that it equals, {'in': [...]} or {'exists': True or False}"


@dataclass(frozen=True, slots=True)
class Where:
    """Which items are meant: those of which all holds that is given.

    A mapping with the same keys does as well: ``memory.read("...", where={"speaker": "Ana"})``.

    Attributes:
        speaker, session, source: exactly this text, or any of several.
        source_ids: your own ids of turns, any of these.
        since: not said before; of a date, "2024-05-03", "2024-05" or "2024" from its first day on.
            What has no time was said neither since nor until.
        until: said earlier than this moment, exclusively; a date, a month or a year is meant as a
            whole, its last day too: ``until="2024-05"`` takes in 31 May. Days are those on which it
            was said where it was said, in the item's own zone, as a reading heads them. A moment
            without a zone is one of UTC, as everywhere.
        slot: number of the slot that holds it now.
        metadata: by name, a JSON value that it equals, ``{"in": [...]}`` for any of several, or
            ``{"exists": True}`` or ``{"exists": False}``.
        trust: the least, in [0, 1].
        holds: True for what holds still, False for what does not: another item has been told, or
            is all but certain, to have taken the place of it or of a line of it, as ``history``
            has it. It is looked up when it is asked, like the slot, and of a note asks the note
            itself.

    A note that a model took is meant where all items are that it was made from.

    One that was given lists or mappings can be hashed only where these can.

    Examples:
        >>> Where(speaker=("Ana", "Ben"), since="2024-05", metadata={"project": "apollo"}).speaker
        ('Ana', 'Ben')
    """

    speaker: Texts = None
    session: Texts = None
    source: Texts = None
    source_ids: Texts = None
    since: Time = None
    until: Time = None
    slot: int | None = None
    metadata: Mapping[str, object] | None = None
    trust: float | None = None
    holds: bool | None = None


_FIELDS = frozenset(Where.__annotations__)


def where_field(given: Where | Mapping[str, object] | None) -> Where | None:
    """Check a filter and return it as it is matched; None where nothing is asked for.

    Raises:
        InvalidInput: naming the field, such as ``where.since``, and its range.
    """
    where = None if given is None else as_where(given)
    return None if where == Where() else where


def as_where(given: Where | Mapping[str, object]) -> Where:
    """Check a filter and return it with texts as tuples, times as moments or days, frozen metadata.

    A moment is a datetime, and ``until`` exclusive; a day is a date, and ``until`` takes it in. It
    can be hashed, and checked again it stays as it is.

    Raises:
        InvalidInput: naming the field, such as ``where.since``, and its range.
    """
    where = given if isinstance(given, Where) else _from_mapping(given)
    since = _time("since", where.since, last=False)
    until = _time("until", where.until, last=True)
    return replace(
        where,
        speaker=_texts("speaker", where.speaker),
        session=_texts("session", where.session),
        source=_texts("source", where.source),
        source_ids=_texts("source_ids", where.source_ids),
        since=since,
        until=until,
        slot=None if where.slot is None else whole_field("where.slot", where.slot, 0),
        metadata=_conditions(where.metadata),
        trust=None if where.trust is None else unit_field("where.trust", where.trust),
        holds=_truth("holds", where.holds),
    )


def _from_mapping(given: object) -> Where:
    known = ", ".join(field.name for field in fields(Where))
    if not isinstance(given, Mapping):
        raise InvalidInput("where", given, f"a Where or a mapping with some of: {known}")
    for name in given:
        if name not in _FIELDS:
            raise InvalidInput(f"where.{name}", given[name], f"left out: filters have {known}")
    return Where(**given)


def _texts(name: str, given: object) -> tuple[str, ...] | None:
    """Return texts of which any will do, each once and in order; None where nothing is asked."""
    if given is None:
        return None
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InvalidInput(f"where.{name}", given, _TEXTS)
    texts = list(given)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidInput(f"where.{name}", text, _TEXTS)
    return tuple(sorted(set(texts)))


def _truth(name: str, given: object) -> bool | None:
    if given is not None and not isinstance(given, bool):
        raise InvalidInput(f"where.{name}", given, "True or False")
    return given


def _time(name: str, given: object, *, last: bool) -> date | None:
    """Return a moment as a datetime, and of a day, a month or a year its first or last day.

    Args:
        last: whether the latter is asked for.
    """
    if given is None or isinstance(given, datetime):
        return time_field(f"where.{name}", given)
    try:
        period = _period(given)
    except ValueError:  # there is no such day
        raise InvalidInput(f"where.{name}", given, _TIMES) from None
    if period is None:
        return _moment(name, given)
    return period[last]


def _moment(name: str, given: object) -> datetime:
    if isinstance(given, str) and "T" in given.upper().replace(" ", "T"):
        try:
            return datetime.fromisoformat(given)
        except ValueError:
            pass  # reported below
    raise InvalidInput(f"where.{name}", given, _TIMES)


def _period(given: object) -> tuple[date, date] | None:
    """Return the first and the last day of a year, a month or a day; None for what is none.

    Raises:
        ValueError: for a day that there is not, such as the 31st of June.
    """
    if isinstance(given, date):
        return given, given
    found = _PERIOD.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        return None
    year, month, day = (int(part) if part else None for part in found.groups())
    first = date(year or 0, month or 1, day or 1)
    if day is not None:
        return first, first
    if month is None:
        return first, first.replace(month=12, day=31)
    return first, first.replace(day=calendar.monthrange(first.year, month)[1])


def _conditions(given: object) -> Metadata | None:
    """Return what metadata must be, frozen; None where nothing is asked."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InvalidInput("where.metadata", given, f"a mapping of names to {_CONDITIONS}")
    for name, condition in given.items():
        if isinstance(condition, Mapping):
            _require_condition(f"where.metadata.{name}", condition)
    made: Metadata = frozen("where.metadata", given)
    return made or None


def _require_condition(field: str, given: Mapping[object, object]) -> None:
    named = set(given)
    if named == {"in"} and isinstance(given["in"], list | tuple):
        return
    if named != {"exists"} or not isinstance(given["exists"], bool):
        raise InvalidInput(field, given, _CONDITIONS)
