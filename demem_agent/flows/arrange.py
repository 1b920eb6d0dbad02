"""What a user does to slots by hand: name one, pin it, merge it into another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.requests import Commit, Flow
from demem_agent.slots.ledger import operation
from demem_agent.slots.records import Certified, Delta, SlotState, in_slot
from demem_agent.slots.state import State

__all__ = ["merge", "merging", "pin", "rename", "require_loose"]


def rename(state: State, number: int, name: str | None) -> Flow[None]:
    """Give a slot a name, or none."""
    yield from _changed(state, replace(_active(state, number), name=name), "rename")


def pin(state: State, number: int, pinned: bool) -> Flow[None]:
    """Have a slot stay as it is divided, or no longer."""
    yield from _changed(state, replace(_active(state, number), pinned=pinned), "pin")


def merge(state: State, number: int, into: int) -> Flow[None]:
    """Move all that is in one slot into another and close it."""
    back, target = _active(state, number), _active(state, into)
    if number == into:
        raise InvalidInput("into", into, "another slot than the one that is merged into it")
    require_loose(back, "slot")
    require_loose(target, "into")
    delta = merging(state, back, target, "merge")
    yield Commit(delta)
    state.apply(delta)


def require_loose(slot: SlotState, field: str) -> None:
    """Refuse to merge or close a slot that is pinned."""
    if slot.pinned:
        raise InvalidInput(field, slot.number, "a slot that is not pinned; unpin it first")


def merging(state: State, back: SlotState, target: SlotState, kind: str) -> Delta:
    """Close a slot by moving its evidence, its contexts and its lineage to another, which is
    rebuilt.

    Splits that the merge takes back are marked as undone: those that had opened the closed slot,
    those whose two contexts it brings together, and those whose slot has nothing left that it was
    split from.
    """
    seq = state.head.seq + 1
    lineage = _lineage(state, back, target, seq)
    items = [*state.members[target.number], *state.members[back.number]]
    merged = state.rebuild(lineage.pop(target.number, target), items, seq)
    inside = [stored for stored in state.contexts.values() if stored.context.slot == back.number]
    rootless = {slot.number for slot in (merged, *lineage.values()) if slot.parent is None}
    return Delta(
        replace(state.head, seq=seq),
        (operation(seq, kind, None, "", {}),),
        moves=tuple((item, target.number) for item in state.members[back.number]),
        slots=(merged, *lineage.values()),
        closed=(back.number,),
        contexts=tuple(in_slot(stored, target.number) for stored in inside),
        certificates=tuple(_taken_back(state, back.number, target.number, rootless)),
    )


def _changed(state: State, slot: SlotState, kind: str) -> Flow[None]:
    seq = state.head.seq + 1
    line = operation(seq, kind, None, "", {})
    delta = Delta(replace(state.head, seq=seq), (line,), slots=(replace(slot, revision=seq),))
    yield Commit(delta)
    state.apply(delta)


def _active(state: State, number: int) -> SlotState:
    if number not in state.slots:
        raise NotFound("slot", str(number))
    return state.slots[number]


def _lineage(state: State, back: SlotState, target: SlotState, seq: int) -> dict[int, SlotState]:
    """Give the slots that hang from elsewhere once a slot is closed, by number; no slot hangs from
    itself.
    """
    heir = back.parent if _descends(state, target, back.number) else target.parent
    changed = (
        {target.number: replace(target, parent=heir, revision=seq)} if heir != target.parent else {}
    )
    for slot in state.slots.values():
        if slot.parent == back.number and slot.number != target.number:
            changed[slot.number] = replace(slot, parent=target.number, revision=seq)
    return changed


def _descends(state: State, slot: SlotState, ancestor: int) -> bool:
    parent = slot.parent
    while parent is not None and parent != ancestor:
        parent = state.slots[parent].parent
    return parent == ancestor


def _taken_back(state: State, closed: int, target: int, rootless: set[int]) -> Iterable[Certified]:
    together = {c.context.id for c in state.contexts.values() if c.context.slot in (closed, target)}
    for certified in state.certificates.values():
        certificate = certified.certificate
        if certificate.decision != "split" or certificate.undone:
            continue
        joined = together.issuperset(certificate.pair)
        if joined or certificate.new_slot == closed or certificate.new_slot in rootless:
            yield replace(certified, certificate=replace(certificate, undone=True))
