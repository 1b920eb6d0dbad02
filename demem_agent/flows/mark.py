"""What a user settles of single items: that one stays, or is never read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from demem_agent.errors import NotFound
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Delta, SlotState
from demem_agent.slots.state import State
from demem_agent.types import Mark

__all__ = ["carried", "hide", "keep", "rebuilt_for"]


def keep(state: State, item: str, kept: bool) -> Flow[None]:
    """Have an item stay whatever else is forgotten, or no longer.

    Raises:
        NotFound: for what is the id of no live item.
    """
    mark = _mark_of(state, item)
    if mark.kept != kept:
        yield from _marked(state, "keep", (replace(mark, kept=kept),))


def hide(state: State, item: str, hidden: bool) -> Flow[None]:
    """Have an item never be read, or be read again, and so the notes that were made from it.

    The summaries of their slots are made anew.

    Raises:
        NotFound: for what is the id of no live item.
    """
    mark = _mark_of(state, item)
    if mark.hidden == hidden:
        return
    marks = _hiding(state, mark, hidden)
    yield from _marked(state, "hide", marks, rebuilt_for(state, marks))


def carried(state: State, origin: str, target: str) -> list[Mark]:
    """Return the marks by which a live item has also those of another, with its notes.

    What was settled of a fact is settled of the version of it that holds.
    """
    told = state.marks.get(origin, Mark(origin))
    had = _mark_of(state, target)
    mark = replace(had, kept=had.kept or told.kept)
    if told.hidden and not had.hidden:
        return _hiding(state, mark, hidden=True)
    return [] if mark == had else [mark]


def _hiding(state: State, mark: Mark, hidden: bool) -> list[Mark]:
    """Return the marks of an item and its notes once it is hidden, or no longer."""
    item = mark.evidence_id
    marks = [replace(mark, hidden=hidden)]
    for note in state.derived.notes.get(item, ()):
        others = state.hidden.intersection(state.evidence[note].made_from) - {item}
        marks.append(replace(_mark_of(state, note), hidden=hidden or bool(others)))
    return marks


def _mark_of(state: State, item: str) -> Mark:
    if item not in state.evidence:
        raise NotFound("evidence", item)
    return state.marks.get(item, Mark(item))


def rebuilt_for(state: State, marks: Sequence[Mark]) -> tuple[SlotState, ...]:
    """Return the slots of items once these are hidden, or no longer."""
    shown = {mark.evidence_id for mark in marks if not mark.hidden}
    hidden = (state.hidden - shown) | {mark.evidence_id for mark in marks if mark.hidden}
    numbers = sorted({state.slot_of[mark.evidence_id] for mark in marks})
    revision = state.head.seq + 1
    rebuilt = []
    for number in numbers:
        slot = state.slots[number]
        rebuilt.append(state.rebuild(slot, state.members[number], revision, hidden=hidden))
    return tuple(rebuilt)


def _marked(
    state: State, kind: str, marks: Sequence[Mark], slots: tuple[SlotState, ...] = ()
) -> Flow[None]:
    seq = state.head.seq + 1
    head = replace(state.head, seq=seq)
    delta = Delta(head, (unkeyed(seq, kind),), slots=slots, marks=tuple(marks))
    yield from committed(state, delta)
