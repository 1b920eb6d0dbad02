"""What a delta writes of the rows of a memory, and all rows of one read back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, Protocol, TypeVar

from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, StoredEvidence
from demem_agent.stores.base import Rows
from demem_agent.stores.codec import certified_to_json
from demem_agent.stores.memory_rows import MemoryRow
from demem_agent.stores.rows import (
    certificate_from_row,
    certificate_to_row,
    choice_from_row,
    choice_to_row,
    context_from_row,
    context_to_row,
    evidence_from_row,
    evidence_to_row,
    head_from_row,
    mark_from_row,
    mark_to_row,
    naming_damage,
    operation_from_row,
    operation_to_row,
    settings_from_row,
    situation_from_row,
    situation_to_row,
    slot_from_row,
    slot_to_row,
    sound_rows,
    succession_from_row,
    succession_to_row,
)
from demem_agent.stores.slot_rows import slot_row
from demem_agent.stores.snapshots import gaps, items_in, read_rows
from demem_agent.stores.snapshots import read as read_blocks
from demem_agent.stores.tables import PACKED, SealedRow, Tables, key_of, number_in_row
from demem_agent.stores.unencoded import names_of_unencoded
from demem_agent.types import number_of

__all__ = ["Readable", "Sealed", "Useless", "Writable", "Writing", "packed_rows_of", "rows_of"]

#: Blocks of snapshots that cannot be used, by their tables.
Useless = dict[str, set[int]]
_Record = TypeVar("_Record")


class Sealed(Protocol):
    """A row as it was read, until it is opened."""

    def opened(self) -> dict[str, Any]:
        """Return its columns.

        Raises:
            Broken: if it is not what was written there.
        """
        ...

    def with_vectors(self) -> dict[str, Any]:
        """Return the columns of an item with its vectors, wherever these stand.

        Raises:
            Broken: if the row is not what was written there.
        """
        ...


class Readable(Protocol):
    """Where the rows of memories are read from, by tables."""

    def read(
        self, table: str, memory: int, numbers: Iterable[int] | None = None
    ) -> Iterable[tuple[str, Sealed]]:
        """Return the sealed rows of a memory, or those of certain numbers, each with its name."""
        ...


class Writable(Protocol):
    """Where the rows of memories are written to, by tables."""

    def put(self, table: str, memory: int, rows: Iterable[dict[str, Any]]) -> list[int]:
        """Write rows, each for one of its number if there is one; return which are new."""
        ...

    def delete(self, table: str, memory: int, numbers: Iterable[int]) -> int:
        """Delete rows; return how many there were."""
        ...

    def opened(self, table: str, memory: int, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Return rows of certain numbers, opened."""
        ...

    def note(self, memory: int, operations: Iterable[tuple[int, str]]) -> None:
        """Write operations of which nothing is needed again: their numbers and kinds."""
        ...


