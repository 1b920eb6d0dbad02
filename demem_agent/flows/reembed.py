"""Encode everything anew with another encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from demem_agent.errors import StaleState
from demem_agent.flows.commit import committed
from demem_agent.flows.encode import encoded_passages
from demem_agent.requests import Encode, Flow, Vectors
from demem_agent.scoring import focus
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import (
    Delta,
    SlotState,
    StoredContext,
    StoredEvidence,
    Vector,
)
from demem_agent.slots.state import State
from demem_agent.text.words import clean

__all__ = ["reembed"]


def reembed(state: State, adopt: Callable[[], None]) -> Flow[int]:
    """Encode everything anew and return the number of items; evidence stays in its slots.

    Args:
        adopt: called once it is done, before anything else can happen to the memory.

    Raises:
        StaleState: if the memory changed while it was encoded.
    """
    begun = state.head.seq
    items = list(state.evidence.values())
    spans = [tuple(state.spans(item.id)) for item in items]
    passages = yield from encoded_passages([item.text for item in items], spans)
    contexts = list(state.contexts.values())
    questions = [clean(focus(stored.context.query)) for stored in contexts]
    # One text more: it tells the number of dimensions when there is nothing else to encode.
    asked: Vectors = yield Encode(("", *questions))
    if state.head.seq != begun:
        raise StaleState("the memory changed while it was encoded anew")
    seq = begun + 1
    evidence = []
    for item, cut, matrix in zip(items, spans, passages.matrices, strict=True):
        evidence.append(StoredEvidence(item, state.slot_of[item.id], cut, matrix))
    dimensions = asked.matrix.shape[1]
    delta = Delta(
        replace(
            state.head,
            seq=seq,
            encoder=asked.encoder.name,
            encoder_fingerprint=asked.encoder.fingerprint,
            dimensions=dimensions,
        ),
        (unkeyed(seq, "reembed"),),
        evidence=tuple(evidence),
        slots=_slots(state, evidence, dimensions, seq),
        contexts=_contexts(contexts, asked.matrix[1:]),
        reembedded=True,
    )
    yield from committed(state, delta)
    adopt()
    return len(items)


def _slots(
    state: State, evidence: Sequence[StoredEvidence], dimensions: int, seq: int
) -> tuple[SlotState, ...]:
    """Return every slot with the sum of its items' new vectors."""
    totals = {number: np.zeros(dimensions, np.float32) for number in state.slots}
    for stored in evidence:
        totals[stored.slot] += stored.vectors.mean(axis=0)
    slots = sorted(state.slots.items())
    return tuple(replace(slot, total=totals[number], revision=seq) for number, slot in slots)


def _contexts(contexts: Sequence[StoredContext], vectors: Vector) -> tuple[StoredContext, ...]:
    """Return contexts with their new vectors, and without what was learned from the old ones.

    A lesson is made of features of the old vectors; it does not hold for the new ones.
    """
    renewed = []
    for stored, vector in zip(contexts, vectors, strict=True):
        renewed.append(StoredContext(replace(stored.context, lesson=()), vector))
    return tuple(renewed)
