"""Whole memories of a store, as ``demem_agent.memories`` has them, with coroutines.

What blocks runs in a thread. Arguments and errors are the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from demem_agent import memories
from demem_agent.memories import DeletionReceipt, MemoryInfo
from demem_agent.stores import Store

__all__ = [
    "DeletionReceipt",
    "MemoryInfo",
    "copy_memories",
    "copy_memory",
    "delete_memory",
    "list_memories",
    "rename_memory",
]


async def list_memories(url: str | Store, tenant: str | None = None) -> tuple[MemoryInfo, ...]:
    """Return the memories of a store, with sizes and dates, by tenant and id."""
    return await asyncio.to_thread(memories.list_memories, url, tenant)


async def delete_memory(
    url: str | Store, memory_id: str | None, *, tenant: str | None = None
) -> DeletionReceipt:
    """Delete a memory, or all of a tenant, which cannot be taken back."""
    return await asyncio.to_thread(memories.delete_memory, url, memory_id, tenant=tenant)


async def copy_memory(
    url: str | Store,
    memory_id: str,
    *,
    to: str,
    tenant: str | None = None,
    to_tenant: str | None = None,
    to_url: str | Store | None = None,
) -> MemoryInfo:
    """Copy a memory, with all that it has learned, and return what the copy is."""
    return await asyncio.to_thread(
        memories.copy_memory,
        url,
        memory_id,
        to=to,
        tenant=tenant,
        to_tenant=to_tenant,
        to_url=to_url,
    )


async def copy_memories(
    url: str | Store,
    to_url: str | Store,
    *,
    tenant: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[MemoryInfo, ...]:
    """Copy all memories of a store into another, and return what was copied."""
    return await asyncio.to_thread(
        memories.copy_memories, url, to_url, tenant=tenant, progress=progress
    )


async def rename_memory(
    url: str | Store,
    memory_id: str,
    *,
    to: str,
    tenant: str | None = None,
    to_tenant: str | None = None,
) -> MemoryInfo:
    """Give a memory another id, or another tenant, and return what it is then."""
    return await asyncio.to_thread(
        memories.rename_memory, url, memory_id, to=to, tenant=tenant, to_tenant=to_tenant
    )
