"""Online learners: what they share.

A learner is asked for an action in a context and told the reward of it, round after round. It may
keep a table of statistics for every context and action, for bookkeeping and for certificates, but
what it plays outside of exploration goes through at most K states: ``partition()`` gives them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision._arrays import Floats, require, require_reward
from demem_agent.decision.envelopes import Envelope

Labels = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """Hold what a learner would play through its states: no exploration, at most K states.

    Attributes:
        labels: shape (N,), the state of each context; -1 for a context that was never seen.
        actions: shape (K,), the action each state shows; -1 for a state that shows none yet.
    """

    labels: Labels
    actions: Labels


class Learner(Protocol):
    """Choose actions in [0, A) for contexts in [0, N), and learn from their rewards in [0, 1]."""

    def choose(self, context: int) -> int:
        """Choose the action of this round."""
        ...

    def learn(self, context: int, action: int, reward: float) -> None:
        """Take in the reward of the action that was chosen for the context."""
        ...

    def partition(self) -> Assignment:
        """Return the states as they are now."""
        ...


@dataclass(frozen=True, slots=True)
class Confidence:
    """Half-widths of empirical means that hold at all counts, contexts and actions together.

    With probability at least 1 - ``delta``, for every set of ``k`` contexts, every action and every
    count n, the mean of n rewards of that action in that set lies within ``pooled(n, k)`` of the
    mean of their expectations; for every single context it lies within ``single(n)`` as well. The
    sets need not be fixed beforehand: all subsets are counted. Half of ``delta`` goes to the single
    contexts, half to the sets.

    Conditions: given the past, a reward less its expectation is ``noise``-sub-Gaussian, and the
    expectation of a pair does not change. A noise of 1/2 holds for all rewards in [0, 1], and then
    this is Hoeffding's inequality; less must be known from outside. It stops to apply when rewards
    drift.

    Attributes:
        contexts: N.
        actions: A.
        delta: in (0, 1).
        noise: in (0, 1/2].
    """

    contexts: int
    actions: int
    delta: float = 0.05
    noise: float = 0.5

    def __post_init__(self) -> None:
        require(self.contexts >= 1 and self.actions >= 1, "contexts and actions", ">= 1", self)
        require(0 < self.delta < 1, "delta", "in (0, 1)", self.delta)
        require(0 < self.noise <= 0.5, "noise", "in (0, 0.5]", self.noise)

    def single(self, count: int) -> float:
        """Return the half-width for one context and action after ``count`` >= 1 rewards."""
        return self._width(count, self._log_pairs())

    def pooled(self, count: int, size: int) -> float:
        """Return the half-width for ``count`` >= 1 pooled rewards of ``size`` contexts."""
        n = self.contexts
        subsets = math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
        return self._width(count, self._log_pairs() + subsets)

    def singles(self, counts: Floats) -> Floats:
        """Compute ``single`` of an array of counts; infinite where the count is 0."""
        n = np.maximum(counts, 1.0)
        log_term = self._log_pairs() + np.log(n * (n + 1))
        width = self.noise * np.sqrt(2 * log_term / n)
        return np.where(counts > 0, width, np.inf)

    def envelope(self, tally: Tally) -> Envelope:
        """Build the envelope of a tally: ``singles`` around its means, clipped to [0, 1]."""
        return enclosed(tally.means(), self.singles(tally.counts))

    def _log_pairs(self) -> float:
        return math.log(4 * self.contexts * self.actions / self.delta)

    def _width(self, count: int, log_term: float) -> float:
        log_term += math.log(count * (count + 1.0))  # for all counts together
        return self.noise * math.sqrt(2 * log_term / count)


class Tally:
    """Count rewards by row and action; a row is a context or a state."""

    def __init__(self, rows: int, actions: int) -> None:
        self.counts: Floats = np.zeros((rows, actions))
        self.sums: Floats = np.zeros((rows, actions))

    def add(self, row: int, action: int, reward: float) -> None:
        """Count one reward."""
        self.counts[row, action] += 1.0
        self.sums[row, action] += reward

    def means(self) -> Floats:
        """Compute the means; 1/2 where nothing was counted."""
        means = mean_rewards(self.sums, self.counts)
        return np.where(self.counts > 0, means, 0.5)

    def leading(self, row: int) -> int:
        """Find the action with the largest mean among those counted; -1 if none was."""
        counts = self.counts[row]
        if not counts.any():
            return -1
        means = mean_rewards(self.sums[row], counts)
        return int(np.where(counts > 0, means, -1.0).argmax())


def mean_rewards(sums: Floats, counts: Floats) -> Floats:
    """Divide sums by counts; 0 where nothing was counted."""
    return sums / np.where(counts > 0, counts, 1.0)


def enclosed(means: Floats, width: Floats) -> Envelope:
    """Build the envelope of half-widths around means, shape (N, A), clipped to [0, 1]."""
    lower = np.clip(means - width, 0.0, 1.0)
    upper = np.clip(means + width, 0.0, 1.0)
    return Envelope(lower, upper)


def upper_confidence(counts: Floats, sums: Floats, noise: float, order: Labels) -> int:
    """Choose by the index ``mean + noise * sqrt(2 log(n) / n_a)``, n the rounds of this row.

    Only among the actions of ``order``: all of them or some, without repeats. Unplayed actions come
    first. Ties and unplayed actions follow ``order``.
    """
    plays = counts[order]
    least = int(plays.argmin())
    if plays[least] == 0:
        return int(order[least])
    index = sums[order] / plays + noise * np.sqrt(2 * math.log(plays.sum()) / plays)
    return int(order[index.argmax()])


def capped_confidence(
    counts: Floats, sums: Floats, noise: float, order: Labels, awaited: Floats
) -> int:
    """Choose by the index of :func:`upper_confidence`, which no reward in [0, 1] can exceed.

    An action that nobody rewarded has the index 1: it may be the best. So may one that did well,
    as long as its own index reaches 1, and then the better mean decides, an unrewarded action's
    taken to be 1/2. So what has always worked is not left for what was never tried, and what failed
    is. Further ties go to the action with fewer plays, then follow ``order``.

    Plays whose rewards are ``awaited``, shape (A,), count as plays.
    """
    plays = counts[order] + awaited[order]
    rewarded = counts[order] > 0
    means = np.where(rewarded, sums[order] / np.where(rewarded, counts[order], 1.0), 0.5)
    rounds = math.log(max(float(plays.sum()), 1.0))
    reach = means + noise * np.sqrt(2 * rounds / np.maximum(plays, 1.0))
    index = np.where(rewarded, np.minimum(reach, 1.0), 1.0)
    return int(order[np.lexsort((plays, -means, -index))[0]])


def require_round(tally: Tally, context: int, action: int, reward: float) -> None:
    """Raise a ValueError unless context, action and reward are within range; NaN is not."""
    require_reward(tally.counts.shape, context, action, reward)
