"""The learner of the product: contexts arrive one by one, actions come and go, rewards come late.

It plays the rules of ``CorrectedPrior``. What is added is what growth, choices among few of the
actions, late rewards and a changing world need.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demem_agent.decision._arrays import Bools, Floats, numbers, require
from demem_agent.decision.learners.changes import Dispersion, Watch
from demem_agent.decision.learners.clusters import centres_of, nearest_centre
from demem_agent.decision.learners.learner import (
    Confidence,
    Labels,
    Tally,
    capped_confidence,
    mean_rewards,
    require_round,
)
from demem_agent.decision.learners.prior import Corrections, Knobs, Role
from demem_agent.decision.learners.rows import Rows

__all__ = ["REASONS", "Choice", "GrowingPrior"]

#: Every reason a choice may give, and what it says.
REASONS: Mapping[str, str] = {
    "slot": "the capped upper confidence index of what the context's slot pools",
    "alone": "the same of its own rewards and those of likely kin: it follows no slot",
    "doubt": "the same, since its rewards are unlikely to be those of its slot",
    "placed": "the action that its slot shows",
    "untried": "nobody whose rewards it shares has tried the action yet",
    "second opinion": "too few members of its slot have tried the action",
    "known": "not exploring: the best of what is known",
    "guess": "not exploring, and nothing is known: what is best in all contexts, or the first",
    "chance": "drawn, as the caller wanted it now and then",
}

#: Rewards that are still awaited count as plays; takes before the last so many are given up.
AWAITED = 100
#: An action that none of the last so many choices could take is no longer shown by slots.
UNOFFERED = 100
#: At most so many contexts, those with the most rewards, are looked at for kin of another.
CANDIDATES = 512
#: Descriptions are clustered anew once there are so many times as many.
GROWTH = 1.125
#: Log-odds against which a context is taken for kin before its rewards are looked at, and the least
#: likely kin whose rewards count.
STRANGE, LEAST = 2.0, 0.1
#: Room for contexts at first.
SMALL = 64
#: The first level of half-widths.
FIRST_CONTEXTS, FIRST_ACTIONS = 64, 16
_TABLES = ("counts", "sums", "squares")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen for a context, and why.

    Attributes:
        action: its index.
        slot: the slot that serves the context; -1 while none does.
        reason: one of ``REASONS``.
        explores: whether another action looks best for this context now.
        cost: expected reward that may be lost by exploring, in [0, 1]: the upper bound of the best
            action less the lower bound of the chosen one, as far as those whose rewards it shares
            are alike; 0 when not exploring.
        probability: of this action, given everything before, in (0, 1].
    """

    action: int
    slot: int
    reason: str
    explores: bool
    cost: float
    probability: float


@dataclass(frozen=True, slots=True)
class _Shared:
    """What is known to a context: rewards it shares with others, by action, and plays awaited."""

    source: str
    counts: Floats
    sums: Floats
    awaited: Floats


