"""The memory-distortion frontier of a known reward matrix.

It is what K states must cost, and how many states a cost takes.

``mu`` has shape (N contexts, A actions) with entries in [0, 1]; one matrix describes one query. A
state plays one action, so K states are a choice of at most K actions and every context takes the
best of them: the frontier is a set cover and not a search over partitions. Deciding it is
NP-complete (theorem "Computational hardness"), and the exact functions hand an integer program to
HiGHS: they need ``pip install 'demem-agent[lab]'``. The ``*_interval`` functions need numpy only
and enclose the same numbers.

Every result carries what attains it, and ``verify`` checks that against ``mu`` without a solver. It
checks the side that can be shown: that nothing better exists is the solver's word, except where a
packing or an interval proves it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demem_agent.decision._arrays import Bools, Floats, entry_of_each, numbers, require
from demem_agent.decision._covers import (
    bottleneck_actions,
    covering_floor,
    exchange,
    first_level,
    greedy_cover,
    greedy_packing,
    search_cover,
)
from demem_agent.decision._programs import largest_packing, median_actions, scipy, smallest_cover
from demem_agent.decision.gaps import gaps

Labels = NDArray[np.intp]
#: Slack of a mean recomputed in another order; everything worst-case is compared exactly.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Hold the distortion of a choice of actions, and the choice that attains it.

    Not hashable, as its arrays are not.

    Attributes:
        value: distortion in [0, 1]: the worst gap of any context, or the mean gap.
        actions: the action of each state used, ascending; at most K.
        labels: shape (N,), the state of each context, an index into ``actions``; read-only.
        weights: shape (N,), None for the worst case; read-only.
    """

    value: float
    actions: tuple[int, ...]
    labels: Labels
    weights: Floats | None = None

    def verify(self, mu: ArrayLike) -> bool:
        """Check that the labels and actions attain ``value`` on ``mu``; not that it is optimal."""
        attained = _attained(gaps(mu), self.actions, self.labels)
        if attained is None:
            return False
        if self.weights is None:
            return float(attained.max()) == self.value
        mean = float(self.weights @ attained)
        return abs(mean - self.value) <= ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """Hold the fewest states that reach a distortion.

    Attributes:
        number: how many states, the length of ``actions``.
        eps: the distortion.
        actions: the action of each state, ascending.
        labels: shape (N,), the state of each context, an index into ``actions``; read-only.
    """

    number: int
    eps: float
    actions: tuple[int, ...]
    labels: Labels

    def verify(self, mu: ArrayLike) -> bool:
        """Check that so many states reach ``eps`` on ``mu``; that fewer do not is not checked."""
        attained = _attained(gaps(mu), self.actions, self.labels)
        if attained is None or len(self.actions) != self.number:
            return False
        return float(attained.max()) <= self.eps


@dataclass(frozen=True, slots=True)
class Packing:
    """Hold the largest set of contexts no two of which can share a state.

    Attributes:
        number: how many contexts, the length of ``members``.
        eps: the distortion of a state.
        members: the contexts, ascending.
    """

    number: int
    eps: float
    members: tuple[int, ...]

    def verify(self, mu: ArrayLike) -> bool:
        """Check that every two members lie further apart than ``eps`` on ``mu``.

        Not that no set is larger.
        """
        losses = gaps(mu)
        inside = all(0 <= x < len(losses) for x in self.members)
        distinct = len(set(self.members)) == len(self.members) == self.number
        if not inside or not distinct:
            return False
        # Two members are compatible exactly when some action is good enough for both.
        served = (losses[list(self.members)] <= self.eps).sum(axis=0)
        return bool((served <= 1).all())


@dataclass(frozen=True, slots=True)
class Interval:
    """Enclose a number: ``lower`` <= it <= ``upper``, both proven; ``exact`` when they meet."""

    lower: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.lower == self.upper


def worst_case_frontier(mu: ArrayLike, k: int) -> Frontier:
    """Compute the smallest worst-case distortion of K states, exactly.

    Bisects over the distinct gaps; each level that ``worst_case_interval`` leaves open is a set
    cover by at most K actions, solved by HiGHS.

    Args:
        mu: shape (N, A), in [0, 1].
        k: number of states, >= 1.

    Raises ValueError for arguments out of range, ImportError without scipy, RuntimeError if the
    solver gives up.
    Source: eq. (epsK).
    """
    # Asked for before it may turn out not to be needed: no error that comes and goes.
    scipy("scipy.optimize")
    losses = gaps(mu)
    bounds, found = _worst_case_bounds(mu, k)

    def reachable(level: float) -> bool:
        nonlocal found
        actions = smallest_cover(losses <= level)
        if len(actions) > k:
            return False
        found = actions
        return True

    still_open = (losses >= bounds.lower) & (losses <= bounds.upper)
    first_level(np.unique(losses[still_open]), reachable)
    return _frontier(losses, found, None)


