"""The row of a memory: how far it has come, its settings, and what its other rows come to.

The counts tell when a row is missing, whoever took it out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.settings import Settings
from demem_agent.slots.records import Head
from demem_agent.stores.base import Address, MemoryInfo, time_now
from demem_agent.stores.codec import dumps
from demem_agent.stores.keys import Keys
from demem_agent.stores.rows import Columns, head_to_row, naming_damage, settings_to_row
from demem_agent.stores.sealing import packed, unpacked
from demem_agent.stores.touched import with_write
from demem_agent.text.times.dates import moment
from demem_agent.turns import time_field

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = [
    "HEAD",
    "MemoryRow",
    "Plain",
    "Written",
    "body_of_memory",
    "found_memory",
    "info_of",
    "memory_in",
    "new_memory",
    "place_of_memory",
    "plain_of",
    "write_memory",
]

#: The columns that ``head_to_row`` gives.
HEAD = (
    *("seq", "evidence", "forgotten", "contexts", "certificates", "successions", "situations"),
    *("choices", "noted", "encoder", "encoder_fingerprint", "dimensions", "era"),
)
#: What is sealed of the row, in this order; new columns come at the end.
COLUMNS = (
    *("settings", *HEAD, "made", "changed", "counts", "size", "first", "last", "is_dated"),
    "recent",
)
_PLAIN = "id, tenant, memory_id, seq, era, items, cell, sealed"
#: The values of these, in order.
Values = tuple[Any, ...]
#: Memories of which the row is kept as it was written.
_MOST_WRITTEN = 256


@dataclass(slots=True)
class MemoryRow:
    """The row of a memory, opened.

    Attributes:
        id: its number in the file; ``cell`` is where its key is, None before it is written.
        columns: its settings and its head as ``rows`` writes them, and when it was made and
            changed.
        counts: how many rows it has in each table.
        size: bytes of UTF-8 that the texts of its items measure.
        first, last: the dates of its earliest and its latest item, as far as ``is_dated``.
        recent: which rows the last writes changed.
        touched: which ones this write changes.
    """

    id: int
    address: Address
    columns: Columns
    counts: dict[str, int] = field(default_factory=dict)
    size: int = 0
    first: str | None = None
    last: str | None = None
    is_dated: bool = True
    cell: int | None = None
    recent: str = ""
    touched: dict[str, set[int]] = field(default_factory=dict)

    def advance(self, head: Head) -> None:
        """Note how far it has come with this write."""
        self.columns |= head_to_row(head)
        self.columns["changed"] = time_now().isoformat()

    def touch(self, table: str, numbers: Iterable[int]) -> None:
        """Note that rows of a table change."""
        self.touched.setdefault(table, set()).update(numbers)

    def with_this_write(self, after: int) -> str:
        """Return :attr:`recent` with what this write changes, the first after an operation."""
        return with_write(self.recent, after, self.touched)

    def count(self, table: str, more: int) -> None:
        """Note that there are so many rows more of a table."""
        self.counts[table] = self.counts.get(table, 0) + more

    def add_item(self, row: Mapping[str, Any]) -> None:
        """Note that there is an item more."""
        self.size += _size_of(row)
        at = row["at"]
        if _time(at) is None:
            return
        if self.first is None or _when(at) < _when(self.first):
            self.first = at
        if self.last is None or _when(at) >= _when(self.last):
            self.last = at

    def drop_item(self, row: Mapping[str, Any]) -> None:
        """Note that an item is gone."""
        self.size -= _size_of(row)
        if row["at"] is not None and row["at"] in (self.first, self.last):
            self.is_dated = False

    def date_anew(self, dates: Iterable[Any]) -> None:
        """Find the first and the last of the dates of all items."""
        known = sorted((at for at in dates if _time(at) is not None), key=_when)
        self.first, self.last = (known[0], known[-1]) if known else (None, None)
        self.is_dated = True


class Plain(NamedTuple):
    """What can be read of the row of a memory without a key.

    Attributes:
        items: how many it has, by its head.
    """

    seq: int
    era: int
    items: int


def new_memory(id: int, address: Address, settings: Settings, head: Head) -> MemoryRow:
    """Return the row of a memory that has no rows yet."""
    now = time_now().isoformat()
    columns = settings_to_row(settings) | head_to_row(head)
    return MemoryRow(id, address, {**columns, "made": now, "changed": now})


class Written:
    """The rows of memories as they were last written here: one that stands so still needs not be
    opened to be written over.
    """

    def __init__(self) -> None:
        self._rows: dict[int, tuple[Values, MemoryRow]] = {}

    def keep(self, values: Values, row: MemoryRow) -> None:
        """Keep a row, which nobody changes any more; all others go where there are many."""
        if len(self._rows) >= _MOST_WRITTEN:
            self._rows.clear()
        self._rows[row.id] = (values, row)

    def at(self, values: Values) -> MemoryRow | None:
        """Return a row of these values to change; None where another was written last."""
        known, row = self._rows.get(values[0], ((), None))
        if row is None or known != values:
            return None
        return replace(row, columns={**row.columns}, counts={**row.counts}, touched={})


def found_memory(
    db: Database, keys: Keys, address: Address, written: Written | None = None
) -> MemoryRow | None:
    """Return the row of a memory, or None where there is none.

    Args:
        written: what is known of rows that were written before.

    Raises:
        StoreError: if it is damaged.
    """
    select = f"SELECT {_PLAIN} FROM memory WHERE tenant = ? AND memory_id = ?"
    row = db.execute(select, tuple(address)).fetchone()
    if row is None:
        return None
    known = None if written is None else written.at(tuple(row))
    if known is not None:
        return known
    with naming_damage(f"memory {address.memory_id!r}"):
        return _opened(keys, address, row)


def write_memory(db: Database, keys: Keys, row: MemoryRow, written: Written | None = None) -> None:
    """Write the row of a memory over the one before, if there is one.

    Args:
        written: where it is kept for who writes it next; nobody changes it after this.
    """
    plain = plain_of(row)
    place = place_of_memory(row.id, row.address, plain)
    is_new = row.cell is None
    row.cell, sealed = keys.seal(body_of_memory(row), place, row.cell)
    if is_new:
        marks = ", ".join("?" * len(_PLAIN.split(",")))
        insert = f"INSERT OR REPLACE INTO memory ({_PLAIN}) VALUES ({marks})"
        db.execute(insert, (row.id, *row.address, *plain, row.cell, sealed))
    else:  # its address stands, and so does the page of the index that has it
        update = "UPDATE memory SET seq = ?, era = ?, items = ?, sealed = ? WHERE id = ?"
        db.execute(update, (*plain, sealed, row.id))
    if written is not None:
        written.keep((row.id, *row.address, *plain, row.cell, sealed), row)


def plain_of(row: MemoryRow) -> Plain:
    """Return what of the row of a memory is written so that it can be read without a key."""
    columns = row.columns
    items = _whole(columns["evidence"]) - _whole(columns["forgotten"])
    return Plain(_whole(columns["seq"]), _whole(columns["era"]), items)


def body_of_memory(row: MemoryRow) -> bytes:
    """Return what of the row of a memory is sealed."""
    values = {
        **row.columns,
        "counts": dumps(row.counts),
        "size": row.size,
        "first": row.first,
        "last": row.last,
        "is_dated": row.is_dated,
        "recent": row.recent,
    }
    return packed([values[name] for name in COLUMNS])


def memory_in(body: bytes, id: int, address: Address) -> MemoryRow:
    """Return the row of a memory from what :func:`body_of_memory` returned."""
    values = unpacked(body, COLUMNS)
    known = ("settings", *HEAD, "made", "changed")
    return MemoryRow(
        id=id,
        address=address,
        columns={name: values[name] for name in known},
        counts=json.loads(values["counts"]),
        size=values["size"],
        first=values["first"],
        last=values["last"],
        is_dated=values["is_dated"],
        recent=values["recent"] or "",
    )


def place_of_memory(id: int, address: Address, plain: Plain) -> str:
    """Return the place that the row of a memory is bound to, with what of it is not sealed."""
    return dumps(["memory", id, *address, *plain])


def info_of(row: MemoryRow) -> MemoryInfo:
    """Return what is told of a memory, whose first and last date are known.

    A date that cannot be read is told as not known: also what is damaged can be deleted.
    """
    return MemoryInfo(
        memory_id=row.address.memory_id,
        tenant=row.address.tenant,
        items=row.counts.get("evidence", 0),
        size=row.size,
        answers=_whole(row.columns["contexts"]),
        slots=row.counts.get("slot", 0),
        first=_time(row.first),
        last=_time(row.last),
        made=_time(row.columns["made"]),
        changed=_time(row.columns["changed"]),
    )


def _opened(keys: Keys, address: Address, row: Any) -> MemoryRow:
    plain = Plain(row["seq"], row["era"], row["items"])
    place = place_of_memory(row["id"], address, plain)
    body = keys.unseal(row["sealed"], place, row["cell"])
    memory = memory_in(body, row["id"], address)
    memory.cell = row["cell"]
    return memory


def _whole(value: object) -> int:
    """Return a number of a column; 0 for what an earlier version let stand there."""
    return value if isinstance(value, int) else 0


def _size_of(row: Mapping[str, Any]) -> int:
    text = row["text"]
    return len(text) if isinstance(text, bytes) else 0


def _when(at: str) -> float:
    return moment(_time(at))


def _time(raw: object) -> datetime | None:
    try:
        return time_field("at", raw)
    except InvalidInput:
        return None