class GrowingPrior(Corrections):
    """Learn with at most K slots, for contexts that arrive and actions that come and go.

    The rules are those of ``CorrectedPrior``, and two that make finding out cheaper. A member whose
    rewards are unlikely to be those of its slot's others, by odds of ``kinship``, does not follow
    the slot while it is in doubt, though only a certificate makes it leave. Whoever explores weighs
    the rewards of others by how likely they are its kin, for the choice alone: bounds and places
    rest on kin by the odds of ``kinship``. A second opinion is asked only where somebody has left
    the slot itself.

    A context that arrives joins the slot of the nearest centre of descriptions. While nobody has
    left a slot, descriptions are clustered anew as they become more, and the slots pool their
    members' rewards anew. Where the description was given up, an arriving context is alone at
    first.

    Half-widths are those of ``Confidence`` for the next power of two of contexts and actions, from
    64 and 16 on, with ``delta`` shared among these levels by 1/2, 1/6, 1/12, ...: they hold for all
    levels together, with probability at least 1 - ``delta``, without N and A being known. The
    conditions of ``Confidence`` apply, from one restart to the next. A ``noise`` below 1/2 must be
    known from outside, or be what ``Dispersion`` takes it to be: unless ``steady`` is False, the
    noise is estimated and ``noise`` is its upper bound. Certificates then hold as far as all pairs
    are alike in the share of their variance, as rewards of 0 or 1 are.

    A certified change of the world forgets all rewards and keeps who shares a slot: what
    descriptions and rewards have told of that is the prior of the new start.

    Args:
        slots: K >= 1.
        delta: in (0, 1): what certificates may err with, and once more what restarts may.
        noise: in (0, 1/2], of rewards in [0, 1].
        steady: whether the noise is estimated below ``noise``.
        restart: whether certified changes are acted upon.
        corrections: False to have contexts stay where their descriptions put them: then no
            certificate is acted upon, and nobody doubts its slot.
        seed: of the order in which actions are tried.
        tolerance, trust, slot_trust, opinions, kinship: as for ``CorrectedPrior``.

    Attributes:
        slot, role: shape (N,), the place of each context; slot is -1 where there is none yet.
        shown: shape (K,), the action of each slot, -1 for none.
        restarts: how often a change was certified.
        partings: every certificate by which a context left its slot, in order.

    The same calls give the same state and choices. Raises ValueError for arguments out of range.
    """

    def __init__(
        self,
        slots: int,
        *,
        delta: float = 0.05,
        noise: float = 0.5,
        steady: bool = True,
        restart: bool = True,
        corrections: bool = True,
        seed: int = 0,
        tolerance: float = 0.2,
        trust: float = 0.1,
        slot_trust: float = 1 / 3,
        opinions: int = 2,
        kinship: float = 20.0,
    ) -> None:
        require(slots >= 1, "slots", ">= 1", slots)
        require(seed >= 0, "seed", ">= 0", seed)
        Confidence(1, 1, delta, noise)  # refuses what is out of range
        knobs = Knobs(tolerance, trust, slot_trust, opinions, kinship)
        super().__init__(np.empty(0, dtype=np.intp), 0, slots, knobs)
        self.delta = delta
        self.noise = noise
        self.steady = steady
        self.restart = restart
        self.corrects = corrections
        self.seed = seed
        self.contexts = 0
        self.actions = 0
        self.restarts = 0
        self.mistrusted = False
        self.watch = Watch(delta, noise)
        self.dispersion = Dispersion()
        self._rows = {name: Rows((SMALL, 0), np.float64) for name in _TABLES}
        self._closed_rows = Rows((SMALL, 0), np.bool_)
        self._slots = Rows((SMALL,), np.intp, fill=-1)
        self._roles = Rows((SMALL,), np.intp)
        self._descriptions = Rows((SMALL, 0), np.float64)
        self._taken: deque[tuple[int, int]] = deque(maxlen=AWAITED)
        self._takes = 0
        self._learned = 0
        self._clustered_at = 0
        self._width = 0
        self._keys: list[float] = []
        self._offered_at: Labels = np.empty(0, dtype=np.intp)
        self._centres: Floats = np.empty((0, 0))
        self._centre_slots: Labels = np.empty(0, dtype=np.intp)
        self._candidates: Labels | None = None
        self._resize()

    def add_context(self, vector: ArrayLike) -> int:
        """Take in a context by its description, a unit vector of shape (d,), and return its index.

        Raises ValueError for another shape than before, or for numbers that are not finite.
        """
        described = numbers("vector", vector)
        self._require_vector(described)
        context = self.contexts
        self.contexts += 1
        self._width = described.size
        self._resize()
        self.vectors[context] = described
        self._arrive(context)
        return context

    def add_action(self) -> int:
        """Take in an action, and return its index."""
        action = self.actions
        self.actions += 1
        generator = np.random.default_rng([self.seed, action])
        self._keys.append(generator.random())
        self._offered_at = np.append(self._offered_at, self._takes)
        self.pool.counts = np.pad(self.pool.counts, ((0, 0), (0, 1)))
        self.pool.sums = np.pad(self.pool.sums, ((0, 0), (0, 1)))
        self.saturated = False  # so that those who are placed may find out about it
        self._resize()
        return action

    def choose(
        self,
        context: int,
        offered: Sequence[int],
        *,
        explore: bool = True,
        never: Collection[int] = (),
        draw: float | None = None,
        chance: float = 0.0,
    ) -> Choice:
        """Choose among ``offered`` for a context; nothing changes by it.

        Args:
            context: in [0, N).
            offered: one or more actions.
            explore: False for what looks best now.
            never: actions that may not be explored: one of them is chosen only where it looks best
                by rewards that the context shares.
            draw: in [0, 1), where ``chance`` is above 0.
            chance: in [0, 1], of an action drawn uniformly among those that may be chosen; without
                effect where ``explore`` is False.

        Raises ValueError for arguments out of range, and where all of ``offered`` is in ``never``
        and none of it is known.
        """
        self._require_context(context)
        order = self._in_order(offered)
        require(0 <= chance <= 1, "chance", "in [0, 1]", chance)
        shared = self._shared(context)
        best = self._best(context, shared, order)
        allowed = _allowed(order, never, best)
        if not explore:
            return self._settled(context, allowed, best)
        planned, reason = self._planned(context, shared, allowed)
        action = planned
        if chance > 0:
            in_range = draw is not None and 0 <= draw < 1
            require(in_range, "draw", "in [0, 1) where chance is above 0", draw)
            assert draw is not None
            if draw < chance:
                place = int(draw / chance * len(allowed))
                action = int(allowed[min(place, len(allowed) - 1)])
                reason = "chance"
        probability = (1 - chance) * (action == planned) + chance / len(allowed)
        explores = action != best
        cost = self._cost(shared, order, action) if explores else 0.0
        return Choice(action, self._slot_of(context), reason, explores, cost, probability)

    def take(self, context: int, action: int, offered: Sequence[int] | None = None) -> None:
        """Take note that an action was taken, among those ``offered``; its reward is awaited.

        While awaited it counts as a play, and not in means. What was offered tells which actions
        are still there: without it, all are taken to be. Raises ValueError for arguments out of
        range.
        """
        self._require_context(context)
        require(0 <= action < self.actions, "action", f"in [0, {self.actions - 1}]", action)
        order = self._order if offered is None else self._in_order(offered)
        self._takes += 1
        self._taken.append((context, action))
        self._closed[context] = True
        self._closed[context, order] = False
        self._offered_at[order] = self._takes
        self._retire()

    def learn(self, context: int, action: int, reward: float) -> None:
        """Take in a reward, at once or late, of an action chosen here or elsewhere.

        Raises ValueError for arguments out of range.
        """
        require_round(self.own, context, action, reward)
        self._require_context(context)
        if (context, action) in self._taken:
            self._taken.remove((context, action))
        changed = self._has_changed(context, action, reward)
        self._count(context, action, reward)
        if changed:
            self._start_again()
        else:
            self._learn_as(int(self.role[context]), context, action, reward)

    def slot_for(self, vector: ArrayLike) -> int:
        """Return the slot that a context so described would join now; -1 if it would be alone."""
        described = numbers("vector", vector)
        self._require_vector(described)
        return self._joined(described)

    def same_as(self, other: GrowingPrior) -> bool:
        """Whether another learner has come to the same, and so would choose the same."""
        return self._scalars() == other._scalars() and all(
            map(np.array_equal, self._arrays(), other._arrays())
        )

    def _scalars(self) -> tuple[object, ...]:
        return (
            self.restarts,
            self.mistrusted,
            self.saturated,
            self.left,
            self.confidence,
            self.watch.rounds,
            list(self._taken),
            self._takes,
            self._clustered_at,
        )

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self.slot,
            self.role,
            self.shown,
            self.gone,
            self.own.counts,
            self.own.sums,
            self.pool.counts,
            self.pool.sums,
            self.vectors,
            self._closed,
            self._offered_at,
            self._centres,
        )

    def profile(self, slot: int) -> tuple[Floats, Floats]:
        """Return counts and sums of rewards, shape (A,) each, of the contexts a slot serves."""
        require(0 <= slot < len(self.shown), "slot", f"in [0, {len(self.shown) - 1}]", slot)
        served = (self.slot == slot) & (self.role != Role.ALONE)
        return self.own.counts[served].sum(axis=0), self.own.sums[served].sum(axis=0)

    # Growth

    def _resize(self) -> None:
        """Fit all arrays to N and A; what is new is empty."""
        shape = (self.contexts, self.actions)
        self.own.counts = self._rows["counts"].resized(shape)
        self.own.sums = self._rows["sums"].resized(shape)
        self._squares: Floats = self._rows["squares"].resized(shape)
        self._closed: Bools = self._closed_rows.resized(shape)
        self.slot = self._slots.resized((self.contexts,))
        self.role = self._roles.resized((self.contexts,))
        self.vectors: Floats = self._descriptions.resized((self.contexts, self._width))
        self._order: Labels = np.argsort(self._keys, kind="stable").astype(np.intp)
        self._trust_noise()

    def _trust_noise(self) -> None:
        """Fit the half-widths to N, A and the noise."""
        contexts, many = _level(self.contexts, FIRST_CONTEXTS)
        actions, large = _level(self.actions, FIRST_ACTIONS)
        delta = self.delta / (many * (many + 1) * large * (large + 1))
        noise = min(self.noise, self.dispersion.noise) if self.steady else self.noise
        self.confidence = Confidence(contexts, actions, delta, noise)

    def _arrive(self, context: int) -> None:
        """Place a new context by its description, as far as descriptions are believed."""
        slot = self._joined(self.vectors[context])
        if slot < 0:
            self.role[context] = Role.ALONE
            return
        self.slot[context] = slot
        self.members[slot] += 1
        if not self.left and self._clusters_are_old():
            self._cluster()

    def _joined(self, vector: Floats) -> int:
        """Return the slot that a context so described joins; -1 if it is alone."""
        slot = -1 if self.mistrusted else self._nearest_slot(vector)
        if slot >= 0 and self.gone[slot] and not self.members[slot]:
            return -1  # what is described like this was wrong before
        return slot

    def _nearest_slot(self, vector: Floats) -> int:
        if not len(self._centres):
            return 0
        nearest = nearest_centre(vector[None], self._centres)
        return int(self._centre_slots[nearest[0]])

    def _clusters_are_old(self) -> bool:
        return self.contexts > self._clustered_at * GROWTH

    def _cluster(self) -> None:
        """Cluster all descriptions anew; nobody has left a slot yet.

        A cluster gets the number of the slot that most of it comes from.
        """
        self._clustered_at = self.contexts
        members = np.flatnonzero(self.role == Role.MEMBER)
        self._centres = centres_of(self.vectors[members], len(self.shown))
        labels = nearest_centre(self.vectors[members], self._centres)
        self._centre_slots = self._matched(labels, self.slot[members])
        self.slot[members] = self._centre_slots[labels]
        self._pool_anew()

    def _matched(self, labels: Labels, before: Labels) -> Labels:
        """Give each new cluster a slot of its own, those that share most members first."""
        slots = len(self.shown)
        shared = np.zeros((slots, slots))
        np.add.at(shared, (labels, before), 1.0)
        found = np.full(slots, -1, dtype=np.intp)
        for _ in range(slots):
            cluster, slot = np.unravel_index(int(shared.argmax()), shared.shape)
            found[cluster] = slot
            shared[cluster, :] = -1.0
            shared[:, slot] = -1.0
        return found[: len(self._centres)]

    def _pool_anew(self) -> None:
        """Sum the rewards of every slot's members again."""
        members = np.flatnonzero(self.role == Role.MEMBER)
        labels = self.slot[members]
        self.pool = Tally(len(self.shown), self.actions)
        np.add.at(self.pool.counts, labels, self.own.counts[members])
        np.add.at(self.pool.sums, labels, self.own.sums[members])
        self.members = np.bincount(labels, minlength=len(self.shown))
        for slot in range(len(self.shown)):
            self._show_what_leads(slot)

    def _show_what_leads(self, slot: int) -> None:
        """Have a slot show what leads among its members, or what its followers follow."""
        if self.members[slot] > 0:
            self.shown[slot] = self._leading_of(slot)
        elif not self._followed(slot):
            self.shown[slot] = -1

    # Choosing

    def _in_order(self, offered: Sequence[int]) -> Labels:
        """Return what is offered in the order in which ties are broken."""
        inside = len(offered) > 0 and min(offered) >= 0 and max(offered) < self.actions
        require(inside, "offered", f"one or more in [0, {self.actions - 1}]", offered)
        mask = np.zeros(self.actions, dtype=np.bool_)
        mask[list(offered)] = True
        found: Labels = self._order[mask[self._order]]
        return found

    def _slot_of(self, context: int) -> int:
        alone = self.role[context] == Role.ALONE
        return -1 if alone else int(self.slot[context])

    def _shared(self, context: int) -> _Shared:
        """Collect what the context's slot pools while it follows it, else what likely kin know."""
        source = self._source(context)
        if source == "slot":
            slot = int(self.slot[context])
            sharing = ((self.slot == slot) & (self.role == Role.MEMBER)).astype(np.float64)
            counts, sums = self.pool.counts[slot], self.pool.sums[slot]
        else:
            sharing = self._kin_shares(context)
            counts, sums = self._weighed(sharing)
        return _Shared(source, counts, sums, self._awaited(sharing))

    def _source(self, context: int) -> str:
        """Return what a context is played by, one of ``REASONS``."""
        if self.role[context] == Role.PLACED:
            return "placed"
        if self.role[context] == Role.ALONE:
            return "alone"
        return "doubt" if self.corrects and self._doubts(context) else "slot"

    def _doubts(self, context: int) -> bool:
        """Whether a member's rewards are likelier not to be those of its slot's other members."""
        slot = int(self.slot[context])
        mine, my_sums = self.own.counts[context], self.own.sums[context]
        others = self.pool.counts[slot] - mine
        other_sums = self.pool.sums[slot] - my_sums
        odds = self._log_odds(others[None], other_sums[None], mine, my_sums)
        return bool(odds[0] < -self.kinship)

    def _kin_shares(self, context: int) -> Floats:
        """Estimate how likely each context is to be kin, shape (N,), by rewards alone."""
        against = np.clip(STRANGE - self._kin_odds(context), -50.0, 50.0)
        shares: Floats = 1 / (1 + np.exp(against))
        shares[shares < LEAST] = 0.0
        shares[context] = 1.0
        return shares

    def _weighed(self, shares: Floats) -> tuple[Floats, Floats]:
        rows = np.flatnonzero(shares)
        return shares[rows] @ self.own.counts[rows], shares[rows] @ self.own.sums[rows]

    def _awaited(self, sharing: Floats) -> Floats:
        """Count the plays whose rewards are awaited, each by its context's share, shape (A,)."""
        awaited = np.zeros(self.actions)
        for context, action in self._taken:
            awaited[action] += sharing[context]
        return awaited

    def _best(self, context: int, shared: _Shared, order: Labels) -> int:
        """Find what looks best among the actions in ``order``; -1 if none was ever rewarded."""
        if self.role[context] == Role.PLACED:
            shown = int(self.shown[self.slot[context]])
            if shown in order:
                return shown
        return _leading(shared.counts, shared.sums, order)

    def _planned(self, context: int, shared: _Shared, allowed: Labels) -> tuple[int, str]:
        """Find the action to play where one may explore, and the reason."""
        if shared.source == "placed":
            shown = int(self.shown[self.slot[context]])
            if shown in allowed:
                return shown, "placed"
        if shared.source == "slot" and self.gone[self.slot[context]]:
            unsure = self._unsure(context, shared, allowed)
            if unsure >= 0:
                return unsure, "second opinion"
        noise = self.confidence.noise
        action = capped_confidence(shared.counts, shared.sums, noise, allowed, shared.awaited)
        if shared.counts[action] + shared.awaited[action] == 0:
            return action, "untried"
        return action, "alone" if shared.source == "placed" else shared.source

    def _unsure(self, context: int, shared: _Shared, allowed: Labels) -> int:
        """Find an action that this member never tried and too few others did; -1 if none."""
        mine = np.zeros(self.contexts)
        mine[context] = 1.0
        own = self.own.counts[context] + self._awaited(mine)
        return self._second_opinion(shared.counts + shared.awaited, own, allowed)

    def _settled(self, context: int, allowed: Labels, best: int) -> Choice:
        """Choose what looks best."""
        reason = "known"
        if best < 0:
            everywhere = self.own.counts.sum(axis=0), self.own.sums.sum(axis=0)
            best = _leading(*everywhere, allowed)
            reason = "guess"
        action = best if best >= 0 else int(allowed[0])
        return Choice(action, self._slot_of(context), reason, False, 0.0, 1.0)

    def _cost(self, shared: _Shared, order: Labels, action: int) -> float:
        """Bound what an action may lose to the best of those offered."""
        means = mean_rewards(shared.sums, shared.counts)
        width = self.confidence.singles(shared.counts)
        upper = np.minimum(means + width, 1.0)[order].max()
        lower = max(float(means[action] - width[action]), 0.0)
        return float(np.clip(upper - lower, 0.0, 1.0))

    # Learning

    def _pair(self, context: int, action: int) -> tuple[float, float, float]:
        """Return a pair's rewards: how many, their sum, and their sum of squares."""
        n = float(self.own.counts[context, action])
        total = float(self.own.sums[context, action])
        return n, total, float(self._squares[context, action])

    def _count(self, context: int, action: int, reward: float) -> None:
        """Count a reward as the context's own, and learn from it how noisy rewards are."""
        self.dispersion.count(*self._pair(context, action), -1.0)
        self.own.add(context, action, reward)
        self._squares[context, action] += reward * reward
        self.dispersion.count(*self._pair(context, action), 1.0)
        self._trust_noise()
        self.watch.learn_noise(self.confidence.noise)
        self._learned += 1
        if self.contexts > CANDIDATES and self._learned % 64 == 0:
            self._find_candidates()

    def _find_candidates(self) -> None:
        rewards = self.own.counts.sum(axis=1)
        most = np.argsort(-rewards, kind="stable")[:CANDIDATES]
        self._candidates = np.sort(most)

    def _has_changed(self, context: int, action: int, reward: float) -> bool:
        """Whether a reward, not yet counted, completes the proof of a change."""
        n, total, _ = self._pair(context, action)
        if not n or not self.restart:
            return False
        width = self.confidence.single(int(n))
        return self.watch.changed(reward - total / n, width, self._narrower(n, total))

    def _narrower(self, n: float, total: float) -> float:
        """Return by how much less noisy a pair is than one whose mean is 1/2, in (0, 1]."""
        if not self.steady:
            return 1.0
        mean = (total + 0.5) / (n + 1)
        return 2 * math.sqrt(mean * (1 - mean))

    def _start_again(self) -> None:
        """Forget all rewards; who shares a slot is the prior of the new start."""
        self.restarts += 1
        partition = self.partition()
        self.slot[:] = np.maximum(partition.labels, 0)
        self.role[:] = Role.MEMBER
        for table in (self.own.counts, self.own.sums, self._squares):
            table[:] = 0.0
        self.left = 0
        self.gone[:] = 0
        self.saturated = False
        self._chosen_for = 0
        self.watch = Watch(self.delta, self.noise)
        self.dispersion = Dispersion(self.dispersion.share)
        self._clustered_at = 2**62  # what descriptions say counts less than what is known by now
        self._trust_noise()
        self._pool_anew()

    # The rules of ``Corrections``, for contexts that arrive and actions that are not offered

    def _description_is_wrong(self) -> bool:
        return self.left >= max(2.0, self.trust * self.contexts)

    def _dissolve_all(self) -> None:
        self.mistrusted = True
        super()._dissolve_all()

    def _stale(self) -> Bools:
        """Mark the actions that were not offered for so long that they seem to be gone."""
        stale: Bools = self._takes - self._offered_at > UNOFFERED
        return stale

    def _leading_of(self, slot: int) -> int:
        counts, sums = self.pool.counts[slot], self.pool.sums[slot]
        there = np.flatnonzero(~self._stale())
        found = _leading(counts, sums, there)
        if found < 0:
            found = self.pool.leading(slot)
        # Members without rewards must not take from others what these follow.
        return int(self.shown[slot]) if found < 0 and self._followed(slot) else found

    def _retire(self) -> None:
        """Have slots show no actions that are gone; who follows one is alone again."""
        stale = self._stale()
        for slot in np.flatnonzero((self.shown >= 0) & stale[self.shown]).tolist():
            followers = (self.slot == slot) & (self.role == Role.PLACED)
            self.role[followers] = Role.ALONE
            self.saturated = False
            self.shown[slot] = -1
            self._show_what_leads(slot)

    def _kin(self, context: int) -> Bools:
        kin: Bools = self._kin_odds(context) >= self.kinship
        kin[context] = True
        return kin

    def _kin_odds(self, context: int) -> Floats:
        """Compute the log-odds of kinship, shape (N,); -inf for contexts that are not looked at."""
        mine = np.flatnonzero(self.own.counts[context])
        rows: Labels | slice = slice(None) if self._candidates is None else self._candidates
        odds = np.full(self.contexts, -np.inf)
        odds[rows] = self._log_odds(
            self.own.counts[rows][:, mine],
            self.own.sums[rows][:, mine],
            self.own.counts[context, mine],
            self.own.sums[context, mine],
        )
        return odds

    def _bounds(self, context: int) -> tuple[Floats, Floats]:
        lower, upper = super()._bounds(context)
        closed = self._closed[context] | self._stale()
        # Below every bound: an action that cannot be chosen neither leads nor serves.
        return np.where(closed, -1.0, lower), np.where(closed, -1.0, upper)

    # Checks

    def _require_context(self, context: int) -> None:
        require(0 <= context < self.contexts, "context", f"in [0, {self.contexts - 1}]", context)

    def _require_vector(self, vector: Floats) -> None:
        size = self._width if self.contexts else vector.size
        fits = vector.shape == (size,) and bool(np.isfinite(vector).all())
        require(fits, "vector", f"{size} finite numbers", f"shape {vector.shape}")


def _level(size: int, first: int) -> tuple[int, int]:
    """Return the next level of a size, and which one it is: ``first``, twice that, and so on."""
    level, number = first, 1
    while level < size:
        level *= 2
        number += 1
    return level, number


def _allowed(order: Labels, never: Collection[int], best: int) -> Labels:
    """Leave out what may never be explored, unless it looks best."""
    kept = [action for action in order.tolist() if action not in never or action == best]
    require(len(kept) > 0, "never", "such that something offered may be chosen", never)
    return np.array(kept, dtype=np.intp)


def _leading(counts: Floats, sums: Floats, order: Labels) -> int:
    """Find the action with the largest mean among those of ``order`` with rewards; -1 if none."""
    if not len(order):
        return -1
    n = counts[order]
    means = np.where(n > 0, mean_rewards(sums[order], n), -1.0)
    place = int(means.argmax())
    return int(order[place]) if n[place] > 0 else -1
