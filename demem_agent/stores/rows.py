"""Records to and from rows of the tables in ``schema``; what cannot be read is told from what can."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from demem_agent.errors import StoreError
from demem_agent.slots.records import (
    Head,
    Operation,
    SlotState,
    StoredContext,
    StoredEvidence,
    Vector,
)
from demem_agent.stores.codec import (
    Json,
    context_from,
    context_to,
    dumps,
    slot_row,
    vectors_from_bytes,
    vectors_to_bytes,
    written_to,
)
from demem_agent.turns import time_field, unit_field
from demem_agent.types import Evidence, number_of

__all__ = [
    "certificate_from_row",
    "context_from_row",
    "context_row",
    "cover_columns",
    "each_row",
    "evidence_from_row",
    "evidence_row",
    "head_from_row",
    "head_row",
    "one_row",
    "operation_from_row",
    "slot_columns",
    "text_from",
    "text_to",
]

_Row = TypeVar("_Row")


def each_row(
    table: str, found: Iterable[tuple[Any, ...]], build: Callable[..., _Row], damaged: list[str]
) -> list[_Row]:
    """Build every row that can be built; name the others."""
    rows = []
    for columns in found:
        try:
            rows.append(build(*columns))
        except DAMAGE:
            damaged.append(f"{table} {columns[0]}")
    return rows


def one_row(table: str, name: str, build: Callable[[], _Row]) -> _Row:
    try:
        return build()
    except DAMAGE as error:
        raise StoreError(f"the row {table} {name!r} is damaged: {error}") from error


#: What decoding a row can raise when its bytes are not what was written.
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError)


def head_row(head: Head) -> tuple[Any, ...]:
    return (
        head.seq,
        head.evidence,
        head.forgotten,
        head.contexts,
        head.certificates,
        head.encoder,
        head.encoder_fingerprint,
        head.dimensions,
    )


def evidence_row(stored: StoredEvidence) -> tuple[Any, ...]:
    item = stored.evidence
    return (
        number_of(item.id),
        stored.slot,
        text_to(item.text),
        text_to(item.speaker),
        item.at.isoformat() if item.at else None,
        text_to(item.session),
        text_to(item.source),
        text_to(item.source_id),
        item.trust,
        dumps(stored.spans),
        vectors_to_bytes(stored.vectors),
    )


def evidence_from_row(number: int, slot: int, text: bytes, *others: Any) -> StoredEvidence:
    speaker, at, session, source, source_id, trust, spans, vectors = others
    words = text.decode("utf-8", "surrogatepass")
    item = Evidence(
        f"e{number}",
        words,
        text_from(speaker),
        time_field("at", at),
        text_from(session),
        text_from(source),
        text_from(source_id),
        unit_field("trust", trust),
    )
    cut = tuple((int(a), int(b)) for a, b in json.loads(spans))
    if not all(0 <= a < b <= len(words) for a, b in cut):
        raise ValueError("a passage lies outside the text")
    return StoredEvidence(item, int(slot), cut, _unit_vectors(vectors, len(cut)))


def _unit_vectors(raw: bytes, rows: int) -> Vector:
    vectors = vectors_from_bytes(raw, rows)
    for vector in vectors:
        length = float(vector @ vector)  # NaN is in neither
        if not (length == 0 or abs(length - 1) < 1e-3):
            raise ValueError("a vector is not of unit length")
    return vectors


def context_row(stored: StoredContext) -> tuple[Any, ...]:
    context = stored.context
    return (
        number_of(context.id),
        context.slot,
        dumps(context_to(context)),
        vectors_to_bytes(stored.vector),
    )


def context_from_row(number: int, body: str, vector: bytes) -> StoredContext:
    context, found = context_from(json.loads(body)), vectors_from_bytes(vector)
    if number_of(context.id) != number or not np.isfinite(found).all():
        raise ValueError("another context's body, or a vector that is none")
    return StoredContext(context, found)


def certificate_from_row(number: int, body: str) -> Json:
    plain: Json = json.loads(body)
    if plain["certificate"]["id"] != f"c{number}":
        raise ValueError("another certificate's body")
    return plain


def operation_from_row(seq: int, kind: str, key: bytes, request: str, result: str) -> Operation:
    json.loads(result)  # it is replayed as it stands
    return Operation(int(seq), str(kind), text_from(key), str(request), result)


def head_from_row(*columns: Any) -> Head:
    seq, evidence, forgotten, contexts, certificates, encoder, fingerprint, dimensions = columns
    return Head(
        int(seq), int(evidence), int(forgotten), int(contexts), int(certificates),
        str(encoder), str(fingerprint), int(dimensions),
    )  # fmt: skip


def slot_columns(slot: SlotState) -> tuple[Any, ...]:
    row = slot_row(slot)
    gate = dumps(row.gate) if row.gate else None
    total, name = vectors_to_bytes(row.total), text_to(row.name)
    written = dumps(written_to(row.written)) if row.written else None
    return (
        row.number,
        row.parent,
        row.revision,
        total,
        text_to(row.text),
        gate,
        name,
        int(row.pinned),
        written,
    )


def cover_columns(slot: SlotState) -> Iterator[tuple[int, int, int, int, int]]:
    for place, excerpt in enumerate(slot.summary.kept):
        yield slot.number, place, number_of(excerpt.evidence_id), excerpt.start, excerpt.end


def text_to(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def text_from(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "surrogatepass")
