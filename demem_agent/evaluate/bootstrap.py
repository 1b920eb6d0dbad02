"""Intervals for a mean over questions that come in dialogues.

Questions about one dialogue share its turns and are not independent, so whole dialogues are drawn,
with their questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import InvalidInput
from demem_agent.turns import whole_field

__all__ = ["Interval", "bootstrap"]

#: Upper point of the normal distribution for 95 %, two-sided.
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions with its 95 % interval.

    Attributes:
        low, high: the ends; None when there is but one dialogue to draw from.
        questions, dialogues: how many there are.
    """

    mean: float
    low: float | None
    high: float | None
    questions: int
    dialogues: int


def bootstrap(
    values: Sequence[float], dialogues: Sequence[Hashable], *, seed: int = 0, resamples: int = 1000
) -> Interval:
    """Return the mean of values with a 95 % interval from drawing dialogues with replacement.

    The ends are percentiles of the means of ``resamples`` draws, further out the fewer dialogues
    there are (the expanded percentile interval; Hesterberg, "What Teachers Should Know About the
    Bootstrap", 2015), since plain percentiles are too narrow then. The same seed gives the same
    interval.

    No end lies beyond the best or worst dialogue, so with very few of them the interval still holds
    the truth less often than it says: in simulations with 2, 3, 4, 5, 10 and 29 dialogues in 50,
    76, 87, 92, 94 and 94 % of cases.

    Args:
        values: one a question, shape (n,), n >= 1.
        dialogues: the dialogue of each value.

    Raises:
        InvalidInput: without values, with another number of dialogues, or for resamples < 1.
    """
    whole_field("resamples", resamples, 1)
    _check_values(values, dialogues)
    rows = _numbered(dialogues)
    sums = np.bincount(rows, np.asarray(values, np.float64))
    counts = np.bincount(rows).astype(np.float64)
    clusters = len(counts)
    mean = _rounded(sums.sum() / counts.sum())
    low: float | None = None
    high: float | None = None
    if clusters > 1:
        drawn = _draws(clusters, seed, resamples)
        means = (drawn @ sums) / (drawn @ counts)
        low, high = _ends(means, clusters)
    return Interval(mean, low, high, questions=len(values), dialogues=clusters)


def _check_values(values: Sequence[float], dialogues: Sequence[Hashable]) -> None:
    if not values or len(values) != len(dialogues):
        allowed = f"at least one, and as many as dialogues ({len(dialogues)})"
        raise InvalidInput("values", len(values), allowed)


def _numbered(dialogues: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the number of each value's dialogue, in order of first appearance from 0."""
    numbers: dict[Hashable, int] = {}
    rows: list[int] = []
    for name in dialogues:
        number = numbers.setdefault(name, len(numbers))
        rows.append(number)
    return np.array(rows)


def _ends(means: NDArray[np.float64], clusters: int) -> tuple[float, float]:
    """Return the ends of an interval from the means of draws."""
    tail = _tail(clusters)
    low, high = np.quantile(means, [tail, 1 - tail])
    return _rounded(low), _rounded(high)


def _rounded(value: np.float64) -> float:
    return round(float(value), 6)


@lru_cache(maxsize=16)
def _draws(clusters: int, seed: int, resamples: int) -> NDArray[np.float64]:
    """Return how often each of n dialogues is in each draw, shape (resamples, n)."""
    rng = np.random.default_rng(seed)
    chances = np.full(clusters, 1 / clusters)
    return rng.multinomial(clusters, chances, resamples).astype(np.float64)


def _tail(clusters: int) -> float:
    """Return the share to cut off at either end for the ends to lie where Student's t has them."""
    degrees = clusters - 1
    widened = _student(degrees) * (clusters / degrees) ** 0.5
    return NormalDist().cdf(-widened)


def _student(df: int) -> float:
    """Return the upper 2.5 % point of Student's t, within 1 % from 3 degrees on.

    Source: Abramowitz and Stegun 26.7.5.
    """
    z = _Z
    first = (z**3 + z) / (4 * df)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
    return z + first + second + third
