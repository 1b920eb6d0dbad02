"""Tables: CSV with a header, a turn a row."""

from __future__ import annotations

import csv
from collections import Counter
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
_NO_COLUMN = (
    'dropped (extra="drop") or kept (extra="metadata"), as no column of a turn '
    f"({', '.join(COLUMNS)})"
)
#: Stands before the name of a column whose cells are kept as metadata.
_BESIDE = "metadata."
_TIME_OF_DAY = "time of day"
_DELIMITERS = ",;\t|"
_INSTRUCTIONS = ("system", "developer")
#: What a field of a table may measure: a turn may be longer than csv takes unasked.
_LONGEST_FIELD = 20_000_000


def is_table(line: str) -> bool:
    """Whether a line is a header with a column of texts and another."""
    columns = _split(line, _delimiter(line))
    return len(columns) > 1 and "text" in _fields(columns)


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
    seen: Counter[str] = Counter()

    def where() -> str:
        return f"{source.name} line {rows.line_num + 1}"  # the header was taken before

    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield from _row(_cells(row, header, where()), where(), wanted, seen)
    except csv.Error as error:
        raise InvalidInput(where(), str(error), "a row of CSV") from error


def _row(
    cells: Mapping[str, str], where: str, wanted: Wanted, seen: Counter[str]
) -> Iterator[Turn]:
    """Yield the turn of a row, known by its words and how often they came before."""
    why = _why_left_out(cells)
    if why is not None:
        wanted.leave_out(where, why)
        return
    turn = _turn(cells, where, wanted)
    about = words_of(turn)
    seen[about] += 1
    key = turn.key or f"csv:{wanted.name}:{about}#{seen[about]}"
    yield replace(turn, key=key)


def _cells(row: Sequence[str], header: Sequence[str], where: str) -> dict[str, str]:
    """Return what is in the cells of a row by the fields of its columns, blank ones left out."""
    if len(row) > len(header):
        allowed = f"{len(header)} cells, as the header has"
        raise InvalidInput(where, f"{len(row)} cells", allowed)
    return {name: cell.strip() for name, cell in zip(header, row, strict=False) if cell.strip()}


def _why_left_out(cells: Mapping[str, str]) -> str | None:
    if cells.get("speaker", "").lower() in _INSTRUCTIONS:
        return "system"
    return None if "text" in cells else "empty"


def _turn(cells: Mapping[str, str], where: str, wanted: Wanted) -> Turn:
    fields: dict[str, object] = {name: cells[name] for name in COLUMNS if name in cells}
    at = " ".join(cells[name] for name in ("at", _TIME_OF_DAY) if name in cells)
    fields["at"] = moment(f"{where}: at", at or None)
    fields["trust"] = _trust(cells, where)
    beside = {}
    for name, cell in cells.items():
        if name.startswith(_BESIDE):
            beside[name.removeprefix(_BESIDE)] = cell
    fields["metadata"] = wanted.metadata(beside, where)
    if "speaker" in cells and wanted.speakers:
        fields["speaker"] = wanted.speakers.get(cells["speaker"], cells["speaker"])
    return as_turn(fields, f"{where}: ")


def _trust(cells: Mapping[str, str], where: str) -> float:
    try:
        return float(cells.get("trust", "1"))
    except ValueError as error:
        raise InvalidInput(f"{where}: trust", cells["trust"], "a number from 0 to 1") from error


def _header(line: str, name: str, wanted: Wanted) -> list[str]:
    """Return the field of each column, "" for one that is dropped, "metadata.NAME" for one kept.

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
            raise InvalidInput(f"{where}: {column}", column, _NO_COLUMN)
        if field and fields.count(field) > 1:
            raise InvalidInput(f"{where}: {column}", columns, f"the only column of {field}")
    if wanted.extra == "metadata":
        named = zip(columns, fields, strict=True)
        return [field or f"{_BESIDE}{column.strip()}" for column, field in named]
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
        found.append(_TIME_OF_DAY if is_time_of_day else field)
    return found


def _delimiter(header: str) -> str:
    """Return the mark that parts a header into the most columns."""
    return max(_DELIMITERS, key=header.count)


def _split(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])
