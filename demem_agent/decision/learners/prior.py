"""What a prior from descriptions and its corrections share, whether contexts are given or arrive.

``Corrections`` holds the places of contexts and the rules by which rewards change them:
``CorrectedPrior`` plays them over a fixed set, ``GrowingPrior`` over one that grows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from demem_agent.decision._arrays import Bools, Floats, require
from demem_agent.decision._covers import Key, exchange
from demem_agent.decision.learners.learner import (
    Assignment,
    Confidence,
    Labels,
    Tally,
    mean_rewards,
)

__all__ = ["Corrections", "Knobs", "Known", "Parting", "Role"]


class Role(IntEnum):
    """How a context is played."""

    MEMBER = 0  # pools its rewards with its slot and follows the slot's UCB
    ALONE = 1  # explores with its kin, outside the slots
    PLACED = 2  # follows the action its slot shows


@dataclass(frozen=True, slots=True)
class Knobs:
    """Hold what is set by hand; ``CorrectedPrior`` says what each does.

    Attributes:
        tolerance, trust, slot_trust: in (0, 1].
        opinions: >= 1.
        kinship: > 1.
    """

    tolerance: float = 0.2
    trust: float = 0.1
    slot_trust: float = 1 / 3
    opinions: int = 2
    kinship: float = 20.0

    def __post_init__(self) -> None:
        _require_share("tolerance", self.tolerance)
        _require_share("trust", self.trust)
        _require_share("slot_trust", self.slot_trust)
        require(self.kinship > 1, "kinship", "> 1", self.kinship)
        require(self.opinions >= 1, "opinions", ">= 1", self.opinions)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an expected reward.

    Attributes:
        count: of rewards, >= 1.
        mean: of them, in [0, 1]; the expectation is within ``half_width`` of it.
    """

    count: int
    mean: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Parting:
    """The certificate by which a context left its slot: two means that chance does not explain.

    Attributes:
        context, slot, action: who left what, by the rewards of which action.
        own: what the context knows of the action; ``others``: what the slot's other members do.
    """

    context: int
    slot: int
    action: int
    own: Known
    others: Known

    @property
    def holds(self) -> bool:
        """Whether the means lie further apart than both half-widths together."""
        apart = abs(self.own.mean - self.others.mean)
        return apart > self.own.half_width + self.others.half_width


