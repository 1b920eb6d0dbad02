"""What a user does to slots by hand: name one, pin it, merge it into another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Certified, Delta, SlotState, StoredContext, in_slot
from demem_agent.slots.state import State

__all__ = [
    "merge",
    "merging",
    "moved_contexts",
    "moves_of",
    "pin",
    "rename",
    "require_loose",
]


def rename(state: State, number: int, name: str | None) -> Flow[None]:
    """Name a slot, or take its name away.

    Raises:
        NotFound: for a slot that is not active.
    """
    slot = _active(state, number)
    yield from _changed(state, replace(slot, name=name), "rename")


def pin(state: State, number: int, pinned: bool) -> Flow[None]:
    """Have a slot stay as it is divided, or no longer.

    Raises:
        NotFound: for a slot that is not active.
    """
    slot = _active(state, number)
    yield from _changed(state, replace(slot, pinned=pinned), "pin")


def merge(state: State, number: int, into: int) -> Flow[None]:
    """Move all that is in one slot into another and close it.

    Raises:
        NotFound: for a slot that is not active.
        InvalidInput: if one of them is pinned, or both are the same.
    """
    back = _active(state, number)
    target = _active(state, into)
    if number == into:
        raise InvalidInput("into", into, "another slot than the one that is merged into it")
    require_loose(back, "slot")
    require_loose(target, "into")
    yield from committed(state, merging(state, back, target, "merge"))


def require_loose(slot: SlotState, field: str) -> None:
    """Refuse to merge or close a slot that is pinned."""
    if slot.pinned:
        raise InvalidInput(field, slot.number, "a slot that is not pinned; unpin it first")


def merging(state: State, back: SlotState, target: SlotState, kind: str) -> Delta:
    """Return the delta that closes a slot and moves all it has to another, which is rebuilt.

    What it has is its evidence, its contexts and its lineage. Splits that the merge takes back are
    marked as undone: those that had opened the closed slot, those whose two contexts it brings
    together, and those whose slot has nothing left that it was split from.
    """
    seq = state.head.seq + 1
    lineage = _lineage(state, back, target, seq)
    heir = lineage.pop(target.number, target)
    items = [*state.members[target.number], *state.members[back.number]]
    slots = (state.rebuild(heir, items, seq), *lineage.values())
    rootless = {slot.number for slot in slots if slot.parent is None}
    taken_back = _taken_back(state, back.number, target.number, rootless)
    return Delta(
        replace(state.head, seq=seq),
        (unkeyed(seq, kind),),
        moves=moves_of(state, back.number, target.number),
        slots=slots,
        closed=(back.number,),
        contexts=moved_contexts(state, back.number, target.number),
        certificates=tuple(taken_back),
    )


def moves_of(state: State, closed: int, target: int) -> tuple[tuple[str, int], ...]:
    """Return the moves of all evidence of a slot that is closed to another."""
    return tuple((item, target) for item in state.members[closed])


def moved_contexts(state: State, closed: int, target: int) -> tuple[StoredContext, ...]:
    """Return the contexts of a slot that is closed as members of another."""
    return tuple(in_slot(stored, target) for stored in state.contexts_in(closed))


def _changed(state: State, slot: SlotState, kind: str) -> Flow[None]:
    seq = state.head.seq + 1
    delta = Delta(
        replace(state.head, seq=seq),
        (unkeyed(seq, kind),),
        slots=(replace(slot, revision=seq),),
    )
    yield from committed(state, delta)


def _active(state: State, number: int) -> SlotState:
    if number not in state.slots:
        raise NotFound("slot", str(number))
    return state.slots[number]


def _lineage(state: State, back: SlotState, target: SlotState, seq: int) -> dict[int, SlotState]:
    """Return the slots, by number, that hang from another one once a slot is closed.

    No slot hangs from itself.
    """
    changed: dict[int, SlotState] = {}
    heir = back.parent if _descends(state, target, back.number) else target.parent
    if heir != target.parent:
        changed[target.number] = replace(target, parent=heir, revision=seq)
    for slot in state.slots.values():
        if slot.parent == back.number and slot.number != target.number:
            changed[slot.number] = replace(slot, parent=target.number, revision=seq)
    return changed


def _descends(state: State, slot: SlotState, ancestor: int) -> bool:
    parent = slot.parent
    while parent is not None and parent != ancestor:
        parent = state.slots[parent].parent
    return parent == ancestor


def _taken_back(state: State, closed: int, target: int, rootless: set[int]) -> Iterator[Certified]:
    together = {stored.context.id for stored in state.contexts_in(closed, target)}
    for certified in state.certificates.values():
        certificate = certified.certificate
        if certificate.decision != "split" or certificate.undone:
            continue
        joined = together.issuperset(certificate.pair)
        if joined or certificate.new_slot == closed or certificate.new_slot in rootless:
            undone = replace(certificate, undone=True)
            yield replace(certified, certificate=undone)
