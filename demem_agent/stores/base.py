"""What a store is: it writes a delta whole or not at all, and loads the rows of a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple, Protocol, runtime_checkable

from demem_agent.later import dataclass
from demem_agent.settings import Settings
from demem_agent.slots.records import (
    Delta,
    Head,
    Operation,
    StoredContext,
    StoredEvidence,
    StoredSituation,
)
from demem_agent.stores.codec import Json
from demem_agent.stores.slot_rows import SlotRow
from demem_agent.types import Decision, Succession

__all__ = ["Address", "Rows", "Store"]


class Address(NamedTuple):
    """Which memory: no operation of a store ever touches rows of another address."""

    tenant: str
    memory_id: str


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of one memory. Certificates stay plain, since reading one needs the evidence.

    Not hashable, as they come in lists.

    Attributes:
        damaged: names of the rows that could not be read, such as ``evidence 12``; they are left
            out.
    """

    settings: Settings
    head: Head
    evidence: Sequence[StoredEvidence] = ()
    slots: Sequence[SlotRow] = ()
    contexts: Sequence[StoredContext] = ()
    certificates: Sequence[Json] = ()
    successions: Sequence[Succession] = ()
    situations: Sequence[StoredSituation] = ()
    choices: Sequence[Decision] = ()
    keyed: Sequence[Operation] = ()
    receipts: Sequence[Operation] = ()
    damaged: Sequence[str] = field(default_factory=tuple)


@runtime_checkable
class Store(Protocol):
    """Keep memories. Every method may raise StoreError; none leaves half a delta behind."""

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        ...

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""
        ...

    def seq(self, address: Address) -> int:
        """Return the number of the last operation, cheaply: it tells whether a state is stale."""
        ...

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta durably, in one transaction.

        What it forgets is in no file once this returns, nor what a closed slot or a cleared
        context held; where it goes for want of room, the next write may see to that.

        Raises:
            StaleState: if the memory is not at the operation before the delta's first.
        """
        ...

    def holds(self, address: Address) -> bool:
        """Whether there is such a memory."""
        ...

    def memories(self, tenant: str) -> list[str]:
        """List the ids of a tenant's memories, sorted."""
        ...

    def close(self) -> None:
        """Release what is held; the store is not used again."""
        ...
