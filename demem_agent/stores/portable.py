"""A whole memory as JSON values, one per row, and back.

For backups, for moving house, for a person to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field

from demem_agent.errors import DeMemError, InvalidInput, InvariantBroken, StoreError
from demem_agent.later import dataclass
from demem_agent.settings import Settings
from demem_agent.slots.invariants import check
from demem_agent.slots.records import (
    Head,
    Operation,
    StoredContext,
    StoredEvidence,
    StoredSituation,
)
from demem_agent.slots.state import State
from demem_agent.stores import Address, Rows, Store
from demem_agent.stores.codec import (
    Json,
    Plain,
    certified_to_json,
    context_from_json,
    context_to_json,
    decision_from_json,
    decision_to_json,
    evidence_from_json,
    evidence_to_json,
    mark_from_json,
    settings_from_json,
    settings_to_json,
    situation_from_json,
    situation_to_json,
    slot_from_json,
    slot_to_json,
    spans_from_json,
    succession_from_json,
    succession_to_json,
)
from demem_agent.stores.loading import load_state
from demem_agent.stores.slot_rows import SlotRow, slot_row
from demem_agent.stores.vectors import vectors_from_text, vectors_to_text
from demem_agent.text.units import Measure, measure
from demem_agent.types import Decision, Mark, Succession

__all__ = ["FORMAT", "export", "restore"]

#: Raised when the meaning of a line changes; a reader refuses what is newer than itself.
FORMAT = 1


def export(state: State) -> Iterator[Json]:
    """Yield the memory row by row; vectors as base64 of little-endian float32."""
    yield {
        "kind": "memory",
        "format": FORMAT,
        "settings": settings_to_json(state.settings),
        "head": _head_to_line(state.head),
    }
    for item in state.evidence:
        yield {"kind": "evidence", **_evidence_to_line(state, item)}
    for number in sorted(state.slots):
        yield {"kind": "slot", **slot_to_json(slot_row(state.slots[number]))}
    for stored in state.contexts.values():
        yield {"kind": "context", **_context_to_line(stored)}
    for certified in state.certificates.values():
        yield {"kind": "certificate", **certified_to_json(certified)}
    for succession in state.successions.values():
        yield {"kind": "succession", **succession_to_json(succession)}
    for situation in state.situations.values():
        yield {"kind": "situation", **_situation_to_line(situation)}
    for decision in state.choices.values():
        yield {"kind": "choice", **decision_to_json(decision)}
    for mark in state.marks.values():
        yield {"kind": "mark", **asdict(mark)}
    for operation in (*state.keyed.values(), *state.receipts):
        yield {**asdict(operation), "operation": operation.kind, "kind": "operation"}


def restore(
    lines: Iterable[Plain],
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
    _check(rows, counter)
    store.put(address, rows)


def _check(rows: Rows, counter: Measure | None) -> None:
    try:
        check(load_state(rows, measure(rows.settings.unit, counter)))
    except (InvariantBroken, StoreError) as error:
        allowed = "a whole export, with every line that it had"
        raise InvalidInput("lines", str(error), allowed) from error


@dataclass(slots=True)
class _Found:
    """What the lines have held so far."""

    settings: Settings | None = None
    head: Head | None = None
    evidence: list[StoredEvidence] = field(default_factory=list)
    slots: list[SlotRow] = field(default_factory=list)
    contexts: list[StoredContext] = field(default_factory=list)
    certificates: list[Json] = field(default_factory=list)
    successions: list[Succession] = field(default_factory=list)
    situations: list[StoredSituation] = field(default_factory=list)
    choices: list[Decision] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    keyed: list[Operation] = field(default_factory=list)
    receipts: list[Operation] = field(default_factory=list)


def _rows(lines: Iterable[Plain]) -> Rows:
    found = _found_in(lines)
    if found.settings is None or found.head is None:
        raise InvalidInput("line 1", None, "a row of the kind 'memory'")
    return Rows(
        settings=found.settings,
        head=found.head,
        evidence=found.evidence,
        slots=found.slots,
        contexts=found.contexts,
        certificates=found.certificates,
        successions=found.successions,
        situations=found.situations,
        choices=found.choices,
        marks=found.marks,
        keyed=found.keyed,
        receipts=found.receipts,
    )


def _found_in(lines: Iterable[Plain]) -> _Found:
    found = _Found()
    for number, line in enumerate(lines, 1):
        try:
            _add(found, line)
        except DeMemError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            says = f"line {number} is no row of a memory that was exported"
            name = type(error).__name__
            raise InvalidInput(f"line {number}", name, "a row as export writes it", says) from error
    return found


def _add(found: _Found, line: Plain) -> None:
    kind = line["kind"]
    body = {name: value for name, value in line.items() if name != "kind"}
    match kind:
        case "memory":
            found.settings = _settings_from_line(body)
            found.head = Head(**body["head"])
        case "evidence":
            found.evidence.append(_evidence_from_line(body))
        case "slot":
            found.slots.append(slot_from_json(body))
        case "context":
            found.contexts.append(_context_from_line(body))
        case "certificate":
            found.certificates.append(body)
        case "succession":
            found.successions.append(succession_from_json(body))
        case "situation":
            found.situations.append(_situation_from_line(body))
        case "choice":
            found.choices.append(decision_from_json(body))
        case "mark":
            found.marks.append(mark_from_json(body))
        case "operation":
            operation = Operation(kind=body.pop("operation"), **body)
            kept = found.receipts if operation.is_receipt else found.keyed
            kept.append(operation)
        case _:
            raise ValueError(f"unknown kind {kind!r}")


def _head_to_line(head: Head) -> Json:
    """Return a head as plain values; its era is that of the store, not of the memory."""
    line = asdict(head)
    del line["era"]
    return line


def _settings_from_line(body: Json) -> Settings:
    if body["format"] > FORMAT:
        allowed = f"at most {FORMAT}; the file was written by a newer version"
        raise InvalidInput("format", body["format"], allowed)
    return settings_from_json(body["settings"])


def _evidence_to_line(state: State, item: str) -> Json:
    index = state.derived.index
    return {
        **evidence_to_json(state.evidence[item]),
        "slot": state.slot_of[item],
        "spans": list(map(list, state.spans(item))),
        "vectors": vectors_to_text(index.vectors_of(item)) if index else "",
    }


def _evidence_from_line(body: Json) -> StoredEvidence:
    spans = spans_from_json(body.pop("spans"))
    vectors = vectors_from_text(body.pop("vectors"), len(spans))
    slot = int(body.pop("slot"))
    return StoredEvidence(evidence_from_json(body), slot, spans, vectors)


def _context_to_line(stored: StoredContext) -> Json:
    return {**context_to_json(stored.context), "vector": vectors_to_text(stored.vector)}


def _context_from_line(body: Json) -> StoredContext:
    vector = vectors_from_text(body.pop("vector"))
    return StoredContext(context_from_json(body), vector)


def _situation_to_line(stored: StoredSituation) -> Json:
    return {**situation_to_json(stored.situation), "vector": vectors_to_text(stored.vector)}


def _situation_from_line(body: Json) -> StoredSituation:
    vector = vectors_from_text(body.pop("vector"))
    return StoredSituation(situation_from_json(body), vector)
