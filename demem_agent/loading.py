"""Build a state from the rows of a store; leave damaged rows out when asked to."""

from __future__ import annotations

from dataclasses import replace

from demem_agent.codec import SlotRow, certified_from, slot_state
from demem_agent.errors import StoreError
from demem_agent.records import SlotState
from demem_agent.state import State
from demem_agent.stores import Rows
from demem_agent.units import Measure

__all__ = ["load_state"]


def load_state(rows: Rows, measure: Measure, skip_damaged: bool = False) -> State:
    """Give the state that the rows describe.

    With ``skip_damaged`` the readable rest is loaded: a damaged item counts as forgotten, and a slot whose row
    is damaged, or whose summary refers to a damaged item, is rebuilt from its items.

    Raises:
        StoreError: naming the damaged rows, unless they are to be skipped.
    """
    damaged = list(rows.damaged)
    state = State(rows.settings, measure, head=rows.head)
    state.begin_index()
    for stored in rows.evidence:
        if rows.head.dimensions == stored.vectors.shape[1]:
            state.put(stored)
        else:
            damaged.append(f"evidence {stored.evidence.id[1:]}")
    for context in rows.contexts:
        state.put_context(context)
    state.used = {item: use for item, use in state.used.items() if item in state.evidence}
    _load_slots(state, rows, damaged)
    for plain in rows.certificates:
        try:
            certified = certified_from(plain, state)
            state.certificates[certified.certificate.id] = certified
        except (KeyError, TypeError, ValueError, IndexError):
            damaged.append(f"certificate {plain.get('certificate', {}).get('id', '?')}")
    state.keyed = {operation.key: operation for operation in rows.keyed if operation.key is not None}
    if damaged and not skip_damaged:
        raise StoreError(f"damaged rows: {', '.join(damaged)}; open with skip_damaged=True to read the rest")
    return _mended(state) if damaged else state


def _load_slots(state: State, rows: Rows, damaged: list[str]) -> None:
    for row in rows.slots:
        state.members.setdefault(row.number, {})
        try:
            state.slots[row.number] = _slot(state, row)
        except (KeyError, ValueError):
            damaged.append(f"slot {row.number}")


def _slot(state: State, row: SlotRow) -> SlotState:
    if len(row.total) != state.head.dimensions:
        raise ValueError("a prototype of another dimension")
    return slot_state(state, row)


def _mended(state: State) -> State:
    """Make what could be read whole again: every invariant holds for it."""
    state.head = replace(state.head, forgotten=state.head.evidence - len(state.evidence))
    for number, items in state.members.items():
        parent = state.slots[number].parent if number in state.slots else None
        state.slots[number] = state.rebuild(number, parent, items, state.head.seq)
    for id, stored in state.contexts.items():
        if stored.context.slot not in state.slots:
            state.contexts[id] = replace(stored, context=replace(stored.context, slot=min(state.slots, default=None)))
    return state
