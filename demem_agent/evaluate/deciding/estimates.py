"""Estimates of a policy's mean reward from what another one did, with intervals.

Every decision that is compared has a weight: one over the probability of what was chosen, where the
policy would have chosen the same; else 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PolicyValue", "mean_reward", "self_normalised", "weighted"]

Numbers = NDArray[np.float64]

#: Probability that an interval of ``mean_reward`` or ``weighted`` misses.
MISSES = 0.05
#: Upper point of the normal distribution for 95 %, two-sided.
Z = 1.959964
#: The bets that intervals are the best of, each with an equal part of MISSES.
BETS = tuple(2.0**-n for n in range(1, 13))


@dataclass(frozen=True, slots=True)
class PolicyValue:
    """A mean reward with the ends of its 95 % interval, all in [0, 1] but for ``mean``.

    Attributes:
        mean: unbiased ones may lie above 1.
    """

    mean: float
    low: float
    high: float


def mean_reward(rewards: Numbers) -> PolicyValue:
    """Return the mean of rewards in [0, 1], shape (n,), n >= 1, the interval as in ``weighted``."""
    return weighted(np.ones(len(rewards)), rewards, 1.0)


def weighted(weights: Numbers, rewards: Numbers, largest: float) -> PolicyValue:
    """Estimate a mean reward by inverse propensity (IPS): the mean of weights times rewards.

    It is unbiased for the mean over decisions of what the policy's action is expected to bring,
    given everything before, also where policy and log learn from what happened: the differences
    are a martingale. The interval is the empirical-Bernstein one of such sums, and misses that mean
    with probability 5 % at most, with any number of decisions. It widens with ``largest``.

    Args:
        weights: shape (n,), n >= 1.
        rewards: shape (n,), in [0, 1].
        largest: the most that any weight could have been; known without the choices.

    Source: Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic
    confidence sequences" (2021), theorem 4, with the best of twelve fixed bets.
    """
    shares = weights * rewards / largest
    half = _half_width(shares)
    mean = float(shares.mean())
    low = max(mean - half, 0.0) * largest
    high = min(mean + half, 1.0) * largest
    return PolicyValue(mean * largest, min(low, 1.0), min(high, 1.0))


def _half_width(shares: Numbers) -> float:
    """Bound how far the mean of numbers in [0, 1] lies from that of their expectations."""
    count = len(shares)
    before = np.arange(1, count)
    guesses = np.zeros(count)
    guesses[1:] = np.cumsum(shares)[:-1] / before
    squares = float(((shares - guesses) ** 2).sum())
    sure = math.log(2 * len(BETS) / MISSES)
    bounds = []
    for bet in BETS:
        penalty = -math.log1p(-bet) - bet
        bounds.append((sure + penalty * squares) / (bet * count))
    return min(bounds)


def self_normalised(weights: Numbers, rewards: Numbers) -> PolicyValue:
    """Estimate a mean reward as the weighted mean of rewards (SNIPS).

    It is a little biased, and mostly nearer to the truth. The interval is approximate: that of
    Agresti and Coull for a share, of as many tries as the weights are worth, (sum w)^2 / sum w^2.
    Graded rewards vary less than successes and failures of the same mean, so that it is rather too
    wide for them.

    Args:
        weights: shape (n,), at least one above 0.
        rewards: shape (n,), in [0, 1].
    """
    total = float(weights.sum())
    mean = float(weights @ rewards) / total
    tries = total**2 / float(weights @ weights)
    widened = tries + Z**2
    middle = (tries * mean + Z**2 / 2) / widened
    half = Z * math.sqrt(middle * (1 - middle) / widened)
    return PolicyValue(mean, max(middle - half, 0.0), min(middle + half, 1.0))
