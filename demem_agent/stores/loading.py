"""Build a state from the rows of a store; leave damaged rows out when asked to."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from demem_agent.errors import StoreError
from demem_agent.scoring.packed import Packed
from demem_agent.slots.records import SlotState, StoredEvidence, empty_slot, in_slot
from demem_agent.slots.state import State
from demem_agent.stores import Rows
from demem_agent.stores.codec import certified_from_json
from demem_agent.stores.slot_rows import SlotRow, slot_state
from demem_agent.stores.unencoded import is_encoded
from demem_agent.summaries.compress import summary_text
from demem_agent.text.units import Measure
from demem_agent.types import Decision, number_of

__all__ = ["load_state"]


def load_state(
    rows: Rows, measure: Measure, skip_damaged: bool = False, found: list[str] | None = None
) -> State:
    """Return the state that the rows describe.

    With ``skip_damaged`` the readable rest is loaded: a damaged item counts as forgotten, and a
    slot whose row is damaged, or whose summary refers to a damaged item, is rebuilt from its items.
    The store keeps its damaged rows: export such a memory and restore it into a new one.

    Args:
        found: the names of the damaged rows are added to it, each once.

    Raises:
        StoreError: naming the damaged rows, unless they are to be skipped.
    """
    damaged = list(rows.damaged)
    state = _readable(rows, measure, damaged)
    if not damaged:
        return state
    if not skip_damaged:
        named = ", ".join(dict.fromkeys(damaged))
        raise StoreError(f"damaged rows: {named}; open with skip_damaged=True to read the rest")
    if found is not None:
        found += dict.fromkeys(damaged)
    _mend(state)
    return state


def _readable(rows: Rows, measure: Measure, damaged: list[str]) -> State:
    """Return what can be read of the rows; add the names of the others to ``damaged``."""
    state = State(rows.settings, measure, head=rows.head)
    state.begin_index()
    _load_evidence(state, rows, damaged)
    _load_marks(state, rows, damaged)  # what is hidden is in no summary
    _load_uses(state, rows)  # they decide how excerpts rank, so they come before the summaries
    _load_slots(state, rows, damaged)
    _load_contexts(state, rows, damaged)
    _load_certificates(state, rows, damaged)
    _load_successions(state, rows, damaged)
    _load_choices(state, rows, damaged)
    for operation in rows.keyed:
        if operation.key is not None:
            state.keyed[operation.key] = operation
    state.receipts = list(rows.receipts)
    return state


def _load_evidence(state: State, rows: Rows, damaged: list[str]) -> None:
    for stored in _after_packed(state, rows):
        if not is_encoded(stored):
            continue  # it is named among those that are damaged
        name = f"evidence {number_of(stored.evidence.id)}"
        if not state.evidence.keys() >= set(stored.evidence.made_from):
            damaged.append(name)  # notes come after what they were made from
        if stored.vectors.shape[1] != rows.head.dimensions:
            damaged.append(name)
            continue
        if not 0 <= stored.slot < rows.settings.slots:
            damaged.append(name)
        state.put(stored)


def _after_packed(state: State, rows: Rows) -> Sequence[StoredEvidence]:
    """Load what is packed, and what stands between; return the items after that."""
    if not rows.packed:
        return rows.evidence
    lasts = [int(block.columns["number"][-1]) for block in rows.packed]
    after = [stored for stored in rows.evidence if number_of(stored.evidence.id) > lasts[-1]]
    between = rows.evidence[: len(rows.evidence) - len(after)]
    blocks = [*rows.packed, *_packed_between(state, between, lasts)]
    state.load_packed(sorted(blocks, key=_first_number))
    return after


def _packed_between(
    state: State, items: Sequence[StoredEvidence], lasts: Sequence[int]
) -> Iterator[Packed]:
    """Pack items that stand between blocks with these last numbers, each stretch by itself."""

    def stretch(stored: StoredEvidence) -> int:
        return bisect(lasts, number_of(stored.evidence.id))

    for _, some in groupby(items, stretch):
        alone = State(state.settings, state.measure, head=state.head)
        alone.begin_index()
        for stored in some:
            fits = stored.vectors.shape[1] == state.head.dimensions
            if not fits or not 0 <= stored.slot < state.settings.slots:
                raise StoreError(f"damaged rows: evidence {number_of(stored.evidence.id)}")
            alone.put(stored)
        yield alone.packed(list(alone.evidence))


def _first_number(block: Packed) -> int:
    return int(block.columns["number"][0])


def _load_marks(state: State, rows: Rows, damaged: list[str]) -> None:
    for mark in rows.marks:
        if mark.evidence_id in state.evidence:
            state.put_mark(mark)
        else:
            damaged.append(f"mark {number_of(mark.evidence_id)}")


def _load_uses(state: State, rows: Rows) -> None:
    state.derived.used = state.uses_in(stored.context for stored in rows.contexts)


def _load_slots(state: State, rows: Rows, damaged: list[str]) -> None:
    active = state.derived.open_slots(row.number for row in rows.slots)
    for row in rows.slots:
        try:
            state.slots[row.number] = _slot(state, row, later=bool(rows.packed))
        except (KeyError, ValueError):
            damaged.append(f"slot {row.number}")
    damaged.extend(f"slot {number}" for number in _without_row_or_parent(state, active))


def _without_row_or_parent(state: State, active: Iterable[int]) -> Iterator[int]:
    for number in active:
        if number not in state.slots:
            yield number
    for slot in state.slots.values():
        if slot.parent is not None and slot.parent not in state.slots:
            yield slot.number


def _slot(state: State, row: SlotRow, *, later: bool) -> SlotState:
    """Return the slot of a row.

    Args:
        later: look whether it fits its items when its excerpts are first asked for: that takes
            longer than to load items that are packed.

    Raises:
        KeyError, ValueError: if the row does not fit the evidence.
    """
    if not 0 <= row.number < state.settings.slots:
        raise ValueError("a number that cannot be")
    if len(row.total) != state.head.dimensions:
        raise ValueError("a prototype that cannot be")
    slot = slot_state(state, row, later=later)
    if not later:
        _require_of_its_items(state, slot)
    return slot


def _require_of_its_items(state: State, slot: SlotState) -> None:
    """Raise a ValueError unless summaries and prototype follow from the slot's items."""
    if summary_text(slot.summary.kept) != slot.summary.text:
        raise ValueError("a summary that is not of its items")
    if not np.allclose(state.sum_of(slot.number), slot.total, atol=1e-3):
        raise ValueError("a prototype that is not of its items")
    if slot.written is None:
        return
    members = state.members[slot.number].keys()
    if not members >= set(slot.written.cover):
        raise ValueError("a written summary of other items")