class Writing:
    """The rows of one memory as they are written; its own row counts along.

    Args:
        memory: its row, which is written last.
    """

    def __init__(self, tables: Writable, memory: MemoryRow) -> None:
        self._tables = tables
        self._memory = memory

    def put(self, table: str, rows: Iterable[Any]) -> list[int]:
        """Write rows; return the numbers of those that were not there before."""
        coming = list(rows)
        if not coming:
            return []
        new = self._tables.put(table, self._memory.id, coming)
        self._memory.touch(table, map(number_in_row, coming))
        self._memory.count(table, len(new))
        return new

    def put_evidence(self, items: Iterable[StoredEvidence]) -> None:
        """Write items; what is known of all together changes with those that are new."""
        rows = {number_of(stored.evidence.id): evidence_to_row(stored) for stored in items}
        for number in self.put("evidence", rows.values()):
            self._memory.add_item(rows[number])

    def all(self, rows: Rows) -> None:
        """Write all rows of a memory that has none yet."""
        self.put_evidence(rows.evidence)
        self.put("slot", map(slot_to_row, rows.slots))
        self.put("context", map(context_to_row, rows.contexts))
        self.put("certificate", map(certificate_to_row, rows.certificates))
        self.put("succession", map(succession_to_row, rows.successions))
        self.put("situation", map(situation_to_row, rows.situations))
        self.put("choice", map(choice_to_row, rows.choices))
        self.put("mark", map(mark_to_row, rows.marks))
        self.put("op", map(operation_to_row, (*rows.keyed, *rows.receipts)))

    def delta(self, delta: Delta) -> None:
        """Write what an operation changes, and note in the memory's row which rows these are."""
        self._evidence(delta)
        self._delete("slot", delta.closed)
        self.put("slot", map(slot_to_row, map(slot_row, delta.slots)))
        self.put("context", map(context_to_row, delta.contexts))
        certificates = map(certified_to_json, delta.certificates)
        self.put("certificate", map(certificate_to_row, certificates))
        self._delete("succession", map(number_of, delta.lapsed))
        self.put("succession", map(succession_to_row, delta.successions))
        self.put("situation", map(situation_to_row, delta.situations))
        self.put("choice", map(choice_to_row, delta.choices))
        self._delete("mark", _says_nothing(delta))
        self.put("mark", map(mark_to_row, (mark for mark in delta.marks if mark.says_something)))
        self.put("op", (operation_to_row(one) for _, one in delta.withdrawn))
        kept = [one for one in delta.operations if one.key is not None or one.result]
        self.put("op", map(operation_to_row, kept))
        self._delete("op", (one.seq for one in delta.expired))
        others = [(one.seq, one.kind) for one in delta.operations if one not in kept]
        others += [(one.seq, one.kind) for one in delta.expired]
        self._tables.note(self._memory.id, others)
        memory = self._memory
        memory.recent = "" if delta.reembedded else memory.with_this_write(delta.after)

    def _evidence(self, delta: Delta) -> None:
        self.put_evidence(delta.evidence)
        self._move(dict(delta.moves))
        gone = list(map(number_of, delta.forgotten))
        for row in self._tables.opened("evidence", self._memory.id, gone).values():
            self._memory.drop_item(row)
        self._delete("evidence", gone)
        self._delete("mark", gone)

    def _move(self, moves: dict[str, int]) -> None:
        slots = {number_of(item): slot for item, slot in moves.items()}
        rows = self._tables.opened("evidence", self._memory.id, slots)
        for number, row in rows.items():
            row["slot"] = slots[number]
        self.put("evidence", rows.values())

    def _delete(self, table: str, numbers: Iterable[int]) -> None:
        gone = list(numbers)
        if not gone:
            return
        self._memory.touch(table, gone)
        self._memory.count(table, -self._tables.delete(table, self._memory.id, gone))


def packed_rows_of(tables: Tables, memory: MemoryRow) -> tuple[Rows, Useless]:
    """Return all rows of a memory, those of packed items so, and the blocks that are of no use.

    Where anything is damaged, no item is packed.
    """
    settings, head = _settings_and_head(memory)
    useless: Useless = {}
    blocks, useless["evidence"] = read_blocks(tables, memory.id, head, settings)
    damaged: list[str] = []

    def read(table: str, build: Callable[[Any], _Record]) -> list[_Record]:
        if table not in PACKED:
            return _sound(tables, memory, damaged, None, table, build)
        packed, useless[table] = read_rows(tables, memory.id, table)
        lasts = {block: rows[-1][key_of(table)] for block, rows in packed.items()}
        others = _beside(tables, memory, damaged, table, lasts, sum(map(len, packed.values())))
        found = [row for rows in packed.values() for row in rows]
        for name, sealed in others:
            try:
                found.append(sealed.opened())
            except ValueError:
                damaged.append(name)
        found.sort(key=itemgetter(key_of(table)))
        return sound_rows(((table, row) for row in found), build, damaged)

    lasts = {block: int(one.columns["number"][-1]) for block, one in blocks.items()}
    others = _beside(tables, memory, damaged, "evidence", lasts, sum(map(len, blocks.values())))
    evidence = sound_rows(others, _item, damaged)
    damaged += names_of_unencoded(evidence)
    rows = _rows(settings, head, evidence, read, damaged)
    if damaged:
        useless["evidence"] |= blocks.keys()
        return rows_of(tables, memory), useless
    return replace(rows, packed=[blocks[number] for number in sorted(blocks)]), useless


