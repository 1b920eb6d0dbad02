"""Records to and from rows of the tables in ``tables``; damaged rows are told from sound ones.

A row that is written is a mapping from the names of its columns to their values; one that is read
is asked for its columns by name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np

from demem_agent.errors import StoreError
from demem_agent.metadata import Metadata, metadata_field
from demem_agent.settings import Settings
from demem_agent.slots.records import (
    Head,
    Operation,
    StoredContext,
    StoredEvidence,
    StoredSituation,
    Vector,
)
from demem_agent.stores.codec import (
    Json,
    context_from_json,
    context_to_json,
    decision_from_json,
    decision_to_json,
    dumps,
    rank_from_json,
    settings_from_json,
    settings_to_json,
    situation_from_json,
    situation_to_json,
    spans_from_json,
    succession_from_json,
    succession_to_json,
    written_from_json,
    written_to_json,
)
from demem_agent.stores.slot_rows import SlotRow
from demem_agent.stores.vectors import (
    codes_to_bytes,
    vectors_from_bytes,
    vectors_from_codes,
    vectors_to_bytes,
)
from demem_agent.turns import time_field, unit_field
from demem_agent.types import Decision, Evidence, Mark, Succession, number_of

__all__ = [
    "DAMAGE",
    "Columns",
    "Row",
    "certificate_from_row",
    "certificate_to_row",
    "choice_from_row",
    "choice_to_row",
    "context_from_row",
    "context_to_row",
    "evidence_from_row",
    "evidence_to_row",
    "head_from_row",
    "head_to_row",
    "mark_from_row",
    "mark_to_row",
    "naming_damage",
    "operation_from_row",
    "operation_to_row",
    "settings_from_row",
    "settings_to_row",
    "situation_from_row",
    "situation_to_row",
    "slot_from_row",
    "slot_to_row",
    "sound_rows",
    "succession_from_row",
    "succession_to_row",
]

_Read = TypeVar("_Read")
_Record = TypeVar("_Record")

#: What is written: the values of a row by the names of its columns.
Columns = dict[str, int | float | str | bytes | None]

#: What decoding a row can raise when its bytes are not what was written.
DAMAGE = (ValueError, TypeError, KeyError, IndexError, AttributeError)


class Row(Protocol):
    """What is read: a row that gives a column by its name."""

    def __getitem__(self, name: str, /) -> Any:
        """Return the value of a column."""
        ...


def sound_rows(
    rows: Iterable[tuple[str, _Read]], build: Callable[[_Read], _Record], damaged: list[str]
) -> list[_Record]:
    """Build what can be built of (name, row) pairs; add the names of the others to ``damaged``."""
    built: list[_Record] = []
    for name, row in rows:
        try:
            built.append(build(row))
        except DAMAGE:
            damaged.append(name)
    return built


@contextmanager
def naming_damage(name: str) -> Iterator[None]:
    """Raise a StoreError that names a row where decoding it fails."""
    try:
        yield
    except DAMAGE as error:
        raise StoreError(f"the row {name} is damaged: {error}") from error


def settings_to_row(settings: Settings) -> Columns:
    """Return the column of the memory's row that its settings fill."""
    return {"settings": dumps(settings_to_json(settings))}


def settings_from_row(row: Row) -> Settings:
    """Return the settings in a memory's row."""
    return settings_from_json(json.loads(row["settings"]))


def head_to_row(head: Head) -> Columns:
    """Return the columns of the memory's row that change with every operation."""
    return {
        "seq": head.seq,
        "evidence": head.evidence,
        "forgotten": head.forgotten,
        "contexts": head.contexts,
        "certificates": head.certificates,
        "successions": head.successions,
        "situations": head.situations,
        "choices": head.choices,
        "noted": head.noted,
        "encoder": head.encoder,
        "encoder_fingerprint": head.encoder_fingerprint,
        "dimensions": head.dimensions,
        "era": head.era,
    }


def head_from_row(row: Row) -> Head:
    """Return the head in a memory's row."""
    return Head(
        seq=int(row["seq"]),
        evidence=int(row["evidence"]),
        forgotten=int(row["forgotten"]),
        contexts=int(row["contexts"]),
        certificates=int(row["certificates"]),
        successions=int(row["successions"]),
        situations=int(row["situations"]),
        choices=int(row["choices"]),
        noted=int(row["noted"]),
        encoder=str(row["encoder"]),
        encoder_fingerprint=str(row["encoder_fingerprint"]),
        dimensions=int(row["dimensions"]),
        era=int(row["era"]),
    )


