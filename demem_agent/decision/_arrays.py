"""What the kernel's modules share: checks of their arguments, and the two min-max reductions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def require(holds: bool, name: str, allowed: str, got: object) -> None:
    """Raise a ValueError that names the argument and its range, unless ``holds``."""
    if not holds:
        raise ValueError(f"{name} must be {allowed}, got {got}")


def numbers(name: str, values: ArrayLike) -> Floats:
    """Convert to a float array; ragged or non-numeric input is a ValueError."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error


def matrix(name: str, values: ArrayLike, low: float = 0.0, high: float = 1.0) -> Floats:
    """Convert to a non-empty (contexts, actions) array in [low, high]; NaN is outside of it."""
    array = numbers(name, values)
    filled = array.ndim == 2 and array.size > 0
    require(filled, name, "a non-empty (contexts, actions) matrix", f"shape {array.shape}")
    inside = (array >= low) & (array <= high)
    outside = array[~inside]
    require(outside.size == 0, name, f"in [{low:g}, {high:g}] everywhere", outside[:1])
    return array


def all_whole(values: Floats, size: int) -> bool:
    """Whether all are whole numbers in [0, size)."""
    inside = (values >= 0) & (values < size)
    return bool((inside & (values % 1 == 0)).all())


def require_reward(shape: tuple[int, ...], context: int, action: int, reward: float) -> None:
    """Raise a ValueError unless all are within range; a reward that is NaN is not."""
    contexts, actions = shape
    require(0 <= context < contexts, "context", f"in [0, {contexts - 1}]", context)
    require(0 <= action < actions, "action", f"in [0, {actions - 1}]", action)
    require(0 <= reward <= 1, "reward", "in [0, 1]", reward)


def entry_of_each(values: Floats, columns: NDArray[np.intp]) -> Floats:
    """Take one entry of each row, shape (N,): that of its column."""
    rows = np.arange(len(values))
    entries: Floats = values[rows, columns]
    return entries


def cluster(members: Iterable[int], size: int) -> NDArray[np.intp]:
    """Convert to row numbers; a mask, a negative number and an empty cluster are ValueErrors."""
    rows = np.asarray(list(members))
    whole = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
    fits = whole and bool((rows >= 0).all() and (rows < size).all())
    require(fits, "members", f"one or more whole numbers in [0, {size - 1}]", rows.tolist())
    return rows.astype(np.intp)


def minimax(values: Floats, members: Iterable[int] | None = None) -> tuple[float, int]:
    """Find the column whose largest entry over ``members`` is smallest.

    Returns that entry, and the column: the first of equals.
    """
    rows = values if members is None else values[cluster(members, len(values))]
    worst = rows.max(axis=0)
    action = int(worst.argmin())
    return float(worst[action]), action


def pairwise_minimax(values: Floats) -> Floats:
    """Compute ``minimax`` of every pair of rows, as a symmetric (N, N) matrix."""
    closest = np.full((len(values), len(values)), np.inf)
    # One action at a time: O(N^2) memory, where broadcasting would take O(N^2 A).
    for column in values.T:
        np.minimum(closest, np.maximum.outer(column, column), out=closest)
    return closest
