"""Rows in dictionaries, for memories that need not outlive the process and for tests."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from demem_agent.errors import StaleState, StoreError
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation, StoredContext, StoredEvidence
from demem_agent.stores.base import Address, Rows
from demem_agent.stores.codec import Json, SlotRow, certified_to, slot_row
from demem_agent.types import number_of

__all__ = ["MemoryStore"]


@dataclass(slots=True)
class _Tables:
    settings: Settings
    head: Head = field(default_factory=Head)
    evidence: dict[str, StoredEvidence] = field(default_factory=dict)
    slots: dict[int, SlotRow] = field(default_factory=dict)
    contexts: dict[str, StoredContext] = field(default_factory=dict)
    certificates: dict[str, Json] = field(default_factory=dict)
    keyed: dict[str, Operation] = field(default_factory=dict)


class MemoryStore:
    """A :class:`~demem_agent.stores.Store` in RAM; several memories may share one object."""

    def __init__(self) -> None:
        self._memories: dict[Address, _Tables] = {}
        self._lock = threading.RLock()  # whoever loads sees a delta whole or not at all

    def create(self, address: Address, settings: Settings) -> None:
        with self._lock:
            if address in self._memories:
                raise StoreError(f"the memory {address.memory_id!r} exists already")
            self._memories[address] = _Tables(settings)

    def load(self, address: Address) -> Rows | None:
        with self._lock:
            tables = self._memories.get(address)
            return _rows(tables) if tables is not None else None

    def seq(self, address: Address) -> int:
        return self._tables(address).head.seq

    def commit(self, address: Address, delta: Delta) -> None:
        with self._lock:
            _commit(self._tables(address), address, delta)

    def holds(self, address: Address) -> bool:
        return address in self._memories

    def memories(self, tenant: str) -> list[str]:
        return sorted(address.memory_id for address in self._memories if address.tenant == tenant)

    def close(self) -> None:
        """Keep the rows: they live as long as this object."""

    def _tables(self, address: Address) -> _Tables:
        if address not in self._memories:
            raise StoreError(f"there is no memory {address.memory_id!r}")
        return self._memories[address]


def _rows(tables: _Tables) -> Rows:
    return Rows(
        settings=tables.settings,
        head=tables.head,
        evidence=sorted(tables.evidence.values(), key=lambda stored: number_of(stored.evidence.id)),
        slots=[row for _, row in sorted(tables.slots.items())],
        contexts=list(tables.contexts.values()),
        certificates=list(tables.certificates.values()),
        keyed=list(tables.keyed.values()),
    )


def _commit(tables: _Tables, address: Address, delta: Delta) -> None:
    if tables.head.seq != delta.after:
        raise StaleState(f"the memory {address.memory_id!r} was changed by another writer")
    for stored in delta.evidence:
        tables.evidence[stored.evidence.id] = stored
    for item, slot in delta.moves:
        tables.evidence[item] = replace(tables.evidence[item], slot=slot)
    for item in delta.forgotten:
        del tables.evidence[item]
    for number in delta.closed:
        del tables.slots[number]
    tables.slots |= {slot.number: slot_row(slot) for slot in delta.slots}
    tables.contexts |= {stored.context.id: stored for stored in delta.contexts}
    tables.certificates |= {c.certificate.id: certified_to(c) for c in delta.certificates}
    tables.keyed |= {op.key: op for op in delta.operations if op.key is not None}
    tables.head = delta.head