def evidence_to_row(stored: StoredEvidence) -> Columns:
    """Return the row of an item."""
    item = stored.evidence
    codes = codes_to_bytes(stored.vectors)
    return {
        "number": number_of(item.id),
        "slot": stored.slot,
        "text": _bytes_of(item.text),
        "speaker": _bytes_of(item.speaker),
        "at": item.at.isoformat() if item.at else None,
        "session": _bytes_of(item.session),
        "source": _bytes_of(item.source),
        "source_id": _bytes_of(item.source_id),
        "trust": item.trust,
        "metadata": dumps(item.metadata) if item.metadata else None,
        "made_from": dumps(item.made_from),
        "spans": dumps(stored.spans),
        "vectors": vectors_to_bytes(stored.vectors) if codes is None else None,
        "codes": codes,
    }


def evidence_from_row(row: Row) -> StoredEvidence:
    """Return an item from its row; one that has no vectors has some of no numbers.

    Raises:
        ValueError: also for a passage outside the text, or a vector that is not of unit length.
    """
    text = row["text"].decode("utf-8", "surrogatepass")
    item = Evidence(
        id=f"e{row['number']}",
        text=text,
        speaker=_name_of(row["speaker"]),
        at=time_field("at", row["at"]),
        session=_name_of(row["session"]),
        source=_name_of(row["source"]),
        source_id=_text_of(row["source_id"]),
        trust=unit_field("trust", row["trust"]),
        metadata=_metadata(row["metadata"]),
        made_from=_ids_in(row["made_from"]),
    )
    spans = _spans_within(row["spans"], len(text))
    vectors = _vectors_in(row, len(spans))
    return StoredEvidence(item, int(row["slot"]), spans, vectors)


def _metadata(raw: str | None) -> Metadata:
    return metadata_field("metadata", json.loads(raw) if raw else None)


def _ids_in(raw: str) -> tuple[str, ...]:
    """Return the ids in a column that has them in JSON."""
    if raw == "[]":  # as most have
        return ()
    ids = json.loads(raw)
    for id in ids:
        number_of(id)
    return tuple(ids)


def _spans_within(raw: str, length: int) -> tuple[tuple[int, int], ...]:
    spans = spans_from_json(json.loads(raw))
    for start, end in spans:
        if not 0 <= start < end <= length:
            raise ValueError("a passage lies outside the text")
    return spans


def _vectors_in(row: Row, rows: int) -> Vector:
    """Return the vectors of an item; where they are in codes, they are of unit length."""
    codes = row["codes"]
    if codes is None and row["vectors"] is None:
        return np.zeros((rows, 0), np.float32)
    if codes is None:
        return _unit_vectors(row["vectors"], rows)
    if row["vectors"] is not None:
        raise ValueError("vectors twice")
    return vectors_from_codes(codes, rows)


def _unit_vectors(raw: bytes, rows: int) -> Vector:
    vectors = vectors_from_bytes(raw, rows)
    for vector in vectors:
        length = float(vector @ vector)  # NaN is in neither
        if not (length == 0 or abs(length - 1) < 1e-3):
            raise ValueError("a vector is not of unit length")
    return vectors


def slot_to_row(row: SlotRow) -> Columns:
    """Return the row of a slot."""
    return {
        "number": row.number,
        "parent": row.parent,
        "revision": row.revision,
        "total": vectors_to_bytes(row.total),
        "summary": _bytes_of(row.text),
        "gate": dumps(row.gate) if row.gate else None,
        "name": _bytes_of(row.name),
        "pinned": int(row.pinned),
        "written": dumps(written_to_json(row.written)) if row.written else None,
        "cover": dumps([(number_of(item), start, end) for item, start, end in row.cover]),
    }


def slot_from_row(row: Row) -> SlotRow:
    """Return a slot from its row."""
    number = row["number"]
    gate = row["gate"]
    written = row["written"]
    return SlotRow(
        number=number,
        parent=row["parent"],
        revision=row["revision"],
        total=vectors_from_bytes(row["total"]),
        text=_text_of(row["summary"]) or "",
        cover=_cover_in(row["cover"]),
        gate=rank_from_json(json.loads(gate)) if gate else None,
        name=_text_of(row["name"]),
        pinned=bool(row["pinned"]),
        written=written_from_json(json.loads(written)) if written else None,
    )


