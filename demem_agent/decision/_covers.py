"""Choosing few actions for many contexts: what partitions and frontiers share.

``covers`` is an (N, A) mask: which action is good enough for which context. ``losses`` is (N, A) in
[0, 1]: what each action costs each context. Numpy only; the search backtracks within a budget and
says whether it finished.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from demem_agent.decision._arrays import Bools, Floats

#: Search nodes for one level: some 50 ms, and enough to settle any instance of a dozen actions.
BUDGET = 4_000
Key = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Search:
    """What a budgeted search found.

    Attributes:
        actions: None when none were found.
        settled: whether that answer is proven.
    """

    actions: tuple[int, ...] | None
    settled: bool


def search_cover(covers: Bools, k: int, budget: int = BUDGET) -> Search:
    """Look for at most k actions that together are good enough for every context."""
    if covering_floor(covers) > k:
        return Search(None, True)
    distinct = np.unique(covers, axis=0)  # contexts with the same good actions count once
    hardest_first = np.argsort(distinct.sum(axis=1), kind="stable")
    walk = _Walk(distinct[hardest_first], budget)
    found = walk.descend(walk.everything, k)
    return Search(found, found is not None or walk.left > 0)


class _Walk:
    """Branch on the actions that serve the hardest context still open, the widest action first.

    Sets of contexts are whole numbers, a bit a context.
    """

    def __init__(self, covers: Bools, budget: int) -> None:
        packed = np.packbits(covers, axis=0, bitorder="little")
        self.served = [int.from_bytes(column.tobytes(), "little") for column in packed.T]
        self.fits = [np.flatnonzero(row).tolist() for row in covers]
        self.everything = (1 << len(covers)) - 1
        self.left = budget

    def descend(self, rest: int, k: int) -> tuple[int, ...] | None:
        if not rest:
            return ()
        self.left -= 1
        if self.left <= 0 or self._widest(rest, k) * k < rest.bit_count():
            return None
        lowest_bit = rest & -rest
        fits = self.fits[lowest_bit.bit_length() - 1]
        for action in sorted(fits, key=lambda a: -self._width(a, rest)):
            found = self.descend(rest & ~self.served[action], k - 1)
            if found is not None:
                return (action, *found)
        return None

    def _widest(self, rest: int, k: int) -> int:
        if k <= 0:
            return 0
        return max((served & rest).bit_count() for served in self.served)

    def _width(self, action: int, rest: int) -> int:
        return (self.served[action] & rest).bit_count()


def greedy_cover(covers: Bools) -> tuple[list[int], Floats]:
    """Take the action that serves most open contexts, until none is open.

    Returns the actions, and each context's price, shape (N,): one over the number of contexts that
    were served with it.
    """
    is_open = np.ones(len(covers), dtype=np.bool_)
    price = np.zeros(len(covers))
    taken: list[int] = []
    while is_open.any():
        served = covers[is_open].sum(axis=0)
        action = int(served.argmax())
        covered = covers[:, action]
        price[is_open & covered] = 1.0 / served[action]
        is_open &= ~covered
        taken.append(action)
    return taken, price


def covering_floor(covers: Bools) -> int:
    """Bound from below how many actions any cover takes.

    By a packing, and by the prices of the greedy cover. Scaled down until no action collects more
    than 1, these are a feasible dual of the cover's linear program.
    """
    actions, price = greedy_cover(covers)
    dual = len(actions) / float((price @ covers).max())
    return max(len(greedy_packing(covers)), math.ceil(dual - 1e-9))


def greedy_packing(covers: Bools) -> list[int]:
    """Take contexts no two of which any one action serves, those with few good actions first."""
    used = np.zeros(covers.shape[1], dtype=np.bool_)
    taken: list[int] = []
    for context in np.argsort(covers.sum(axis=1), kind="stable"):
        if not (used & covers[context]).any():
            used |= covers[context]
            taken.append(int(context))
    return taken


def first_level(levels: Floats, holds: Callable[[float], bool]) -> int:
    """Find by bisection the place of the first level at which a monotone condition holds.

    The last one is taken to hold.
    """
    low = 0
    high = len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if holds(float(levels[middle])):
            high = middle
        else:
            low = middle + 1
    return low


def bottleneck_actions(losses: Floats, k: int, budget: int = BUDGET) -> list[int]:
    """Choose at most k actions whose worst loss is small.

    Bisects over levels, with one budgeted search each.
    """
    found: list[int] = [int(losses.max(axis=0).argmin())]

    def reachable(level: float) -> bool:
        nonlocal found
        actions = search_cover(losses <= level, k, budget).actions
        if actions is None:
            return False
        found = list(actions)
        return True

    least = losses.min(axis=1).max()  # the worst loss if every context had its best action
    first_level(np.unique(losses[losses >= least]), reachable)
    return found


def worst_and_mean(losses: Floats) -> Key:
    """Rank a choice by its worst loss, then by its mean: many choices share the worst."""
    return float(losses.max()), float(losses.mean())


def exchange(
    losses: Floats, actions: Sequence[int], k: int, key: Callable[[Floats], Key] = worst_and_mean
) -> list[int]:
    """Add actions up to k, then swap one at a time, while the key of the contexts' losses falls."""
    chosen = list(actions)
    best = key(losses[:, chosen].min(axis=1))
    while True:
        kept = [chosen] if len(chosen) < k else _each_dropped(chosen)
        trials = [_with_best_addition(losses, rest, key) for rest in kept]
        value, changed = min(trials, key=lambda trial: trial[0])
        if value >= best:
            return chosen
        chosen = changed
        best = value


def _each_dropped(actions: list[int]) -> list[list[int]]:
    return [actions[:place] + actions[place + 1 :] for place in range(len(actions))]


def _with_best_addition(
    losses: Floats, kept: list[int], key: Callable[[Floats], Key]
) -> tuple[Key, list[int]]:
    base = losses[:, kept].min(axis=1, initial=1.0)
    values = [key(np.minimum(base, column)) for column in losses.T]
    action = min(range(len(values)), key=values.__getitem__)
    return values[action], [*kept, action]
