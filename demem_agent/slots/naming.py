"""Which keyed operations name an id in what they gave, looked up without reading them all again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import field

from demem_agent.later import dataclass, pattern
from demem_agent.slots.records import Operation

__all__ = ["LEFT", "LISTED", "Named", "named_in"]

#: The kind of the operations of turns of lists.
LISTED = "sync"
#: What stands in the place of what was asked, of a turn that its list says no more.
LEFT = "left"
#: Those of which a text may be kept nowhere but in what was asked, once something else is told.
_TOLD = "feedback"
#: An id in what an operation gave.
_ID = pattern(r'"([a-z]\d+)"')


def named_in(one: Operation) -> list[str]:
    """Return the ids that the result of a keyed operation names."""
    return _ID.findall(one.result)


@dataclass(slots=True)
class Named:
    """Keyed operations of which it is kept what was asked, as far as they were looked at.

    Attributes:
        seen: the number of the last operation that was.
        keys: per id, the keys of the operations that name it.
        told: keys of feedback, and the ids that each names.
        alone: keys of those of which nobody knows what they had said: it may be kept nowhere else.
        latest: per list and turn of it, the number of the operation that recorded it last.
    """

    seen: int = 0
    keys: dict[str, list[str]] = field(default_factory=dict)
    told: dict[str, list[str]] = field(default_factory=dict)
    alone: dict[str, None] = field(default_factory=dict)
    latest: dict[tuple[str, str], int] = field(default_factory=dict)

    def fresh(self, keyed: dict[str, Operation]) -> list[Operation]:
        """Return the operations that were not looked at yet; they come at the end."""
        if not self.seen:
            return list(keyed.values())
        found = []
        for one in reversed(keyed.values()):
            if one.seq <= self.seen:
                break
            found.append(one)
        return found

    def add(self, key: str, one: Operation) -> None:
        """Enter an operation."""
        self.seen = max(self.seen, one.seq)
        if one.kind == LISTED:
            turn = _turn_of(one)
            self.latest[turn] = max(one.seq, self.latest.get(turn, 0))
        if one.request:
            ids = named_in(one)
            for id in dict.fromkeys(ids):
                self.keys.setdefault(id, []).append(key)
            if one.kind == _TOLD:
                self.told[key] = ids

    def of(self, ids: Iterable[str]) -> dict[str, None]:
        """Return the keys of the operations that name any of these ids."""
        found: dict[str, None] = {}
        for id in ids:
            found |= dict.fromkeys(self.keys.get(id, ()))
        return found

    def is_latest(self, one: Operation) -> bool:
        """Whether an operation recorded what a list said last of a turn."""
        return one.kind == LISTED and self.latest[_turn_of(one)] == one.seq

    def drop(self, key: str, one: Operation) -> None:
        """Take an operation out of which it is not kept any more what was asked."""
        self.told.pop(key, None)
        self.alone.pop(key, None)
        for id in dict.fromkeys(named_in(one)):
            left = [known for known in self.keys.get(id, ()) if known != key]
            if left:
                self.keys[id] = left
            else:
                self.keys.pop(id, None)


def _turn_of(one: Operation) -> tuple[str, str]:
    told = json.loads(one.result)
    return told["list"], told["own"]
