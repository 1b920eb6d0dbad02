"""The memory-distortion frontier of a known reward matrix: what K states must cost, and how many a cost takes.

``mu`` has shape (N contexts, A actions) with entries in [0, 1]; one matrix describes one query. A state plays one
action, so K states are a choice of at most K actions and every context takes the best of them: the frontier is a
set cover and not a search over partitions. Deciding it is NP-complete (theorem "Computational hardness"), and the
exact functions hand an integer program to HiGHS: they need ``pip install 'demem-agent[lab]'``. The ``*_interval``
functions need numpy only and enclose the same numbers.

Every result carries what attains it, and ``verify`` checks that against ``mu`` without a solver. It checks the
side that can be shown: that nothing better exists is the solver's word, except where a packing or an interval
proves it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demem_agent.decision._arrays import Bools, Floats, numbers, require
from demem_agent.decision._covers import (
    bottleneck_actions,
    covering_floor,
    exchange,
    first_level,
    greedy_cover,
    greedy_packing,
    search_cover,
)
from demem_agent.decision.gaps import gaps

Labels = NDArray[np.intp]
ROUNDING = 1e-9  # slack of a mean recomputed in another order; everything worst-case is compared exactly


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Hold the distortion of a choice of actions, and the choice that attains it.

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
        """Check that the labels and actions do attain ``value`` on ``mu``; says nothing about optimality."""
        attained = _attained(gaps(mu), self.actions, self.labels)
        if attained is None:
            return False
        if self.weights is None:
            return float(attained.max()) == self.value
        return abs(float(self.weights @ attained) - self.value) <= ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """Hold the fewest states that reach a distortion: ``number`` of ``actions``, and the ``labels`` (N,)."""

    number: int
    eps: float
    actions: tuple[int, ...]
    labels: Labels

    def verify(self, mu: ArrayLike) -> bool:
        """Check that so many states reach ``eps`` on ``mu``; that fewer do not is not checked."""
        attained = _attained(gaps(mu), self.actions, self.labels)
        return attained is not None and len(self.actions) == self.number and float(attained.max()) <= self.eps


@dataclass(frozen=True, slots=True)
class Packing:
    """Hold the largest set of contexts no two of which can share a state: ``number`` of ``members``, ascending."""

    number: int
    eps: float
    members: tuple[int, ...]

    def verify(self, mu: ArrayLike) -> bool:
        """Check that every two members lie further apart than ``eps`` on ``mu``; not that no set is larger."""
        losses = gaps(mu)
        inside = all(0 <= x < len(losses) for x in self.members)
        if not inside or not len(set(self.members)) == len(self.members) == self.number:
            return False
        # Two members are compatible exactly when some action is good enough for both.
        return bool(((losses[list(self.members)] <= self.eps).sum(axis=0) <= 1).all())


@dataclass(frozen=True, slots=True)
class Interval:
    """Enclose a number: ``lower`` <= it <= ``upper``, both proven; ``exact`` when they meet."""

    lower: float
    upper: float

    @property
    def exact(self) -> bool:
        """Tell whether the number is known."""
        return self.lower == self.upper


def worst_case_frontier(mu: ArrayLike, k: int) -> Frontier:
    """Compute the smallest worst-case distortion of K states, exactly.

    Bisects over the distinct gaps; each level is a set cover by at most K actions, solved by HiGHS.

    Args:
        mu: shape (N, A), in [0, 1].
        k: number of states, >= 1.

    Raises ValueError for arguments out of range, ImportError without scipy, RuntimeError if the solver gives up.
    Source: eq. (epsK).
    """
    losses = gaps(mu)
    found = _within_range(losses, k)

    def reachable(level: float) -> bool:
        nonlocal found
        actions = _smallest_cover(losses <= level)
        found = actions if len(actions) <= k else found
        return len(actions) <= k

    first_level(np.unique(losses[losses <= losses[:, found].min(axis=1).max()]), reachable)
    return _frontier(losses, found, None)


def average_frontier(mu: ArrayLike, k: int, weights: ArrayLike | None = None) -> Frontier:
    """Compute the smallest mean distortion of K states, to the tolerance of the solver (1e-6).

    A choice of at most K actions that minimises the weighted mean of each context's smallest gap (k-median).

    Args:
        mu: shape (N, A), in [0, 1].
        k: number of states, >= 1.
        weights: shape (N,), finite and >= 0, not all 0; scaled to sum to 1. None weighs all contexts alike.

    Raises ValueError for arguments out of range, ImportError without scipy, RuntimeError if the solver gives up.
    Source: eq. (avg-frontier-app).
    """
    losses = gaps(mu)
    _within_range(losses, k)
    shares = _shares(weights, len(losses))
    return _frontier(losses, _median_actions(losses * shares[:, None], k), shares)


def covering_number(mu: ArrayLike, eps: float) -> Covering:
    """Compute the fewest states that reach worst-case distortion ``eps``, exactly.

    Raises ValueError for ``eps`` that is not finite and >= 0, ImportError without scipy. Source: eq. (covering).
    """
    losses = _losses(mu, eps)
    found = _frontier(losses, _smallest_cover(losses <= eps), None)
    return Covering(len(found.actions), eps, found.actions, found.labels)


def packing_number(mu: ArrayLike, eps: float) -> Packing:
    """Compute the largest set of contexts whose decision distances all exceed ``eps``, exactly.

    Two contexts are within ``eps`` exactly when one action is good enough for both, so a packing takes at most one
    context from those that each action serves: the integer dual of the covering number, never above it.
    Raises ValueError for ``eps`` that is not finite and >= 0, ImportError without scipy. Source: eq. (packing).
    """
    members = _largest_packing(_losses(mu, eps) <= eps)
    return Packing(len(members), eps, tuple(members))


def information_bound(mu: ArrayLike, eps: float) -> float:
    """Compute how much a memory must tell about the context to keep worst-case distortion ``eps``, in nats.

    The log of the packing number at ``2 eps``, for a context drawn uniformly from a largest packing. Since no pair
    further apart than ``eps`` can share a state, ``log(packing_number(mu, eps).number)`` holds as well and is
    never smaller; this is the bound as the paper states it. Raises as ``packing_number`` does.
    Source: theorem "Decision covering and packing bounds".
    """
    return math.log(packing_number(mu, 2 * eps).number)


def worst_case_interval(mu: ArrayLike, k: int) -> Interval:
    """Enclose the worst-case frontier with numpy alone.

    Above: the actions a budgeted search and exchanges find. Below: the first level that neither a packing, nor the
    dual of a greedy cover, nor a finished search rules out. Raises ValueError as ``worst_case_frontier``.
    """
    losses = gaps(mu)
    _within_range(losses, k)
    upper = float(losses[:, exchange(losses, bottleneck_actions(losses, k), k)].min(axis=1).max())
    levels = np.unique(losses[losses <= upper])
    open_from = first_level(levels, lambda level: not _ruled_out(losses <= level, k))
    return Interval(float(levels[open_from]), upper)


def average_interval(mu: ArrayLike, k: int, weights: ArrayLike | None = None) -> Interval:
    """Enclose the average frontier with numpy alone.

    Above: local exchange of actions. Below: the Lagrangian of the k-median program, where every context's price
    is a guess that a subgradient improves; any price is a bound. Raises ValueError as ``average_frontier``.
    """
    losses = gaps(mu)
    first = _within_range(losses, k)
    weighted = losses * _shares(weights, len(losses))[:, None]
    actions = exchange(weighted, first, k, key=lambda cost: (float(cost.sum()), 0.0))
    upper = float(weighted[:, actions].min(axis=1).sum())
    return Interval(min(_lagrangian_floor(weighted, k, upper), upper), upper)


def covering_interval(mu: ArrayLike, eps: float) -> Interval:
    """Enclose the covering number with numpy alone: a greedy cover above, a packing and the cover's dual below."""
    covers = _losses(mu, eps) <= eps
    return Interval(covering_floor(covers), len(greedy_cover(covers)[0]))


