"""A whole memory as JSON values, one per row, and back.

For backups, for moving house, for a person to read. The last line tells how many there are and what
they come to (``manifest``): an export that was cut off, edited or put in another order is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, field
from functools import partial
from typing import TypeVar

from demem_agent.errors import InvalidInput, InvariantBroken, StoreError
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
    certificate_from_json,
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
from demem_agent.stores.manifest import END, Tally, closing
from demem_agent.stores.shapes import Misfit, require_shape
from demem_agent.stores.slot_rows import SlotRow, slot_row
from demem_agent.stores.soundness import problems
from demem_agent.stores.vectors import vectors_from_text, vectors_to_text
from demem_agent.text.units import Measure, measure
from demem_agent.types import Decision, Mark, SplitCertificate, Succession

__all__ = ["FORMAT", "export", "restore", "sound"]

Record = TypeVar("Record")

#: What reading a line that is none may raise; a value may be too large, or too deep.
_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)

#: Raised when the meaning of a line changes; a reader refuses what is newer than itself.
FORMAT = 2
#: The first one whose exports have a last line that tells of the others.
_ENDED = 2


def export(state: State) -> Iterator[Json]:
    """Yield the memory row by row, and then what all of it comes to.

    Vectors are base64 of little-endian float32.
    """
    return closing(_lines(state))


def _lines(state: State) -> Iterator[Json]:
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
    for mark in state.marks_in_order():
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
    store.put(address, sound(lines, counter))


def sound(lines: Iterable[Plain], counter: Measure | None = None) -> Rows:
    """Return the rows that exported lines describe, once all that must hold for them was checked.

    Raises:
        InvalidInput: naming the line that is not as :func:`export` writes it.
    """
    if not isinstance(lines, Iterable) or isinstance(lines, str | Mapping):
        raise InvalidInput("lines", lines, "what export gave: a list of mappings")
    found = _found_in(lines)
    rows = _rows(found)
    problem = next(problems(rows, found.witnesses), None)
    if problem is not None:
        number = found.numbers[problem.kind][problem.place]
        raise _no_row(number, f"it {problem.why}")
    _check(rows, counter)
    return rows


def _check(rows: Rows, counter: Measure | None) -> None:
    try:
        check(load_state(rows, measure(rows.settings.unit, counter)))
    except (InvariantBroken, StoreError) as error:
        allowed = "a whole export, with every line that it had"
        raise InvalidInput("lines", str(error), allowed) from error


@dataclass(slots=True)
class _Found:
    """What the lines have held so far.

    Attributes:
        format: of the export, 0 before its first line.
        witnesses: the certificates, as they were read.
        numbers: of the lines, by their kind; operations are keys or receipts.
    """

    format: int = 0
    settings: Settings | None = None
    head: Head | None = None
    evidence: list[StoredEvidence] = field(default_factory=list)
    slots: list[SlotRow] = field(default_factory=list)
    contexts: list[StoredContext] = field(default_factory=list)
    certificates: list[Json] = field(default_factory=list)
    witnesses: list[SplitCertificate] = field(default_factory=list)
    successions: list[Succession] = field(default_factory=list)
    situations: list[StoredSituation] = field(default_factory=list)
    choices: list[Decision] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    keyed: list[Operation] = field(default_factory=list)
    receipts: list[Operation] = field(default_factory=list)
    numbers: defaultdict[str, list[int]] = field(default_factory=partial(defaultdict, list))


def _rows(found: _Found) -> Rows:
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
    """Read lines to the last one, which tells of the others where the format has one."""
    found = _Found()
    tally = Tally()
    is_whole = False
    for number, line in enumerate(lines, 1):
        if is_whole:
            raise _no_row(number, "it comes after the last one")
        with _named(number):
            if found.format >= _ENDED and line["kind"] == END:
                tally.require(line)
                is_whole = True
            else:
                tally.add(line)
                _enter(found, line, number)
    if found.format >= _ENDED and not is_whole:
        raise tally.cut_off()
    return found


@contextmanager
def _named(number: int) -> Iterator[None]:
    """Say of which line it is that something cannot be."""
    try:
        yield
    except InvalidInput as error:
        if error.field.startswith("line ") or error.field == "format":
            raise
        raise _no_row(number, str(error)) from error
    except Misfit as error:
        raise _no_row(number, str(error)) from error
    except KeyError as error:
        raise _no_row(number, f"{error} is missing") from error
    except _UNREADABLE as error:
        raise _no_row(number, type(error).__name__) from error


def _no_row(number: int, why: str) -> InvalidInput:
    says = f"line {number} is no row of a memory that was exported: {why}"
    return InvalidInput(f"line {number}", why, "a row as export writes it", says)


def _enter(found: _Found, line: Plain, number: int) -> None:
    """Add a line to what was found, and its number."""
    if (line["kind"] == "memory") != (number == 1):
        raise Misfit("the first line is that of the memory, and no other")
    found.numbers[_add(found, line)].append(number)


def _add(found: _Found, line: Plain) -> str:
    """Add a line to what was found; return of which kind it is."""
    kind = str(line["kind"])
    body = {name: value for name, value in line.items() if name != "kind"}
    match kind:
        case "memory":
            found.settings = _settings_from_line(body)
            found.format = body["format"]
            found.head = _shaped(Head(**body["head"]))
        case "evidence":
            found.evidence.append(_shaped(_evidence_from_line(body)))
        case "slot":
            found.slots.append(_shaped(slot_from_json(body)))
        case "context":
            found.contexts.append(_shaped(_context_from_line(body)))
        case "certificate":
            found.witnesses.append(_witness(body))
            found.certificates.append(body)
        case "succession":
            found.successions.append(_shaped(succession_from_json(body)))
        case "situation":
            found.situations.append(_shaped(_situation_from_line(body)))
        case "choice":
            found.choices.append(_shaped(decision_from_json(body)))
        case "mark":
            found.marks.append(_shaped(mark_from_json(body)))
        case "operation":
            operation = _shaped(Operation(kind=body.pop("operation"), **body))
            kind = "receipt" if operation.is_receipt else "key"
            kept = found.receipts if operation.is_receipt else found.keyed
            kept.append(operation)
        case _:
            raise Misfit(f"there is no kind {kind[:20]!r}")
    return kind


def _shaped(record: Record) -> Record:
    """Return a record whose every field holds what it can."""
    require_shape(record)
    return record


def _witness(body: Json) -> SplitCertificate:
    """Return a certificate; check the rest of its row, which is read once there is a state."""
    before = body["before"]
    if before is not None:
        require_shape(slot_from_json(before))
    if not all(isinstance(id, str) for id in body["moved"]) or type(body["seq"]) is not int:
        raise Misfit("it moved what cannot be")
    return _shaped(certificate_from_json(body["certificate"]))


def _head_to_line(head: Head) -> Json:
    """Return a head as plain values; its era is that of the store, not of the memory."""
    line = asdict(head)
    del line["era"]
    return line


def _settings_from_line(body: Json) -> Settings:
    version = body["format"]
    if type(version) is not int or version < 1:
        raise Misfit("a format that cannot be")
    if version > FORMAT:
        allowed = f"at most {FORMAT}; the file was written by a newer version"
        raise InvalidInput("format", version, allowed)
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
