"""Memories of LangMem, which are items of a LangGraph store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, fact, items_of, mapping_of
from demem_agent.messages.parts import written
from demem_agent.messages.times import own_time
from demem_agent.turns import Turn

__all__ = ["read_langmem"]


def read_langmem(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn an item, when it was written last; its namespace is the session.

    A memory that is a text is said as it is; one with fields, such as a profile or a triple, as
    "field: value" line by line.

    Raises:
        InvalidInput: naming the item and the field.
    """
    for where, value in found:
        fields = mapping_of(value, where, "an item with a namespace, a key and a value")
        if "items" in fields and "value" not in fields:
            for place, item in items_of(fields, "items", where, "items"):
                yield from _turn(item, place, wanted)
        else:
            yield from _turn(fields, where, wanted)


def _turn(item: Mapping[str, Any], where: str, wanted: Wanted) -> Iterator[Turn]:
    value = mapping_of(item.get("value"), f"{where}.value", "an object")
    text = _text(value)
    if not text.strip():
        wanted.leave_out(where, "empty")
        return
    key = item.get("key")
    if not isinstance(key, str):
        raise InvalidInput(f"{where}.key", key, "a text")
    namespace = item.get("namespace")
    if not isinstance(namespace, list | tuple):
        raise InvalidInput(f"{where}.namespace", namespace, "a list of names")
    session = "/".join(map(str, namespace)) or None
    at = own_time(item, where, ["updated_at", "created_at"])
    beside = {"kind": value.get("kind")} if value.keys() <= {"kind", "content"} else {}
    metadata = wanted.metadata(beside, where)
    yield fact("langmem", key, text, at=at, session=session, metadata=metadata)


def _text(value: Mapping[str, Any]) -> str:
    """Return what a memory says: LangMem keeps it under "content", beside its kind."""
    held = value.get("content") if value.keys() <= {"kind", "content"} else value
    if isinstance(held, Mapping) and [*held] == ["content"]:
        held = held["content"]
    if not isinstance(held, Mapping):
        return "" if held is None else written(held)
    lines = [f"{name}: {written(said)}" for name, said in held.items() if said is not None]
    return "\n".join(lines)