def packing_interval(mu: ArrayLike, eps: float) -> Interval:
    """Enclose the packing number with numpy alone: a greedy packing below, a greedy cover above."""
    covers = _losses(mu, eps) <= eps
    return Interval(len(greedy_packing(covers)), len(greedy_cover(covers)[0]))


def _losses(mu: ArrayLike, eps: float) -> Floats:
    require(0 <= eps < math.inf, "eps", "finite and >= 0", eps)
    return gaps(mu)


def _within_range(losses: Floats, k: int) -> list[int]:
    """Check k, and give the one action that is best in the worst case: a choice every k allows."""
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
    """Compute the gap of each context under its state's action; None where labels or actions do not exist."""
    chosen = np.asarray(actions, dtype=np.intp)
    exist = len(chosen) > 0 and bool(((chosen >= 0) & (chosen < losses.shape[1])).all())
    if not exist or labels.shape != (len(losses),) or not bool(((labels >= 0) & (labels < len(chosen))).all()):
        return None
    gap: Floats = losses[np.arange(len(losses)), chosen[labels]]
    return gap


def _frontier(losses: Floats, actions: Sequence[int], weights: Floats | None) -> Frontier:
    """Give every context the best of the actions, the smallest on ties, and leave out actions nobody takes."""
    offered = np.unique(np.asarray(actions, dtype=np.intp))
    taken = offered[losses[:, offered].argmin(axis=1)]
    used, labels = np.unique(taken, return_inverse=True)
    labels = labels.reshape(-1).astype(np.intp)
    labels.setflags(write=False)
    gap = losses[np.arange(len(losses)), taken]
    value = float(gap.max()) if weights is None else float(weights @ gap)
    return Frontier(value, tuple(used.tolist()), labels, weights)


