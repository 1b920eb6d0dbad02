"""One SQLite file for any number of memories: current rows, append-only evidence, an op ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from demem_agent.errors import MemoryGone, StaleState, StoreError
from demem_agent.later import module
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head
from demem_agent.stores.base import (
    Address,
    DeletionReceipt,
    MemoryInfo,
    Rows,
    receipt_of,
    require_tenant_room,
    time_now,
)
from demem_agent.stores.codec import certified_to_json
from demem_agent.stores.connections import (
    connect,
    disconnect,
    erase_log,
    must_be_alone,
    reported,
    transaction,
    turn,
)
from demem_agent.stores.rows import (
    Columns,
    Row,
    certificate_from_row,
    certificate_to_row,
    choice_from_row,
    choice_to_row,
    context_from_row,
    context_to_row,
    cover_to_rows,
    covers_from_rows,
    evidence_from_row,
    evidence_to_row,
    head_from_row,
    head_to_row,
    info_from_row,
    mark_from_row,
    mark_to_row,
    naming_damage,
    operation_from_row,
    operation_to_row,
    settings_from_row,
    settings_to_row,
    situation_from_row,
    situation_to_row,
    slot_from_row,
    slot_to_row,
    sound_rows,
    succession_from_row,
    succession_to_row,
)
from demem_agent.stores.schema import VERSION
from demem_agent.stores.slot_rows import SlotRow, slot_row
from demem_agent.types import number_of

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

    from demem_agent.stores import backups
    from demem_agent.stores.backups import BackupReceipt, Progress
else:
    backups = module("demem_agent.stores.backups")

__all__ = ["SqliteStore", "from_url"]

#: Which memory, in every statement.
_HERE = "tenant = ? AND memory_id = ?"
#: What tells the rows of a memory apart in each table, and their order.
_KEYS = {
    "evidence": "number",
    "slot": "number",
    "cover": "slot, place",
    "context": "number",
    "certificate": "number",
    "succession": "number",
    "situation": "number",
    "choice": "number",
    "mark": "number",
    "op": "seq",
}
#: All tables that have rows of memories.
_TABLES = ("memory", *_KEYS)
#: A row for each memory, with what :class:`MemoryInfo` tells of it.
_SURVEY = """
SELECT memory_id, tenant, contexts, made, changed,
    (SELECT COUNT(*) FROM evidence WHERE {of_it}) AS items,
    (SELECT COALESCE(SUM(LENGTH(text)), 0) FROM evidence WHERE {of_it}) AS size,
    (SELECT COUNT(*) FROM slot WHERE {of_it}) AS slots,
    (SELECT at FROM evidence WHERE {of_it} AND at IS NOT NULL
        ORDER BY julianday(at), number LIMIT 1) AS first,
    (SELECT at FROM evidence WHERE {of_it} AND at IS NOT NULL
        ORDER BY julianday(at) DESC, number DESC LIMIT 1) AS last
