"""How an item came to be what it is: the chain of what has taken whose place."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from demem_agent.changes.judge import Change
from demem_agent.changes.lineage import FOUND
from demem_agent.changes.standing import changes_beside
from demem_agent.errors import NotFound
from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.state import State
from demem_agent.types import Succession, Version, number_of

__all__ = ["history", "judged", "judged_beside"]

#: Items of one history that are looked at for what lines say.
MOST = 32


def history(state: State, item: str) -> tuple[Version, ...]:
    """Return the items that an item has taken the place of, or that have taken its, old to new.

    Beside what was settled, what lines say counts where it is sure. What was undone is told as
    well; items of which a judge has said at once that they hold beside each other are no history.

    Raises:
        NotFound: for an id that no live item has.
    """
    if item not in state.evidence:
        raise NotFound("evidence", item)
    steps = [one for one in state.successions.values() if one.how != FOUND]
    steps += judged_beside(state, item)
    members = _joined(item, (one for one in steps if not _is_denial(one)))
    chain = [one for one in steps if members >= {one.old[0], one.new[0]}]
    return tuple(_version(state, id, chain) for id in _in_order(members, chain))


def _is_denial(one: Succession) -> bool:
    """Whether a judge has said of two lines that both hold."""
    return one.undone and bool(one.reason) and not one.confidence


def judged_beside(state: State, item: str) -> list[Succession]:
    """Return the sure changes of an item by what lines say, and those of the items beside it."""
    index = state.passage_index()
    known = state.derived.current
    found: dict[str, Succession] = {}
    ahead, looked = [item], {item}
    while ahead and len(looked) <= MOST:
        rows = index.rows(ahead.pop())
        for change in changes_beside(index, known, range(rows.start, rows.stop)):
            one = judged(index, change)
            if not known.of_item(one.old[0]):  # what was settled goes before
                found[one.id] = one
                beside = {one.old[0], one.new[0]} - looked
                looked |= beside
                ahead += beside
    return list(found.values())


def judged(index: PassageIndex, change: Change) -> Succession:
    """Return a change that was judged, as a succession."""
    old, new = (index.passages[row].stretch for row in (change.old, change.new))
    id = f"{old[0]}>{new[0]}"
    return Succession(id, old, new, round(change.probability, 4), how="judged")


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