def _ruled_out(covers: Bools, k: int) -> bool:
    found = search_cover(covers, k)
    return found.settled and found.actions is None


def _lagrangian_floor(weighted: Floats, k: int, upper: float, rounds: int = 300) -> float:
    price, best, step = np.sort(weighted, axis=1)[:, : k + 1].max(axis=1), -math.inf, 1.0
    for _ in range(rounds):
        saved = np.maximum(price[:, None] - weighted, 0.0)
        chosen = np.argsort(-saved.sum(axis=0))[:k]
        floor = float(price.sum() - saved[:, chosen].sum())
        step = step if floor > best else step * 0.95
        best = max(best, floor)
        slope = 1.0 - (saved[:, chosen] > 0).sum(axis=1)
        if not slope.any():
            break
        price = price + step * (upper - floor + ROUNDING) * slope / float(slope @ slope)
    return max(best, 0.0)


def _smallest_cover(covers: Bools) -> list[int]:
    rows = np.unique(covers, axis=0).astype(np.float64)
    return _solve(np.ones(covers.shape[1]), rows, lower=1.0, upper=math.inf)


def _largest_packing(covers: Bools) -> list[int]:
    return _solve(-np.ones(len(covers)), covers.T.astype(np.float64), lower=-math.inf, upper=1.0)


def _solve(cost: Floats, rows: Floats, *, lower: float, upper: float) -> list[int]:
    """Minimise ``cost @ y`` over y in {0, 1} with lower <= rows @ y <= upper; give the chosen places."""
    optimize = _scipy("scipy.optimize")
    constraint = optimize.LinearConstraint(rows, lower, upper)
    answer = optimize.milp(cost, integrality=np.ones(len(cost)), bounds=optimize.Bounds(0, 1), constraints=[constraint])
    return _chosen(answer)


def _median_actions(weighted: Floats, k: int) -> list[int]:
    """Solve k-median: y opens an action, z sends a context to an open one; z comes out whole by itself."""
    optimize, sparse = _scipy("scipy.optimize"), _scipy("scipy.sparse")
    n, width = weighted.shape
    eye = sparse.identity(n * width, format="csr")
    once = sparse.hstack([sparse.csr_matrix((n, width)), sparse.kron(sparse.identity(n), np.ones((1, width)))])
    opened = sparse.hstack([sparse.kron(np.ones((n, 1)), sparse.identity(width)), -eye])
    count = sparse.csr_matrix(np.concatenate([np.ones(width), np.zeros(n * width)])[None, :])
    answer = optimize.milp(
        np.concatenate([np.zeros(width), weighted.ravel()]),
        integrality=np.concatenate([np.ones(width), np.zeros(n * width)]),
        bounds=optimize.Bounds(0, 1),
        constraints=[
            optimize.LinearConstraint(once.tocsr(), 1, 1),
            optimize.LinearConstraint(opened.tocsr(), 0, math.inf),
            optimize.LinearConstraint(count, 0, k),
        ],
        options={"mip_rel_gap": 0.0},
    )
    return [place for place in _chosen(answer) if place < width]


def _chosen(answer: object) -> list[int]:
    values = getattr(answer, "x", None)
    if getattr(answer, "status", None) != 0 or values is None:
        raise RuntimeError(f"the integer program was not solved: {getattr(answer, 'message', answer)}")
    return [int(place) for place in np.flatnonzero(np.asarray(values) > 0.5)]


def _scipy(name: str) -> ModuleType:
    # Imported on demand: nothing else of the kernel needs more than numpy.
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("exact frontiers need scipy: pip install 'demem-agent[lab]'") from error
