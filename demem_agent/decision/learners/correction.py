"""Description as the prior, certificates as the correction: a learner that goes beyond the paper.

It starts from a partition by description and plays slot-level UCB on it, as if similar contexts
were alike. A context whose rewards certifiably disagree with those of its slot leaves, explores
together with the contexts whose rewards resemble its own, and joins the slot whose action is right
for them. Where the description is right, nothing leaves and nothing is paid.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from demem_agent.decision._arrays import Floats, require
from demem_agent.decision.learners.learner import (
    Confidence,
    Labels,
    require_round,
    upper_confidence,
)
from demem_agent.decision.learners.prior import Corrections, Knobs, Role

__all__ = ["CorrectedPrior", "Role"]


class CorrectedPrior(Corrections):
    """Learn from a prior partition, corrected by certificates.

    A context leaves its slot when its mean reward of the action just played and the mean of the
    other members lie further apart than both half-widths together: then, on the event of
    ``Confidence``, their expectations differ. Once two members and a share ``slot_trust`` of a slot
    have left, its other members leave as well; once a share ``trust`` of all contexts has, everyone
    does.

    A context alone plays UCB on its own rewards and those of its kin: the contexts whose rewards,
    of the actions both tried, are at least ``kinship`` times likelier under one common reward
    vector than under two drawn uniformly. Kin split the actions between them. Once their pooled
    rewards show an action to lose at most ``tolerance``, the context

    * joins the slot that shows its leading action, or makes a free slot show it;
    * or joins the slot that loses least, if that is shown to lose at most ``tolerance``;
    * if none is and all K show different actions, the description is given up for all;
    * once no members are left, so is ``tolerance``: the K actions are chosen anew, to lose least on
      average as far as estimated.

    A placed context moves when its action is shown to be worse than another. It explores again
    when, its kin having changed, its action is no longer shown to lose at most twice ``tolerance``.

    At most K slots at all times. Contexts alone are exploration: ``rounds_alone`` counts those
    rounds, and ``partition()`` says which slot serves each of them best so far. That the members of
    a slot differ when one disagrees is certified, under the conditions of ``Confidence``. Where it
    goes then is not: bounds pooled over kin hold only if kin are alike, and a context that agrees
    by chance on all that it tried may stay where it loses more. With ``kinship`` infinite there are
    no kin, and every placement within ``tolerance`` is certified by the context's own rewards. That
    ``trust`` is well chosen is not certified.

    Args:
        prior: shape (N,), slot of each context in [0, slots): k-means of the descriptions, say.
        actions: A >= 1.
        slots: K >= 1.
        confidence: half-widths for N contexts and A actions; its ``noise`` also scales the UCB
            index.
        rng: breaks ties between actions.
        tolerance: in (0, 1].
        trust, slot_trust: shares of contexts, in (0, 1].
        opinions: members that shall try an action of their slot once any context has left, >= 1.
        kinship: odds, > 1.

    Raises ValueError for arguments out of range.
    """

    def __init__(
        self,
        prior: ArrayLike,
        actions: int,
        slots: int,
        *,
        confidence: Confidence,
        rng: Generator,
        tolerance: float = 0.2,
        trust: float = 0.1,
        slot_trust: float = 1 / 3,
        opinions: int = 2,
        kinship: float = 20.0,
    ) -> None:
        labels = np.array(prior, dtype=np.intp)
        fits = labels.shape == (confidence.contexts,) and confidence.actions == actions
        require(fits, "confidence", "made for N and A", confidence)
        _require_slots(labels, slots)
        knobs = Knobs(tolerance, trust, slot_trust, opinions, kinship)
        super().__init__(labels, actions, slots, knobs)
        self.confidence = confidence
        self.rounds_alone = 0
        self._order: Labels = rng.permutation(actions)

    def choose(self, context: int) -> int:
        """Choose by the slot, or by the context's own rewards while it is alone."""
        role = self.role[context]
        slot = self.slot[context]
        if role == Role.PLACED:
            return int(self.shown[slot])
        if role == Role.ALONE:
            self.rounds_alone += 1
            counts, sums = self._kin_rewards(context)
            return self._upper_confidence(counts, sums)
        if self.left:
            pooled = self.pool.counts[slot]
            unsure = self._second_opinion(pooled, self.own.counts[context], self._order)
            if unsure >= 0:
                return unsure
        return self._upper_confidence(self.pool.counts[slot], self.pool.sums[slot])

    def learn(self, context: int, action: int, reward: float) -> None:
        """Take in a reward, and change the context's place if a certificate says so."""
        require_round(self.own, context, action, reward)
        self.own.add(context, action, reward)
        self._learn_as(int(self.role[context]), context, action, reward)

    def _upper_confidence(self, counts: Floats, sums: Floats) -> int:
        return upper_confidence(counts, sums, self.confidence.noise, self._order)


def _require_slots(labels: Labels, slots: int) -> None:
    inside = bool(((labels >= 0) & (labels < slots)).all())
    require(inside, "prior", f"slots in [0, {slots - 1}]", labels)
