"""Encode everything anew with another encoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import (
    StaleState,
)
from demem_agent.flows.encode import _encode_spans
from demem_agent.requests import Commit, Encode, Flow
from demem_agent.scoring import (
    focus,
)
from demem_agent.slots.ledger import operation
from demem_agent.slots.records import Delta, StoredContext, StoredEvidence, Vector
from demem_agent.slots.state import State
from demem_agent.text.words import clean

__all__ = ["reembed"]


def reembed(state: State, encoder: EncoderInfo, adopt: Callable[[], None]) -> Flow[int]:
    """Encode everything anew with another encoder; evidence stays in its slots. Gives the number of
    items.

    Args:
        adopt: called once it is done, before anything else can happen to the memory.
    """
    seq = state.head.seq + 1
    items = list(state.evidence.values())
    spans = [tuple(state.spans(item.id)) for item in items]
    vectors = yield from _encode_spans([item.text for item in items], spans)
    contexts = list(state.contexts.values())
    # One text more: it tells the number of dimensions when there is nothing else to encode.
    queries: Vector = yield Encode(("", *(clean(focus(c.context.query)) for c in contexts)))
    dimensions = queries.shape[1]
    if state.head.seq + 1 != seq:
        raise StaleState("the memory changed while it was encoded anew")
    head = replace(
        state.head,
        seq=seq,
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
        dimensions=dimensions,
    )
    totals = {number: np.zeros(dimensions, np.float32) for number in state.slots}
    for item, matrix in zip(items, vectors, strict=True):
        totals[state.slot_of[item.id]] += matrix.mean(axis=0)
    delta = Delta(
        head,
        (operation(seq, "reembed", None, "", {}),),
        evidence=tuple(
            StoredEvidence(item, state.slot_of[item.id], s, v)
            for item, s, v in zip(items, spans, vectors, strict=True)
        ),
        slots=tuple(
            replace(slot, total=totals[n], revision=seq) for n, slot in sorted(state.slots.items())
        ),
        # What was learned from features of the old vectors does not hold for the new ones.
        contexts=tuple(
            StoredContext(replace(c.context, lesson=()), v)
            for c, v in zip(contexts, queries[1:], strict=True)
        ),
        reembedded=True,
    )
    yield Commit(delta)
    state.apply(delta)
    adopt()
    return len(items)
