"""Have a compressor write slots' summaries, outside the write path; keep what is shown to come from
the evidence.
"""

from __future__ import annotations

from dataclasses import replace

from demem_agent.errors import CollaboratorError
from demem_agent.requests import Commit, Compress, Flow
from demem_agent.slots.ledger import operation
from demem_agent.slots.records import Delta, SlotState
from demem_agent.slots.state import State
from demem_agent.summaries.compress import compress
from demem_agent.summaries.grounding import fault_of, source_of, written
from demem_agent.types import Compression, Proposal, Summarised

__all__ = ["due", "summarise"]

#: A compressor sees the best excerpts of a slot, of this many times L.
SOURCES = 8


def due(state: State) -> list[int]:
    """Give the slots whose content has changed since a summary was written for it, and does not fit
    as it is.
    """
    return [
        number
        for number, slot in sorted(state.slots.items())
        if slot.written is None
        and slot.summary.gate is not None  # else its summary holds all of it
    ]


def summarise(state: State, number: int, author: str) -> Flow[Summarised]:
    """Ask for a summary of a slot and keep it, if the slot has not changed meanwhile and nothing in
    it is invented.
    """
    before = state.slots.get(number)
    if before is None or not state.members[number]:
        return Summarised(number, False, "it holds nothing")
    task = task_of(state, before)
    try:
        proposal: Proposal = yield Compress(task)
    except CollaboratorError as error:
        return Summarised(number, False, str(error))
    if problem := fault_of(proposal, task):
        return Summarised(number, False, problem)
    if state.slots.get(number) != before:
        return Summarised(number, False, "the slot has changed meanwhile")
    seq = state.head.seq + 1
    slot = replace(before, written=written(proposal, author), revision=seq)
    delta = Delta(
        replace(state.head, seq=seq), (operation(seq, "summarise", None, "", {}),), slots=(slot,)
    )
    yield Commit(delta)
    state.apply(delta)
    return Summarised(number, True)


def task_of(state: State, slot: SlotState) -> Compression:
    """Give what a compressor is to work on: the best excerpts in order of time, marked where they
    must be kept.

    To be kept is what its excerpts hold of what rewarded answers and the witnesses of certificates
    rested on.
    """
    limit, measure = state.settings.slot_limit, state.measure
    witnessed = _witnessed(state)
    wanted = {
        (e.evidence_id, e.start) for e in slot.summary.kept if e.used or e.evidence_id in witnessed
    }
    every = (excerpt for item in state.members[slot.number] for excerpt in state.excerpts_of(item))
    best = compress(every, SOURCES * limit, measure).kept
    ordered = sorted(best, key=lambda e: (e.at, e.order, e.start))
    sources = tuple(source_of(e, (e.evidence_id, e.start) in wanted) for e in ordered)
    return Compression(sources, limit, state.settings.unit, measure)


def _witnessed(state: State) -> set[str]:
    """Give the evidence that the contexts of certificates rest on."""
    named = (
        id
        for c in state.certificates.values()
        if not c.certificate.undone
        for id in c.certificate.pair
    )
    return {
        item for id in named if id in state.contexts for item in state.contexts[id].context.supports
    }
