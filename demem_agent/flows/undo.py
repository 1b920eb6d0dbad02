"""Undo what feedback did: a split, or what was told of an answer.

A split is undone exactly, if nothing came after it; else by merging its slot into the one it came
from.
"""

from __future__ import annotations

from dataclasses import replace

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.arrange import merging, moved_contexts, moves_of, require_loose
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Certified, Delta, SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.types import SplitCertificate

__all__ = ["undo"]


def undo(state: State, id: str) -> Flow[None]:
    """Take a split back, or a certificate's say in readings, or what feedback said of lines.

    Raises:
        NotFound: for what is the id of no certificate and of no answer.
        InvalidInput: if there is nothing to undo, or one of the slots is pinned.
    """
    if id in state.contexts:
        delta = _untaught(state, state.contexts[id])
    elif id in state.certificates:
        delta = _taken_back(state, state.certificates[id])
    else:
        raise NotFound("certificate" if id.startswith("c") else "answer", id)
    yield from committed(state, delta)


def _untaught(state: State, stored: StoredContext) -> Delta:
    """Take back what an answer's feedback says of lines; its rewards stay on record."""
    if not stored.context.verdicts:
        raise InvalidInput("id", stored.context.id, "of an answer whose feedback judged a line")
    seq = state.head.seq + 1
    untaught = replace(stored.context, verdicts=())
    return Delta(
        replace(state.head, seq=seq),
        (unkeyed(seq, "undo"),),
        contexts=(replace(stored, context=untaught),),
    )


def _taken_back(state: State, certified: Certified) -> Delta:
    """Take a split back, or what a certificate without one says of readings."""
    certificate = certified.certificate
    if certificate.decision == "split" or certificate.undone or not certificate.rivals:
        return _merged(state, certified)
    seq = state.head.seq + 1
    undone = replace(certificate, undone=True)
    return Delta(
        replace(state.head, seq=seq),
        (unkeyed(seq, "undo"),),
        certificates=(replace(certified, certificate=undone),),
    )


def _merged(state: State, certified: Certified) -> Delta:
    """Take a split back, exactly if nothing came after it."""
    before = certified.before
    opened = certified.certificate.new_slot
    if certified.certificate.undone or before is None or opened is None:
        allowed = "the id of a split that was carried out and not undone"
        raise InvalidInput("id", certified.certificate.id, allowed)
    back = state.slots[opened]
    parent = _origin(state, certified.certificate, back)
    require_loose(back, "id")
    require_loose(parent, "id")
    if state.head.seq == certified.seq:
        return _restored(state, certified, before, back.number)
    return merging(state, back, parent, "undo")


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
