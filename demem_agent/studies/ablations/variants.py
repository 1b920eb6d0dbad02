"""Memories of which one part works otherwise, to tell what that part is worth.

Paper: appendix "Ablation Variants". Nothing is patched: a variant is a memory with another trigger
of splits, or with a state that routes or summarises by description alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from demem_agent.feedback.signals import Told
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.requests import Flow
from demem_agent.scoring import FEATURES
from demem_agent.slots.experience import Experience, known_reference
from demem_agent.slots.records import Delta, SlotState, StoredContext, Vector, direction
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Verdict, contents, judge
from demem_agent.splitting.division import Division, divide
from demem_agent.splitting.queue import Pending, Tests
from demem_agent.splitting.trigger import Conflict, Trigger, certified
from demem_agent.stores import Rows
from demem_agent.summaries.compress import Summary, compress
from demem_agent.types import Answer, Context, FeedbackReport, number_of

__all__ = [
    "DescribedState",
    "FeatureState",
    "Variant",
    "always",
    "farther_than",
    "now_and_then",
    "uncertified",
]

#: Picks, among the contexts of a slot with a known reference (in order of their ids, never none),
#: the one that another context of the slot is to be parted from; None for no split.
Choice = Callable[[StoredContext, list[StoredContext]], StoredContext | None]

#: How far apart prototypes are drawn, so that nothing else tells in the score of a slot.
_FAR = np.float32(1e6)
_UNTESTED = "no certificate: the pair was divided without a test, for an experiment"


class Variant(SlotMemory):
    """A memory in RAM with another trigger of splits, or another kind of state; else as any other,
    and as checked.

    Its splits leave a ``SplitCertificate`` as all do; of one that was made without a test the
    radius is 0, the threshold -1, and ``conditions`` says so.
    """

    def __init__(
        self,
        *,
        trigger: Trigger = certified,
        state: type[State] = State,
        **options: Unpack[Options],
    ) -> None:
        self._trigger = trigger
        self._kind = state
        super().__init__(**options)

    def _state_of(self, rows: Rows) -> State:
        plain = super()._state_of(rows)
        return self._kind(**{field.name: getattr(plain, field.name) for field in fields(State)})

    def _learning(
        self, given: Answer | str, told: Told, key: str | None, trigger: Trigger | None = None
    ) -> Callable[[], Flow[FeedbackReport]]:
        return super()._learning(given, told, key, trigger or self._trigger)


def always() -> Trigger:
    """Split at every feedback until K slots are active, by the least similar pair.

    The paper's "aggressive splitting".
    """
    return uncertified(_least_similar)


def farther_than(cosine: float) -> Trigger:
    """Split when the cosine of two contexts of a slot is below a fixed value.

    The paper's "heuristic splitting".
    """

    def choose(context: StoredContext, others: list[StoredContext]) -> StoredContext | None:
        other = _least_similar(context, others)
        return other if _cosine(context, other) < cosine else None

    return uncertified(choose)


def now_and_then(rate: float, seed: int) -> Trigger:
    """Split by a random pair, at some of the feedbacks that could split.

    The paper's "random splitting".

    Args:
        rate: the share of these feedbacks, in [0, 1].
    """
    rng = random.Random(seed)

    def choose(_: StoredContext, others: list[StoredContext]) -> StoredContext | None:
        if rng.random() >= rate:
            return None
        return rng.choice(others)

    return uncertified(choose)


def uncertified(choose: Choice) -> Trigger:
    """Make a trigger that divides a slot by a pair that is chosen, and not tested."""

    def trigger(state: State, pending: Pending, tests: Tests) -> Flow[Conflict | None]:
        yield from ()
        return _divided(state, pending, choose)

    return trigger


def _divided(state: State, pending: Pending, choose: Choice) -> Conflict | None:
    context = pending.context
    shared = context.context.slot
    new = state.free_slot()
    if shared is None or new is None or not state.members[shared]:
        return None
    others = _partners(state, context)
    if not others:
        return None
    other = choose(context, others)
    if other is None:
        return None
    pair = (other, context)
    division = divide(state, shared, pair, pending.used, new=new, seq=state.head.seq + 1)
    if not division.moved or len(division.moved) == len(state.members[shared]):
        return None  # one side would be empty: nothing is divided
    return Conflict(
        pair=pair,
        verdict=_unjudged(state, pending, shared, division),
        division=division,
        threshold=-1.0,
        saturated=False,
        conditions=_UNTESTED,
        regime="none",
    )


def _partners(state: State, context: StoredContext) -> list[StoredContext]:
    """Return the other contexts of the slot that have a known reference."""
    mine = context.context
    found = []
    for stored in state.contexts.values():
        theirs = stored.context
        beside = theirs.slot == mine.slot and theirs.id != mine.id
        if beside and known_reference(theirs) is not None:
            found.append(stored)
    return found


def _unjudged(state: State, pending: Pending, shared: int, division: Division) -> Verdict:
    """Return the verdict on a division of which nothing is known."""
    tested = contents(pending.slots, shared, [], division)
    unknown = np.full((2, len(tested), 2), np.nan)
    return judge(tested, [("", "")] * len(tested), unknown, state.settings.split)


def _least_similar(context: StoredContext, others: list[StoredContext]) -> StoredContext:
    return min(others, key=lambda other: _cosine(context, other))


def _cosine(first: StoredContext, second: StoredContext) -> float:
    return round(float(first.vector @ second.vector), 4)


class _Unlearned(Experience):
    """Knows past contexts, and tells routing nothing of them."""

    def nearest(self, vector: Vector) -> dict[int, float]:
        return {}

    def alike(self, vector: Vector, least: float, most: int) -> list[tuple[str, float]]:
        return []

    def lessons(self) -> NDArray[np.float64]:
        return np.zeros((0, len(FEATURES)))


class FeatureState(State):
    """A state whose router knows the prototypes of the slots alone: no item scores, no past
    contexts.
    """

    __slots__ = ()

    def prototypes(self) -> dict[int, Vector]:
        """Give prototypes that are so long that what else a slot scores cannot change the order."""
        return {number: _FAR * direction(slot.total) for number, slot in sorted(self.slots.items())}

    def new_experience(self) -> Experience:
        return _Unlearned(self.head.dimensions)


class DescribedState(State):
    """A state whose summaries describe: they keep the items most central to the slot, whatever was
    ever used.

    An excerpt ranks by the cosine of its item to the slot's prototype, the newest first where these
    are equal.
    """

    __slots__ = ()

    def apply(self, delta: Delta) -> None:
        super().apply(delta)
        for slot in delta.slots:
            self.slots[slot.number] = self._described(slot, self.members[slot.number])

    def note_use(self, context: Context, used: dict[str, int]) -> None:
        """Note nothing: what rewarded answers rested on does not count."""

    def rebuild(
        self,
        slot: SlotState,
        items: Iterable[str],
        revision: int,
        used: dict[str, int] | None = None,
    ) -> SlotState:
        ordered = sorted(items, key=number_of)
        return self._described(super().rebuild(slot, ordered, revision, used), ordered)

    def _described(self, slot: SlotState, items: Iterable[str]) -> SlotState:
        prototype = direction(slot.total)
        central = (
            replace(excerpt, weight=weight)
            for item in items
            for weight in (round(float(direction(self.item_vector(item)) @ prototype), 4),)
            for excerpt in self.excerpts_of(item)
        )
        summary: Summary = compress(central, self.settings.slot_limit, self.measure)
        return replace(slot, summary=summary)
