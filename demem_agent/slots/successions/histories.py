"""How an item came to be what it is: the chain of what has taken whose place."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from demem_agent.errors import NotFound
from demem_agent.slots.state import State
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.types import Succession, Version, number_of

__all__ = ["history"]


def history(state: State, item: str) -> tuple[Version, ...]:
    """Return the items that an item has taken the place of, or that have taken its, old to new.

    What was found counts where it is believed, and what was undone is told as well.

    Raises:
        NotFound: for an id that no live item has.
    """
    if item not in state.evidence:
        raise NotFound("evidence", item)
    steps = [one for one in state.successions.values() if _counts(state, one)]
    members = _joined(item, steps)
    chain = [one for one in steps if one.old[0] in members]
    return tuple(_version(state, id, chain) for id in _in_order(members, chain))


def _counts(state: State, one: Succession) -> bool:
    return one.undone or state.derived.current.confidence(one) >= HOLDS


def _joined(item: str, steps: Iterable[Succession]) -> set[str]:
    """Return the items that steps, in either direction, lead to from one."""
    beside: dict[str, set[str]] = {}
    for one in steps:
        beside.setdefault(one.old[0], set()).add(one.new[0])
        beside.setdefault(one.new[0], set()).add(one.old[0])
    reached: set[str] = set()
    ahead = {item}
    while ahead:
        reached |= ahead
        ahead = set().union(*(beside.get(one, ()) for one in ahead)) - reached
    return reached


def _in_order(members: Iterable[str], chain: Iterable[Succession]) -> list[str]:
    """Return items so that each stands behind what it has taken the place of; else as they came."""
    ahead: dict[str, set[str]] = {id: set() for id in members}
    for one in chain:
        if not one.undone:
            ahead[one.new[0]].add(one.old[0])
    ready = [(number_of(id), id) for id, before in ahead.items() if not before]
    heapq.heapify(ready)
    ordered: list[str] = []
    while ready:
        _, done = heapq.heappop(ready)
        ordered.append(done)
        for id, before in ahead.items():
            if done in before:
                before.remove(done)
                if not before:
                    heapq.heappush(ready, (number_of(id), id))
    return ordered


def _version(state: State, id: str, chain: Iterable[Succession]) -> Version:
    followed = any(one.old[0] == id and not one.undone for one in chain)
    replaces = tuple(one for one in chain if one.new[0] == id)
    return Version(state.evidence[id], replaces, not followed)
