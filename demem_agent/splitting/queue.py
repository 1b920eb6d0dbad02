"""What tests look at and leave behind: the state as the feedback will make it, what is done, and
what has to wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from demem_agent.slots.experience import testable
from demem_agent.slots.records import SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.division import suppressed
from demem_agent.types import Draft, number_of

__all__ = ["Pair", "Pending", "Tests", "ids_of", "queued", "reopened", "revision_of", "waiting"]

Pair = tuple[StoredContext, StoredContext]


@dataclass(slots=True)
class Tests:
    """What the tests of one feedback have cost, what they found out, and what they left undone.

    Attributes:
        answers: by context and content; what was needed, whether or not it had been answered
            before.
        done, left: pairs of context ids that were tested, and that were to be tested when the
            budget had run out.
        routes: where the query of a context goes, by its id and the operation that memory was at.
        reviewed: pairs of suppressed witnesses that were tested anew, with the revision of their
            slot.
    """

    answers: dict[tuple[str, str], tuple[Draft, str]] = field(default_factory=dict)
    done: list[tuple[str, str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    routes: dict[tuple[str, int], int | None] = field(default_factory=dict)
    reviewed: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pending:
    """The state as it will be once the feedback is recorded, as far as the tests look at it."""

    seq: int
    context: StoredContext
    used: dict[str, int]
    slots: dict[int, SlotState]

    @classmethod
    def of(cls, state: State, context: StoredContext) -> Pending:
        used = dict(state.derived.used)
        state.note_use(context.context, used)
        slots = dict(state.slots)
        for item in context.context.kept:
            if used.get(item, 0) != state.derived.used.get(item, 0):
                number = state.slot_of[item]
                slots[number] = _kept_first(state, slots[number], item, used)
        return cls(state.head.seq, context, used, slots)

    def changed(self, state: State) -> tuple[SlotState, ...]:
        return tuple(
            slot
            for number, slot in sorted(self.slots.items())
            if slot is not state.slots.get(number)
        )


def _kept_first(state: State, slot: SlotState, item: str, used: dict[str, int]) -> SlotState:
    summary = state.fold(slot.summary, state.excerpts_of(item, used))
    if summary == slot.summary:
        return slot
    return replace(slot, summary=summary, written=None, revision=state.head.seq + 1)


def queued(state: State, pending: Pending, tests: Tests) -> list[StoredContext]:
    """Give the contexts whose queue of untested partners has changed, the one at hand among them if
    so.

    What was left joins the queue of the second of its pair; what was tested, or can be tested no
    more, leaves it.
    """
    if state.derived.experience is None:
        return []
    met = {frozenset(pair) for pair in tests.done}
    left = [
        (first, second) for first, second in tests.left if frozenset((first, second)) not in met
    ]
    touched = dict.fromkeys(
        [
            pending.context.context.id,
            *state.derived.past().waiting(),
            *(second for _, second in left),
        ]
    )
    changed = []
    for id in touched:
        stored = _current(state, pending, id)
        fresh = [
            first
            for first, second in left
            if second == id and not _queued_at(state, pending, first, id)
        ]
        queue = tuple(
            other
            for other in dict.fromkeys([*stored.context.untested, *fresh])
            if other in state.contexts
            and frozenset((other, id)) not in met
            and _can_meet(_current(state, pending, other), stored)
        )
        if queue != stored.context.untested:
            changed.append(replace(stored, context=replace(stored.context, untested=queue)))
    return changed


def _queued_at(state: State, pending: Pending, first: str, second: str) -> bool:
    """Tell whether a pair waits already, with its other context."""
    return second in _current(state, pending, first).context.untested


def waiting(state: State, pending: Pending, shared: int, taken: Sequence[Pair]) -> list[Pair]:
    """Give the pairs of a slot that an earlier feedback had no budget for, the oldest first."""
    known = {frozenset((a.context.id, b.context.id)) for a, b in taken}
    met = [
        (_current(state, pending, other), stored)
        for stored in (
            _current(state, pending, id)
            for id in sorted(state.derived.past().waiting(), key=number_of)
        )
        for other in stored.context.untested
        if other in state.contexts and frozenset((other, stored.context.id)) not in known
    ]
    return [(a, b) for a, b in met if b.context.slot == shared and _can_meet(a, b)]


def reopened(state: State, pending: Pending) -> list[Pair]:
    """Give the first suppressed witness whose slot can be split now and has changed since it was
    looked at.
    """
    if state.free_slot() is None:
        return []
    for certificate in suppressed(state):
        pair = (
            _current(state, pending, certificate.pair[0]),
            _current(state, pending, certificate.pair[1]),
        )
        shared = pair[1].context.slot
        if shared is None or pending.slots[shared].pinned or not _can_meet(*pair):
            continue
        if state.cache.reviewed.get(ids_of(pair)) != revision_of(pending, pair):
            return [pair]
    return []


def ids_of(pair: Pair) -> tuple[str, str]:
    return pair[0].context.id, pair[1].context.id


def revision_of(pending: Pending, pair: Pair) -> int:
    """Give the operation that last changed the slot of a pair."""
    shared = pair[1].context.slot
    return pending.slots[shared].revision if shared is not None else 0


def _current(state: State, pending: Pending, id: str) -> StoredContext:
    return pending.context if id == pending.context.context.id else state.contexts[id]


def _can_meet(first: StoredContext, second: StoredContext) -> bool:
    """Tell whether two contexts can be tested against each other: in one slot, credible, with the
    same raters.
    """
    a, b = first.context, second.context
    return a.slot == b.slot and a.credible and b.credible and testable(a) == testable(b) is not None
