"""The reference partition of the bridge: questions of one dialogue into K states by their gold.

See :mod:`demem_agent.studies.splits.bridge` for what it is measured for. Questions whose gold
overlaps, directly or through others, are one group. Groups share states, since there are more of
them than K.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from demem_agent.studies.slots.partition import supports

__all__ = ["reference_states"]

Gold = frozenset[str]


def reference_states(
    gold: Sequence[Gold], sizes: Mapping[str, int], homes: Mapping[str, int], count: int, limit: int
) -> list[int]:
    """Return the state of each question, in [0, count); -1 for one without gold.

    The groups with most questions a character choose first. Each takes the state where most of its
    gold is at home, or else where less of it is, or else the emptiest, while its gold fits; what
    fits nowhere goes to its first choice.

    Args:
        sizes: characters that each item takes in a content.
        homes: the memory's slot of each item.
        count: K, the number of states.
        limit: L, the characters that a state holds.
    """
    left = [limit] * count
    states = [-1] * len(gold)
    for members in _cheapest_first(gold, sizes):
        items = gold_of(gold, members)
        size = characters(items, sizes)
        state = _state_of(items, size, homes, left)
        left[state] -= size
        for number in members:
            states[number] = state
    return states


def gold_of(gold: Sequence[Gold], members: Sequence[int]) -> Gold:
    """Return the items that are gold for any of these questions."""
    items: set[str] = set()
    for number in members:
        items |= gold[number]
    return frozenset(items)


def characters(items: Gold, sizes: Mapping[str, int]) -> int:
    """Return how many characters items take in a content."""
    return sum(map(sizes.__getitem__, items))


def _cheapest_first(gold: Sequence[Gold], sizes: Mapping[str, int]) -> list[list[int]]:
    """Return the questions of each group, first those that take fewest characters a question."""
    priced = []
    for group in supports(gold):
        members = [number for number, one in enumerate(gold) if one & group]
        priced.append((characters(group, sizes) / len(members), members))
    priced.sort()
    return [members for _, members in priced]


def _state_of(items: Gold, size: int, homes: Mapping[str, int], left: Sequence[int]) -> int:
    """Return the state that a group of items chooses, of those with so many characters left."""
    at_home = items & homes.keys()
    inside = Counter(map(homes.__getitem__, at_home))
    order = sorted(range(len(left)), key=lambda state: (-inside[state], -left[state], state))
    for state in order:
        if left[state] >= size:
            return state
    return order[0]
