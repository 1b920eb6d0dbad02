"""Remember turns: validated ones become evidence in slots, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import IdempotencyConflict
from demem_agent.flows.commit import committed
from demem_agent.flows.encode import Spans, encoded_passages, mismatch, require_same_encoder
from demem_agent.reading.packing import strip_rendered
from demem_agent.requests import Flow
from demem_agent.slots.ledger import operation, stored_result, unkeyed
from demem_agent.slots.placement import Arrival, place
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.slots.state import State
from demem_agent.text.sentences import passages
from demem_agent.turns import Turn
from demem_agent.types import Evidence, Ingested

__all__ = ["ingest"]

_SKIPPED = Ingested(None, None, skipped=True)


@dataclass(frozen=True, slots=True)
class _Coming:
    """A turn on its way in.

    Attributes:
        request: hash of a keyed turn as the caller gave it, "" for others.
        text: without what memory itself had rendered; spans: of its passages, none if it is blank.
    """

    turn: Turn
    request: str
    text: str
    spans: Spans


def ingest(state: State, turns: Sequence[Turn], hashes: Sequence[str]) -> Flow[list[Ingested]]:
    """Remember turns, already checked, as one transaction and one operation each.

    Args:
        hashes: of the keyed turns as the caller gave them, "" for the others.

    Raises:
        IdempotencyConflict: if a key was used for another request.
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
        StaleState: if the memory was moved to another encoder meanwhile.
    """
    coming = [_cut(turn, request) for turn, request in zip(turns, hashes, strict=True)]
    encoded = yield from encoded_passages([c.text for c in coming], [c.spans for c in coming])
    if encoded.encoder is not None:
        require_same_encoder(state, encoded.encoder)

    fresh = _not_done(state, coming)
    arrivals: list[Arrival] = []
    for seq, n in enumerate(fresh, state.head.seq + 1):
        if coming[n].spans:
            item = _evidence(state.head.evidence + len(arrivals) + 1, coming[n])
            arrivals.append(Arrival(seq, item, coming[n].spans, encoded.matrices[n]))
    head = _head_after(state, encoded.encoder, arrivals)
    placed = place(state, arrivals)

    outcomes = iter(placed.results)
    results: dict[int, Ingested] = {}
    operations: list[Operation] = []
    for seq, n in enumerate(fresh, state.head.seq + 1):
        results[n] = next(outcomes) if coming[n].spans else _SKIPPED
        operations.append(_ledger_line(seq, coming[n], results[n]))
    if operations:
        head = replace(head, seq=operations[-1].seq)
        delta = Delta(head, tuple(operations), evidence=placed.evidence, slots=placed.slots)
        yield from committed(state, delta)
    return [results.get(n) or _replayed(state, one) for n, one in enumerate(coming)]


def _cut(turn: Turn, request: str) -> _Coming:
    text = strip_rendered(turn.text)
    spans = tuple(passages(text)) if text.strip() else ()
    return _Coming(turn, request, text, spans)


def _not_done(state: State, coming: Sequence[_Coming]) -> list[int]:
    """Return the numbers of the turns to carry out: those whose key is new, each key once."""
    first: dict[str, int] = {}
    fresh = []
    for n, one in enumerate(coming):
        key = one.turn.key
        if key is not None:
            earlier = first.setdefault(key, n)
            if coming[earlier].request != one.request:
                raise IdempotencyConflict(key)
            if earlier != n or stored_result(state, key, one.request) is not None:
                continue
        fresh.append(n)
    return fresh


def _replayed(state: State, one: _Coming) -> Ingested:
    stored = stored_result(state, one.turn.key, one.request)
    return Ingested(**stored) if stored else _SKIPPED


def _ledger_line(seq: int, one: _Coming, result: Ingested) -> Operation:
    if one.turn.key is None:
        return unkeyed(seq, "ingest")
    return operation(seq, "ingest", one.turn.key, one.request, asdict(result))


def _evidence(number: int, one: _Coming) -> Evidence:
    turn = one.turn
    return Evidence(
        id=f"e{number}",
        text=one.text,
        speaker=turn.speaker,
        at=turn.at if isinstance(turn.at, datetime) else None,
        session=turn.session,
        source=turn.source,
        source_id=turn.source_id,
        trust=turn.trust,
    )


def _head_after(state: State, encoder: EncoderInfo | None, arrivals: Sequence[Arrival]) -> Head:
    """Return the head once these have arrived; the first of them name the encoder.

    Raises:
        EncoderMismatch: for vectors of another length than the memory has.
    """
    head = replace(state.head, evidence=state.head.evidence + len(arrivals))
    if not arrivals or encoder is None:
        return head
    dimensions = arrivals[0].vectors.shape[1]
    if head.dimensions not in (0, dimensions):
        raise mismatch(state, encoder, dimensions)
    return replace(
        head,
        dimensions=dimensions,
        encoder=encoder.name,
        encoder_fingerprint=encoder.fingerprint,
    )