def average_frontier(mu: ArrayLike, k: int, weights: ArrayLike | None = None) -> Frontier:
    """Compute the smallest mean distortion of K states, to the tolerance of the solver (1e-6).

    A choice of at most K actions that minimises the weighted mean of each context's smallest gap
    (k-median).

    Args:
        mu: shape (N, A), in [0, 1].
        k: number of states, >= 1.
        weights: shape (N,), finite and >= 0, not all 0; scaled to sum to 1. None weighs all
            contexts alike.

    Raises ValueError for arguments out of range, ImportError without scipy, RuntimeError if the
    solver gives up.
    Source: eq. (avg-frontier-app).
    """
    losses = gaps(mu)
    _within_range(losses, k)
    shares = _shares(weights, len(losses))
    actions = median_actions(losses * shares[:, None], k)
    return _frontier(losses, actions, shares)


def covering_number(mu: ArrayLike, eps: float) -> Covering:
    """Compute the fewest states that reach worst-case distortion ``eps``, exactly.

    Raises ValueError for ``eps`` that is not finite and >= 0, ImportError without scipy. Source:
    eq. (covering).
    """
    losses = _losses(mu, eps)
    found = _frontier(losses, smallest_cover(losses <= eps), None)
    return Covering(len(found.actions), eps, found.actions, found.labels)


def packing_number(mu: ArrayLike, eps: float) -> Packing:
    """Compute the largest set of contexts whose decision distances all exceed ``eps``, exactly.

    Two contexts are within ``eps`` exactly when one action is good enough for both, so a packing
    takes at most one context from those that each action serves: the integer dual of the covering
    number, never above it. Raises ValueError for ``eps`` that is not finite and >= 0, ImportError
    without scipy. Source: eq. (packing).
    """
    members = largest_packing(_losses(mu, eps) <= eps)
    return Packing(len(members), eps, tuple(members))


def information_bound(mu: ArrayLike, eps: float) -> float:
    """Compute how much a memory must tell about the context to keep distortion ``eps``, in nats.

    The distortion is that of the worst case. The bound is the log of the packing number at
    ``2 eps``, for a context drawn uniformly from a largest packing. Since no pair further apart
    than ``eps`` can share a state, ``log(packing_number(mu, eps).number)`` holds as well and is
    never smaller; this is the bound as the paper states it. Raises as ``packing_number`` does.
    Source: theorem "Decision covering and packing bounds".
    """
    return math.log(packing_number(mu, 2 * eps).number)


def worst_case_interval(mu: ArrayLike, k: int) -> Interval:
    """Enclose the worst-case frontier with numpy alone.

    Above: the actions that a budgeted search and exchanges find. Below: the first level that
    neither a packing, nor the dual of a greedy cover, nor a finished search rules out. Raises
    ValueError as ``worst_case_frontier``.
    """
    return _worst_case_bounds(mu, k)[0]


def average_interval(mu: ArrayLike, k: int, weights: ArrayLike | None = None) -> Interval:
    """Enclose the average frontier with numpy alone.

    Above: local exchange of actions. Below: the Lagrangian of the k-median program, where every
    context's price is a guess that a subgradient improves; any price is a bound. Raises ValueError
    as ``average_frontier``.
    """
    losses = gaps(mu)
    first = _within_range(losses, k)
    shares = _shares(weights, len(losses))
    weighted = losses * shares[:, None]
    actions = exchange(weighted, first, k, key=lambda cost: (float(cost.sum()), 0.0))
    upper = float(weighted[:, actions].min(axis=1).sum())
    return Interval(min(_lagrangian_floor(weighted, k, upper), upper), upper)


def covering_interval(mu: ArrayLike, eps: float) -> Interval:
    """Enclose the covering number with numpy alone.

    Above: a greedy cover. Below: a packing, and the cover's dual.
    """
    covers = _losses(mu, eps) <= eps
    greedy, _ = greedy_cover(covers)
    return Interval(covering_floor(covers), len(greedy))