FROM memory WHERE {{which}} ORDER BY tenant, memory_id
""".format(of_it="tenant = memory.tenant AND memory_id = memory.memory_id")


def from_url(rest: str, make: bool = True) -> SqliteStore | None:
    """Open the file of a URL; ``rest`` is what follows ``sqlite://``, a slash and its path.

    Args:
        make: whether a file that is not there is made.

    Raises:
        StoreError: also for a file that is not there, where none is to be made.
    """
    path = rest.removeprefix("/")
    if not path or path == rest or "\0" in path:
        return None
    if not make and not os.path.exists(path):
        raise StoreError(f"there is no file {path}")
    return SqliteStore(path)


class SqliteStore:
    """A :class:`~demem_agent.stores.Store` in one file.

    All stores of a process on a file share one connection. After a fork the child opens one of its
    own with its next call.

    Args:
        path: of the file; made if it does not exist, its folder is not.

    Raises:
        StoreError: if the file cannot be opened, is no database, was written by a newer version, or
            is in use by another process where this SQLite cannot share it.
    """

    schema: int | None = VERSION

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.exclusive = must_be_alone()
        self._closed = False
        self._waiting: list[tuple[str, bool]] = []  # to be erased once no transaction is open
        self._connection = connect(self.path)
        self._db = self._connection.db
        with self._using("erase"):
            self._erase_log(at_once=False)

    def __reduce__(self) -> tuple[type[SqliteStore], tuple[str]]:
        """Open the same file where this is unpickled or copied to."""
        return SqliteStore, (self.path,)

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        with self._transaction("create"):
            self._begin(address, settings, Head())

    def put(self, address: Address, rows: Rows) -> None:
        """Write all rows of a memory that does not exist yet."""
        with self._transaction("put"):
            if self._memory(address, "seq") is not None:
                raise StoreError(f"the memory {address.memory_id!r} exists already")
            self._begin(address, rows.settings, rows.head)
            self._insert("evidence", address, map(evidence_to_row, rows.evidence))
            self._insert_slots(address, rows.slots)
            self._insert("context", address, map(context_to_row, rows.contexts))
            self._insert("certificate", address, map(certificate_to_row, rows.certificates))
            self._insert("succession", address, map(succession_to_row, rows.successions))
            self._insert("situation", address, map(situation_to_row, rows.situations))
            self._insert("choice", address, map(choice_to_row, rows.choices))
            self._insert("mark", address, map(mark_to_row, rows.marks))
            self._insert("op", address, map(operation_to_row, (*rows.keyed, *rows.receipts)))

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""
        # In a transaction, so that no other process writes between two tables.
        with self._transaction("load", "BEGIN"):
            memory = self._memory(address)
            return None if memory is None else self._rows(address, memory)

    def seq(self, address: Address, era: int = 0) -> int:
        """Return the number of the last operation."""
        with self._using("read"):
            memory = self._memory(address, "seq, era")
        if memory is None or memory["era"] != era:
            raise MemoryGone(address.memory_id)
        return int(memory["seq"])

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta durably, in one transaction."""
        with self._transaction("commit"):
            self._advance(address, delta)
            if delta.erases:
                # Should the process end before the file is written anew, the next one knows.
                self._db.execute("UPDATE erasure SET owed = 1")
            self._write_delta(address, delta)
        self._connection.owes_erasure |= delta.erases
        self._erase("forgotten", needed=delta.erases and not delta.for_room)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all others from writing, so that what is read stays so until it is written over.

        What is committed meanwhile is on the disk once this ends.

        Raises:
            StoreError: also where it is not, since the disk is full, say: then nothing of it is.
        """
        with self._using("write"):
            self._waiting.clear()
            self._db.execute("BEGIN IMMEDIATE")
            with turn(self._db):
                yield
            for what, needed in self._waiting:
                self._erase(what, needed=needed)

    def move(self, address: Address, to: Address) -> None:
        """Give a memory another address; whoever holds it open finds it gone."""
        with self._transaction("rename"):
            if self._memory(address, "seq") is None:
                raise MemoryGone(address.memory_id)
            era = self._next_era()
            for table in _TABLES:
                update = f"UPDATE {table} SET tenant = ?, memory_id = ? WHERE {_HERE}"
                self._db.execute(update, (*to, *address))
            self._db.execute(f"UPDATE memory SET era = ? WHERE {_HERE}", (era, *to))
        self._connection.owes_erasure = True  # an id may be somebody's name
        self._erase("renamed", needed=False)

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Delete a memory, or all memories of a tenant."""
        which = _HERE if memory_id is not None else "tenant = ?"
        those = (tenant,) if memory_id is None else (tenant, memory_id)
        with self._transaction("delete"):
            receipt = receipt_of(tenant, self._survey(which, those))
            if not receipt.memories:
                return receipt
            for table in _TABLES:
                self._db.execute(f"DELETE FROM {table} WHERE {which}", those)
            self._next_era()
        self._connection.owes_erasure = True
        self._erase("deleted", needed=True)
        return receipt

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories of a tenant, or of all."""
        with self._transaction("list", "BEGIN"):
            if tenant is None:
                return self._survey("TRUE", ())
            return self._survey("tenant = ?", (tenant,))

    @property
    def owes_erasure(self) -> bool:
        """Whether text that was forgotten may still be in the file."""
        return self._connection.owes_erasure

    def changed(self, address: Address) -> datetime | None:
        """Return when a memory was last written to, in UTC; None where that is not known."""
        with self._using("read"):
            memory = self._memory(address, "changed")
        if memory is None or memory["changed"] is None:
            return None
        return datetime.fromisoformat(memory["changed"])

    def holds(self, address: Address) -> bool:
        """Whether there is such a memory."""
        with self._using("read"):
            return self._memory(address, "seq") is not None

    def memories(self, tenant: str) -> list[str]:
        """List the ids of a tenant's memories, sorted."""
        query = "SELECT memory_id FROM memory WHERE tenant = ? ORDER BY memory_id"
        with self._using("read"):
            return [row["memory_id"] for row in self._db.execute(query, (tenant,))]

    def backup(self, path: str | Path, progress: Progress | None = None) -> BackupReceipt:
        """Copy the file as of one moment, whoever writes meanwhile.

        Args:
            path: of the copy; no such file may be there.
            progress: called with (done, in all), in pages.

        Raises:
            InvalidInput: if there is such a file, or no folder to make it in.
            StoreError: if the file cannot be read, or the copy not written.
        """
        return backups.backed_up(self, path, progress=progress)

    @contextmanager
    def alone(self, doing: str) -> Iterator[Database]:
        """Yield the connection to the file, while no other thread uses it."""
        with self._using(doing):
            yield self._db

    def close(self) -> None:
        """Release the file; the store is not used again."""
        if self._closed:
            return
        if self._connection.is_inherited:  # it is the parent's to close
            self._closed = True
            return
        with self._using("close"):
            self._closed = True
            try:
                self._erase_log()
            finally:
                disconnect(self._connection)

    def _rows(self, address: Address, memory: Row) -> Rows:
        with naming_damage(f"memory {address.memory_id!r}"):
            settings = settings_from_row(memory)
            head = head_from_row(memory)
        damaged: list[str] = []
        covers = covers_from_rows(self._select("cover", address))
        slot_from = partial(slot_from_row, covers=covers)
        certificates = self._named("certificate", address)
        successions = self._named("succession", address)
        situations = self._named("situation", address)
        keyed = self._named("op", address, "AND op_key IS NOT NULL")
        receipts = self._named("op", address, "AND op_key IS NULL AND result <> ''")
        return Rows(
            settings=settings,
            head=head,
            evidence=sound_rows(self._named("evidence", address), evidence_from_row, damaged),
            slots=sound_rows(self._named("slot", address), slot_from, damaged),
            contexts=sound_rows(self._named("context", address), context_from_row, damaged),
            certificates=sound_rows(certificates, certificate_from_row, damaged),
            successions=sound_rows(successions, succession_from_row, damaged),
            situations=sound_rows(situations, situation_from_row, damaged),
            choices=sound_rows(self._named("choice", address), choice_from_row, damaged),
            marks=sound_rows(self._named("mark", address), mark_from_row, damaged),
            keyed=sound_rows(keyed, operation_from_row, damaged),
            receipts=sound_rows(receipts, operation_from_row, damaged),
            damaged=damaged,
        )

    def _memory(self, address: Address, columns: str = "*") -> Row | None:
        query = f"SELECT {columns} FROM memory WHERE {_HERE}"
        row: Row | None = self._db.execute(query, tuple(address)).fetchone()
        return row

    def _select(self, table: str, address: Address, also: str = "") -> list[Row]:
        query = f"SELECT * FROM {table} WHERE {_HERE} {also} ORDER BY {_KEYS[table]}"
        return list(self._db.execute(query, tuple(address)))

    def _named(self, table: str, address: Address, also: str = "") -> Iterator[tuple[str, Row]]:
        """Yield the rows of a table, each with its name."""
        key = _KEYS[table]
        for row in self._select(table, address, also):
            yield f"{table} {row[key]}", row

    def _survey(self, which: str, those: Sequence[str]) -> list[MemoryInfo]:
        found = self._db.execute(_SURVEY.format(which=which), tuple(those))
        return [info_from_row(row) for row in found]

    def _begin(self, address: Address, settings: Settings, head: Head) -> None:
        """Write the row of a memory, which is of the era that its store is in."""
        era = int(self._db.execute("SELECT era FROM erasure").fetchone()["era"])
        row = settings_to_row(settings) | head_to_row(replace(head, era=era))
        now = time_now().isoformat()
        self._insert("memory", address, [{**row, "made": now, "changed": now}])

    def _next_era(self) -> int:
        """Begin another era, and note that text is still to leave the file."""
        self._db.execute("UPDATE erasure SET era = era + 1, owed = 1")
        return int(self._db.execute("SELECT era FROM erasure").fetchone()["era"])

    def _advance(self, address: Address, delta: Delta) -> None:
        known = self._memory(address, "era")
        if known is None or known["era"] != delta.head.era:
            raise MemoryGone(address.memory_id)
        head = {**head_to_row(delta.head), "changed": time_now().isoformat()}
        assignments = ", ".join(f"{name} = ?" for name in head)
        update = f"UPDATE memory SET {assignments} WHERE {_HERE} AND seq = ?"
        done = self._db.execute(update, (*head.values(), *address, delta.after))
        if done.rowcount != 1:
            raise StaleState(f"the memory {address.memory_id!r} was changed by another writer")
        if delta.tenant_items is not None:
            require_tenant_room(self._items_of(address.tenant), delta)

    def _items_of(self, tenant: str) -> int:
        """Return how many items the memories of a tenant have, by their heads."""
        query = "SELECT SUM(evidence - forgotten) AS items FROM memory WHERE tenant = ?"
        return int(self._db.execute(query, (tenant,)).fetchone()["items"])

    def _write_delta(self, address: Address, delta: Delta) -> None:
        self._write_evidence(address, delta)
        self._write_slots(address, delta)
        self._replace("context", address, map(context_to_row, delta.contexts))
        certificates = map(certified_to_json, delta.certificates)
        self._replace("certificate", address, map(certificate_to_row, certificates))
        self._delete("succession", "number", address, map(number_of, delta.lapsed))
        self._replace("succession", address, map(succession_to_row, delta.successions))
        self._replace("situation", address, map(situation_to_row, delta.situations))
        self._replace("choice", address, map(choice_to_row, delta.choices))
        marked = [number_of(mark.evidence_id) for mark in delta.marks]
        says = (mark for mark in delta.marks if mark.says_something)
        self._delete("mark", "number", address, marked)
        self._insert("mark", address, map(mark_to_row, says))
        self._insert("op", address, map(operation_to_row, delta.operations))

    def _write_evidence(self, address: Address, delta: Delta) -> None:
        self._replace("evidence", address, map(evidence_to_row, delta.evidence))
        moves = [(slot, *address, number_of(item)) for item, slot in delta.moves]
        self._db.executemany(f"UPDATE evidence SET slot = ? WHERE {_HERE} AND number = ?", moves)
        for table in ("evidence", "mark"):
            self._delete(table, "number", address, map(number_of, delta.forgotten))

    def _write_slots(self, address: Address, delta: Delta) -> None:
        rows = [slot_row(slot) for slot in delta.slots]
        changed = [*delta.closed, *(row.number for row in rows)]
        self._delete("cover", "slot", address, changed)
        self._delete("slot", "number", address, changed)
        self._insert_slots(address, rows)

    def _insert_slots(self, address: Address, rows: Sequence[SlotRow]) -> None:
        self._insert("slot", address, map(slot_to_row, rows))
        self._insert("cover", address, chain.from_iterable(map(cover_to_rows, rows)))

    def _insert(self, table: str, address: Address, rows: Iterable[Columns]) -> None:
        self._write("INSERT", table, address, rows)

    def _replace(self, table: str, address: Address, rows: Iterable[Columns]) -> None:
        self._write("INSERT OR REPLACE", table, address, rows)

    def _write(self, verb: str, table: str, address: Address, rows: Iterable[Columns]) -> None:
        coming = iter(rows)
        first = next(coming, None)
        if first is None:
            return
        names = ("tenant", "memory_id", *first)
        columns = ", ".join(names)
        marks = ", ".join("?" * len(names))
        values = ((*address, *row.values()) for row in chain([first], coming))
        self._db.executemany(f"{verb} INTO {table} ({columns}) VALUES ({marks})", values)

    def _delete(self, table: str, key: str, address: Address, numbers: Iterable[int]) -> None:
        which = [(*address, number) for number in numbers]
        self._db.executemany(f"DELETE FROM {table} WHERE {_HERE} AND {key} = ?", which)

    def _erase(self, what: str, *, needed: bool) -> None:
        """Write the file anew if text is to leave it; say so where that is needed and cannot be."""
        with self._using("erase"):
            if self._db.in_transaction:  # that of ``writing``, which sees to it when it ends
                self._waiting.append((what, needed))
                return
            hindered = self._erase_log(at_once=needed)
        if needed and hindered:
            raise StoreError(
                f"{what} in {self.path}, but {hindered}: "
                "the text leaves the file with a later write or close"
            )

    def _erase_log(self, *, at_once: bool = True) -> str | None:
        return erase_log(self._connection, at_once=at_once)

    @contextmanager
    def _transaction(self, doing: str, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        with self._using(doing), transaction(self._db, begin):
            yield

    @contextmanager
    def _using(self, doing: str) -> Iterator[None]:
        """Take the connection for oneself; what SQLite raises becomes a StoreError.

        Raises:
            StoreError: also where the store was closed.
        """
        if self._closed:
            raise StoreError(f"{self.path} was closed")
        if self._connection.is_inherited:
            self._connection = connect(self.path)
            self._db = self._connection.db
        with reported(doing, self.path), self._connection.lock:
            yield
