"""Confidence sequences: envelopes that hold at every count of rewards at once, whenever one looks.

Rewards of N contexts under A actions are histories: an (N, A, n) array in order of observation,
padded with NaN at the end of each row. Each pair gets the share ``delta / (N A)`` of the failure
probability (union over the N A pairs), split evenly over the two sides.

Conditions, for all functions: rewards lie in [0, 1]; given what was seen before, the next reward of
a pair has the same expectation, which is the number enclosed; N, delta and A (or ``shares``) are
fixed beforehand. Rewards need not be independent nor of one distribution, and what was seen may
decide which pair is observed next and when to stop. It stops to apply when that expectation drifts,
when the same answer is merely scored again, and when contexts or actions are added that N and A did
not count.

Against ``hoeffding``: no round number enters, widths follow the variance of the rewards, and the
intervals only ever shrink, to [0, 1] where they would become empty: rewards that contradict the
conditions. Betting is the narrower of the two at small counts; from some 500 rewards on they are
close.

Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2023);
theirs the theorems, ours the code.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demem_agent.decision._arrays import (
    Bools,
    Floats,
    all_whole,
    numbers,
    require,
    require_reward,
)
from demem_agent.decision.envelopes import Envelope

#: Rows and columns of some pairs.
Places = tuple[NDArray[np.intp], NDArray[np.intp]]
#: Share of what a bet may lose at most; keeps every factor of the capital above one half.
LARGEST_BET = 0.5
#: Halvings of [0, 1]: the betting interval is wider than the exact one by at most 1e-9.
STEPS = 30


class BernsteinSequence:
    """Keep what the empirical-Bernstein sequence needs of N x A pairs, reward by reward.

    The predictable plug-in sequence (theorem 2 of the source), intersected over time. Seven numbers
    a pair, O(1) a reward: the form for a learner. ``empirical_bernstein`` computes the same from
    whole histories. Conditions as in the module's docstring. Raises ValueError for a shape without
    pairs and for ``delta`` outside (0, 1).
    """

    __slots__ = (
        "_confidence",
        "_count",
        "_lower",
        "_penalty",
        "_spread",
        "_total",
        "_upper",
        "_weight",
        "_weighted",
    )

    def __init__(self, shape: tuple[int, int], *, delta: float) -> None:
        self._confidence = _side(shape, delta)
        self._count = np.zeros(shape)
        self._total = np.full(shape, 0.5)
        self._spread = np.full(shape, 0.25)
        self._weight = np.zeros(shape)
        self._weighted = np.zeros(shape)
        self._penalty = np.zeros(shape)
        self._lower = np.zeros(shape)
        self._upper = np.ones(shape)

    def observe(self, context: int, action: int, reward: float) -> None:
        """Take one reward in [0, 1] of one pair.

        Raises ValueError for another reward and for another pair.
        """
        require_reward(self._count.shape, context, action, reward)
        at = (np.array([context]), np.array([action]))
        self._advance(at, np.array([reward], dtype=np.float64))

    def envelope(self) -> Envelope:
        """Return the intervals as they stand; [0, 1] for a pair never observed."""
        return _unless_empty(self._lower, self._upper)

    def _advance(self, at: Places, reward: Floats) -> None:
        """Take one reward of each of the pairs ``at``, no pair twice."""
        count = self._count[at] + 1
        guess = self._total[at] / count  # regularised mean of the earlier rewards
        variance = self._spread[at] / count
        bet = np.minimum(_bet(variance, count, self._confidence), LARGEST_BET)
        self._penalty[at] += _penalty(reward, guess, bet)
        self._weight[at] += bet
        self._weighted[at] += bet * reward
        self._note(at, reward, count)
        self._intersect(at)

    def _note(self, at: Places, reward: Floats, count: Floats) -> None:
        """Take the rewards into the moments that the next bets rest on."""
        self._count[at] = count
        self._total[at] += reward
        mean = self._total[at] / (count + 1)
        self._spread[at] += (reward - mean) ** 2

    def _intersect(self, at: Places) -> None:
        """Narrow the intervals: all past ones hold at the same time."""
        weight = self._weight[at]
        centre = self._weighted[at] / weight
        width = (self._confidence + self._penalty[at]) / weight
        self._lower[at] = np.maximum(self._lower[at], centre - width)
        self._upper[at] = np.minimum(self._upper[at], centre + width)


def histories(
    contexts: ArrayLike, actions: ArrayLike, rewards: ArrayLike, shape: tuple[int, int]
) -> Floats:
    """Sort a log of observations into histories.

    Args:
        contexts, actions: shape (T,), whole numbers below N and A.
        rewards: shape (T,), in [0, 1].
        shape: (N, A).

    Returns (N, A, n), NaN beyond what was observed, n the longest history but at least 1; memory is
    N A n numbers. Raises ValueError for arrays of different lengths and for a number out of range.
    """
    _require_pairs(shape)
    rows = _whole("contexts", contexts, shape[0])
    columns = _whole("actions", actions, shape[1])
    seen = numbers("rewards", rewards)
    fits = rows.shape == columns.shape == seen.shape
    require(fits, "rewards", "as long as contexts and actions", seen.shape)
    pairs = np.ravel_multi_index((rows, columns), shape)
    table = _padded(pairs, seen, math.prod(shape))
    checked, _ = _checked(table.reshape(*shape, -1))
    return checked


def _padded(pairs: NDArray[np.intp], rewards: Floats, count: int) -> Floats:
    """Sort rewards into one row for each of ``count`` pairs, NaN after the last of a row."""
    order = np.argsort(pairs, kind="stable")
    lengths = np.bincount(pairs, minlength=count)
    starts = np.cumsum(lengths) - lengths
    row = pairs[order]
    place = np.arange(len(row)) - starts[row]
    table = np.full((count, max(1, int(lengths.max()))), np.nan)
    table[row, place] = rewards[order]
    return table


def empirical_bernstein(rewards: ArrayLike, *, delta: float) -> Envelope:
    """Build the empirical-Bernstein confidence sequence of histories, as it stands at their end.

    Closed form; its width follows the observed variance. With probability at least 1 - delta all N
    A intervals hold at all counts together, under the conditions of the module's docstring.

    Args:
        rewards: shape (N, A, n), in [0, 1], NaN at the end of a history.
        delta: probability of any failure, in (0, 1).

    Raises ValueError for any of these out of range, and for a NaN before a number.
    """
    table, known = _checked(rewards)
    confidence = _side(table.shape[:2], delta)
    filled = np.where(known, table, 0.0)
    guess, plug_in_bets = _plug_in(filled, known, confidence)
    bets = np.where(known, np.minimum(plug_in_bets, LARGEST_BET), 0.0)
    total_bet = np.cumsum(bets, axis=2)
    # 0 before the first reward, which would divide by it.
    weight = np.maximum(total_bet, np.finfo(np.float64).tiny)
    centre = np.cumsum(bets * filled, axis=2) / weight
    penalty = np.cumsum(_penalty(filled, guess, bets), axis=2)
    return _intersected(centre, (confidence + penalty) / weight)


def _intersected(centre: Floats, half: Floats) -> Envelope:
    """Intersect the intervals of all counts, (N, A, n), within [0, 1]."""
    lower = np.maximum((centre - half).max(axis=2), 0.0)
    upper = np.minimum((centre + half).min(axis=2), 1.0)
    return _unless_empty(lower, upper)


def growing_shares(count: int) -> Floats:
    """Return shares of delta, shape (count,), for actions that turn up one by one.

    The first two, which any conflict is about, get 0.4 each; the k-th after them ``0.2 * 6 / (pi^2
    k^2)``. All shares that there can be sum to 1, so the union bound holds without the number of
    actions being known beforehand.
    """
    rank = np.arange(1, max(count - 2, 0) + 1, dtype=np.float64)
    later = 0.2 * 6 / (np.pi * rank) ** 2
    return np.concatenate([np.full(min(count, 2), 0.4), later])


def betting(rewards: ArrayLike, *, delta: float, shares: ArrayLike | None = None) -> Envelope:
    """Build the betting confidence sequence of histories, as it stands at their end.

    By hedged capital: a number is ruled out once a gambler who bets, at fair odds were it the
    expectation, that rewards lie above it or below it has multiplied a stake by ``2 N A / delta``.
    The tightest of the three envelopes in practice, at some 60 times the arithmetic of
    ``empirical_bernstein``. With probability at least 1 - delta all N A intervals hold at all
    counts together, under the conditions of the module's docstring. Rounding is outwards.

    Args:
        rewards: shape (N, A, n), in [0, 1], NaN at the end of a history.
        delta: probability of any failure, in (0, 1).
        shares: shape (A,), above 0 and 1 together at most: what part of delta each action gets;
            equal parts unless given.

    Raises ValueError for any of these out of range, and for a NaN before a number.
    """
    table, known = _checked(rewards)
    confidence = _sides(table.shape[:2], delta, shares)
    filled = np.where(known, table, 0.0)
    _, plug_in_bets = _plug_in(filled, known, confidence[:, None])
    bets = np.where(known, plug_in_bets, 0.0)
    lower = _ruled_out_below(filled, bets, confidence)
    mirrored = np.where(known, 1.0 - filled, 0.0)
    upper = 1.0 - _ruled_out_below(mirrored, bets, confidence)
    return _unless_empty(lower, upper)


def _unless_empty(lower: Floats, upper: Floats) -> Envelope:
    # Bounds that contradict each other show that the conditions, or luck, have failed: nothing is
    # known then.
    sound = lower <= upper
    return Envelope(np.where(sound, lower, 0.0), np.where(sound, upper, 1.0))


def _side(shape: tuple[int, ...], delta: float) -> float:
    """Compute log(2 N A / delta): the confidence each side of each pair has to reach."""
    _require_pairs(shape)
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    return math.log(2 * math.prod(shape) / delta)


def _require_pairs(shape: tuple[int, ...]) -> None:
    require(len(shape) == 2 and min(shape) >= 1, "shape", "(N, A) with N, A >= 1", shape)


def _sides(shape: tuple[int, ...], delta: float, shares: ArrayLike | None) -> Floats:
    """Compute the same per action, shape (A,), where actions have different shares of delta."""
    contexts, actions = shape
    if shares is None:
        return np.full(actions, _side(shape, delta))
    parts = _checked_shares(shares, actions)
    confidence: Floats = _side((contexts, 1), delta) - np.log(parts)
    return confidence


def _checked_shares(shares: ArrayLike, actions: int) -> Floats:
    parts = numbers("shares", shares)
    positive = parts.shape == (actions,) and bool((parts > 0).all())
    fits = positive and float(parts.sum()) <= 1 + 1e-12
    require(fits, "shares", f"{actions} numbers above 0 that sum to 1 at most", parts)
    return parts


def _bet(variance: Floats, count: Floats, confidence: float | Floats) -> Floats:
    """Compute the plug-in bet before the ``count``-th reward, from the variance of the earlier."""
    bet: Floats = np.sqrt(2 * confidence / (variance * count * np.log1p(count)))
    return bet


def _penalty(reward: Floats, guess: Floats, bet: Floats) -> Floats:
    penalty: Floats = (reward - guess) ** 2 * (-np.log1p(-bet) - bet)
    return penalty


def _plug_in(filled: Floats, known: Bools, confidence: float | Floats) -> tuple[Floats, Floats]:
    """Compute for every reward the guess of its mean and the bet on it.

    Each from the rewards before it alone.
    """
    count = np.arange(1, filled.shape[2] + 1, dtype=np.float64)
    mean = (0.5 + np.cumsum(filled, axis=2)) / (count + 1)
    squares = np.where(known, (filled - mean) ** 2, 0.0)
    spread = 0.25 + np.cumsum(squares, axis=2)
    bets = _bet(_earlier(spread, 0.25) / count, count, confidence)
    return _earlier(mean, 0.5), bets


def _earlier(values: Floats, first: float) -> Floats:
    start = np.full((*values.shape[:2], 1), first)
    return np.concatenate([start, values[:, :, :-1]], axis=2)


def _ruled_out_below(rewards: Floats, bets: Floats, confidence: Floats) -> Floats:
    """Find, by bisection, the largest number that the bet on higher rewards has ruled out.

    0 when there is none. The capital falls as the number rises, so all below one that is ruled out
    are ruled out too.
    """
    low = np.zeros(rewards.shape[:2])
    high = np.ones(rewards.shape[:2])
    for _ in range(STEPS):
        middle = (low + high) / 2
        out = _highest_capital(rewards, bets, middle[:, :, None]) >= confidence
        low = np.where(out, middle, low)
        high = np.where(out, high, middle)
    return low


def _highest_capital(rewards: Floats, bets: Floats, level: Floats) -> Floats:
    """Compute the log of the most, (N, A), that bets on rewards above ``level`` have come to."""
    stake = np.minimum(bets, LARGEST_BET / level)
    growth = np.log1p(stake * (rewards - level))
    highest: Floats = np.cumsum(growth, axis=2).max(axis=2)
    return highest


def _checked(rewards: ArrayLike) -> tuple[Floats, Bools]:
    """Convert histories to an array and the mask of what is known."""
    table = numbers("rewards", rewards)
    filled = table.ndim == 3 and table.size > 0
    require(filled, "rewards", "a non-empty (N, A, n) array", f"shape {table.shape}")
    known: Bools = np.logical_not(np.isnan(table))
    _require_rewards(table, known)
    return table, known


def _require_rewards(table: Floats, known: Bools) -> None:
    """Raise a ValueError for a number outside [0, 1], and for one after what is not known."""
    inside = (table >= 0) & (table <= 1)
    outside = table[known & ~inside]
    require(outside.size == 0, "rewards", "in [0, 1], or NaN at the end", outside[:1])
    gap = known[:, :, 1:] & ~known[:, :, :-1]
    require(not gap.any(), "rewards", "without NaN before a number", "a gap")


def _whole(name: str, values: ArrayLike, size: int) -> NDArray[np.intp]:
    rows = numbers(name, values)
    fits = rows.ndim == 1 and all_whole(rows, size)
    require(fits, name, f"one row of whole numbers in [0, {size - 1}]", rows[:3])
    return rows.astype(np.intp)