def _cover_in(raw: str) -> tuple[tuple[str, int, int], ...]:
    """Return excerpts from a column that has them in JSON, as (number of evidence, start, end)."""
    return tuple((f"e{item}", start, end) for item, start, end in json.loads(raw))


def context_to_row(stored: StoredContext) -> Columns:
    """Return the row of a context."""
    context = stored.context
    return {
        "number": number_of(context.id),
        "slot": context.slot,
        "body": dumps(context_to_json(context)),
        "vector": vectors_to_bytes(stored.vector),
    }


def context_from_row(row: Row) -> StoredContext:
    """Return a context from its row.

    Raises:
        ValueError: also for another context's body, or a vector that is none.
    """
    context = context_from_json(json.loads(row["body"]))
    vector = vectors_from_bytes(row["vector"])
    if number_of(context.id) != row["number"] or not np.isfinite(vector).all():
        raise ValueError("another context's body, or a vector that is none")
    return StoredContext(context, vector)


def certificate_to_row(plain: Json) -> Columns:
    """Return the row of a certificate, which comes as plain values."""
    return {"number": number_of(plain["certificate"]["id"]), "body": dumps(plain)}


def certificate_from_row(row: Row) -> Json:
    """Return a certificate as plain values, since reading one needs the evidence.

    Raises:
        ValueError: also for another certificate's body.
    """
    plain: Json = json.loads(row["body"])
    if plain["certificate"]["id"] != f"c{row['number']}":
        raise ValueError("another certificate's body")
    return plain


def succession_to_row(succession: Succession) -> Columns:
    """Return the row of a succession."""
    number = number_of(succession.id)
    return {"number": number, "body": dumps(succession_to_json(succession))}


def succession_from_row(row: Row) -> Succession:
    """Return a succession from its row.

    Raises:
        ValueError: also for another succession's body.
    """
    succession = succession_from_json(json.loads(row["body"]))
    if succession.id != f"s{row['number']}":
        raise ValueError("another succession's body")
    return succession


def situation_to_row(stored: StoredSituation) -> Columns:
    """Return the row of a situation."""
    return {
        "number": number_of(stored.situation.id),
        "body": dumps(situation_to_json(stored.situation)),
        "vector": vectors_to_bytes(stored.vector),
    }


def situation_from_row(row: Row) -> StoredSituation:
    """Return a situation from its row.

    Raises:
        ValueError: also for another situation's body, or a vector that is none.
    """
    situation = situation_from_json(json.loads(row["body"]))
    vector = vectors_from_bytes(row["vector"])
    if situation.id != f"x{row['number']}" or not np.isfinite(vector).all():
        raise ValueError("another situation's body, or a vector that is none")
    return StoredSituation(situation, vector)


def choice_to_row(decision: Decision) -> Columns:
    """Return the row of a decision among actions."""
    return {"number": number_of(decision.id), "body": dumps(decision_to_json(decision))}


def choice_from_row(row: Row) -> Decision:
    """Return a decision from its row.

    Raises:
        ValueError: also for another decision's body.
    """
    decision = decision_from_json(json.loads(row["body"]))
    if decision.id != f"d{row['number']}":
        raise ValueError("another decision's body")
    return decision


def mark_to_row(mark: Mark) -> Columns:
    """Return the row of what was settled of an item."""
    return {
        "number": number_of(mark.evidence_id),
        "kept": int(mark.kept),
        "hidden": int(mark.hidden),
    }


def mark_from_row(row: Row) -> Mark:
    """Return what was settled of an item from its row."""
    return Mark(f"e{row['number']}", bool(row["kept"]), bool(row["hidden"]))


def operation_to_row(operation: Operation) -> Columns:
    """Return the row of an operation."""
    return {
        "seq": operation.seq,
        "kind": operation.kind,
        "op_key": _bytes_of(operation.key),
        "request": operation.request,
        "result": operation.result,
    }


def operation_from_row(row: Row) -> Operation:
    """Return an operation from its row."""
    result = row["result"]
    json.loads(result)  # it is replayed as it stands
    return Operation(
        seq=int(row["seq"]),
        kind=str(row["kind"]),
        key=_text_of(row["op_key"]),
        request=str(row["request"]),
        result=result,
    )


def _bytes_of(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _name_of(raw: bytes | None) -> str | None:
    """Return a text that many rows have: it is in RAM once."""
    return None if raw is None else sys.intern(raw.decode("utf-8", "surrogatepass"))


def _text_of(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "surrogatepass")
