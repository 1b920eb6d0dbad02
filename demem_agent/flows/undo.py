"""Undo what feedback did: a split, or what was told of an answer; or that a line was superseded.

A split is undone exactly, if nothing came after it; else by merging its slot into the one it came
from.
"""

from __future__ import annotations

from dataclasses import replace

from demem_agent.changes.lineage import BY_HAND
from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.arrange import merging, moved_contexts, moves_of, require_loose
from demem_agent.flows.commit import committed
from demem_agent.flows.mark import carried, rebuilt_for
from demem_agent.requests import Flow
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.notes_superseded import undone_with, with_notes
from demem_agent.slots.records import Certified, Delta, SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.types import Decision, SplitCertificate, Succession

__all__ = ["undo"]

#: What an id is of, by its first letter.
_KINDS = {"c": "certificate", "s": "succession", "d": "decision"}


def undo(state: State, id: str) -> Flow[None]:
    """Take back a split, a certificate, what feedback said of lines, a succession or an outcome.

    Raises:
        NotFound: for what is the id of nothing that can be undone.
        InvalidInput: if there is nothing to undo, or one of the slots is pinned.
    """
    if id in state.contexts:
        delta = _untaught(state, state.contexts[id])
    elif id in state.certificates:
        delta = _taken_back(state, state.certificates[id])
    elif id in state.successions:
        delta = _standing_again(state, state.successions[id])
    elif ">" in id:
        judged = _judged(state, id)
        stands = judged.id in state.successions
        delta = _standing_again(state, judged) if stands else _both_hold(state, judged)
    elif id in state.choices:
        delta = _open_again(state, state.choices[id])
    else:
        raise NotFound(_KINDS.get(id[:1], "answer"), id)
    yield from committed(state, delta)


def _judged(state: State, id: str) -> Succession:
    """Return what a judge has said of the items of an id such as ``e1>e3``, if that stands; or else
    that both hold, whatever their lines say.
    """
    old, _, new = id.partition(">")
    for item in (old, new):
        if item not in state.evidence:
            raise NotFound("evidence", item)
    lineage = state.derived.current
    for one in lineage.of_item(old):
        if one.new[0] == new and one.how == "judged":
            return one
    if (old, new) in lineage.denied():
        raise InvalidInput("id", id, "of a change that was not undone")
    whole = [(item, 0, len(state.evidence[item].text)) for item in (old, new)]
    number = state.head.successions + 1
    return Succession(f"s{number}", whole[0], whole[1], 0.0, "judged", undone=True)


def _both_hold(state: State, judged: Succession) -> Delta:
    """Settle that one item has not taken the place of another, whatever both say."""
    seq = state.head.seq + 1
    head = replace(state.head, seq=seq, successions=state.head.successions + 1)
    return Delta(head, (unkeyed(seq, "undo"),), successions=(judged,))


def _untaught(state: State, stored: StoredContext) -> Delta:
    """Take back what an answer's feedback says of lines; its rewards stay on record."""
    if not stored.context.verdicts:
        id = stored.context.id
        says = f"there is nothing to take back: no feedback on the answer {id} judged a line"
        raise InvalidInput("id", id, "of an answer whose feedback judged a line", says)
    seq = state.head.seq + 1
    untaught = replace(stored.context, verdicts=())
    return Delta(
        replace(state.head, seq=seq),
        (unkeyed(seq, "undo"),),
        contexts=(replace(stored, context=untaught),),
    )


def _open_again(state: State, decision: Decision) -> Delta:
    """Take back what a choice came to: it teaches nothing, as if that had never been told."""
    if decision.judged is None:
        raise InvalidInput("id", decision.id, "of a decision whose outcome is known")
    seq = state.head.seq + 1
    untold = replace(decision, reward=None, judged=None)
    return Delta(replace(state.head, seq=seq), (unkeyed(seq, "undo"),), choices=(untold,))


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


def _standing_again(state: State, succession: Succession) -> Delta:
    """Take back that a line was superseded, with its notes; the records stay.

    An item that was remembered to take the place of another does not stand beside it then: the old
    one has its place back.
    """
    if succession.undone:
        raise InvalidInput("id", succession.id, "of a succession that was not undone")
    seq = state.head.seq + 1
    gone = (succession, *undone_with(state, succession))
    undone = tuple(replace(one, undone=True) for one in gone)
    is_update = succession.how == "updated"
    back = _back(state, succession) if is_update else ()
    marks = carried(state, succession.new[0], succession.old[0]) if is_update else []
    count = state.head.successions + len(back)
    return Delta(
        replace(state.head, seq=seq, successions=count),
        (unkeyed(seq, "undo"),),
        slots=rebuilt_for(state, marks),
        successions=(*undone, *back),
        marks=tuple(marks),
    )


def _back(state: State, updated: Succession) -> tuple[Succession, ...]:
    """Return that the old item of an update holds in place of the new one again.

    Raises:
        InvalidInput: if the new one was updated since, or superseded by hand.
    """
    later = state.derived.current.holding(updated.new[0], BY_HAND)
    if later != updated.new[0]:
        allowed = f"of the last update of an item: {later} has come after it, so undo that first"
        raise InvalidInput("id", updated.id, allowed)
    if state.derived.current.leads(updated.old[0], updated.new[0], without=[updated.id]):
        return ()  # another way leads to the new one still
    held = replace(
        updated,
        id=f"s{state.head.successions + 1}",
        old=updated.new,
        new=updated.old,
        how="told",
        after=state.head.contexts,
    )
    return with_notes(state, (held,))


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
