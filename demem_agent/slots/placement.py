"""Place new items in slots by similarity: the prior that holds until decisions say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.slots.records import SlotState, StoredEvidence, Vector, empty_slot, mean_vector
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Summary, compress, excerpts
from demem_agent.types import Evidence, Ingested, number_of

__all__ = ["Arrival", "Placed", "place"]

#: Share of the items that a slot may hold and still be where its session goes on.
FULL = 0.25
#: The same for a new session, which goes on where the one before it ended: what happens at a time
#: is asked together.
NEARLY_FULL = 0.2
#: Cosine that a slot is behind by for every even share of the items that it holds: similarity alone
#: would put most of a memory in one slot.
CROWDING = 0.1


@dataclass(frozen=True, slots=True)
class Arrival:
    """One item on its way in.

    Attributes:
        seq: number of its operation.
        spans: (start, end) of its passages; vectors: one of unit length for each.
    """

    seq: int
    evidence: Evidence
    spans: tuple[tuple[int, int], ...]
    vectors: Vector


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a batch of items went: a row and a result for each, and the slots they changed."""

    evidence: tuple[StoredEvidence, ...] = ()
    slots: tuple[SlotState, ...] = ()
    results: tuple[Ingested, ...] = ()


class _Draft:
    """The slots while a batch is placed, without touching the state.

    These are their sums, prototypes, summaries and counts.
    """

    def __init__(self, state: State, dimensions: int) -> None:
        self.state = state
        self.dimensions = dimensions
        self.numbers = sorted(state.slots)
        self.slots = dict(state.slots)
        self.summaries = {number: slot.summary for number, slot in state.slots.items()}
        self.counts = {number: len(state.members[number]) for number in state.slots}
        self.totals: dict[int, Vector] = {}
        self.norms: dict[int, float] = {}
        self.changed: dict[int, int] = {}
        self.sessions: dict[str | None, int] = {}
        latest = next(reversed(state.slot_of), None)
        self.last = None if latest is None else state.slot_of[latest]

    def choose(self, vector: Vector, session: str | None) -> tuple[int, bool]:
        """Return the slot that an item goes to, and whether it is a new one.

        A session stays together and near in time to the one before it, until its slot holds its
        part of the items. Then, and for items without a session, the nearest slot takes them, the
        less crowded the rather.
        """
        if not self.numbers:
            return self.open()
        begun = self._slot_of_session(session)
        if begun is None and self._wants_another(vector):
            return self.open()
        shares = self._shares()
        stay = self.last if begun is None and session is not None else begun
        most = self._most(NEARLY_FULL if begun is None else FULL)
        if stay is not None and shares[self.numbers.index(stay)] <= most:
            return stay, False
        return self._nearest_with_room(self._nearness(vector), shares), False

    def _nearness(self, vector: Vector) -> Vector:
        """Return the cosine of each slot to an item; most items go on where they are."""
        for number in self.numbers:
            if number not in self.norms:
                self.norms[number] = _norm(self._total(number))
        totals = np.stack([self._total(number) for number in self.numbers])
        norms = np.array([self.norms[number] for number in self.numbers], np.float32)
        nearness: Vector = np.round(totals @ vector / norms, 5)
        return nearness

    def _total(self, number: int) -> Vector:
        """Return the sum of a slot with what was put into it."""
        changed = self.totals.get(number)
        return self.slots[number].total if changed is None else changed

    def _nearest_with_room(self, nearness: Vector, shares: NDArray[np.float64]) -> int:
        """Return the nearest of the slots that have room, the less crowded the rather."""
        has_room = shares <= self._most(NEARLY_FULL)
        reachable = np.where(has_room, nearness, -np.inf)
        crowding = CROWDING * shares * len(self.numbers)
        best = int((reachable - crowding).argmax())
        return self.numbers[best]

    def open(self) -> tuple[int, bool]:
        """Open the slot with the smallest free number."""
        number = next(k for k in range(self.state.settings.slots) if k not in self.numbers)
        self.numbers = sorted([*self.numbers, number])
        self.summaries[number] = Summary()
        self.slots[number] = empty_slot(number)
        self.totals[number] = np.zeros(self.dimensions, np.float32)
        self.counts[number] = 0
        return number, True

    def add(self, number: int, arrival: Arrival, vector: Vector, *, hidden: bool) -> None:
        """Put an item into a slot; one that is hidden is in no summary."""
        self.totals[number] = self._total(number) + vector
        self.norms.pop(number, None)
        if not hidden:
            self.summaries[number] = self._extended(self.summaries[number], arrival.evidence)
        self.changed[number] = arrival.seq
        self.sessions[arrival.evidence.session] = number
        self.counts[number] += 1
        self.last = number

    def filled(self) -> tuple[SlotState, ...]:
        """Return the slots that items were put into."""
        return tuple(self._filled(number) for number in sorted(self.changed))

    def _filled(self, number: int) -> SlotState:
        return replace(
            self.slots[number],
            revision=self.changed[number],
            total=self.totals[number],
            summary=self.summaries[number],
            written=None,
        )

    def _wants_another(self, vector: Vector) -> bool:
        """Whether similarity may open a slot still, and no slot is near."""
        settings = self.state.settings
        few = len(self.numbers) < settings.initial_slots
        return few and float(self._nearness(vector).max()) < settings.near

    def _shares(self) -> NDArray[np.float64]:
        """Return the share of all items that each slot holds."""
        counts = np.array([self.counts[number] for number in self.numbers])
        total = max(counts.sum(), 1)  # all may be forgotten, and their slots still there
        shares: NDArray[np.float64] = counts / total
        return shares

    def _most(self, share: float) -> float:
        """Return the share of the items up to which a slot takes more; an even part at least."""
        return max(share, 1 / len(self.numbers))

    def _slot_of_session(self, session: str | None) -> int | None:
        if session is None:
            return None
        if session in self.sessions:
            return self.sessions[session]
        said = self.state.derived.sessions.get(session)
        return self.state.slot_of[said[-1]] if said else None

    def _extended(self, summary: Summary, evidence: Evidence) -> Summary:
        limit = self.state.settings.slot_limit
        measure = self.state.measure
        order = number_of(evidence.id)
        cut = excerpts(evidence, order, used=0, limit=limit, measure=measure, gate=summary.gate)
        fresh = list(cut)
        if not fresh:
            return summary
        return compress([*summary.kept, *fresh], limit, measure, summary.gate)


def place(
    state: State, arrivals: Sequence[Arrival], hidden: AbstractSet[str] = frozenset()
) -> Placed:
    """Place items one after the other, as if each had been committed before the next came.

    Args:
        hidden: ids of those that are never to be read.
    """
    if not arrivals:
        return Placed()
    dimensions = arrivals[0].vectors.shape[1]
    draft = _Draft(state, dimensions)
    stored = []
    results = []
    for arrival in arrivals:
        item = arrival.evidence
        vector = mean_vector(arrival.vectors)
        number, opened = draft.choose(vector, item.session)
        draft.add(number, arrival, vector, hidden=item.id in hidden)
        stored.append(StoredEvidence(item, number, arrival.spans, arrival.vectors))
        results.append(Ingested(item.id, number, opened))
    return Placed(tuple(stored), draft.filled(), tuple(results))


def _norm(vector: Vector) -> float:
    return float(np.sqrt(vector @ vector)) or 1.0
