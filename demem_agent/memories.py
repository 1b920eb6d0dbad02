"""Whole memories of a store: list, delete, copy and rename them.

What a memory is opened by names it here too: the URL of its store (or the store itself), its
``memory_id`` and its ``tenant``, which is "default" unless given. ``demem_agent.async_memories``
has the same as coroutines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from demem_agent.errors import InvalidInput, MemoryGone, NotFound, StoreError
from demem_agent.options import Options, address_of
from demem_agent.stores import (
    Address,
    DeletionReceipt,
    MemoryInfo,
    Rows,
    Store,
    opened_store,
)
from demem_agent.turns import LONGEST_NAME, text_field

__all__ = [
    "DeletionReceipt",
    "MemoryInfo",
    "copy_memories",
    "copy_memory",
    "delete_memory",
    "list_memories",
    "rename_memory",
]


def list_memories(url: str | Store, tenant: str | None = None) -> tuple[MemoryInfo, ...]:
    """Return the memories of a store, with sizes and dates, by tenant and id.

    Args:
        tenant: whose; those of all tenants unless given.

    Raises:
        InvalidInput: if the tenant is no text, or blank.
        StoreError: also for a file that is not there; none is made.

    Examples:
        >>> from demem_agent import SlotMemory
        >>> from demem_agent.stores import MemoryStore
        >>> store = MemoryStore()
        >>> told = SlotMemory.open(store, memory_id="ana").ingest("I moved to Lisbon.")
        >>> [(one.memory_id, one.items, one.size) for one in list_memories(store)]
        [('ana', 1, 18)]
    """
    if tenant is not None:
        text_field("tenant", tenant, LONGEST_NAME)
    with opened_store(url) as store:
        return tuple(store.survey(tenant))


def delete_memory(
    url: str | Store, memory_id: str | None, *, tenant: str | None = None
) -> DeletionReceipt:
    """Delete a memory, or all of a tenant, which cannot be taken back.

    When this returns nothing of it is in any file of the store. Whoever holds it open gets
    MemoryGone with the next call, also in another process, and brings none of it back. Exports and
    backups that were made before are yours.

    Args:
        memory_id: which one; None for all memories of the tenant, who then must be named.

    Raises:
        InvalidInput: for None without a tenant.
        NotFound: if there is no such memory, or the tenant has none.
        StoreError: also where it is deleted, but its text cannot leave the file yet since another
            process reads; it does so with the next write or close.

    Examples:
        >>> from demem_agent import SlotMemory
        >>> from demem_agent.stores import MemoryStore
        >>> store = MemoryStore()
        >>> told = SlotMemory.open(store, memory_id="ana").ingest("I moved to Lisbon.")
        >>> receipt = delete_memory(store, "ana")
        >>> receipt.memories, receipt.items
        (('ana',), 1)
    """
    if memory_id is None and tenant is None:
        raise InvalidInput("memory_id", None, "given, or else the tenant whose memories all go")
    address = _address("default" if memory_id is None else memory_id, tenant)
    with opened_store(url) as store:
        receipt = store.delete(address.tenant, memory_id)
    if receipt.memories:
        return receipt
    if memory_id is None:
        raise NotFound("memory of the tenant", address.tenant)
    raise NotFound("memory", memory_id)


def copy_memory(
    url: str | Store,
    memory_id: str,
    *,
    to: str,
    tenant: str | None = None,
    to_tenant: str | None = None,
    to_url: str | Store | None = None,
) -> MemoryInfo:
    """Copy a memory, with all that it has learned, and return what the copy is.

    Args:
        to: the id of the copy.
        to_tenant: whose the copy is; the same tenant's unless given.
        to_url: the store that it is made in; the same unless given.

    Raises:
        NotFound: if there is no such memory.
        InvalidInput: if the copy's id is taken.
        StoreError: for a damaged memory: export what can be read of it, and restore that.
    """
    source = _address(memory_id, tenant)
    target = _address(to, to_tenant or tenant, "to")
    with opened_store(url) as store:
        rows = _whole(store, source)
        if to_url is None:
            return _put(store, target, rows)
    with opened_store(to_url, make=True) as other:
        return _put(other, target, rows)


def copy_memories(
    url: str | Store,
    to_url: str | Store,
    *,
    tenant: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[MemoryInfo, ...]:
    """Copy all memories of a store into another, and return what was copied.

    Each is there whole or not at all, under the id and the tenant that it has. One that is there
    already, as it is here, is left as it is: a copy that was cut short is begun again.

    Args:
        to_url: the store that they are copied into; made if it is not there.
        tenant: whose memories; those of all tenants unless given.
        progress: called with (done, in all), in memories.

    Raises:
        InvalidInput: where another memory has the id of one; those before it are copied.
        StoreError: for a damaged memory: export what can be read of it, and restore that.

    Examples:
        >>> from demem_agent import SlotMemory
        >>> from demem_agent.stores import MemoryStore
        >>> here, there = MemoryStore(), MemoryStore()
        >>> told = SlotMemory.open(here, memory_id="ana").ingest("I moved to Lisbon.")
        >>> [one.memory_id for one in copy_memories(here, there)]
        ['ana']
    """
    with opened_store(url) as store, opened_store(to_url, make=True) as other:
        coming = list(map(_address_of, store.survey(tenant)))
        copied = set()
        for done, address in enumerate(coming, 1):
            rows = _whole(store, address)
            if not _is_there(other, address, rows):
                other.put(address, rows)
                copied.add(address)
            if progress is not None:
                progress(done, len(coming))
        return tuple(one for one in other.survey(tenant) if _address_of(one) in copied)


def rename_memory(
    url: str | Store,
    memory_id: str,
    *,
    to: str,
    tenant: str | None = None,
    to_tenant: str | None = None,
) -> MemoryInfo:
    """Give a memory another id, or another tenant, and return what it is then.

    Whoever holds it open gets MemoryGone with the next call.

    Raises:
        NotFound: if there is no such memory.
        InvalidInput: if the new id is taken.
    """
    source = _address(memory_id, tenant)
    target = _address(to, to_tenant or tenant, "to")
    with opened_store(url) as store:
        _require_free(store, target)
        try:
            store.move(source, target)
        except MemoryGone as error:
            raise NotFound("memory", memory_id) from error
        return _info(store, target)


def _address(memory_id: str, tenant: str | None, field: str = "memory_id") -> Address:
    """Return the address of a memory, checked as where it is opened.

    Args:
        field: what the id is called in errors.
    """
    given: Options = {"memory_id": memory_id}
    if tenant is not None:
        given["tenant"] = tenant
    return address_of(given, field)


def _whole(store: Store, address: Address) -> Rows:
    rows = store.load(address)
    if rows is None:
        raise NotFound("memory", address.memory_id)
    if rows.damaged:
        named = ", ".join(rows.damaged)
        raise StoreError(f"damaged rows: {named}; export the rest with skip_damaged=True")
    return rows


def _put(store: Store, address: Address, rows: Rows) -> MemoryInfo:
    _require_free(store, address)
    store.put(address, rows)
    return _info(store, address)


def _is_there(store: Store, address: Address, rows: Rows) -> bool:
    """Whether a store has a memory as it is elsewhere.

    Raises:
        InvalidInput: if it has another one of that address.
    """
    there = store.load(address)
    if there is None:
        return False
    if replace(there.head, era=rows.head.era) != rows.head or there.settings != rows.settings:
        name = address.memory_id
        says = f"another memory {name!r} of the tenant {address.tenant!r} is there already"
        raise InvalidInput("to_url", name, "a store without another memory of that id", says)
    return True


def _address_of(info: MemoryInfo) -> Address:
    return Address(info.tenant, info.memory_id)


def _require_free(store: Store, address: Address) -> None:
    if store.holds(address):
        raise InvalidInput("to", address.memory_id, "the id of no memory that is there")


def _info(store: Store, address: Address) -> MemoryInfo:
    for one in store.survey(address.tenant):
        if one.memory_id == address.memory_id:
            return one
    raise MemoryGone(address.memory_id)