class Corrections:
    """Hold the places of N contexts in K slots, and change them as rewards certify.

    ``CorrectedPrior`` says what the rules are. Whoever plays them sets ``confidence`` and
    ``_order``, a permutation of the actions that breaks ties, chooses, and calls ``_learn_as``
    with each reward that it counted in ``own``.

    Attributes:
        partings: every certificate by which a context left its slot, in order.
        corrects: False where no certificate is acted upon.
    """

    confidence: Confidence
    corrects: bool = True
    _order: Labels

    def __init__(self, labels: Labels, actions: int, slots: int, knobs: Knobs) -> None:
        self.tolerance = knobs.tolerance
        self.trust = knobs.trust
        self.slot_trust = knobs.slot_trust
        self.opinions = knobs.opinions
        self.kinship = math.log(knobs.kinship)
        self._start(labels, actions, slots)

    def _start(self, labels: Labels, actions: int, slots: int) -> None:
        contexts = len(labels)
        self.slot = labels
        self.role = np.full(contexts, Role.MEMBER, dtype=np.intp)
        self.shown = np.full(slots, -1, dtype=np.intp)
        self.members: Labels = np.bincount(labels, minlength=slots)
        self.gone = np.zeros(slots, dtype=np.intp)
        self.own = Tally(contexts, actions)
        self.pool = Tally(slots, actions)
        self.left = 0
        self.partings: list[Parting] = []
        self.saturated = False
        self._chosen_for = 0

    def partition(self) -> Assignment:
        """Return the slots.

        A context that is alone is shown where it loses least as far as is certified.
        """
        labels = self.slot.copy()
        for context in np.flatnonzero(self.role == Role.ALONE):
            lower, upper = self._bounds(int(context))
            slot, _ = self._least_loss(lower, upper)
            labels[context] = slot
        return Assignment(labels, self.shown.copy())

    def _second_opinion(self, pooled: Floats, own: Floats, order: Labels) -> int:
        """Find an action that this member never tried and too few others did; -1 if there is none.

        From how often its slot and it itself played each, shape (A,), the first in ``order``. Once
        the description was wrong somewhere, a single unlucky try by a stray member must not speak
        for a slot.
        """
        few = ((pooled < self.opinions) & (own == 0))[order]
        return int(order[few.argmax()]) if few.any() else -1

    def _learn_as(self, role: int, context: int, action: int, reward: float) -> None:
        """Change the context's place if a reward, counted as its own already, certifies so."""
        if role == Role.MEMBER:
            self._learn_as_member(context, action, reward)
        elif role == Role.ALONE:
            self._try_to_join(context)
        else:
            self._check_place(context)

    def _learn_as_member(self, context: int, action: int, reward: float) -> None:
        slot = int(self.slot[context])
        self.pool.add(slot, action, reward)
        self.shown[slot] = self._leading_of(slot)
        if self.corrects and self._disagrees(context, slot, action):
            self.partings.append(self._parting(context, slot, action))
            self._leave(context)
            self._draw_conclusions(slot)

    def _draw_conclusions(self, slot: int) -> None:
        """Give up the whole description, or this slot of it, where too many have left."""
        if self._description_is_wrong():
            self._dissolve_all()
        elif self._is_mistrusted(slot):
            self._dissolve(self.slot == slot)

    def _description_is_wrong(self) -> bool:
        """Whether so many have left that nobody's description is believed any more."""
        return self.left >= self.trust * len(self.slot)

    def _leading_of(self, slot: int) -> int:
        """Find the action that leads in what a slot pools; -1 if it pools nothing."""
        return self.pool.leading(slot)

    def _is_mistrusted(self, slot: int) -> bool:
        gone = self.gone[slot]
        share = self.slot_trust * (gone + self.members[slot])
        return bool(gone >= max(2.0, share))

    def _disagrees(self, context: int, slot: int, action: int) -> bool:
        """Whether the context's mean certifiably differs from that of the slot's other members."""
        others = self.pool.counts[slot, action] - self.own.counts[context, action]
        return bool(others > 0) and self._parting(context, slot, action).holds

    def _parting(self, context: int, slot: int, action: int) -> Parting:
        """Compare the context's mean with that of the slot's other members; both have rewards."""
        mine = float(self.own.counts[context, action])
        others = float(self.pool.counts[slot, action]) - mine
        my_sum = float(self.own.sums[context, action])
        other_sum = float(self.pool.sums[slot, action]) - my_sum
        other_members = int(self.members[slot]) - 1
        my_width = self.confidence.single(int(mine))
        other_width = self.confidence.pooled(int(others), other_members)
        own = Known(int(mine), my_sum / mine, my_width)
        return Parting(
            context, slot, action, own, Known(int(others), other_sum / others, other_width)
        )

    def _dissolve_all(self) -> None:
        self._dissolve(np.ones(len(self.slot), dtype=np.bool_))

    def _dissolve(self, group: Bools) -> None:
        """Stop believing the description for a group of contexts: its members are on their own."""
        for context in np.flatnonzero(group & (self.role == Role.MEMBER)):
            self._leave(int(context))

    def _leave(self, context: int) -> None:
        slot = int(self.slot[context])
        self._withdraw(context, slot)
        self.role[context] = Role.ALONE
        self.left += 1
        self.gone[slot] += 1
        if self.members[slot] > 0:
            self.shown[slot] = self._leading_of(slot)
        elif not self._followed(slot):
            self.shown[slot] = -1

    def _withdraw(self, context: int, slot: int) -> None:
        """Take a member and its rewards out of what its slot pools."""
        self.pool.counts[slot] -= self.own.counts[context]
        self.pool.sums[slot] -= self.own.sums[context]
        self.members[slot] -= 1

    def _followed(self, slot: int) -> bool:
        return bool(((self.slot == slot) & (self.role == Role.PLACED)).any())

    def _kin(self, context: int) -> Bools:
        """Mark the contexts whose rewards resemble this one's, itself included."""
        counts = self.own.counts
        sums = self.own.sums
        kin: Bools = self._log_odds(counts, sums, counts[context], sums[context]) >= self.kinship
        kin[context] = True
        return kin

    def _log_odds(self, counts: Floats, sums: Floats, mine: Floats, my_sums: Floats) -> Floats:
        """Compute by how much one common reward vector is likelier than two, shape (n,), as logs.

        For every row of counts and sums, shape (n, A), and action that it and the context tried:
        the Gaussian density of the difference of the row's mean from the context's, were
        expectations the same, against the density 1 of a mean drawn uniformly. The product of
        these ratios must reach ``kinship``.
        """
        tried = (counts > 0) & (mine > 0)
        counts = np.maximum(counts, 1.0)
        mine = np.maximum(mine, 1.0)
        spread = 1 / counts + 1 / mine
        variance = self.confidence.noise**2 * spread
        squares = (sums / counts - my_sums / mine) ** 2
        twice = -squares / variance - np.log(2 * math.pi * variance)
        odds: Floats = np.where(tried, twice / 2, 0.0).sum(axis=1)
        return odds

    def _kin_rewards(self, context: int) -> tuple[Floats, Floats]:
        """Compute counts and sums, shape (A,) each, over a context and its kin."""
        return self._sums_over(self._kin(context))

    def _sums_over(self, group: Bools) -> tuple[Floats, Floats]:
        """Sum counts and rewards, shape (A,) each, over a group of contexts."""
        return self.own.counts[group].sum(axis=0), self.own.sums[group].sum(axis=0)

    def _bounds(self, context: int) -> tuple[Floats, Floats]:
        """Bound the rewards of one context from its rounds and those of its kin."""
        counts, sums = self._kin_rewards(context)
        means = mean_rewards(sums, counts)
        width = self.confidence.singles(counts)
        return np.maximum(means - width, 0.0), np.minimum(means + width, 1.0)

    def _least_loss(self, lower: Floats, upper: Floats) -> tuple[int, float]:
        """Find the slot whose action loses least at worst, and that loss.

        An empty slot loses more than any other.
        """
        loss = np.where(self.shown >= 0, upper.max() - lower[self.shown], 2.0)
        best = int(loss.argmin())
        return best, float(loss[best])

    def _try_to_join(self, context: int) -> None:
        lower, upper = self._bounds(context)
        leading = self._leading(lower, upper)
        if leading < 0:
            return
        slot, loss = self._least_loss(lower, upper)
        target = self._slot_for(leading)
        if target >= 0:
            self._place(context, target, leading)
        elif loss <= self.tolerance or self.saturated:
            self._place(context, slot, int(self.shown[slot]))
            self._refresh()
        elif np.unique(self.shown).size == len(self.shown):
            self._make_room(context)

    def _leading(self, lower: Floats, upper: Floats) -> int:
        """Find the best action that is shown to lose at most ``tolerance``; -1 if none is."""
        highest = upper.max()
        if highest - lower.max() > self.tolerance:
            return -1
        leading = int((lower + upper).argmax())
        if highest - lower[leading] > self.tolerance:
            leading = int(lower.argmax())
        return leading

    def _slot_for(self, action: int) -> int:
        """Find the slot that shows an action, or a free one; -1 if there is none."""
        if self.saturated:
            return -1
        same = np.flatnonzero(self.shown == action)
        return int(same[0]) if same.size else self._free_slot()

    def _free_slot(self) -> int:
        """Find a slot that shows nothing, or make one; -1 if there is none.

        Of two slots that show the same action one is free: apart they decide nothing.
        """
        empty = np.flatnonzero(self.shown < 0)
        if empty.size:
            return int(empty[0])
        for slot in np.argsort(self.members, kind="stable").tolist():
            twin = self._twin(slot)
            if twin >= 0 and (self.members[slot] == 0 or self._certified(slot)):
                self._merge(slot, twin)
                return int(slot)
        return -1

    def _twin(self, slot: int) -> int:
        """Find the first other slot that shows the same action; -1 if there is none."""
        same = self.shown == self.shown[slot]
        same[slot] = False
        return int(same.argmax()) if same.any() else -1

    def _certified(self, slot: int) -> bool:
        """Whether the members' own action is certified to lose at most ``tolerance``.

        On their pooled rewards.
        """
        counts = self.pool.counts[slot]
        if counts.min() == 0:
            return False
        members = int(self.members[slot])
        width = np.array([self.confidence.pooled(int(n), members) for n in counts])
        means = self.pool.sums[slot] / counts
        upper = means + width
        lower = means - width
        return bool(upper.max() - lower[self.shown[slot]] <= self.tolerance)

    def _merge(self, slot: int, into: int) -> None:
        """Have everyone in a slot follow another that shows the same action."""
        moving = (self.slot == slot) & (self.role != Role.ALONE)
        self.slot[moving] = into
        self.role[moving] = Role.PLACED
        self.members[slot] = 0
        self.pool.counts[slot] = 0.0
        self.pool.sums[slot] = 0.0
        self.shown[slot] = -1

    def _place(self, context: int, slot: int, action: int) -> None:
        self.slot[context] = slot
        self.role[context] = Role.PLACED
        self.shown[slot] = action

    def _check_place(self, context: int) -> None:
        """Move a placed context, or have it explore again.

        Once its action is shown to be worse than another, or no longer shown to be fit.
        """
        lower, upper = self._bounds(context)
        shown = self.shown[self.slot[context]]
        mine = float(upper[shown])
        if self.saturated:
            self._move_if_worse(context, mine, lower)
            return
        loss = upper.max() - lower[shown]
        if lower.max() > mine or loss > 2 * self.tolerance:
            self.role[context] = Role.ALONE

    def _move_if_worse(self, context: int, mine: float, lower: Floats) -> None:
        """Move a context to the best slot where that is shown to be better than its own."""
        safe = np.where(self.shown >= 0, lower[self.shown], -1.0)
        best = int(safe.argmax())
        if lower[self.shown[best]] > mine:
            self.slot[context] = best

    def _make_room(self, context: int) -> None:
        """Give up the description, or else ``tolerance``, for a context that no slot serves."""
        if self.members.any():
            self._dissolve_all()
            return
        self.saturated = True
        self.role[context] = Role.PLACED
        self._choose_anew()

    def _refresh(self) -> None:
        """Choose again each time another eighth of all contexts was placed since the last time."""
        if not self.saturated:
            return
        placed_since = (self.role == Role.PLACED).sum() - self._chosen_for
        if placed_since >= len(self.role) / 8:
            self._choose_anew()

    def _choose_anew(self) -> None:
        """Choose the K actions that lose the placed contexts least on average.

        Each context goes to the best of them.
        """
        placed = np.flatnonzero(self.role == Role.PLACED)
        losses = self._estimated_losses(placed)
        start = [int(losses.sum(axis=0).argmin())]
        chosen = exchange(losses, start, len(self.shown), key=_total)
        self.shown[:] = -1
        self.shown[: len(chosen)] = chosen
        self.slot[placed] = losses[:, chosen].argmin(axis=1)
        self._chosen_for = len(placed)

    def _estimated_losses(self, contexts: Labels) -> Floats:
        """Estimate what each action loses, shape (n, A), by the middle of its bounds."""
        bounds = np.array([self._bounds(int(context)) for context in contexts])
        middles: Floats = bounds.mean(axis=1)
        best: Floats = middles.max(axis=1, keepdims=True)
        return best - middles


def _total(losses: Floats) -> Key:
    return float(losses.sum()), 0.0


def _require_share(name: str, value: float) -> None:
    require(0 < value <= 1, name, "in (0, 1]", value)
