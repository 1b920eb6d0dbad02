"""Rows in dictionaries, for memories that need not outlive the process and for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from demem_agent.errors import InvalidInput, MemoryGone, StaleState, StoreError
from demem_agent.later import dataclass, module
from demem_agent.settings import Settings
from demem_agent.slots.records import (
    Delta,
    Head,
    Operation,
    StoredContext,
    StoredEvidence,
    StoredSituation,
    expire,
    withdraw,
)
from demem_agent.stores.base import (
    Address,
    DeletionReceipt,
    MemoryInfo,
    Rows,
    receipt_of,
    require_tenant_room,
    time_now,
)
from demem_agent.stores.codec import Json, certified_to_json
from demem_agent.stores.slot_rows import SlotRow, slot_row
from demem_agent.text.times.dates import moment
from demem_agent.types import Decision, Evidence, Mark, Succession, by_id, number_of

if TYPE_CHECKING:
    from pathlib import Path

    from demem_agent.stores import backups
    from demem_agent.stores.backups import BackupReceipt, Progress
else:
    backups = module("demem_agent.stores.backups")

__all__ = ["MemoryStore", "from_url"]


def from_url(_: str, __: bool = True, encryption_key: object = None) -> MemoryStore:
    """Make a new store; what follows ``memory://`` does not matter.

    Raises:
        InvalidInput: for a key: there is no file that it could encrypt.
    """
    if encryption_key is not None:
        raise InvalidInput("encryption_key", "a key", "left out: memory:// has no file")
    return MemoryStore()


@dataclass(slots=True)
class _Tables:
    """The rows of one memory."""

    settings: Settings
    head: Head = field(default_factory=Head)
    evidence: dict[str, StoredEvidence] = field(default_factory=dict)
    slots: dict[int, SlotRow] = field(default_factory=dict)
    contexts: dict[str, StoredContext] = field(default_factory=dict)
    certificates: dict[str, Json] = field(default_factory=dict)
    successions: dict[str, Succession] = field(default_factory=dict)
    situations: dict[str, StoredSituation] = field(default_factory=dict)
    choices: dict[str, Decision] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    keyed: dict[str, Operation] = field(default_factory=dict)
    receipts: list[Operation] = field(default_factory=list)
    made: datetime = field(default_factory=time_now)
    changed: datetime = field(default_factory=time_now)


class MemoryStore:
    """A :class:`~demem_agent.stores.Store` in RAM; several memories may share one object."""

    schema: int | None = None

    def __init__(self) -> None:
        self._memories: dict[Address, _Tables] = {}
        self._lock = threading.RLock()  # whoever loads sees a delta whole or not at all
        self._era = 0

    def require_sharing(self) -> None:
        """Raise StoreError: no other process sees what is in the RAM of this one."""
        raise StoreError("memory:// is in the RAM of one process: serve by one, or name a file")

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        with self._lock:
            self._require_free(address)
            self._memories[address] = _Tables(settings, Head(era=self._era))

    def put(self, address: Address, rows: Rows) -> None:
        """Write all rows of a memory that does not exist yet."""
        with self._lock:
            self._require_free(address)
            head = replace(rows.head, era=self._era)
            self._memories[address] = _tables(replace(rows, head=head))

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""
        with self._lock:
            tables = self._memories.get(address)
            return _rows(tables) if tables is not None else None

    def seq(self, address: Address, era: int = 0) -> int:
        """Return the number of the last operation."""
        return self._tables(address, era).head.seq

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta, whole or not at all."""
        with self._lock:
            tables = self._tables(address, delta.head.era)
            if tables.head.seq != delta.after:
                raise StaleState(f"the memory {address.memory_id!r} was changed by another writer")
            require_tenant_room(self._items_after(address, delta), delta)
            _write(tables, delta)
            tables.changed = time_now()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all others from writing, so that what is read stays so until it is written over."""
        with self._lock:
            yield

    def move(self, address: Address, to: Address) -> None:
        """Give a memory another address; whoever holds it open finds it gone."""
        with self._lock:
            self._require_free(to)
            if address not in self._memories:
                raise MemoryGone(address.memory_id)
            tables = self._memories.pop(address)
            self._era += 1
            tables.head = replace(tables.head, era=self._era)
            self._memories[to] = tables

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Delete a memory, or all memories of a tenant."""
        with self._lock:
            gone = [one for one in self.survey(tenant) if memory_id in (None, one.memory_id)]
            for one in gone:
                del self._memories[Address(tenant, one.memory_id)]
                self._era += 1
            return receipt_of(tenant, gone)

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories of a tenant, or of all."""
        with self._lock:
            those = (one for one in sorted(self._memories) if tenant in (None, one.tenant))
            return [_info(address, self._memories[address]) for address in those]

    def changed(self, address: Address) -> datetime | None:
        """Return when a memory was last written to, in UTC; None where there is none."""
        tables = self._memories.get(address)
        return None if tables is None else tables.changed

    def holds(self, address: Address) -> bool:
        """Whether there is such a memory."""
        return address in self._memories

    def memories(self, tenant: str) -> list[str]:
        """List the ids of a tenant's memories, sorted."""
        return sorted(address.memory_id for address in self._memories if address.tenant == tenant)

    def backup(self, path: str | Path, progress: Progress | None = None) -> BackupReceipt:
        """Write all memories into a SQLite file, each as of one moment.

        Args:
            path: of the file; no such file may be there.
            progress: called with (done, in all), in memories.

        Raises:
            InvalidInput: if there is such a file, or no folder to make it in.
            StoreError: if it cannot be written.
        """
        return backups.backed_up(self, path, progress=progress)

    def close(self) -> None:
        """Keep the rows: they live as long as this object."""

    def _tables(self, address: Address, era: int) -> _Tables:
        tables = self._memories.get(address)
        if tables is None or tables.head.era != era:
            raise MemoryGone(address.memory_id)
        return tables

    def _items_after(self, address: Address, delta: Delta) -> int:
        """Return how many items the memories of a tenant have once a delta is written."""
        count = delta.head.evidence - delta.head.forgotten
        for other, tables in self._memories.items():
            if other.tenant == address.tenant and other != address:
                count += tables.head.evidence - tables.head.forgotten
        return count

    def _require_free(self, address: Address) -> None:
        if address in self._memories:
            raise StoreError(f"the memory {address.memory_id!r} exists already")


