"""The paper's online learner, as written and in a practical form.

Time runs in epochs that double. In an epoch the partition is frozen: contexts are explored until
certificates can be told, and then play the UCB of their state. At the next epoch the certificates
make a new partition.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from demem_agent.decision._arrays import Bools, Floats, require
from demem_agent.decision.certificates import lower_gaps, upper_gaps
from demem_agent.decision.envelopes import Envelope, hoeffding
from demem_agent.decision.learners.learner import (
    Assignment,
    Confidence,
    Labels,
    Tally,
    enclosed,
    mean_rewards,
    require_round,
    upper_confidence,
)
from demem_agent.decision.partition import Partition, cover_partition, fallback, greedy_partition

__all__ = ["CertifiedSplits", "PracticalSplits"]


class CertifiedSplits:
    """Learn by DeMem as the paper writes it.

    Every pair of a context and an action is explored until it was sampled ``B_t = ceil(8 log(4 N A
    t^2 / delta) / gamma^2)`` times; after that a context plays its state's UCB. A context first
    seen within an epoch goes to the state whose certified radius stays smallest. The regret bound
    holds for rewards in [0, 1] with fixed means; it says nothing before exploration is paid, ``N A
    B_t`` rounds: at N = 60, A = 10, delta = 0.05 more than 140,000 rounds even for ``gamma`` = 1,
    so that a shorter run does nothing but explore.

    Args:
        contexts, actions, slots: N, A, K, each >= 1.
        delta: probability that any certificate is wrong, in (0, 1).
        gamma: gap that certificates shall resolve, in (0, 1].
        rng: breaks ties between actions.

    Raises ValueError for arguments out of range.
    Source: algorithm "DeMem: Decision-aware Memory with Certified Splits", theorem "Upper bound
    for DeMem".
    """

    def __init__(
        self,
        contexts: int,
        actions: int,
        slots: int,
        *,
        delta: float = 0.05,
        gamma: float = 0.2,
        rng: Generator,
    ) -> None:
        sizes = (contexts, actions, slots)
        require(min(sizes) >= 1, "contexts, actions and slots", ">= 1", sizes)
        require(0 < delta < 1, "delta", "in (0, 1)", delta)
        require(0 < gamma <= 1, "gamma", "in (0, 1]", gamma)
        self.slots = slots
        self.delta = delta
        self.gamma = gamma
        self.own = Tally(contexts, actions)
        self.pool = Tally(slots, actions)
        self.labels: Labels = np.full(contexts, -1, dtype=np.intp)
        self.epoch_partition = _empty(contexts, slots)
        self.rounds = 0
        self.rounds_explored = 0
        self._order: Labels = rng.permutation(actions)

    def choose(self, context: int) -> int:
        """Explore the context's least sampled action, or play the UCB of its state."""
        self.rounds += 1
        if self.rounds & (self.rounds - 1) == 0:  # t = 1, 2, 4, 8, ...: an epoch starts
            self._start_epoch()
        if self.labels[context] < 0:
            self._place_new(context)
        action = self._exploration(context)
        if action < 0:
            return self._exploitation(int(self.labels[context]))
        self.rounds_explored += 1
        return action

    def learn(self, context: int, action: int, reward: float) -> None:
        """Take in a reward for the context and for its state."""
        require_round(self.own, context, action, reward)
        self.own.add(context, action, reward)
        if self.labels[context] >= 0:
            self.pool.add(int(self.labels[context]), action, reward)

    def partition(self) -> Assignment:
        """Return the frozen partition, with new contexts where they were placed.

        A state shows the action with the largest mean, or what was planned before any was played.
        """
        actions = np.array([self.pool.leading(slot) for slot in range(self.slots)], dtype=np.intp)
        planned = self.epoch_partition.actions
        if planned is not None:
            actions = np.where(actions < 0, planned, actions)
        return Assignment(self.labels.copy(), actions)

    def threshold(self) -> int:
        """Compute ``B_t``: how often each pair shall be sampled by now."""
        return math.ceil(8 * self._log_term() / self.gamma**2)

    def envelope(self) -> Envelope:
        """Build the envelope that certificates rest on: the paper's Hoeffding intervals."""
        return hoeffding(self.own.means(), self.own.counts, t=max(self.rounds, 1), delta=self.delta)

    def _log_term(self) -> float:
        return self._log_rounds(4 * self.own.counts.size)

    def _log_rounds(self, tests: int) -> float:
        return math.log(tests) + 2 * math.log(self.rounds) - math.log(self.delta)

    def _divide(self, envelope: Envelope) -> Partition:
        return greedy_partition(envelope, self.slots)

    def _start_epoch(self) -> None:
        seen = np.flatnonzero(self.own.counts.any(axis=1))
        if seen.size == 0:
            return
        envelope = self.envelope()
        found = self._divide(Envelope(envelope.lower[seen], envelope.upper[seen]))
        self.labels[:] = -1
        self.labels[seen] = found.labels
        self.epoch_partition = replace(found, labels=self.labels)
        self._restart_pool()

    def _restart_pool(self) -> None:
        self.pool = Tally(*self.pool.counts.shape)

    def _place_new(self, context: int) -> None:
        nothing_shown = np.full(self.slots, -1)
        present = replace(self.epoch_partition, labels=self.labels, actions=nothing_shown)
        self.labels[context] = fallback(self.envelope(), present, context)

    def _exploration(self, context: int) -> int:
        counts = self.own.counts[context][self._order]
        least = int(counts.argmin())
        return int(self._order[least]) if counts[least] < self.threshold() else -1

    def _exploitation(self, slot: int) -> int:
        counts = np.maximum(self.pool.counts[slot], 1.0)
        bonus = self._log_rounds(4 * self.own.counts.shape[1] * self.slots)
        means = self.pool.sums[slot] / counts
        index = means + np.sqrt(2 * bonus / counts)
        return int(self._order[index[self._order].argmax()])


