"""Memories of mem0, as ``get_all`` gives them: a list, or a page of it under "results"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, fact, items_of, mapping_of, text_of
from demem_agent.messages.times import own_time
from demem_agent.turns import Turn

__all__ = ["read_mem0"]

_PAGES = ("results", "memories")


def read_mem0(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn a memory, said by whom it is of, when it was written down last.

    Its metadata and categories are kept as metadata.

    Raises:
        InvalidInput: naming the memory and the field.
    """
    for where, value in found:
        fields = mapping_of(value, where, "a memory, or a page of memories")
        for name in _PAGES:
            for place, memory in items_of(fields, name, where, "memories"):
                yield _turn(memory, place, wanted)
        for place, _ in items_of(fields, "relations", where, "relations"):
            wanted.leave_out(place, "relation")
        if not any(name in fields for name in _PAGES):
            yield _turn(fields, where, wanted)


def _turn(memory: Mapping[str, Any], where: str, wanted: Wanted) -> Turn:
    text = text_of(memory, where, "memory", "text", "data")
    whose = (memory.get(name) for name in ("actor_id", "user_id", "agent_id"))
    run = memory.get("run_id")
    beside = dict(memory.get("metadata") or {})
    if memory.get("categories"):
        beside["categories"] = memory["categories"]
    return fact(
        "mem0",
        memory.get("id"),
        text,
        at=own_time(memory, where, ["updated_at", "created_at"]),
        speaker=next((str(name) for name in whose if name), None),
        session=None if run is None else str(run),
        metadata=wanted.metadata(beside, where),
    )
