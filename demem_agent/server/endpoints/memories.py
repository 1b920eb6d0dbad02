"""Memories as a whole: listed, made, looked at, deleted, exported, imported."""

from __future__ import annotations

from typing import Any

from demem_agent import SlotMemory
from demem_agent.server.endpoints.base import Call, Endpoint, Reply, page, scopes
from demem_agent.server.endpoints.filters import filter_in
from demem_agent.stores import DeletionReceipt
from demem_agent.types import Health, Storage
from demem_agent.wire.requests import (
    Filtered,
    List,
    Memory,
    MemoryName,
    NewMemory,
    Page,
    Told,
    given,
)

__all__ = ["ENDPOINTS"]


def listed(call: Call) -> Page[MemoryName]:
    names = (name for name in call.house.pool.names() if call.key.reaches(name))
    known = (MemoryName(memory_id=name) for name in names)
    return page(call, known, call.query, known_by=lambda one: one.memory_id)


def put(call: Call) -> Reply:
    memory, is_new = call.house.made(call.memory_id, {} if call.body is None else given(call.body))
    return Reply(_shown(call.memory_id, memory), 201 if is_new else 200)


def shown(call: Call) -> Memory:
    return _shown(call.memory_id, call.memory)


def deleted(call: Call) -> DeletionReceipt:
    return call.house.pool.delete(call.memory_id)


def exported(call: Call) -> Reply:
    return Reply(call.memory.export(where=filter_in(call.query)), 200, lines=True)


def imported(call: Call) -> Memory:
    lines: list[dict[str, Any]] = call.body
    return _shown(call.memory_id, call.house.restored(call.memory_id, lines))


def checked(call: Call) -> Told:
    call.memory.check()
    return Told(text="sound")


def fingerprint(call: Call) -> Told:
    return Told(text=call.memory.fingerprint())


def listened_to(call: Call) -> None:
    """Do nothing: what streams is carried out by the application."""


def health(call: Call) -> Health:
    return call.memory.health()


def storage(call: Call) -> Storage:
    return call.memory.storage()


def _shown(memory_id: str, memory: SlotMemory) -> Memory:
    return Memory(
        memory_id=memory_id,
        version=memory.version,
        items=len(memory),
        settings=memory.settings,
    )


_ONE = "/v1/memories/{memory}"
_READ = scopes("read")

ENDPOINTS = (
    Endpoint(
        name="list_memories",
        method="GET",
        path="/v1/memories",
        does=listed,
        says="List the memories that the key reaches, by id.",
        scopes=_READ,
        gives=Page[MemoryName],
        query=List,
        tagged=False,
    ),
    Endpoint(
        name="put_memory",
        method="PUT",
        path=_ONE,
        does=put,
        says="Make a memory, or find that it is there with these settings.",
        scopes=scopes("write"),
        lane="write",
        gives=Memory,
        body=NewMemory,
        changes=True,
    ),
    Endpoint(
        name="get_memory",
        method="GET",
        path=_ONE,
        does=shown,
        says="Show a memory: its version, its settings, how many items it has.",
        scopes=_READ,
        gives=Memory,
    ),
    Endpoint(
        name="delete_memory",
        method="DELETE",
        path=_ONE,
        does=deleted,
        says="Delete a memory for good, and return the receipt.",
        scopes=scopes("forget"),
        lane="whole",
        gives=DeletionReceipt,
        changes=True,
        tagged=False,
    ),
    Endpoint(
        name="export",
        method="GET",
        path=f"{_ONE}/export",
        does=exported,
        says="Return the whole memory, or what a filter leaves, as JSON lines.",
        scopes=_READ,
        lane="whole",
        query=Filtered,
    ),
    Endpoint(
        name="import",
        method="POST",
        path=f"{_ONE}/import",
        does=imported,
        says="Make a memory of an export; there must be none of this id.",
        scopes=scopes("write"),
        lane="whole",
        gives=Memory,
        lines=True,
        status=201,
        changes=True,
    ),
    Endpoint(
        name="check",
        method="GET",
        path=f"{_ONE}/check",
        does=checked,
        says="Assert every invariant of the memory.",
        scopes=_READ,
        lane="whole",
        gives=Told,
    ),
    Endpoint(
        name="fingerprint",
        method="GET",
        path=f"{_ONE}/fingerprint",
        does=fingerprint,
        says="Return a digest of what is remembered.",
        scopes=_READ,
        lane="whole",
        gives=Told,
    ),
    Endpoint(
        name="events",
        method="GET",
        path=f"{_ONE}/events",
        does=listened_to,
        says="Tell what happens to the memory as it happens, as server-sent events without text.",
        scopes=_READ,
        lane="",
        tagged=False,
        streams=True,
    ),
    Endpoint(
        name="health",
        method="GET",
        path=f"{_ONE}/health",
        does=health,
        says="Tell how the memory stands, against its bounds.",
        scopes=_READ,
        gives=Health,
        tagged=False,
    ),
    Endpoint(
        name="storage",
        method="GET",
        path=f"{_ONE}/storage",
        does=storage,
        says="Tell how much the memory keeps, and how much it may.",
        scopes=_READ,
        gives=Storage,
    ),
)