class PracticalSplits(CertifiedSplits):
    """Learn by the practical form of DeMem, which explores less.

    Other than in the written form:

    * ``B_t`` is scaled by ``scale`` and by ``(2 noise)^2``; its guarantee is given up, that of
      certificates is not;
    * certificates come from ``Confidence``, which knows the noise;
    * an action of a context is sampled only while it is open: while neither "loses at most
      ``gamma``" nor "loses more than ``gamma``" is certified. What is settled can no longer change
      which contexts may share a state at that level. Nothing is sampled once the state's own action
      is certified to lose at most ``gamma``;
    * the partition covers contexts by actions, and a state starts with what its contexts know;
    * the UCB index is scaled by the noise.

    ``confidence`` gives N, A, delta and noise; the other arguments are those of
    ``CertifiedSplits``.
    """

    def __init__(
        self,
        slots: int,
        *,
        confidence: Confidence,
        gamma: float = 0.2,
        scale: float = 0.01,
        rng: Generator,
    ) -> None:
        super().__init__(
            confidence.contexts,
            confidence.actions,
            slots,
            delta=confidence.delta,
            gamma=gamma,
            rng=rng,
        )
        require(0 < scale <= 1, "scale", "in (0, 1]", scale)
        self.confidence = confidence
        self.scale = scale

    def threshold(self) -> int:
        """Compute the scaled ``B_t``."""
        noise = (2 * self.confidence.noise) ** 2
        return math.ceil(self.scale * noise * 8 * self._log_term() / self.gamma**2)

    def envelope(self) -> Envelope:
        """Build the envelope of ``Confidence``."""
        return self.confidence.envelope(self.own)

    def open_actions(self, context: int) -> Bools:
        """Mark the actions, shape (A,), whose certificates can still change the context's state."""
        row = self._bounds(context)
        at_most: Floats = upper_gaps(row)[0]
        at_least: Floats = lower_gaps(row)[0]
        shown = self._shown_to(context)
        if shown >= 0 and at_most[shown] <= self.gamma:
            return np.zeros(len(at_most), dtype=np.bool_)
        still_open: Bools = (at_least <= self.gamma) & (at_most > self.gamma)
        return still_open

    def _shown_to(self, context: int) -> int:
        """Find the action that the context's state shows; -1 if it has neither."""
        slot = int(self.labels[context])
        return -1 if slot < 0 else self.pool.leading(slot)

    def _bounds(self, context: int) -> Envelope:
        """Build the envelope of one context, shape (1, A)."""
        counts = self.own.counts[context]
        means = mean_rewards(self.own.sums[context], counts)
        centre = np.where(counts > 0, means, 0.5)
        width = self.confidence.singles(counts)
        return enclosed(centre[None], width[None])

    def _divide(self, envelope: Envelope) -> Partition:
        return cover_partition(envelope, self.slots)

    def _restart_pool(self) -> None:
        super()._restart_pool()
        seen = self.labels >= 0
        np.add.at(self.pool.counts, self.labels[seen], self.own.counts[seen])
        np.add.at(self.pool.sums, self.labels[seen], self.own.sums[seen])

    def _exploration(self, context: int) -> int:
        counts = self.own.counts[context]
        few = np.where(counts < self.threshold(), counts, np.inf)
        if np.isinf(few).all():
            return -1
        few_and_open = np.where(self.open_actions(context), few, np.inf)[self._order]
        least = int(few_and_open.argmin())
        return -1 if np.isinf(few_and_open[least]) else int(self._order[least])

    def _exploitation(self, slot: int) -> int:
        counts = self.pool.counts[slot]
        sums = self.pool.sums[slot]
        return upper_confidence(counts, sums, self.confidence.noise, self._order)


def _empty(contexts: int, slots: int) -> Partition:
    return Partition(np.full(contexts, -1), np.full(slots, -1), 0.0, 0.0, 0)