def _info(address: Address, tables: _Tables) -> MemoryInfo:
    items = [stored.evidence for stored in tables.evidence.values()]
    dated = sorted((item for item in items if item.at is not None), key=_when)
    return MemoryInfo(
        memory_id=address.memory_id,
        tenant=address.tenant,
        items=len(items),
        size=sum(len(item.text.encode("utf-8", "surrogatepass")) for item in items),
        answers=tables.head.contexts,
        slots=len(tables.slots),
        first=dated[0].at if dated else None,
        last=dated[-1].at if dated else None,
        made=tables.made,
        changed=tables.changed,
    )


def _when(item: Evidence) -> float:
    return moment(item.at)


def _tables(rows: Rows) -> _Tables:
    return _Tables(
        settings=rows.settings,
        head=rows.head,
        evidence={stored.evidence.id: stored for stored in rows.evidence},
        slots={row.number: row for row in rows.slots},
        contexts={stored.context.id: stored for stored in rows.contexts},
        certificates={plain["certificate"]["id"]: plain for plain in rows.certificates},
        successions=by_id(rows.successions),
        situations={stored.situation.id: stored for stored in rows.situations},
        choices=by_id(rows.choices),
        marks={mark.evidence_id: mark for mark in rows.marks},
        keyed=dict(_keyed(rows.keyed)),
        receipts=list(rows.receipts),
    )


def _keyed(operations: Iterable[Operation]) -> Iterator[tuple[str, Operation]]:
    for operation in operations:
        if operation.key is not None:
            yield operation.key, operation


def _rows(tables: _Tables) -> Rows:
    slots = tables.slots
    return Rows(
        settings=tables.settings,
        head=tables.head,
        evidence=sorted(tables.evidence.values(), key=_number),
        slots=[slots[number] for number in sorted(slots)],
        contexts=list(tables.contexts.values()),
        certificates=list(tables.certificates.values()),
        successions=list(tables.successions.values()),
        situations=list(tables.situations.values()),
        choices=list(tables.choices.values()),
        marks=sorted(tables.marks.values(), key=_number_marked),
        keyed=list(tables.keyed.values()),
        receipts=list(tables.receipts),
    )


def _number_marked(mark: Mark) -> int:
    return number_of(mark.evidence_id)


def _number(stored: StoredEvidence) -> int:
    return number_of(stored.evidence.id)


def _write(tables: _Tables, delta: Delta) -> None:
    _write_evidence(tables, delta)
    _write_slots(tables, delta)
    for stored in delta.contexts:
        tables.contexts[stored.context.id] = stored
    for certified in delta.certificates:
        tables.certificates[certified.certificate.id] = certified_to_json(certified)
    for id in delta.lapsed:
        del tables.successions[id]
    for succession in delta.successions:
        tables.successions[succession.id] = succession
    for stored_situation in delta.situations:
        tables.situations[stored_situation.situation.id] = stored_situation
    tables.choices.update(by_id(delta.choices))
    for mark in delta.marks:
        tables.marks.pop(mark.evidence_id, None)
        if mark.says_something:
            tables.marks[mark.evidence_id] = mark
    withdraw(tables.keyed, delta.withdrawn)
    expire(tables.keyed, tables.receipts, delta.expired)
    for operation in delta.operations:
        if operation.key is not None:
            tables.keyed[operation.key] = operation
        if operation.is_receipt:
            tables.receipts.append(operation)
    tables.head = delta.head


def _write_slots(tables: _Tables, delta: Delta) -> None:
    for number in delta.closed:
        del tables.slots[number]
    for slot in delta.slots:
        tables.slots[slot.number] = slot_row(slot)


def _write_evidence(tables: _Tables, delta: Delta) -> None:
    for stored in delta.evidence:
        tables.evidence[stored.evidence.id] = stored
    for item, slot in delta.moves:
        tables.evidence[item] = replace(tables.evidence[item], slot=slot)
    for item in delta.forgotten:
        del tables.evidence[item]
        tables.marks.pop(item, None)