def _load_contexts(state: State, rows: Rows, damaged: list[str]) -> None:
    for stored in rows.contexts:
        context = stored.context
        if context.slot is not None and len(stored.vector) != rows.head.dimensions:
            damaged.append(f"context {number_of(context.id)}")
        else:
            state.put_context(state.sharing(stored))


def _load_certificates(state: State, rows: Rows, damaged: list[str]) -> None:
    for plain in rows.certificates:
        try:
            certified = certified_from_json(plain, state)
        except (KeyError, TypeError, ValueError, IndexError):
            damaged.append(f"certificate {number_of(plain['certificate']['id'])}")
        else:
            state.certificates[certified.certificate.id] = certified


def _load_successions(state: State, rows: Rows, damaged: list[str]) -> None:
    for succession in rows.successions:
        if succession.old[0] in state.evidence and succession.new[0] in state.evidence:
            state.put_succession(succession)
        else:
            damaged.append(f"succession {number_of(succession.id)}")


def _load_choices(state: State, rows: Rows, damaged: list[str]) -> None:
    """Load situations and what was chosen in them; a choice in a damaged situation is damaged."""
    for stored in rows.situations:
        if len(stored.vector) != rows.head.dimensions:
            damaged.append(f"situation {number_of(stored.situation.id)}")
        else:
            state.situations[stored.situation.id] = stored
    for decision in rows.choices:
        if _could_be_chosen(state, decision):
            state.choices[decision.id] = decision
        else:
            damaged.append(f"choice {number_of(decision.id)}")
    state.play_anew()


def _could_be_chosen(state: State, decision: Decision) -> bool:
    """Whether a choice came after its situation, its outcome after it, and it follows a profile."""
    met = state.situations.get(decision.situation)
    if met is None or decision.taken < met.situation.seen:
        return False
    if decision.judged is not None and decision.judged <= decision.taken:
        return False
    return decision.slot is None or 0 <= decision.slot < state.settings.slots


def _mend(state: State) -> None:
    """Make what could be read whole again: every invariant holds for it."""
    valid = range(state.settings.slots)
    home = min(state.slots.keys() & set(valid), default=0)
    state.rehouse([number for number in state.members if number not in valid], home)
    state.head = replace(state.head, forgotten=state.head.evidence - len(state.evidence))
    for number, items in state.members.items():
        state.slots[number] = state.rebuild(_root(state, number), items, state.head.seq)
    _move_homeless_contexts(state)
    _drop_lost_verdicts(state)
    _drop_lost_sources(state)


def _move_homeless_contexts(state: State) -> None:
    home = min(state.slots, default=None)
    for stored in list(state.contexts.values()):
        slot = stored.context.slot
        if slot is not None and slot not in state.slots:
            state.put_context(in_slot(stored, home))


def _drop_lost_verdicts(state: State) -> None:
    for stored in list(state.contexts.values()):
        context = stored.context
        live = tuple(verdict for verdict in context.verdicts if verdict[0] in state.evidence)
        if live != context.verdicts:
            state.put_context(replace(stored, context=replace(context, verdicts=live)))


def _drop_lost_sources(state: State) -> None:
    for id, item in list(state.evidence.items()):
        live = tuple(source for source in item.made_from if source in state.evidence)
        if live != item.made_from:
            state.evidence[id] = replace(item, made_from=live)


def _root(state: State, number: int) -> SlotState:
    """Return a slot as far as it was read, without a parent that is not there."""
    slot = state.slots.get(number, empty_slot(number))
    if slot.parent in state.members:
        return slot
    return replace(slot, parent=None)
