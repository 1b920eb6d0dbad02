"""Remember turns: validated ones become evidence in slots, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from demem_agent.changes.owners import narrates
from demem_agent.encoders import EncoderInfo
from demem_agent.errors import IdempotencyConflict
from demem_agent.flows.commit import committed
from demem_agent.flows.encode import (
    Passages,
    Spans,
    encoded_passages,
    mismatch,
    require_same_encoder,
)
from demem_agent.later import dataclass
from demem_agent.messages.thinking import without_thinking
from demem_agent.metadata import metadata_field
from demem_agent.reading.packing import strip_rendered
from demem_agent.requests import Flow
from demem_agent.slots.ledger import OF_TURNS, operation, stored_result, unkeyed
from demem_agent.slots.placement import Arrival, Placed, place
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.slots.state import State
from demem_agent.text.pieces import pieces
from demem_agent.turns import Turn
from demem_agent.types import Evidence, Ingested

__all__ = [
    "Coming",
    "arrivals_of",
    "cut",
    "encoded_turns",
    "head_after",
    "ingest",
    "require_requests",
]

_SKIPPED = Ingested(None, None, skipped=True)


@dataclass(frozen=True, slots=True)
class Coming:
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
    coming = [cut(turn, request) for turn, request in zip(turns, hashes, strict=True)]
    passages = yield from encoded_turns(state, coming, _not_done(state, coming))
    fresh = _not_done(state, coming)  # a key may have been used while the encoder was at work
    arrivals = arrivals_of(state, coming, fresh, passages)
    head = head_after(state, passages.encoder, arrivals)
    placed = place(state, arrivals)
    results = _results(coming, fresh, placed)
    operations = _ledger_lines(state, coming, results)
    if operations:
        yield from committed(state, _delta(head, operations, placed))
    return [results.get(n) or _replayed(state, one) for n, one in enumerate(coming)]


def _delta(head: Head, operations: tuple[Operation, ...], placed: Placed) -> Delta:
    """Return what is to be written of items that have a place."""
    return Delta(
        replace(head, seq=operations[-1].seq),
        operations,
        evidence=placed.evidence,
        slots=placed.slots,
    )


def encoded_turns(state: State, coming: Sequence[Coming], fresh: Sequence[int]) -> Flow[Passages]:
    """Encode the passages of fresh turns, by the encoder that the memory was built with.

    The others have none: what was remembered before waits for no encoder.
    """
    texts = [one.text for one in coming]
    spans: list[Spans] = [()] * len(coming)
    for n in fresh:
        spans[n] = coming[n].spans
    passages = yield from encoded_passages(texts, spans)
    if passages.encoder is not None:
        require_same_encoder(state, passages.encoder)
    return passages


def arrivals_of(
    state: State, coming: Sequence[Coming], fresh: Sequence[int], passages: Passages
) -> list[Arrival]:
    """Return the items of the turns to carry out; a turn without any passage is none."""
    arrivals: list[Arrival] = []
    number = state.head.evidence
    for seq, n in enumerate(fresh, state.head.seq + 1):
        one = coming[n]
        if one.spans:
            number += 1
            item = _evidence(number, one)
            arrivals.append(Arrival(seq, item, one.spans, passages.matrices[n]))
    return arrivals


def _results(coming: Sequence[Coming], fresh: Sequence[int], placed: Placed) -> dict[int, Ingested]:
    """Return what became of each turn that was carried out, by its number."""
    results: dict[int, Ingested] = {}
    outcomes = iter(placed.results)
    for n in fresh:
        is_blank = not coming[n].spans
        results[n] = _SKIPPED if is_blank else next(outcomes)
    return results


def cut(turn: Turn, request: str) -> Coming:
    """Cut a turn into passages, without what memory itself had rendered, and without what a model
    thought before it spoke.
    """
    text = strip_rendered(turn.text)
    if narrates(turn.speaker):
        text = without_thinking(text)
    spans = tuple(pieces(text)) if text.strip() else ()
    return Coming(turn, request, text, spans)


def require_requests(state: State, turns: Sequence[Turn], hashes: Sequence[str]) -> Flow[None]:
    """Refuse turns that are written a few at a time before any is, where a key would be refused.

    Args:
        hashes: of the keyed turns as the caller gave them, "" for the others.

    Raises:
        IdempotencyConflict: if a key was used for another request, or is used for two here.
    """
    yield from ()
    _new(state, [turn.key for turn in turns], hashes)


def _not_done(state: State, coming: Sequence[Coming]) -> list[int]:
    """Return the numbers of the turns to carry out: those whose key is new, each key once."""
    return _new(state, [one.turn.key for one in coming], [one.request for one in coming])


def _new(state: State, keys: Sequence[str | None], requests: Sequence[str]) -> list[int]:
    """Return the places of what has no key, or a new one, each key once."""
    first: dict[str, str] = {}
    fresh = []
    for n, (key, request) in enumerate(zip(keys, requests, strict=True)):
        if key is not None:
            is_again = key in first
            if first.setdefault(key, request) != request:
                raise IdempotencyConflict(key, is_turn=True)
            if is_again or stored_result(state, key, request, OF_TURNS) is not None:
                continue
        fresh.append(n)
    return fresh


def _replayed(state: State, one: Coming) -> Ingested:
    stored = stored_result(state, one.turn.key, one.request, OF_TURNS)
    if not stored:
        return _SKIPPED
    if "list" in stored:  # a list was brought up to date under that key
        id = stored["evidence_id"]
        return Ingested(id, state.slot_of.get(id))
    return Ingested(**stored)


def _ledger_lines(
    state: State, coming: Sequence[Coming], results: Mapping[int, Ingested]
) -> tuple[Operation, ...]:
    """Return one operation for each turn that was carried out."""
    lines = []
    for seq, (n, result) in enumerate(results.items(), state.head.seq + 1):
        line = _ledger_line(seq, coming[n], result)
        lines.append(line)
    return tuple(lines)


def _ledger_line(seq: int, one: Coming, result: Ingested) -> Operation:
    if one.turn.key is None:
        return unkeyed(seq, "ingest")
    return operation(seq, "ingest", one.turn.key, one.request, asdict(result))


def _evidence(number: int, one: Coming) -> Evidence:
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
        metadata=metadata_field("metadata", turn.metadata),
    )


def head_after(state: State, encoder: EncoderInfo | None, arrivals: Sequence[Arrival]) -> Head:
    """Return the head once these have arrived; the first of them name the encoder.

    Raises:
        EncoderMismatch: for vectors of another length than the memory has.
    """
    count = state.head.evidence + len(arrivals)
    head = replace(state.head, evidence=count)
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