def packing_interval(mu: ArrayLike, eps: float) -> Interval:
    """Enclose the packing number with numpy alone: a greedy packing below, a greedy cover above."""
    covers = _losses(mu, eps) <= eps
    greedy, _ = greedy_cover(covers)
    return Interval(len(greedy_packing(covers)), len(greedy))


def _losses(mu: ArrayLike, eps: float) -> Floats:
    require(0 <= eps < math.inf, "eps", "finite and >= 0", eps)
    return gaps(mu)


def _within_range(losses: Floats, k: int) -> list[int]:
    """Check k, and return the one action that is best in the worst case: every k allows it."""
    require(k >= 1 and k % 1 == 0, "k", "a whole number >= 1", k)
    return [int(losses.max(axis=0).argmin())]


def _shares(weights: ArrayLike | None, size: int) -> Floats:
    shares = np.ones(size) if weights is None else numbers("weights", weights)
    fits = shares.shape == (size,) and bool((shares >= 0).all()) and 0 < shares.sum() < math.inf
    require(fits, "weights", f"{size} finite numbers >= 0, not all 0", shares)
    shared: Floats = shares / shares.sum()
    shared.setflags(write=False)
    return shared


def _attained(losses: Floats, actions: Sequence[int], labels: Labels) -> Floats | None:
    """Compute the gap of each context under its state's action.

    None where labels or actions do not exist.
    """
    chosen = np.asarray(actions, dtype=np.intp)
    if len(chosen) == 0 or not _all_below(chosen, losses.shape[1]):
        return None
    if labels.shape != (len(losses),) or not _all_below(labels, len(chosen)):
        return None
    return entry_of_each(losses, chosen[labels])


def _all_below(places: Labels, size: int) -> bool:
    return bool(((places >= 0) & (places < size)).all())


def _frontier(losses: Floats, actions: Sequence[int], weights: Floats | None) -> Frontier:
    """Let every context take the best of the actions, the smallest on ties.

    Actions that nobody takes are left out.
    """
    offered = np.unique(np.asarray(actions, dtype=np.intp))
    best = losses[:, offered].argmin(axis=1)
    taken = offered[best]
    used, places = np.unique(taken, return_inverse=True)
    labels = places.reshape(-1).astype(np.intp)
    labels.setflags(write=False)
    gap = entry_of_each(losses, taken)
    value = gap.max() if weights is None else weights @ gap
    return Frontier(float(value), tuple(used.tolist()), labels, weights)


def _worst_case_bounds(mu: ArrayLike, k: int) -> tuple[Interval, list[int]]:
    """Enclose the worst-case frontier, and return the actions that attain the upper end."""
    losses = gaps(mu)
    _within_range(losses, k)
    actions = exchange(losses, bottleneck_actions(losses, k), k)
    upper = float(losses[:, actions].min(axis=1).max())
    levels = np.unique(losses[losses <= upper])
    open_from = first_level(levels, lambda level: not _ruled_out(losses <= level, k))
    return Interval(float(levels[open_from]), upper), actions


def _ruled_out(covers: Bools, k: int) -> bool:
    found = search_cover(covers, k)
    return found.settled and found.actions is None


def _lagrangian_floor(weighted: Floats, k: int, upper: float, rounds: int = 400) -> float:
    """Raise a lower bound on k-median by subgradient steps.

    A step that brings nothing shortens the next ones.
    """
    price = weighted.mean(axis=1)
    best = -math.inf
    step = 1.5
    for _ in range(rounds):
        floor, slope = _floor_at(price, weighted, k)
        if floor > best:
            best = floor
        else:
            step *= 0.98
        if not slope.any():
            break
        price = price + step * (upper - floor) * slope / float(slope @ slope)
    return max(best, 0.0)


def _floor_at(price: Floats, weighted: Floats, k: int) -> tuple[float, Floats]:
    """Compute the bound that the contexts' prices prove, and its subgradient, shape (N,)."""
    saved = np.maximum(price[:, None] - weighted, 0.0)
    total = saved.sum(axis=0)
    chosen = np.argsort(-total)[:k]
    kept = saved[:, chosen]
    floor = float(price.sum() - kept.sum())
    slope: Floats = 1.0 - (kept > 0).sum(axis=1)
    return floor, slope
