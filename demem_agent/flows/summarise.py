"""Have a compressor write slots' summaries, outside the write path.

What it gives is kept only if everything in it is shown to come from the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from demem_agent.errors import CollaboratorError, NotFound
from demem_agent.flows.commit import committed
from demem_agent.requests import Compress, Flow
from demem_agent.slots.due import wants_summary
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import Delta, SlotState
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt, compress
from demem_agent.summaries.grounding import Written, fault_of, source_of, written
from demem_agent.types import Compression, Proposal, Summarised

__all__ = ["due", "summarise"]

#: A compressor sees the best excerpts of a slot, of this many times L.
SOURCES = 8


def due(state: State, slot: int | None) -> list[int]:
    """Return the slot that was named or, if none was, those that want a summary written.

    These are the slots whose content has changed since one was written and does not fit as it is.

    Raises:
        NotFound: for a slot that is not active.
    """
    if slot is None:
        return [number for number, one in sorted(state.slots.items()) if wants_summary(one)]
    if slot not in state.slots:
        raise NotFound("slot", str(slot))
    return [slot]


def summarise(state: State, number: int, author: str) -> Flow[Summarised]:
    """Ask for a summary of a slot and keep it, if nothing in it is invented.

    Nothing is kept where the slot has changed meanwhile; the result says why.
    """
    before = state.slots.get(number)
    if before is None or not state.members[number]:
        return Summarised(number, False, "it holds nothing")
    task = task_of(state, before)
    try:
        proposal: Proposal = yield Compress(task)
    except CollaboratorError as error:
        return Summarised(number, False, str(error))
    problem = fault_of(proposal, task)
    if problem:
        return Summarised(number, False, problem)
    if state.slots.get(number) != before:
        return Summarised(number, False, "the slot has changed meanwhile")
    yield from committed(state, _delta(state, before, written(proposal, author)))
    return Summarised(number, True)


def _delta(state: State, slot: SlotState, text: Written) -> Delta:
    """Return the rows to write: the slot with what was written for it."""
    seq = state.head.seq + 1
    renewed = replace(slot, written=text, revision=seq)
    return Delta(replace(state.head, seq=seq), (unkeyed(seq, "summarise"),), slots=(renewed,))


def task_of(state: State, slot: SlotState) -> Compression:
    """Return what a compressor is to work on: the best excerpts in order of time.

    Those are marked that must be kept: what the slot's excerpts hold of what rewarded answers and
    the witnesses of certificates rested on.
    """
    limit = state.settings.slot_limit
    every = _every_excerpt(state, slot)
    best = compress(every, SOURCES * limit, state.measure).kept
    needed = _needed(state, slot)
    sources = []
    for excerpt in sorted(best, key=lambda excerpt: (excerpt.at, excerpt.order, excerpt.start)):
        is_needed = (excerpt.evidence_id, excerpt.start) in needed
        sources.append(source_of(excerpt, is_needed))
    return Compression(tuple(sources), limit, state.settings.unit, state.measure)


def _every_excerpt(state: State, slot: SlotState) -> Iterator[Excerpt]:
    hidden = state.hidden
    for item in state.members[slot.number]:
        if item not in hidden:
            yield from state.excerpts_of(item)


def _needed(state: State, slot: SlotState) -> set[tuple[str, int]]:
    """Return (evidence id, start) of the excerpts that must be kept."""
    witnessed = _witnessed(state)
    needed = set()
    for excerpt in slot.summary.kept:
        if excerpt.used or excerpt.evidence_id in witnessed:
            needed.add((excerpt.evidence_id, excerpt.start))
    return needed


def _witnessed(state: State) -> set[str]:
    """Return the evidence that the contexts of standing certificates rest on."""
    found: set[str] = set()
    for certificate in state.standing():
        for id in certificate.pair:
            if id in state.contexts:
                found.update(state.contexts[id].context.supports)
    return found
