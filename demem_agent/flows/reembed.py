"""Encode everything anew with another encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from demem_agent.errors import StaleState
from demem_agent.flows.commit import committed
from demem_agent.flows.encode import encoded_passages, encoded_queries
from demem_agent.requests import Encode, Flow, Vectors
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import (
    Delta,
    Head,
    SlotState,
    StoredContext,
    StoredEvidence,
    StoredSituation,
    Vector,
)
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean

__all__ = ["reembed"]


def reembed(state: State, adopt: Callable[[], None]) -> Flow[int]:
    """Encode everything anew and return the number of items; evidence stays in its slots.

    Args:
        adopt: called once it is done, before anything else can happen to the memory.

    Raises:
        CollaboratorError: for an encoder whose ``encode_query`` has other dimensions.
        StaleState: if the memory changed while it was encoded.
    """
    begun = state.head.seq
    evidence = yield from _encoded_evidence(state)
    contexts = list(state.contexts.values())
    situations = list(state.situations.values())
    described = [clean(stored.situation.text) for stored in situations]
    # One text more: it tells the number of dimensions when there is nothing else to encode.
    made: Vectors = yield Encode(("", *described))
    queries = [stored.context.query for stored in contexts]
    asked = made.matrix[:0]
    if queries:
        asked = (yield from encoded_queries(state, queries, made.matrix.shape[1])).matrix
    if state.head.seq != begun:
        raise StaleState("the memory changed while it was encoded anew")
    head = _head(state, made)
    delta = Delta(
        head,
        (unkeyed(head.seq, "reembed"),),
        evidence=evidence,
        slots=_slots(state, evidence, head),
        contexts=_contexts(contexts, asked),
        situations=_situations(situations, made.matrix[1:]),
        reembedded=True,
    )
    yield from committed(state, delta)
    adopt()
    return len(evidence)


def _encoded_evidence(state: State) -> Flow[tuple[StoredEvidence, ...]]:
    """Encode every item anew, in the slot that it is in."""
    items = list(state.evidence.values())
    slot_of = dict(state.slot_of)
    spans = [tuple(state.spans(item.id)) for item in items]
    texts = [item.text for item in items]
    passages = yield from encoded_passages(texts, spans)
    evidence = []
    for item, cut, matrix in zip(items, spans, passages.matrices, strict=True):
        stored = StoredEvidence(item, slot_of[item.id], cut, matrix)
        evidence.append(stored)
    return tuple(evidence)


def _head(state: State, made: Vectors) -> Head:
    return replace(
        state.head,
        seq=state.head.seq + 1,
        encoder=made.encoder.name,
        encoder_fingerprint=made.encoder.fingerprint,
        dimensions=made.matrix.shape[1],
    )


def _slots(state: State, evidence: Sequence[StoredEvidence], head: Head) -> tuple[SlotState, ...]:
    """Return every slot with the sum of its items' new vectors."""
    totals = {number: np.zeros(head.dimensions, np.float32) for number in state.slots}
    for stored in evidence:
        totals[stored.slot] += stored.vectors.mean(axis=0)
    slots = []
    for number, slot in sorted(state.slots.items()):
        renewed = replace(slot, total=totals[number], revision=head.seq)
        slots.append(renewed)
    return tuple(slots)


def _contexts(contexts: Sequence[StoredContext], vectors: Vector) -> tuple[StoredContext, ...]:
    renewed = []
    for stored, vector in zip(contexts, vectors, strict=True):
        renewed.append(replace(stored, vector=vector))
    return tuple(renewed)


def _situations(
    situations: Sequence[StoredSituation], vectors: Vector
) -> tuple[StoredSituation, ...]:
    renewed = []
    for stored, vector in zip(situations, vectors, strict=True):
        is_told = bool(stored.situation.text)  # else it was forgotten
        renewed.append(replace(stored, vector=vector if is_told else np.zeros_like(vector)))
    return tuple(renewed)
