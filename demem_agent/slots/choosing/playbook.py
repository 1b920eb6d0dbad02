"""What worked where: the learner of the decision core, fed by the rows in the order they came.

Nothing here is stored. The same situations, choices and outcomes in the same order make the same
playbook, so that it is rebuilt at load, and whenever an outcome is taken back.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision.learners.growing import Choice, GrowingPrior
from demem_agent.decision.learners.prior import Known, Role
from demem_agent.decision.learners.prior import Parting as Certificate
from demem_agent.later import dataclass
from demem_agent.settings import DecideSettings
from demem_agent.slots.choosing.situations import Situations, Told
from demem_agent.slots.records import StoredSituation, Vector
from demem_agent.types import Decision, MeanReward, Parting, Tried

__all__ = [
    "JUDGED",
    "MET",
    "TAKEN",
    "Bools",
    "Event",
    "Offer",
    "Playbook",
    "events",
    "played",
]

Numbers = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: What happens, in the order in which it does where one operation brings several.
MET, TAKEN, JUDGED = range(3)


@dataclass(frozen=True, slots=True)
class Event:
    """That a situation was met, or that a choice was taken or judged.

    Attributes:
        at: the operation that brought it; ``kind``: MET, TAKEN or JUDGED.
        what: the situation that was met, or else the choice.
    """

    at: int
    kind: int
    what: StoredSituation | Decision

    @property
    def place(self) -> tuple[int, int]:
        """What events are in order of."""
        return self.at, self.kind


@dataclass(frozen=True, slots=True)
class Offer:
    """What may be chosen.

    Attributes:
        actions: names, each once.
        never: those that may not be chosen to find out how good they are.
        explore: whether any may.
        draw: in [0, 1): what is left to chance is decided by it.
    """

    actions: tuple[str, ...]
    never: frozenset[str] = frozenset()
    explore: bool = True
    draw: float = 0.0


class Playbook:
    """Situations, actions and outcomes as the learner sees them, by numbers.

    Args:
        slots: K, the most profiles of actions.
        dimensions: of the vectors of situations.
        corrections: whether certificates part situations from their profiles.
    """

    def __init__(
        self,
        slots: int,
        settings: DecideSettings,
        dimensions: int,
        *,
        corrections: bool = True,
    ) -> None:
        self._delta = settings.delta
        self._chance = settings.chance
        self._budget = settings.budget
        self._spent = 0.0
        self._situations = Situations(dimensions)
        self._contexts: dict[str, int] = {}
        self._actions: dict[str, int] = {}
        self._learner = GrowingPrior(
            slots,
            delta=settings.delta,
            noise=settings.noise,
            steady=settings.steady,
            tolerance=settings.tolerance,
            corrections=corrections,
        )

    def happen(self, event: Event) -> None:
        """Take in whatever happened."""
        what = event.what
        if isinstance(what, StoredSituation):
            self.meet(what)
        elif event.kind == TAKEN:
            self.take(what)
        else:
            self.judge(what)

    def meet(self, stored: StoredSituation) -> None:
        """Take in a situation that never came up before."""
        self._situations.add(stored)
        self._contexts[stored.situation.id] = self._learner.add_context(stored.vector)

    def take(self, decision: Decision) -> None:
        """Take in what was chosen; its outcome is told later, or never."""
        for action in decision.actions:
            self._number(action)
        self._learner.take(
            self._contexts[decision.situation],
            self._actions[decision.action],
            self._numbers(decision.actions),
        )
        self._spent += decision.cost

    def judge(self, decision: Decision) -> None:
        """Take in what a choice came to."""
        context = self._contexts[decision.situation]
        reward = decision.reward
        assert reward is not None
        self._learner.learn(context, self._actions[decision.action], reward)

    def knows(self, situation: str) -> bool:
        """Whether a situation was met."""
        return situation in self._contexts

    def known(self, told: Told) -> str | None:
        """Return the id of the situation that is told; None for one that never came up."""
        return self._situations.known(told)

    def choice(self, situation: StoredSituation, offer: Offer) -> tuple[str, Choice]:
        """Choose for a situation, without taking anything in; return the action by its name."""
        book = self._with(situation, offer.actions)
        if not self._may_explore():
            offer = replace(offer, explore=False)
        choice = book._chosen(situation, offer)
        names = {book._actions[action]: action for action in offer.actions}
        return names[choice.action], choice

    def slot_of(self, situation: str) -> int | None:
        """Return the profile of actions that a situation follows; None where it follows none."""
        slot = int(self._learner.slot[self._contexts[situation]])
        return None if slot < 0 else slot

    def nearest(self, vector: Vector) -> int | None:
        """Return the profile that a new situation would follow; None where there is none."""
        slot = self._learner.slot_for(vector)
        return None if slot < 0 else slot

    def records(self, situation: str) -> list[Tried]:
        """Return how each action did in a situation, of those whose outcome is known."""
        context = self._contexts[situation]
        own = self._learner.own
        return self._recorded(own.counts[context], own.sums[context])

    def profile(self, slot: int) -> list[Tried]:
        """Return how each action did in the situations that follow a profile."""
        return self._recorded(*self._learner.profile(slot))

    @property
    def restarts(self) -> int:
        """How often all that was learned was begun anew."""
        return self._learner.restarts

    @property
    def left(self) -> int:
        """How many situations have left a profile since the last new beginning."""
        return self._learner.left

    def members(self) -> Bools:
        """Mark the situations that follow what their descriptions gave them, in their order."""
        members: Bools = self._learner.role == Role.MEMBER
        return members

    def parted(self, by: Event, first: int) -> list[Parting]:
        """Return the certificates from the ``first`` on, which an outcome has completed."""
        certificates = self._learner.partings[first:]
        return [self._parting(certificate, by) for certificate in certificates]

    def given_up(self, members: Bools, by: Event) -> list[Parting]:
        """Return who of those that were members left by an outcome, with a certificate or not."""
        assert isinstance(by.what, Decision)
        slots = self._learner.slot
        alone = self._learner.role == Role.ALONE
        found = []
        for id, context in self._contexts.items():
            if members[context] and alone[context]:
                slot = int(slots[context])
                decision = by.what.id
                found.append(Parting(id, slot, decision, by.at, None, None, None, self._delta))
        return found

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of all actions that were ever offered, each once."""
        return tuple(self._actions)

    def reword(self, situations: Iterable[StoredSituation], names: Mapping[str, str]) -> None:
        """Forget words, not what was learned: of situations, which come all anew, and of actions.

        Args:
            names: new ones by what they take the place of.
        """
        self._situations = Situations(self._situations.dimensions)
        for stored in situations:
            self._situations.add(stored)
        self._actions = {names.get(name, name): n for name, n in self._actions.items()}

    def same_as(self, other: Playbook) -> bool:
        """Whether another playbook holds the same and would choose the same."""
        mine = (self._contexts, self._actions, self._spent)
        if mine != (other._contexts, other._actions, other._spent):
            return False
        return self._learner.same_as(other._learner)

    def _parting(self, certificate: Certificate, by: Event) -> Parting:
        assert isinstance(by.what, Decision)
        return Parting(
            situation=by.what.situation,
            slot=certificate.slot,
            decision=by.what.id,
            judged=by.at,
            action=by.what.action,
            own=_mean_reward(certificate.own),
            others=_mean_reward(certificate.others),
            delta=self._delta,
        )

    def _chosen(self, situation: StoredSituation, offer: Offer) -> Choice:
        return self._learner.choose(
            self._contexts[situation.situation.id],
            self._numbers(offer.actions),
            explore=offer.explore,
            never=self._numbers(offer.actions, offer.never),
            draw=offer.draw,
            chance=self._chance,
        )

    def _may_explore(self) -> bool:
        """Whether enough is left for any exploration, of which none costs more than 1.

        What is chosen must not decide it: the probability of a choice would be another one.
        """
        return self._budget is None or self._spent + 1 <= self._budget

    def _recorded(self, counts: Numbers, sums: Numbers) -> list[Tried]:
        found = []
        for action, number in self._actions.items():
            if counts[number] > 0:
                found.append(Tried(action, int(counts[number]), float(sums[number])))
        found.sort(key=lambda record: (-record.mean, -record.count))
        return found

    def _with(self, situation: StoredSituation, actions: Iterable[str]) -> Playbook:
        """Return a playbook that knows a situation and some actions: this one, or else a copy."""
        is_known = situation.situation.id in self._contexts
        if is_known and self._actions.keys() >= set(actions):
            return self
        book = copy.copy(self)
        book._contexts = dict(self._contexts)
        book._actions = dict(self._actions)
        book._learner = copy.deepcopy(self._learner)
        if not is_known:
            context = book._learner.add_context(situation.vector)
            book._contexts[situation.situation.id] = context
        for action in actions:
            book._number(action)
        return book

    def _number(self, action: str) -> int:
        if action not in self._actions:
            self._actions[action] = self._learner.add_action()
        return self._actions[action]

    def _numbers(self, actions: Iterable[str], among: frozenset[str] | None = None) -> list[int]:
        chosen = [action for action in actions if among is None or action in among]
        return [self._actions[action] for action in chosen]


def events(situations: Iterable[StoredSituation], choices: Iterable[Decision]) -> Sequence[Event]:
    """Return all that happened, in the order of the operations."""
    found = [Event(stored.situation.seen, MET, stored) for stored in situations]
    for decision in choices:
        found.append(Event(decision.taken, TAKEN, decision))
        if decision.judged is not None:
            found.append(Event(decision.judged, JUDGED, decision))
    found.sort(key=lambda event: event.place)
    return found


def played(
    book: Playbook, situations: Iterable[StoredSituation], choices: Iterable[Decision]
) -> Playbook:
    """Play all that happened into an empty playbook, in the order of the operations."""
    for event in events(situations, choices):
        book.happen(event)
    return book


def _mean_reward(known: Known) -> MeanReward:
    return MeanReward(known.count, known.mean, known.half_width)
