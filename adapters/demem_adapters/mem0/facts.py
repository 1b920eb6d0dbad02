"""The items of a memory as mem0 shows them: each memory once, with what became of it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from demem_adapters.common.passages import kept_beside
from demem_adapters.mem0.whose import id_of, owner
from demem_agent import Evidence, SlotMemory

__all__ = ["BESIDE", "EXPIRES", "Fact", "facts_of", "is_expired"]

EXPIRES = "expiration_date"
#: What mem0 shows beside a memory's metadata, and this keeps among them.
BESIDE = ("user_id", "agent_id", "run_id", "actor_id", "role", EXPIRES)


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory in mem0's sense.

    Attributes:
        namespace: that holds it.
        versions: the item as it was added, and what updates made of it since.
    """

    namespace: str
    versions: tuple[Evidence, ...]

    @property
    def now(self) -> Evidence:
        """The item that holds now."""
        return self.versions[-1]

    @property
    def id(self) -> str:
        """Its id, which updates leave as it is."""
        return id_of(self.namespace, self.versions[0])

    def payload(self) -> dict[str, Any]:
        """Return all that filters may ask for, by name: the metadata, and whose it is and when."""
        about = {**kept_beside(self.now), **owner(self.namespace)}
        if self.now.session is not None:
            about["run_id"] = self.now.session
        return {
            **about,
            "id": self.id,
            "data": self.now.text,
            "created_at": _time(self.versions[0]),
            "updated_at": _time(self.now),
        }

    def shown(self) -> dict[str, Any]:
        """Return it as ``get`` gives it, but for the score."""
        payload = self.payload()
        shown: dict[str, Any] = {
            "id": self.id,
            "memory": self.now.text,
            "hash": hashlib.md5(self.now.text.encode(), usedforsecurity=False).hexdigest(),
            "metadata": _own(payload) or None,
            "created_at": payload["created_at"],
            "updated_at": payload["updated_at"],
        }
        return shown | {name: payload[name] for name in BESIDE if name in payload}

    def history(self) -> list[dict[str, Any]]:
        """Return what became of it, the oldest first, as rows of mem0's history."""
        rows: list[dict[str, Any]] = []
        before: Evidence | None = None
        for item in self.versions:
            rows.append(self._row(item, before))
            before = item
        return rows

    def _row(self, item: Evidence, before: Evidence | None) -> dict[str, Any]:
        payload = kept_beside(item)
        return {
            "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.id} {item.id}")),
            "memory_id": self.id,
            "old_memory": None if before is None else before.text,
            "new_memory": item.text,
            "event": "ADD" if before is None else "UPDATE",
            "created_at": _time(self.versions[0]),
            "updated_at": _time(item),
            "is_deleted": False,
            "actor_id": payload.get("actor_id"),
            "role": payload.get("role"),
        }


def facts_of(namespace: str, memory: SlotMemory) -> list[Fact]:
    """Return the memories of a namespace, in the order in which they were added."""
    items = {item.id: item for item in memory.evidence()}
    followed, taken_back = _updates(memory)
    later = {new for old, new in followed.items() if old in items} | taken_back
    first = [item for item in items.values() if item.id not in later]
    return [Fact(namespace, tuple(_versions(item, items, followed))) for item in first]


def _updates(memory: SlotMemory) -> tuple[dict[str, str], set[str]]:
    """Return which item took the place of which by an update, and those that were taken back."""
    followed: dict[str, str] = {}
    taken_back: set[str] = set()
    for one in memory.successions():
        if one.how == "updated" and one.undone:
            taken_back.add(one.new[0])
        elif one.how == "updated":
            followed[one.old[0]] = one.new[0]
    return followed, taken_back


def _versions(
    item: Evidence, items: Mapping[str, Evidence], followed: Mapping[str, str]
) -> Iterator[Evidence]:
    """Yield an item and what took its place, as far as it is still there."""
    next_one: Evidence | None = item
    while next_one is not None:
        yield next_one
        next_one = items.get(followed.get(next_one.id, ""))


def is_expired(payload: Mapping[str, Any]) -> bool:
    """Whether a memory was to be kept until a day that is over."""
    until = payload.get(EXPIRES)
    return isinstance(until, str) and until < date.today().isoformat()


def _own(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that a caller gave."""
    named = {*BESIDE, "id", "data", "created_at", "updated_at"}
    return {name: value for name, value in payload.items() if name not in named}


def _time(item: Evidence) -> str | None:
    """Return when it was said; a time without a zone is this machine's, as its clock gives it."""
    if item.at is None:
        return None
    at: datetime = item.at if item.at.tzinfo is not None else item.at.astimezone()
    return at.isoformat()
