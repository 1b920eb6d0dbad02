"""Learners for rewards that change: restart at fixed times, or when a change is certified."""

from __future__ import annotations

import math
from collections.abc import Callable

from demem_agent.decision._arrays import require
from demem_agent.decision.learners.learner import Assignment, Confidence, Learner

__all__ = ["AdaptiveRestarts", "Restarting"]


class Restarting:
    """Forget everything every ``period`` rounds.

    ``make`` builds a fresh learner. With the paper's learner and boundaries that match the changes,
    regret grows by a factor sqrt(number of intervals); an interval that holds a change may lose all
    of its rounds. Raises ValueError for ``period`` < 1. Source: proposition "Non-stationary regret
    with fixed restarts".
    """

    def __init__(self, make: Callable[[], Learner], period: int) -> None:
        require(period >= 1, "period", ">= 1", period)
        self.make = make
        self.period = period
        self.rounds = 0
        self.restarts = 0
        self.learner = make()

    def choose(self, context: int) -> int:
        """Choose by the present learner, after a restart where one is due."""
        if self.rounds and self.rounds % self.period == 0:
            self.learner = self.make()
            self.restarts += 1
        self.rounds += 1
        return self.learner.choose(context)

    def learn(self, context: int, action: int, reward: float) -> None:
        """Take in a reward."""
        self.learner.learn(context, action, reward)

    def partition(self) -> Assignment:
        """Return the states of the present learner."""
        return self.learner.partition()


class AdaptiveRestarts:
    """Forget everything when the rewards of some context and action have certifiably changed.

    After each reward, the mean of the last 1, 2, 4, ... rewards of its pair is compared with the
    mean of all before them since the restart. A gap wider than both half-widths together is a
    change: while nothing changes, the probability of any false alarm is at most
    ``confidence.delta``, under the conditions of ``Confidence``. A change is seen only in pairs
    that are played: one that improves an action nobody plays goes unnoticed. Memory grows with the
    rounds since the restart. Source: remark on adaptive restarts, which the paper leaves open.
    """

    def __init__(self, make: Callable[[], Learner], confidence: Confidence) -> None:
        self.make = make
        self.confidence = confidence
        self.restarts = 0
        self.learner = make()
        self._totals: dict[tuple[int, int], list[float]] = {}

    def choose(self, context: int) -> int:
        """Choose by the present learner."""
        return self.learner.choose(context)

    def learn(self, context: int, action: int, reward: float) -> None:
        """Take in a reward, and restart if it completes the proof of a change."""
        self.learner.learn(context, action, reward)
        totals = self._totals.setdefault((context, action), [0.0])
        totals.append(totals[-1] + reward)
        if self._changed(totals):
            self._totals = {}
            self.learner = self.make()
            self.restarts += 1

    def partition(self) -> Assignment:
        """Return the states of the present learner."""
        return self.learner.partition()

    def _changed(self, totals: list[float]) -> bool:
        """Whether the last rewards of a pair differ from those before; ``totals`` are running."""
        window = 1
        while window < len(totals) - 1:
            if self._differ(totals, window):
                return True
            window *= 2
        return False

    def _differ(self, totals: list[float], window: int) -> bool:
        """Whether the mean of the last ``window`` rewards differs from that of those before."""
        count = len(totals) - 1
        older = count - window
        total_before = totals[-1 - window]
        recent = (totals[-1] - total_before) / window
        before = total_before / older
        widths = self._width(window, count) + self._width(older, count)
        return abs(recent - before) > widths

    def _width(self, sample: int, count: int) -> float:
        """Return the half-width of a mean of ``sample`` rewards out of ``count``.

        For two means, log2(count) windows, at every count and pair.
        """
        known = self.confidence
        windows = math.log2(count) + 1
        tests = 4 * known.contexts * known.actions * windows * count * (count + 1) / known.delta
        return known.noise * math.sqrt(2 * math.log(tests) / sample)
