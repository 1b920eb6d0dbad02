"""Undo a split: exactly, if nothing came after it; else by merging its slot into the one it came
from.
"""

from __future__ import annotations

from dataclasses import replace

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.arrange import merging, moved_contexts, moves_of, require_loose
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Certified, Delta, SlotState
from demem_agent.slots.state import State
from demem_agent.types import SplitCertificate

__all__ = ["undo"]


def undo(state: State, certificate_id: str) -> Flow[None]:
    """Take a split back: exactly if nothing came after it, else by merging its slot.

    Raises:
        NotFound: for an unknown certificate.
        InvalidInput: if it did not split, was undone before, or one of the slots is pinned.
    """
    certified = state.certificates.get(certificate_id)
    if certified is None:
        raise NotFound("certificate", certificate_id)
    before = certified.before
    opened = certified.certificate.new_slot
    if certified.certificate.undone or before is None or opened is None:
        allowed = "the id of a split that was carried out and not undone"
        raise InvalidInput("certificate_id", certificate_id, allowed)
    back = state.slots[opened]
    parent = _origin(state, certified.certificate, back)
    require_loose(back, "certificate_id")
    require_loose(parent, "certificate_id")
    if state.head.seq == certified.seq:
        delta = _restored(state, certified, before, back.number)
    else:
        delta = merging(state, back, parent, "undo")
    yield from committed(state, delta)


def _origin(state: State, certificate: SplitCertificate, opened: SlotState) -> SlotState:
    """Return the slot that another one goes back to: its parent, or else the one it came from."""
    number = certificate.slot if opened.parent is None else opened.parent
    return state.slots[number]


def _restored(state: State, certified: Certified, before: SlotState, back: int) -> Delta:
    """Put everything back as it was, since nothing has come after the split."""
    seq = state.head.seq + 1
    undone = replace(certified.certificate, undone=True)
    return Delta(
        replace(state.head, seq=seq),
        (unkeyed(seq, "undo"),),
        moves=moves_of(state, back, before.number),
        slots=(before,),
        closed=(back,),
        contexts=moved_contexts(state, back, before.number),
        certificates=(replace(certified, certificate=undone),),
    )
