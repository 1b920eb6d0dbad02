"""What a user settles of single items: that one stays, or is never read."""

from __future__ import annotations

from dataclasses import replace

from demem_agent.errors import NotFound
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Delta, SlotState
from demem_agent.slots.state import State
from demem_agent.types import Mark

__all__ = ["hide", "keep"]


def keep(state: State, item: str, kept: bool) -> Flow[None]:
    """Have an item stay whatever else is forgotten, or no longer.

    Raises:
        NotFound: for what is the id of no live item.
    """
    mark = _mark_of(state, item)
    if mark.kept != kept:
        yield from _marked(state, replace(mark, kept=kept), "keep")


def hide(state: State, item: str, hidden: bool) -> Flow[None]:
    """Have an item never be read, or be read again; the summary of its slot is made anew.

    Raises:
        NotFound: for what is the id of no live item.
    """
    mark = _mark_of(state, item)
    if mark.hidden != hidden:
        yield from _marked(state, replace(mark, hidden=hidden), "hide", _without(state, mark))


def _mark_of(state: State, item: str) -> Mark:
    if item not in state.evidence:
        raise NotFound("evidence", item)
    return state.marks.get(item, Mark(item))


def _without(state: State, mark: Mark) -> SlotState:
    """Return the slot of an item once what is hidden of it is the other way round."""
    number = state.slot_of[mark.evidence_id]
    return state.rebuild(
        state.slots[number],
        state.members[number],
        state.head.seq + 1,
        hidden=state.hidden ^ {mark.evidence_id},
    )


def _marked(state: State, mark: Mark, kind: str, *slots: SlotState) -> Flow[None]:
    seq = state.head.seq + 1
    head = replace(state.head, seq=seq)
    yield from committed(state, Delta(head, (unkeyed(seq, kind),), slots=slots, marks=(mark,)))
