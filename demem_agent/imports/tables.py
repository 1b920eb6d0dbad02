"""Tables: CSV with a header, a turn a row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from demem_agent.errors import InvalidInput
from demem_agent.imports.sources import Source
from demem_agent.imports.wanted import Wanted, words_of
from demem_agent.messages.times import moment
from demem_agent.turns import Turn, as_turn

__all__ = ["COLUMNS", "is_table", "read_table"]

#: The field of a turn that a column is, by the names it may have; case and spaces do not matter.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "content", "message", "body"),
    "speaker": ("speaker", "role", "author", "sender", "name", "from"),
    "at": ("at", "datetime", "timestamp", "created_at", "date", "time"),
    "session": ("session", "session_id", "conversation", "conversation_id", "thread", "thread_id"),
    "source_id": ("source_id", "id", "message_id"),
    "source": ("source", "channel"),
    "trust": ("trust",),
    "key": ("key",),
}
_DELIMITERS = ",;\t|"
_INSTRUCTIONS = ("system", "developer")
#: What a field of a table may measure: a turn may be longer than csv takes unasked.
_LONGEST_FIELD = 20_000_000


def is_table(line: str) -> bool:
    """Whether a line is a header with a column of texts and another."""
    return any(
        "text" in _fields(header) and len(header) > 1
        for header in (_split(line, mark) for mark in _DELIMITERS)
    )


def read_table(source: Source, wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn a row; what its columns are is told by the header.

    A row without an id is known by its words, so that rows may be added anywhere. A column of
    roles may hold instructions, "system" or "developer", which are left out.

    Raises:
        InvalidInput: naming the line and the column.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    lines = source.lines()
    first = next(lines, "")
    header = _header(first, source.name, wanted)
    rows = csv.reader(lines, delimiter=_delimiter(first), strict=True)
    seen: dict[str, int] = {}
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                where = f"{source.name} line {rows.line_num + 1}"
                yield from _turn(row, header, where, wanted, seen)
    except csv.Error as error:
        where = f"{source.name} line {rows.line_num + 1}"
        raise InvalidInput(where, str(error), "a row of CSV") from error


def _turn(
    row: Sequence[str], header: Sequence[str], where: str, wanted: Wanted, seen: dict[str, int]
) -> Iterator[Turn]:
    if len(row) > len(header):
        allowed = f"{len(header)} cells, as the header has"
        raise InvalidInput(where, f"{len(row)} cells", allowed)
    cells = {name: cell.strip() for name, cell in zip(header, row, strict=False) if cell.strip()}
    fields = {name: cells[name] for name in COLUMNS if name in cells}
    if fields.get("speaker", "").lower() in _INSTRUCTIONS:
        wanted.leave_out(where, "system")
        return
    if "text" not in fields:
        wanted.leave_out(where, "empty")
        return
    if "speaker" in fields and wanted.speakers:
        fields["speaker"] = wanted.speakers.get(fields["speaker"], fields["speaker"])
    at = " ".join(cells[name] for name in ("at", "time of day") if name in cells)
    turn = as_turn(
        {**fields, "at": moment(f"{where}: at", at or None), "trust": _trust(fields, where)},
        f"{where}: ",
    )
    yield _with_key(turn, wanted, seen)


def _with_key(turn: Turn, wanted: Wanted, seen: dict[str, int]) -> Turn:
    if turn.key is not None:
        return turn
    about = words_of(turn)
    seen[about] = seen.get(about, 0) + 1
    return replace(turn, key=f"csv:{wanted.name}:{about}#{seen[about]}")


def _trust(fields: Mapping[str, str], where: str) -> float:
    try:
        return float(fields.get("trust", "1"))
    except ValueError as error:
        raise InvalidInput(f"{where}: trust", fields["trust"], "a number from 0 to 1") from error


def _header(line: str, name: str, wanted: Wanted) -> list[str]:
    """Return the field of each column, "" for one that is dropped.

    Raises:
        InvalidInput: for a column that is no field of a turn, or two that are the same one.
    """
    where = f"{name} line 1"
    columns = _split(line, _delimiter(line))
    fields = _fields(columns)
    if "text" not in fields:
        raise InvalidInput(where, line.strip(), "a header with a column text or content")
    for column, field in zip(columns, fields, strict=True):
        if not field and wanted.extra == "refuse":
            known = ", ".join(names[0] for names in COLUMNS.values())
            allowed = f'dropped (extra="drop"), as no column of a turn ({known})'
            raise InvalidInput(f"{where}: {column}", column, allowed)
        if field and fields.count(field) > 1:
            raise InvalidInput(f"{where}: {column}", columns, f"the only column of {field}")
    return fields


def _fields(columns: Sequence[str]) -> list[str]:
    """Return the field of a turn that each column is, "" for none.

    Beside a column of dates one of times is the time of day.
    """
    plain = [column.strip().lower().replace(" ", "_") for column in columns]
    found: list[str] = []
    for column in plain:
        names = (field for field, known in COLUMNS.items() if column in known)
        field = next(names, "")
        is_time_of_day = column == "time" and "date" in plain
        found.append("time of day" if is_time_of_day else field)
    return found


def _delimiter(header: str) -> str:
    """Return the mark that parts a header into the most columns."""
    return max(_DELIMITERS, key=header.count)


def _split(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])
