"""What a store is: it writes a delta whole or not at all, and loads the rows of a memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import NamedTuple, Protocol, runtime_checkable

from demem_agent.errors import MemoryFull
from demem_agent.later import dataclass
from demem_agent.scoring.packed import Packed
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
from demem_agent.types import Decision, Mark, Succession

__all__ = [
    "Address",
    "DeletionReceipt",
    "MemoryInfo",
    "News",
    "Rows",
    "Store",
    "receipt_of",
    "require_tenant_room",
    "time_now",
]


class Address(NamedTuple):
    """Which memory: no operation of a store ever touches rows of another address."""

    tenant: str
    memory_id: str


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """One memory of a store, as it stands.

    Attributes:
        memory_id, tenant: which one it is.
        items: how many items of evidence are in it; ``size`` is what their texts measure, in bytes
            of UTF-8.
        answers: how many answers it has ever given; ``slots``: how many are in use.
        first, last: the dates of the earliest and the latest item; None where none is dated.
        made, changed: when the memory was made and last written to, by the clock of the machine, in
            UTC; None where a version before this one did it.
    """

    memory_id: str
    tenant: str
    items: int
    size: int
    answers: int
    slots: int
    first: datetime | None
    last: datetime | None
    made: datetime | None
    changed: datetime | None


@dataclass(frozen=True, slots=True)
class DeletionReceipt:
    """What was deleted, which cannot be taken back.

    Attributes:
        tenant: whose it was.
        memories: the ids of the memories.
        items, answers: how many were in them; ``size`` is what the items measured, in bytes.
        at: when, by the clock of the machine, in UTC.
    """

    tenant: str
    memories: tuple[str, ...]
    items: int
    answers: int
    size: int
    at: datetime


def receipt_of(tenant: str, gone: Iterable[MemoryInfo]) -> DeletionReceipt:
    """Return the receipt for memories of a tenant that were deleted now."""
    found = tuple(gone)
    return DeletionReceipt(
        tenant=tenant,
        memories=tuple(one.memory_id for one in found),
        items=sum(one.items for one in found),
        answers=sum(one.answers for one in found),
        size=sum(one.size for one in found),
        at=time_now(),
    )


def require_tenant_room(items: int, delta: Delta) -> None:
    """Refuse a delta after which the memories of a tenant would have too many items.

    Args:
        items: how many they would have.

    Raises:
        MemoryFull: then.
    """
    limit = delta.tenant_items
    if limit is not None and items > limit:
        raise MemoryFull("tenant_items", limit, "the tenant's memories have no room for more")


def time_now() -> datetime:
    """Return the time by the clock of the machine, to the second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of one memory. Certificates stay plain, since reading one needs the evidence.

    Not hashable, as they come in lists.

    Attributes:
        damaged: names of the rows that could not be read, such as ``evidence 12``; they are left
            out.
        packed: items that are not among ``evidence``, in blocks; none where all rows are asked for.
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
    marks: Sequence[Mark] = ()
    keyed: Sequence[Operation] = ()
    receipts: Sequence[Operation] = ()
    damaged: Sequence[str] = field(default_factory=tuple)
    packed: Sequence[Packed] = ()


@dataclass(frozen=True, slots=True)
class News:
    """What changed of a memory after an operation that somebody has its rows as of.

    Attributes:
        rows: those that were written since then and are there; its head is that of now.
        touched: per table, the numbers of those that were written or deleted.
        counts: per table, how many rows there are now.
    """

    rows: Rows
    touched: Mapping[str, Collection[int]]
    counts: Mapping[str, int]


@runtime_checkable
class Store(Protocol):
    """Keep memories. Every method may raise StoreError; none leaves half a delta behind.

    A store that several processes write to may have ``news(address, seq)`` as well, which returns
    :class:`News`: without it, what others write has a memory loaded anew. One that keeps items
    packed beside their rows has ``load_packed(address)``, which is :meth:`load` with those items
    packed, and ``pack(address, state)``, which packs what is not. One that has a copy has
    ``look_at_copy(address, age, look)``, which gives that to ``look`` where it lacks nothing that
    this process wrote, nor what anybody wrote ``age`` seconds ago, and returns what comes of it,
    or None. One that may not be open in several processes at once has ``require_sharing()``, which
    raises a StoreError that says so.

    Attributes:
        schema: the version of the files; None for what lives in RAM.
    """

    schema: int | None

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        ...

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""
        ...

    def put(self, address: Address, rows: Rows) -> None:
        """Write all rows of a memory that does not exist yet, whole or not at all.

        Raises:
            StoreError: also where there is a memory of that address.
        """
        ...

    def seq(self, address: Address, era: int = 0) -> int:
        """Return the number of the last operation, cheaply: it tells whether a state is stale.

        Args:
            era: ``Head.era`` of the memory that is meant.

        Raises:
            MemoryGone: if there is no such memory, or another that came after it.
        """
        ...

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta durably, in one transaction.

        What it forgets is in no file once this returns, nor what a closed slot or a cleared
        context held; where it goes for want of room, the next write may see to that. A store on a
        server gives it to nobody any more, and says of its files what it can.

        Raises:
            MemoryFull: if the tenant would have more items than ``delta.tenant_items``.
            MemoryGone: if there is no such memory, or another that came after it.
            StaleState: if the memory is not at the operation before the delta's first.
        """
        ...

    def move(self, address: Address, to: Address) -> None:
        """Give a memory another address; whoever holds it open finds it gone.

        Raises:
            MemoryGone: if there is no such memory.
            StoreError: also where the other address is taken.
        """
        ...

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Delete a memory, or all memories of a tenant, whole or not at all.

        Nothing of them is in any file once this returns, and no handle on them brings any of it
        back. Where there is none, the receipt says so.

        Raises:
            StoreError: also where it is deleted, but the text cannot leave the file yet since
                another process reads.
        """
        ...

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories of a tenant, or of all, by tenant and id."""
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
