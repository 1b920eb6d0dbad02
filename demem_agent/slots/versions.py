"""The versions of a fact: items that took each other's place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from demem_agent.slots.state import State
from demem_agent.types import Succession

__all__ = ["beside", "versions"]


def beside(state: State, *, told: bool = False) -> Mapping[str, set[str]]:
    """Return the items that each item took the place of or that took its, by an update.

    An update that was undone is of one fact all the same.

    Args:
        told: whether what was told to hold in place of another counts as well, until it is undone.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for one in state.successions.values():
        if one.how == "updated" or (told and _is_told(one)):
            found[one.old[0]].add(one.new[0])
            found[one.new[0]].add(one.old[0])
    return found


def versions(near: Mapping[str, set[str]], items: Iterable[str]) -> set[str]:
    """Return items with all that lies beside them, however far."""
    found = set(items)
    ahead = list(found)
    while ahead:
        fresh = near.get(ahead.pop(), set()) - found
        found |= fresh
        ahead += fresh
    return found


def _is_told(one: Succession) -> bool:
    return one.how == "told" and not one.undone
