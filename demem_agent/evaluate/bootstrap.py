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
    """A mean over questions with its 95 % interval; without ends when there is but one dialogue to
    draw from.
    """

    mean: float
    low: float | None
    high: float | None
    questions: int
    dialogues: int


def bootstrap(
    values: Sequence[float], dialogues: Sequence[Hashable], *, seed: int = 0, resamples: int = 1000
) -> Interval:
    """Give the mean of values, one a question, with a 95 % interval from drawing dialogues with
    replacement.

    The ends are percentiles of the means of ``resamples`` draws, further out the fewer dialogues
    there are (the expanded percentile interval; Hesterberg, "What Teachers Should Know About the
    Bootstrap", 2015), since plain percentiles are too narrow then. The same seed gives the same
    interval.

    No end lies beyond the best or worst dialogue, so with very few of them the interval still holds
    the truth less often than it says: in simulations with 2, 3, 4, 5, 10 and 29 dialogues in 50,
    76, 87, 92, 94 and 94 % of cases.

    Args:
        values: shape (n,), n >= 1.
        dialogues: the dialogue of each value.

    Raises:
        InvalidInput: without values, with another number of dialogues, or for resamples < 1.
    """
    whole_field("resamples", resamples, 1)
    if not values or len(values) != len(dialogues):
        raise InvalidInput(
            "values", len(values), f"at least one, and as many as dialogues ({len(dialogues)})"
        )
    number = {name: n for n, name in enumerate(dict.fromkeys(dialogues))}
    rows = np.array([number[name] for name in dialogues])
    sums, counts = (
        np.bincount(rows, np.asarray(values, np.float64)),
        np.bincount(rows).astype(np.float64),
    )
    mean = round(float(sums.sum() / counts.sum()), 6)
    if len(number) == 1:
        return Interval(mean, None, None, len(values), 1)
    drawn = _draws(len(number), seed, resamples)
    tail = _tail(len(number))
    low, high = np.quantile((drawn @ sums) / (drawn @ counts), [tail, 1 - tail])
    return Interval(mean, round(float(low), 6), round(float(high), 6), len(values), len(number))


@lru_cache(maxsize=16)
def _draws(clusters: int, seed: int, resamples: int) -> NDArray[np.float64]:
    """Give how often each of n dialogues is in each draw, shape (resamples, n)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), resamples).astype(np.float64)


def _tail(clusters: int) -> float:
    """Give the share to cut off at either end, so that the ends lie where Student's t has them."""
    return NormalDist().cdf(-_student(clusters - 1) * (clusters / (clusters - 1)) ** 0.5)


def _student(df: int) -> float:
    """Give the upper 2.5 % point of Student's t (Abramowitz and Stegun 26.7.5), within 1 % from 3
    degrees on.
    """
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * df)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
    )
