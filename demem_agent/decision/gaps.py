"""Exact decision quantities of a known reward matrix: gaps, decision distance, radius, forgetting
boundary.

``mu`` has shape (N contexts, A actions) with entries in [0, 1]; one matrix describes one query.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from numpy.typing import ArrayLike

from demem_agent.decision._arrays import Floats, matrix, minimax, pairwise_minimax, require


def gaps(mu: ArrayLike) -> Floats:
    """Compute how much each action loses against the best one of its context.

    Returns (N, A) in [0, 1]; every row holds a 0. Raises ValueError unless ``mu`` is a non-empty
    matrix in [0, 1]. Source: eq. (gap).
    """
    rewards = matrix("mu", mu)
    best: Floats = rewards.max(axis=1, keepdims=True)
    return best - rewards


def pairwise_distance(mu: ArrayLike) -> Floats:
    """Compute the decision distance of every two contexts.

    It is what one shared action costs the worse-off of them.

    Returns (N, N) in [0, 1], symmetric with a zero diagonal. It need not obey the triangle
    inequality, and contexts that are pairwise close need not have one action in common: use
    ``radius`` for clusters. Raises ValueError as ``gaps`` does. Source: eq. (ddec).
    """
    return pairwise_minimax(gaps(mu))


def radius(gaps: ArrayLike, members: Iterable[int] | None = None) -> tuple[float, int]:
    """Find the action that costs a cluster least in the worst case.

    ``gaps`` is (N, A) in [0, 1], ``members`` row numbers (all rows when None). Returns that
    worst-case loss and the action, the smallest index on ties. Raises ValueError for gaps outside
    [0, 1] and for an empty or out-of-range cluster. Source: the cluster decision radius, section
    "Exact forgetting boundary".
    """
    return minimax(matrix("gaps", gaps), members)


def can_share(gaps: ArrayLike, members: Iterable[int] | None, eps: float) -> int | None:
    """Find an action that loses at most ``eps`` in every context of the cluster, if there is one.

    Contexts can share a memory state at distortion ``eps`` exactly when such an action exists.
    Returns the action that attains the radius, or None. Raises ValueError as ``radius`` does, and
    for ``eps`` that is not a finite number >= 0. Source: theorem "Exact forgetting boundary".
    """
    require(0 <= eps < math.inf, "eps", "finite and >= 0", eps)
    distortion, action = radius(gaps, members)
    return action if distortion <= eps else None
