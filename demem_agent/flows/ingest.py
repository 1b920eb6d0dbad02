"""Remember turns: validated ones become evidence in slots, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import (
    EncoderMismatch,
    IdempotencyConflict,
)
from demem_agent.flows.encode import _encode_spans, _same_encoder
from demem_agent.reading.packing import strip_rendered
from demem_agent.requests import Commit, Flow
from demem_agent.slots.ledger import operation, stored_result
from demem_agent.slots.placement import Arrival, place
from demem_agent.slots.records import Delta, Head
from demem_agent.slots.state import State
from demem_agent.text.sentences import passages
from demem_agent.turns import Turn
from demem_agent.types import (
    Evidence,
    Ingested,
)

__all__ = ["ingest"]

_SKIPPED = Ingested(None, None, skipped=True)


def ingest(
    state: State, encoder: EncoderInfo, turns: Sequence[Turn], hashes: Sequence[str]
) -> Flow[list[Ingested]]:
    """Remember turns, already checked, as one transaction and one operation each.

    Args:
        hashes: of the keyed turns as the caller gave them, "" for the others.
    """
    texts = [strip_rendered(turn.text) for turn in turns]
    spans = [tuple(passages(text)) if text.strip() else () for text in texts]
    vectors = yield from _encode_spans(texts, spans)
    _same_encoder(state, encoder)

    fresh = _not_done(state, turns, hashes)
    arrivals: list[Arrival] = []
    for seq, n in enumerate(fresh, state.head.seq + 1):
        if spans[n]:
            item = _evidence(state.head.evidence + len(arrivals) + 1, turns[n], texts[n])
            arrivals.append(Arrival(seq, item, spans[n], vectors[n]))
    head = _head_after(state, encoder, arrivals)
    placed = place(state, arrivals)
    outcomes = iter(placed.results)
    results = {n: next(outcomes) if spans[n] else _SKIPPED for n in fresh}
    operations = tuple(
        operation(seq, "ingest", turns[n].key, hashes[n], asdict(results[n]))
        for seq, n in enumerate(fresh, state.head.seq + 1)
    )
    if operations:
        head = replace(head, seq=operations[-1].seq)
        delta = Delta(head, operations, evidence=placed.evidence, slots=placed.slots)
        yield Commit(delta)
        state.apply(delta)
    return [results.get(n) or _replayed(state, turn, hashes[n]) for n, turn in enumerate(turns)]


def _not_done(state: State, turns: Sequence[Turn], hashes: Sequence[str]) -> list[int]:
    """Give the turns that are to be carried out: those whose key is new, each key once."""
    first: dict[str, int] = {}
    fresh = []
    for n, turn in enumerate(turns):
        if turn.key is not None:
            earlier = first.setdefault(turn.key, n)
            if hashes[earlier] != hashes[n]:
                raise IdempotencyConflict(turn.key)
            if earlier != n or stored_result(state, turn.key, hashes[n]) is not None:
                continue
        fresh.append(n)
    return fresh


def _replayed(state: State, turn: Turn, request: str) -> Ingested:
    stored = stored_result(state, turn.key, request)
    return Ingested(**stored) if stored else _SKIPPED


def _evidence(number: int, turn: Turn, text: str) -> Evidence:
    at = turn.at if isinstance(turn.at, datetime) else None
    return Evidence(
        f"e{number}",
        text,
        turn.speaker,
        at,
        turn.session,
        turn.source,
        turn.source_id,
        trust=turn.trust,
    )


def _head_after(state: State, encoder: EncoderInfo, arrivals: Sequence[Arrival]) -> Head:
    head = replace(state.head, evidence=state.head.evidence + len(arrivals))
    if not arrivals:
        return head
    dimensions = arrivals[0].vectors.shape[1]
    if head.dimensions in (0, dimensions):
        return replace(
            head,
            dimensions=dimensions,
            encoder=encoder.name,
            encoder_fingerprint=encoder.fingerprint,
        )
    raise EncoderMismatch(
        f"{head.encoder} ({head.dimensions} dimensions)",
        f"{encoder.name} ({dimensions} dimensions)",
    )
