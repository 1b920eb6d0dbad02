"""A whole memory as JSON values, one per row, and back: for backups, for moving house, for a person
to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from demem_agent.errors import DeMemError, InvalidInput, InvariantBroken, StoreError
from demem_agent.slots.invariants import check
from demem_agent.slots.records import Delta, Head, Operation, StoredContext, StoredEvidence
from demem_agent.slots.state import State
from demem_agent.stores import Address, Rows, Store
from demem_agent.stores.codec import (
    Json,
    certified_from,
    certified_to,
    context_from,
    context_to,
    evidence_from,
    evidence_to,
    settings_from,
    settings_to,
    slot_row,
    slot_row_from,
    slot_row_to,
    slot_state,
    vectors_from_text,
    vectors_to_text,
)
from demem_agent.stores.loading import load_state
from demem_agent.text.units import Measure, measure

__all__ = ["FORMAT", "export", "restore"]

#: Raised when the meaning of a line changes; a reader refuses what is newer than itself.
FORMAT = 1


def export(state: State) -> Iterator[Json]:
    """Give the memory row by row; vectors as base64 of little-endian float32."""
    yield {
        "kind": "memory",
        "format": FORMAT,
        "settings": settings_to(state.settings),
        "head": asdict(state.head),
    }
    index = state.derived.index
    for item, evidence in state.evidence.items():
        yield {
            "kind": "evidence",
            **evidence_to(evidence),
            "slot": state.slot_of[item],
            "spans": [list(span) for span in state.spans(item)],
            "vectors": vectors_to_text(state.passage_index().vectors_of(item)) if index else "",
        }
    for number in sorted(state.slots):
        yield {"kind": "slot", **slot_row_to(slot_row(state.slots[number]))}
    for stored in state.contexts.values():
        yield {
            "kind": "context",
            **context_to(stored.context),
            "vector": vectors_to_text(stored.vector),
        }
    for certified in state.certificates.values():
        yield {"kind": "certificate", **certified_to(certified)}
    for operation in state.keyed.values():
        yield {**asdict(operation), "operation": operation.kind, "kind": "operation"}


def restore(
    lines: Iterable[Mapping[str, Any]],
    store: Store,
    address: Address,
    counter: Measure | None = None,
) -> None:
    """Write exported lines as a new memory, in one transaction.

    Raises:
        InvalidInput: naming the line that is not as :func:`export` writes it.
        StoreError: if the store holds a memory of that address already.
    """
    if not isinstance(lines, Iterable) or isinstance(lines, str | Mapping):
        raise InvalidInput("lines", lines, "what export gave: a list of mappings")
    rows = _rows(lines)
    try:
        state = load_state(rows, measure(rows.settings.unit, counter))
        check(state)
    except (InvariantBroken, StoreError) as error:
        raise InvalidInput(
            "lines", str(error), "a whole export, with every line that it had"
        ) from error
    delta = Delta(
        rows.head,
        tuple(rows.keyed),
        evidence=tuple(rows.evidence),
        slots=tuple(slot_state(state, row) for row in rows.slots),
        contexts=tuple(rows.contexts),
        certificates=tuple(certified_from(plain, state) for plain in rows.certificates),
        since=0,
    )
    store.create(address, rows.settings)
    store.commit(address, delta)


def _rows(lines: Iterable[Mapping[str, Any]]) -> Rows:
    evidence, slots, contexts, certificates, keyed = [], [], [], [], []
    head: tuple[Any, Head] | None = None
    for n, line in enumerate(lines, 1):
        try:
            kind, body = (
                line["kind"],
                {name: value for name, value in line.items() if name != "kind"},
            )
            if kind == "memory":
                head = (_settings(body), Head(**body["head"]))
            elif kind == "evidence":
                evidence.append(_evidence(body))
            elif kind == "slot":
                slots.append(slot_row_from(body))
            elif kind == "context":
                vector = vectors_from_text(body.pop("vector"))
                contexts.append(StoredContext(context_from(body), vector))
            elif kind == "certificate":
                certificates.append(body)
            elif kind == "operation":
                keyed.append(Operation(kind=body.pop("operation"), **body))
            else:
                raise ValueError(f"unknown kind {kind!r}")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DeMemError):
                raise
            raise InvalidInput(
                f"line {n}", type(error).__name__, "a row as export writes it"
            ) from error
    if head is None:
        raise InvalidInput("line 1", None, "a row of the kind 'memory'")
    return Rows(head[0], head[1], evidence, slots, contexts, certificates, keyed)


def _settings(body: Mapping[str, Any]) -> Any:
    if body["format"] > FORMAT:
        raise InvalidInput(
            "format", body["format"], f"at most {FORMAT}; the file was written by a newer version"
        )
    return settings_from(body["settings"])


def _evidence(body: dict[str, Any]) -> StoredEvidence:
    spans = tuple((int(a), int(b)) for a, b in body.pop("spans"))
    vectors = vectors_from_text(body.pop("vectors"), len(spans))
    slot = int(body.pop("slot"))
    return StoredEvidence(evidence_from(body), slot, spans, vectors)