def rows_of(
    tables: Readable, memory: MemoryRow, touched: Mapping[str, Collection[int]] | None = None
) -> Rows:
    """Return all rows of a memory, or those of certain numbers in each table that are there."""
    settings, head = _settings_and_head(memory)
    damaged: list[str] = []
    read = partial(_sound, tables, memory, damaged, touched)
    evidence = read("evidence", evidence_from_row)
    if damaged and touched is None and isinstance(tables, Tables):  # only a file has blocks
        evidence = _with_packed(tables, memory, evidence, damaged)
    damaged += names_of_unencoded(evidence)
    return _rows(settings, head, evidence, read, damaged)


def _with_packed(
    tables: Tables, memory: MemoryRow, evidence: Sequence[StoredEvidence], damaged: list[str]
) -> list[StoredEvidence]:
    """Return items with those that are in a block and whose rows cannot be read.

    A block goes as soon as an item of it does, so none of these was forgotten. They are named.
    """
    settings, head = _settings_and_head(memory)
    blocks, _ = read_blocks(tables, memory.id, head, settings)
    known = {number_of(stored.evidence.id): stored for stored in evidence}
    for packed in blocks.values():
        if known.keys() >= set(packed.columns["number"].tolist()):
            continue
        for stored in items_in(packed):
            number = number_of(stored.evidence.id)
            if number not in known:
                known[number] = stored
                name = f"evidence {number}"
                damaged[:] = [one for one in damaged if one != name]
                damaged.append(f"the row of {name} (the item is in its block)")
    return [stored for _, stored in sorted(known.items())]


def _settings_and_head(memory: MemoryRow) -> tuple[Settings, Head]:
    with naming_damage(f"memory {memory.address.memory_id!r}"):
        return settings_from_row(memory.columns), head_from_row(memory.columns)


def _rows(
    settings: Settings,
    head: Head,
    evidence: Sequence[StoredEvidence],
    read: Callable[[str, Callable[[Any], Any]], list[Any]],
    damaged: list[str],
) -> Rows:
    """Return items with all other rows, read by their tables."""
    operations = read("op", operation_from_row)
    return Rows(
        settings=settings,
        head=head,
        evidence=evidence,
        slots=read("slot", slot_from_row),
        contexts=read("context", context_from_row),
        certificates=read("certificate", certificate_from_row),
        successions=read("succession", succession_from_row),
        situations=read("situation", situation_from_row),
        choices=read("choice", choice_from_row),
        marks=read("mark", mark_from_row),
        keyed=[one for one in operations if one.key is not None],
        receipts=[one for one in operations if one.key is None],
        damaged=damaged,
    )


def _beside(
    tables: Tables,
    memory: MemoryRow,
    damaged: list[str],
    table: str,
    lasts: Mapping[int, int],
    packed: int,
) -> list[tuple[str, SealedRow]]:
    """Return the rows that are not packed, of which there are so many."""
    found = list(tables.read_between(table, memory.id, gaps(lasts)))
    if len(found) + packed != memory.counts.get(table, 0):
        damaged.append(f"{table}: not as many as there should be")
    return found


def _item(row: SealedRow) -> StoredEvidence:
    return evidence_from_row(row.with_vectors())


def _says_nothing(delta: Delta) -> Iterable[int]:
    return (number_of(mark.evidence_id) for mark in delta.marks if not mark.says_something)


def _sound(
    tables: Readable,
    memory: MemoryRow,
    damaged: list[str],
    touched: Mapping[str, Collection[int]] | None,
    table: str,
    build: Callable[[Any], _Record],
) -> list[_Record]:
    """Return the sound rows of a table; name the others, and say how many are not there."""
    numbers = None if touched is None else touched.get(table, ())
    found = list(tables.read(table, memory.id, numbers))
    missing = memory.counts.get(table, 0) - len(found)
    if missing and touched is None:
        damaged.append(f"{table}: {missing} missing" if missing > 0 else f"{table}: one too many")

    def opened(row: Sealed) -> _Record:
        return build(row.with_vectors() if table == "evidence" else row.opened())

    return sound_rows(found, opened, damaged)
