"""What must hold between the rows of an export, beyond what a state can show of itself.

A store writes rows that fit; a file that somebody has edited may hold anything. What is refused
here would be taken in by a state and break a later operation: ids that are given twice, numbers
that never were, lines outside their texts, results that no operation has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from demem_agent.later import pattern
from demem_agent.slots.records import Operation, StoredEvidence, Vector
from demem_agent.stores.base import Rows
from demem_agent.stores.shapes import require_shape
from demem_agent.types import (
    Context,
    Decision,
    FeedbackReport,
    Ingested,
    Receipt,
    Sharing,
    SplitCertificate,
    Succession,
    Updated,
    number_of,
)

__all__ = ["Problem", "problems"]

#: Ids have a letter and a number, which 18 digits hold.
_ID = pattern("([aecsxd])([1-9][0-9]{0,17})")
#: How far a vector of unit length may be from it, as it was rounded.
_ROUNDED = 0.01


class Problem(NamedTuple):
    """A row that cannot be: its kind and place among those of its kind, and why."""

    kind: str
    place: int
    why: str


def problems(rows: Rows, certificates: Iterable[SplitCertificate]) -> Iterator[Problem]:
    """Yield what cannot be in the rows of a memory, each of which is of its shape.

    Args:
        certificates: those of the rows, as they were read.
    """
    known = _Known(rows)
    yield from known.head()
    yield from _each("evidence", rows.evidence, known.evidence)
    yield from _each("slot", rows.slots, known.slot)
    yield from _each("context", [one.context for one in rows.contexts], known.context)
    yield from _each("certificate", certificates, known.certificate)
    yield from _each("succession", rows.successions, known.succession)
    yield from _each("situation", rows.situations, known.situation)
    yield from _each("choice", rows.choices, known.choice)
    yield from _each("mark", rows.marks, known.mark)
    yield from _each("key", rows.keyed, known.keyed)
    yield from _each("receipt", rows.receipts, known.receipt)


def _each(
    kind: str, records: Iterable[Any], check: Callable[[Any], Iterable[str]]
) -> Iterator[Problem]:
    for place, record in enumerate(records):
        for why in check(record):
            yield Problem(kind, place, why)


class _Known:
    """What the rows of a memory have, by id; each method yields why a record cannot be."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.lengths = {one.evidence.id: len(one.evidence.text) for one in rows.evidence}
        self.contexts = {one.context.id for one in rows.contexts}
        self.situations = {one.situation.id for one in rows.situations}
        self.choices = {one.id for one in rows.choices}
        self.certificates = {str(one["certificate"]["id"]) for one in rows.certificates}
        self.slots = {one.number for one in rows.slots}
        self._given: set[str] = set()
        self._done: set[int] = set()

    def head(self) -> Iterator[Problem]:
        """Yield what cannot be in the numbers of the first line."""
        head = self.rows.head
        counts = (head.seq, head.evidence, head.forgotten, head.contexts, head.certificates)
        more = (head.successions, head.situations, head.choices, head.noted, head.dimensions)
        if min(*counts, *more) < 0:
            yield Problem("memory", 0, "counts less than nothing")
        if not all(map(_is_plain, (head.encoder, head.encoder_fingerprint))):
            yield Problem("memory", 0, "names an encoder that cannot be written")
        has_vectors = self.rows.evidence or self.rows.situations
        if has_vectors and not head.dimensions:
            yield Problem("memory", 0, "has vectors of no dimensions")

    def evidence(self, stored: StoredEvidence) -> Iterator[str]:
        """Yield why an item cannot be."""
        item = stored.evidence
        yield from self._new(item.id, "e", self.rows.head.evidence)
        if not item.text:
            yield "has no text"
        if not 0 <= item.trust <= 1:
            yield "has a trust outside [0, 1]"
        if not stored.spans:
            yield "has no passages"
        if not all(0 <= start < end <= len(item.text) for start, end in stored.spans):
            yield "has a passage outside its text"
        if not all(source in self.lengths for source in item.made_from):
            yield "was made from what is not there"
        yield from self._vectors(stored.vectors)

    def slot(self, row: Any) -> Iterator[str]:
        """Yield why a slot cannot be."""
        yield from self._new(f"slot {row.number}")
        above = {row.number}
        parents = {one.number: one.parent for one in self.rows.slots}
        parent = row.parent
        while parent is not None and parent not in above:
            above.add(parent)
            parent = parents.get(parent)
        if parent is not None:
            yield "descends from itself"

    def context(self, context: Context) -> Iterator[str]:
        """Yield why a context cannot be."""
        yield from self._new(context.id, "a", self.rows.head.contexts)
        if not all(map(self._is_line, context.read)):
            yield "has read a line that cannot be"
        if not all(map(_is_evidence, (*context.supports, *context.kept))):
            yield "rests on what is no evidence"
        if not all(self._is_line(verdict[:3]) for verdict in context.verdicts):
            yield "judges a line that cannot be"
        if not self.contexts.issuperset(context.untested):
            yield "waits for an answer that is not there"
        if context.lead is not None and not 0 <= context.lead < max(len(context.read), 1):
            yield "is led by a line that was not read"

    def certificate(self, certificate: SplitCertificate) -> Iterator[str]:
        """Yield why a certificate cannot be."""
        yield from self._new(certificate.id, "c", self.rows.head.certificates)
        if not self.contexts.issuperset(certificate.pair):
            yield "is of an answer that is not there"
        if not 0 <= certificate.slot < self.rows.settings.slots:
            yield "is of a slot that cannot be"
        if not all(map(self._is_line, certificate.rivals)):
            yield "has a rival line that cannot be"

    def succession(self, succession: Succession) -> Iterator[str]:
        """Yield why a succession cannot be."""
        yield from self._new(succession.id, "s", self.rows.head.successions)

    def situation(self, stored: Any) -> Iterator[str]:
        """Yield why a situation cannot be."""
        yield from self._new(stored.situation.id, "x", self.rows.head.situations)
        if not 0 <= stored.situation.seen <= self.rows.head.seq:
            yield "came with an operation that never was"
        yield from self._vectors(stored.vector.reshape(1, -1))

    def choice(self, decision: Decision) -> Iterator[str]:
        """Yield why a decision cannot be."""
        yield from self._new(decision.id, "d", self.rows.head.choices)
        if decision.situation not in self.situations:
            yield "was made in a situation that is not there"
        latest = decision.taken if decision.judged is None else decision.judged
        if not 0 <= decision.taken <= latest <= self.rows.head.seq:
            yield "is of an operation that never was"
        if len(set(decision.actions)) != len(decision.actions):
            yield "offers an action twice"

    def mark(self, mark: Any) -> Iterator[str]:
        """Yield why a mark cannot be."""
        yield from self._new(f"mark {mark.evidence_id}")

    def keyed(self, operation: Operation) -> Iterator[str]:
        """Yield why an operation with a key cannot be."""
        yield from self._operation(operation)
        yield from self._new(f"key {operation.key}")
        result = _read(operation)
        if result is None or not self._is_result(operation.kind, result):
            yield "has a result that no such operation gives"

    def receipt(self, operation: Operation) -> Iterator[str]:
        """Yield why what the memory did of itself cannot be."""
        yield from self._operation(operation)
        result = _read(operation)
        if result is None or not _is_record(_RECEIPTS.get(operation.kind), result):
            yield "has a result that no such operation gives"

    def _operation(self, operation: Operation) -> Iterator[str]:
        if operation.seq in self._done or not 0 < operation.seq <= self.rows.head.seq:
            yield "has a number that cannot be"
        self._done.add(operation.seq)
        if not all(map(_is_plain, (operation.kind, operation.request, operation.result))):
            yield "holds what cannot be written"

    def _new(self, id: str, letter: str = "", most: int = 0) -> Iterator[str]:
        """Yield why an id cannot be a new one of so many."""
        if id in self._given:
            yield "is there twice"
        self._given.add(id)
        if letter and not (_is_id(id, letter) and number_of(id) <= most):
            yield "has an id that was never given"

    def _vectors(self, vectors: Vector) -> Iterator[str]:
        if vectors.shape[1] != self.rows.head.dimensions:
            yield "has vectors of other dimensions"
        norms = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
        if not np.all((norms == 0) | (np.abs(norms - 1) < _ROUNDED)):
            yield "has a vector that is not of unit length"

    def _is_line(self, line: tuple[str, int, int]) -> bool:
        item, start, end = line
        longest = self.lengths.get(item, end)
        return _is_evidence(item) and 0 <= start <= end <= longest

    def _is_result(self, kind: str, result: Mapping[str, Any]) -> bool:
        match kind:
            case "ingest":
                return _is_record(Ingested, result)
            case "update":
                return _is_record(Updated, result)
            case "supersede":
                lines = {name: tuple(result.get(name) or ()) for name in ("old", "new")}
                return _is_record(Succession, {**result, **lines})
            case "sync":
                return _are_texts(result, ("list", "own")) and "evidence_id" in result
            case "decide" | "decided" | "outcome":
                return result.get("decision") in self.choices
            case "feedback":
                return self._is_report(result)
        return False

    def _is_report(self, result: Mapping[str, Any]) -> bool:
        certificate = result.get("certificate")
        whose = result.get("answer_id")
        known = certificate is None or certificate in self.certificates
        told = {**result, "certificate": None}
        return known and whose in self.contexts and _is_record(FeedbackReport, told)


#: What an operation without a key has done of itself, by its kind.
_RECEIPTS: dict[str, type] = {"room": Receipt, "lapse": Receipt, "share": Sharing}


def _read(operation: Operation) -> dict[str, Any] | None:
    try:
        result = json.loads(operation.result)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _is_record(kind: type | None, fields: Mapping[str, Any]) -> bool:
    """Whether a record can be made of fields, in which lists stand for tuples."""
    if kind is None:
        return False
    whole = {name: _as_tuple(value) for name, value in fields.items()}
    try:
        require_shape(kind(**whole))
    except (TypeError, ValueError):
        return False
    return True


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _are_texts(result: Mapping[str, Any], names: Iterable[str]) -> bool:
    return all(isinstance(result.get(name), str) for name in names)


def _is_id(id: str, letter: str) -> bool:
    found = _ID.fullmatch(id)
    return found is not None and found[1] == letter


def _is_evidence(id: str) -> bool:
    return _is_id(id, "e")


def _is_plain(text: str) -> bool:
    """Whether a column of text takes it: without half of a pair of code units."""
    return not any(map(_is_half, text))


def _is_half(letter: str) -> bool:
    return "\ud800" <= letter <= "\udfff"
