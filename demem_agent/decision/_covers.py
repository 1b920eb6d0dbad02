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

BUDGET = 4_000  # search nodes for one level: some 50 ms, and enough to settle any instance of a dozen actions
Key = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Search:
    """What a budgeted search found: the actions, or None; ``settled`` when that answer is proven."""

    actions: tuple[int, ...] | None
    settled: bool


def search_cover(covers: Bools, k: int, budget: int = BUDGET) -> Search:
    """Look for at most k actions that together are good enough for every context."""
    if covering_floor(covers) > k:
        return Search(None, True)
    hardest_first = np.unique(covers, axis=0)  # contexts with the same good actions count once
    hardest_first = hardest_first[np.argsort(hardest_first.sum(axis=1), kind="stable")]
    walk = _Walk(hardest_first, budget)
    found = walk.descend(walk.everything, k)
    return Search(found, found is not None or walk.left > 0)


class _Walk:
    """Branch on the actions that serve the hardest context still open, the widest action first."""

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
        widest = max((served & rest).bit_count() for served in self.served) if k > 0 else 0
        if self.left <= 0 or widest * k < rest.bit_count():
            return None
        hardest = (rest & -rest).bit_length() - 1
        for action in sorted(
            self.fits[hardest], key=lambda a: -(self.served[a] & rest).bit_count()
        ):
            found = self.descend(rest & ~self.served[action], k - 1)
            if found is not None:
                return (action, *found)
        return None


def greedy_cover(covers: Bools) -> tuple[list[int], Floats]:
    """Take the action that serves most open contexts until none is open: the actions, and each
    context's price.
    """
    is_open, price, taken = np.ones(len(covers), dtype=np.bool_), np.zeros(len(covers)), []
    while is_open.any():
        served = covers[is_open].sum(axis=0)
        action = int(served.argmax())
        price[is_open & covers[:, action]] = 1.0 / served[action]
        is_open &= ~covers[:, action]
        taken.append(action)
    return taken, price


def covering_floor(covers: Bools) -> int:
    """Bound from below how many actions any cover takes: by a packing, and by the prices of the
    greedy cover.

    The prices, scaled down until no action collects more than 1, are a feasible dual of the cover's
    linear program.
    """
    actions, price = greedy_cover(covers)
    dual = len(actions) / float((price @ covers).max())
    return max(len(greedy_packing(covers)), math.ceil(dual - 1e-9))


def greedy_packing(covers: Bools) -> list[int]:
    """Take contexts no two of which any one action serves, those with few good actions first."""
    used, taken = np.zeros(covers.shape[1], dtype=np.bool_), []
    for context in np.argsort(covers.sum(axis=1), kind="stable"):
        if not (used & covers[context]).any():
            used |= covers[context]
            taken.append(int(context))
    return taken


def first_level(levels: Floats, holds: Callable[[float], bool]) -> int:
    """Find by bisection the first level at which a monotone condition holds; the last one is taken
    to hold.
    """
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(float(levels[middle])) else (middle + 1, high)
    return low


def bottleneck_actions(losses: Floats, k: int, budget: int = BUDGET) -> list[int]:
    """Choose at most k actions whose worst loss is small: bisection over levels, one budgeted
    search each.
    """
    found: list[int] = [int(losses.max(axis=0).argmin())]

    def reachable(level: float) -> bool:
        nonlocal found
        actions = search_cover(losses <= level, k, budget).actions
        found = found if actions is None else list(actions)
        return actions is not None

    first_level(np.unique(losses[losses >= losses.min(axis=1).max()]), reachable)
    return found


def worst_and_mean(losses: Floats) -> Key:
    """Rank a choice by its worst loss, then by its mean: many choices share the worst."""
    return float(losses.max()), float(losses.mean())


def exchange(
    losses: Floats, actions: Sequence[int], k: int, key: Callable[[Floats], Key] = worst_and_mean
) -> list[int]:
    """Add actions up to k, then swap one at a time, as long as the key of the contexts' losses
    falls.
    """
    chosen, best = list(actions), key(losses[:, list(actions)].min(axis=1))
    while True:
        drops = [None] if len(chosen) < k else range(len(chosen))
        trials = [(*_best_addition(losses, _without(chosen, drop), key), drop) for drop in drops]
        value, action, drop = min(trials, key=lambda trial: trial[0])
        if value >= best:
            return chosen
        chosen, best = [*_without(chosen, drop), action], value


def _without(actions: list[int], place: int | None) -> list[int]:
    return [action for i, action in enumerate(actions) if i != place]


def _best_addition(
    losses: Floats, kept: list[int], key: Callable[[Floats], Key]
) -> tuple[Key, int]:
    base = losses[:, kept].min(axis=1, initial=1.0)
    values = [key(np.minimum(base, column)) for column in losses.T]
    action = min(range(len(values)), key=values.__getitem__)
    return values[action], action
