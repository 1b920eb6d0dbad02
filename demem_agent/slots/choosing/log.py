"""All that was decided, as it is looked into and replayed, and what was certified on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from demem_agent.errors import NotFound
from demem_agent.later import dataclass
from demem_agent.settings import DecideSettings
from demem_agent.slots.choosing.playbook import (
    TAKEN,
    Bools,
    Event,
    Playbook,
    events,
)
from demem_agent.slots.records import StoredSituation
from demem_agent.types import (
    Compared,
    Decision,
    Explained,
    Outcomes,
    Parting,
    Situation,
    Tried,
    by_id,
)

__all__ = ["DecisionLog", "History", "explained"]

#: How actions did, by their names.
Records = Mapping[str, Tried]


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """Every decision among actions of a memory, with the settings it was made under.

    ``SlotMemory.decision_log`` gives it.

    Attributes:
        slots: K, the most profiles of actions.
        settings: of the learner.
        dimensions: of the vectors of situations; 0 where nothing was decided.
        situations: with their vectors, in order of appearance.
        decisions: in order.
    """

    slots: int
    settings: DecideSettings
    dimensions: int
    situations: tuple[StoredSituation, ...]
    decisions: tuple[Decision, ...]

    def events(self) -> Sequence[Event]:
        """Return all that happened, in the order of the operations."""
        return events(self.situations, self.decisions)


class History:
    """The log played again, event by event, and what was certified on the way.

    Attributes:
        book: what is known by now.
        partings: every parting so far, in order; ``parted``: those that still hold, by situation.
        restarts: the outcomes that proved that the world had changed, in order.
    """

    def __init__(self, log: DecisionLog) -> None:
        self.book = Playbook(log.slots, log.settings, log.dimensions)
        self.partings: list[Parting] = []
        self.parted: dict[str, Parting] = {}
        self.restarts: list[Event] = []
        self._certified = 0

    def happen(self, event: Event) -> None:
        """Play what happened next."""
        restarts = self.book.restarts
        left = self.book.left
        members = self.book.members()
        self.book.happen(event)
        if self.book.restarts > restarts:
            self.restarts.append(event)
            self.parted.clear()
        elif self.book.left > left:
            self._note(event, members)

    def _note(self, event: Event, members: Bools) -> None:
        """Note who left by a certificate, and who since the profile was given up."""
        certified = self.book.parted(event, self._certified)
        self._certified += len(certified)
        for parting in certified:
            self._keep(parting)
        sure = {parting.situation for parting in certified}
        for parting in self.book.given_up(members, event):
            if parting.situation not in sure:
                self._keep(parting)

    def _keep(self, parting: Parting) -> None:
        self.partings.append(parting)
        self.parted[parting.situation] = parting


def explained(log: DecisionLog, id: str) -> Explained:
    """Explain a decision by what was known before it, and by what is known now.

    Raises:
        NotFound: for an unknown decision.
    """
    decision = by_id(log.decisions).get(id)
    if decision is None:
        raise NotFound("decision", id)
    history = History(log)
    happened = log.events()
    before = [event for event in happened if event.place < (decision.taken, TAKEN)]
    for event in before:
        history.happen(event)
    here, profile = _known(history.book, decision, decision.slot)
    parting = history.parted.get(decision.situation)
    for event in happened[len(before) :]:
        history.happen(event)
    slot = history.book.slot_of(decision.situation)
    here_now, profile_now = _known(history.book, decision, slot)
    compared = []
    for action in decision.actions:
        known = (_of(action, records) for records in (here, profile, here_now, profile_now))
        compared.append(Compared(action, *known))
    return Explained(
        decision=decision,
        situation=_situation(log, decision),
        slot_now=slot,
        actions=tuple(compared),
        parting=parting,
        parting_now=history.parted.get(decision.situation),
        restarts=tuple(event.at for event in history.restarts),
    )


def _situation(log: DecisionLog, decision: Decision) -> Situation:
    met = by_id(stored.situation for stored in log.situations)
    return met[decision.situation]


def _known(book: Playbook, decision: Decision, slot: int | None) -> tuple[Records, Records]:
    """Return how each action did in the situation of a decision, and in a profile."""
    here = book.records(decision.situation)
    profile = [] if slot is None else book.profile(slot)
    return _by_action(here), _by_action(profile)


def _by_action(records: Sequence[Tried]) -> Records:
    return {record.action: record for record in records}


def _of(action: str, records: Records) -> Outcomes:
    record = records.get(action)
    return Outcomes() if record is None else Outcomes(record.count, record.mean)
