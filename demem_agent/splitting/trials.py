"""What the tests of one feedback look at, and what they leave behind."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from demem_agent.errors import CollaboratorError
from demem_agent.later import dataclass
from demem_agent.requests import Flow, Request
from demem_agent.scoring import Ranking
from demem_agent.slots.records import SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.types import Draft

__all__ = ["Overtaken", "Pair", "Preview", "Trials", "ids_of", "reply_to", "slot_of"]

Pair = tuple[StoredContext, StoredContext]


class Overtaken(Exception):
    """Another operation changed the memory during a test, so that the test must be begun anew.

    It never leaves the flow of a feedback.
    """


@dataclass(slots=True)
class Trials:
    """What the tests of one feedback have cost, what they found out, and what they left undone.

    Attributes:
        answers: draft and reading by (context id, text of a content); what was needed, whether or
            not it had been answered before.
        done, left: pairs of context ids that were tested, and that were to be tested when the
            budget had run out.
        rankings: of the passages for the query of a context, by the same.
        routes: where the query of a context goes, by its id and the operation that memory was at.
        reviewed: pairs of suppressed witnesses that were tested anew, with the revision of their
            slot.
    """

    answers: dict[tuple[str, str], tuple[Draft, str]] = field(default_factory=dict)
    done: list[tuple[str, str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    rankings: dict[tuple[str, int], Ranking] = field(default_factory=dict)
    routes: dict[tuple[str, int], int | None] = field(default_factory=dict)
    reviewed: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preview:
    """The memory as it will be once a feedback is recorded, as far as tests look at it.

    Attributes:
        seq: the operation that memory was at when this was made.
        context: the one that the feedback is about, with what is known of it then.
        used: as ``State.derived.used`` will be.
        slots: every active slot by its number.
    """

    seq: int
    context: StoredContext
    used: dict[str, int]
    slots: dict[int, SlotState]

    @classmethod
    def of(cls, state: State, context: StoredContext) -> Preview:
        """Return the memory with one context in the place of what it was."""
        before = state.derived.used
        used = dict(before)
        state.note_use(context.context, used)
        slots = dict(state.slots)
        for item in context.context.kept:
            if used.get(item, 0) != before.get(item, 0):
                number = state.slot_of[item]
                slots[number] = _kept_first(state, slots[number], item, used)
        return cls(state.head.seq, context, used, slots)

    def changed_slots(self, state: State) -> tuple[SlotState, ...]:
        """Return the slots that are not as they were, in order of their numbers."""
        changed = []
        for number, slot in sorted(self.slots.items()):
            if slot is not state.slots.get(number):
                changed.append(slot)
        return tuple(changed)

    @property
    def id(self) -> str:
        """The id of the context at hand."""
        return self.context.context.id

    def context_of(self, state: State, id: str) -> StoredContext:
        """Return a context by its id; the one at hand as it will be."""
        return self.context if id == self.id else state.contexts[id]

    def revision_of(self, pair: Pair) -> int:
        """Return the operation that last changed the slot of a pair; 0 without a slot."""
        shared = slot_of(pair)
        return 0 if shared is None else self.slots[shared].revision

    def require_current(self, state: State) -> None:
        """Raise Overtaken if the memory has moved on since this was made."""
        if state.head.seq != self.seq:
            raise Overtaken


def reply_to(request: Request, state: State, preview: Preview) -> Flow[Any]:
    """Have a request carried out, and return the reply.

    Raises:
        Overtaken: if the memory moved on meanwhile, whether or not the request failed.
    """
    try:
        reply = yield request
    except CollaboratorError:
        preview.require_current(state)
        raise
    preview.require_current(state)
    return reply


def ids_of(pair: Pair) -> tuple[str, str]:
    """Return the ids of both contexts."""
    return pair[0].context.id, pair[1].context.id


def slot_of(pair: Pair) -> int | None:
    """Return the slot that both contexts are in."""
    return pair[1].context.slot


def _kept_first(state: State, slot: SlotState, item: str, used: dict[str, int]) -> SlotState:
    fresh = state.excerpts_of(item, used)
    summary = state.fold(slot.summary, fresh)
    if summary == slot.summary:
        return slot
    return replace(slot, summary=summary, written=None, revision=state.head.seq + 1)
