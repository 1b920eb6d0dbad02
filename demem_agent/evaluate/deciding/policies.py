"""Policies that a log of decisions is replayed under."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

import numpy as np

from demem_agent.decision.learners.learner import Confidence
from demem_agent.decision.learners.splits import PracticalSplits
from demem_agent.errors import InvalidInput
from demem_agent.settings import DecideSettings
from demem_agent.slots.choosing.log import DecisionLog
from demem_agent.slots.choosing.playbook import Offer, Playbook
from demem_agent.slots.records import StoredSituation
from demem_agent.turns import whole_field
from demem_agent.types import Decision

__all__ = ["Player", "Policy", "player_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A policy that chooses among actions, by what it differs in from that of the memory.

    It chooses without chance, by what it was taught.

    Attributes:
        slots: K, the most profiles, >= 1; None for that of the memory.
        delta: of certificates, in (0, 1); None for that of the memory.
        corrections: False to have situations keep the profile that their description gives them,
            whatever their outcomes are.
        paper: True for the practical form of the paper's learner, which takes no descriptions; it
            is told beforehand how many situations and actions there are, and that the noise is the
            memory's. What is offered must always be the same.

    Raises:
        InvalidInput: naming the field and its range.
    """

    slots: int | None = None
    delta: float | None = None
    corrections: bool = True
    paper: bool = False

    def __post_init__(self) -> None:
        if self.slots is not None:
            whole_field("slots", self.slots, 1)
        if self.delta is not None:
            DecideSettings(delta=self.delta)
        if self.paper and not self.corrections:
            raise InvalidInput("corrections", False, "True where paper is: it has no others")

    @property
    def name(self) -> str:
        """What it differs in, in words."""
        words = []
        if self.paper:
            words.append("the paper's form")
        if self.slots is not None:
            words.append("1 slot" if self.slots == 1 else f"{self.slots} slots")
        if not self.corrections:
            words.append("no corrections")
        if self.delta is not None:
            words.append(f"delta {self.delta:g}")
        return ", ".join(words) or "as it is"


class Player(Protocol):
    """A policy as it is taught: whatever it is not told of, it does not see."""

    def choose(self, decision: Decision) -> str:
        """Return what it would choose; nothing changes by it."""
        ...

    def take(self, decision: Decision) -> None:
        """Take in that an action was taken."""
        ...

    def learn(self, decision: Decision) -> None:
        """Take in what an action that was taken came to."""
        ...


def player_of(policy: Policy, log: DecisionLog) -> Player | str:
    """Return who plays a policy on a log, or why nobody can."""
    delta = log.settings.delta if policy.delta is None else policy.delta
    slots = log.slots if policy.slots is None else policy.slots
    settings = replace(log.settings, delta=delta, chance=0.0)
    if not policy.paper:
        book = Playbook(slots, settings, log.dimensions, corrections=policy.corrections)
        return _Product(book, log)
    if not log.decisions:
        return "nothing was decided"
    if len({frozenset(decision.actions) for decision in log.decisions}) > 1:
        return "the paper's form chooses among all actions, and what was offered differs"
    return _Paper(slots, settings, log)


class _Product:
    """The learner of the product, other settings and all."""

    def __init__(self, book: Playbook, log: DecisionLog) -> None:
        self._book = book
        self._situations = _by_situation(log)
        self._costs: dict[str, float] = {}

    def choose(self, decision: Decision) -> str:
        situation = self._situations[decision.situation]
        action, choice = self._book.choice(situation, Offer(decision.actions))
        self._costs[decision.id] = choice.cost
        return action

    def take(self, decision: Decision) -> None:
        if not self._book.knows(decision.situation):
            self._book.meet(self._situations[decision.situation])
        # What counts against a budget is what its own exploring costs, and not the log's.
        self._book.take(replace(decision, cost=self._costs.get(decision.id, 0.0)))

    def learn(self, decision: Decision) -> None:
        self._book.judge(decision)


class _Paper:
    """The practical form of the paper's learner, for situations and actions by numbers."""

    def __init__(self, slots: int, settings: DecideSettings, log: DecisionLog) -> None:
        self._contexts = {id: number for number, id in enumerate(_by_situation(log))}
        offered = chain.from_iterable(decision.actions for decision in log.decisions)
        self._names = sorted(set(offered))
        self._actions = {name: number for number, name in enumerate(self._names)}
        confidence = Confidence(
            len(self._contexts), len(self._names), settings.delta, settings.noise
        )
        rng = np.random.default_rng(0)
        self._learner = PracticalSplits(
            slots, confidence=confidence, gamma=settings.tolerance, rng=rng
        )

    def choose(self, decision: Decision) -> str:
        return self._names[self._asked(decision)[1]]

    def take(self, decision: Decision) -> None:
        if decision.probability is not None:
            self._learner, _ = self._asked(decision)

    def learn(self, decision: Decision) -> None:
        context = self._contexts[decision.situation]
        assert decision.reward is not None
        self._learner.learn(context, self._actions[decision.action], decision.reward)

    def _asked(self, decision: Decision) -> tuple[PracticalSplits, int]:
        """Return what the learner is once it was asked, and what it says: asking counts."""
        learner = copy.deepcopy(self._learner)
        action = learner.choose(self._contexts[decision.situation])
        return learner, action


def _by_situation(log: DecisionLog) -> Mapping[str, StoredSituation]:
    return {stored.situation.id: stored for stored in log.situations}
