"""Undo a split: exactly, if nothing came after it; else by merging its slot into the one it came from."""

from __future__ import annotations

from dataclasses import replace

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.ledger import operation
from demem_agent.records import Certified, Delta, SlotState, in_slot
from demem_agent.requests import Commit, Flow
from demem_agent.state import State

__all__ = ["undo"]


def undo(state: State, certificate_id: str) -> Flow[None]:
    """Take a split back: exactly, if nothing came after it; else by merging its slot into the one it came from."""
    certified = state.certificates.get(certificate_id)
    if certified is None:
        raise NotFound("certificate", certificate_id)
    certificate, before = certified.certificate, certified.before
    if certificate.undone or before is None or certificate.new_slot is None:
        raise InvalidInput("certificate_id", certificate_id, "the id of a split that was carried out and not undone")
    back = certificate.new_slot
    delta = (
        _restored(state, certified, before, back)
        if state.head.seq == certified.seq
        else _merged(state, certified, back)
    )
    yield Commit(delta)
    state.apply(delta)


def _restored(state: State, certified: Certified, before: SlotState, back: int) -> Delta:
    """Put everything back as it was, since nothing has come after the split."""
    return _undoing(state, certified, back, before.number, (before,))


def _merged(state: State, certified: Certified, back: int) -> Delta:
    """Merge the slot that a split opened into the one it hangs from now, with all that has come since."""
    parent = state.slots[back].parent
    target = state.slots[parent if parent is not None else certified.certificate.slot]
    seq = state.head.seq + 1
    items = [*state.members[target.number], *state.members[back]]
    merged = state.rebuild(target.number, target.parent, items, seq)
    children = (replace(s, parent=target.number, revision=seq) for s in state.slots.values() if s.parent == back)
    return _undoing(state, certified, back, target.number, (merged, *children))


def _undoing(state: State, certified: Certified, back: int, target: int, slots: tuple[SlotState, ...]) -> Delta:
    seq = state.head.seq + 1
    inside = [stored for stored in state.contexts.values() if stored.context.slot == back]
    return Delta(
        replace(state.head, seq=seq),
        (operation(seq, "undo", None, "", {}),),
        moves=tuple((item, target) for item in state.members[back]),
        slots=slots,
        closed=(back,),
        contexts=tuple(in_slot(stored, target) for stored in inside),
        certificates=(replace(certified, certificate=replace(certified.certificate, undone=True)),),
    )
