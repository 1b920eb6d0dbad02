"""Records to and from plain JSON values; vectors as raw little-endian float32, in base64 where it
must be text.

JSON is written with ASCII escapes, so that lone surrogates in a user's text survive the way there
and back.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np

from demem_agent.settings import Settings, SplitSettings
from demem_agent.slots.records import Certified, SlotState, Vector
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Rank, Summary
from demem_agent.summaries.grounding import Written
from demem_agent.types import Candidate, Context, Evidence, SplitCertificate

__all__ = [
    "SlotRow",
    "certified_from",
    "certified_to",
    "context_from",
    "context_to",
    "evidence_from",
    "evidence_to",
    "settings_from",
    "settings_to",
    "slot_row",
    "slot_row_from",
    "slot_row_to",
    "slot_state",
    "vectors_from_bytes",
    "vectors_from_text",
    "vectors_to_bytes",
    "vectors_to_text",
    "written_from",
    "written_to",
]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot as stored: excerpts as (evidence id, start, end) by rank; their lines are derived
    again on loading.
    """

    number: int
    parent: int | None
    revision: int
    total: Vector
    text: str
    cover: tuple[tuple[str, int, int], ...]
    gate: Rank | None
    name: str | None = None
    pinned: bool = False
    written: Written | None = None


def slot_row(slot: SlotState) -> SlotRow:
    cover = tuple((e.evidence_id, e.start, e.end) for e in slot.summary.kept)
    summary = slot.summary
    about = (slot.number, slot.parent, slot.revision, slot.total)
    return SlotRow(*about, summary.text, cover, summary.gate, slot.name, slot.pinned, slot.written)


def slot_state(state: State, row: SlotRow) -> SlotState:
    """Derive a slot again from its row and the evidence in ``state``.

    Raises:
        KeyError: if the cover names a stretch that the evidence does not have.
    """
    items = dict.fromkeys(item for item, _, _ in row.cover)
    found = {(e.evidence_id, e.start, e.end): e for item in items for e in state.excerpts_of(item)}
    kept = tuple(found[span] for span in row.cover)
    summary = Summary(row.text, kept, row.gate)
    return SlotState(
        row.number, row.parent, row.revision, row.total, summary, row.name, row.pinned, row.written
    )


def slot_row_to(row: SlotRow) -> Json:
    return {
        "number": row.number,
        "parent": row.parent,
        "revision": row.revision,
        "total": vectors_to_text(row.total),
        "text": row.text,
        "cover": [list(span) for span in row.cover],
        "gate": list(row.gate) if row.gate else None,
        "name": row.name,
        "pinned": row.pinned,
        "written": written_to(row.written),
    }


def slot_row_from(plain: Mapping[str, Any]) -> SlotRow:
    return SlotRow(
        int(plain["number"]),
        plain["parent"],
        int(plain["revision"]),
        vectors_from_text(plain["total"]).reshape(-1),
        str(plain["text"]),
        tuple((str(item), int(start), int(end)) for item, start, end in plain["cover"]),
        rank_from(plain["gate"]),
        plain.get("name"),
        bool(plain.get("pinned", False)),
        written_from(plain.get("written")),
    )


def rank_from(plain: Any) -> Rank | None:
    return None if plain is None else (int(plain[0]), float(plain[1]), int(plain[2]), int(plain[3]))


def written_to(written: Written | None) -> Json | None:
    return asdict(written) if written else None


def written_from(plain: Any) -> Written | None:
    if plain is None:
        return None
    covers = tuple(tuple(str(item) for item in cover) for cover in plain["covers"])
    return Written(str(plain["text"]), covers, str(plain["author"]))


def evidence_to(evidence: Evidence) -> Json:
    return {**asdict(evidence), "at": _time_to(evidence.at)}


def evidence_from(plain: Mapping[str, Any]) -> Evidence:
    return Evidence(**{**plain, "at": _time_from(plain["at"])})


def context_to(context: Context) -> Json:
    return {**asdict(context), "at": _time_to(context.at)}


def context_from(plain: Mapping[str, Any]) -> Context:
    return Context(
        **{
            **plain,
            "at": _time_from(plain["at"]),
            "read": tuple((str(item), int(a), int(b)) for item, a, b in plain["read"]),
            "supports": tuple(plain["supports"]),
            "kept": tuple(plain["kept"]),
            "rewards": tuple(float(r) for r in plain["rewards"]),
            "told": tuple(plain.get("told", ())),
            "untested": tuple(plain.get("untested", ())),
            "lesson": tuple(_difference(*pair) for pair in plain.get("lesson", ())),
        }
    )


def _difference(feature: str, value: float) -> tuple[str, float]:
    if not math.isfinite(value):
        raise ValueError("a lesson that is no number")
    return str(feature), float(value)


def certified_to(certified: Certified) -> Json:
    return {
        "certificate": asdict(certified.certificate),
        "seq": certified.seq,
        "before": slot_row_to(slot_row(certified.before)) if certified.before else None,
        "moved": list(certified.moved),
    }


def certified_from(plain: Mapping[str, Any], state: State) -> Certified:
    """Build a certificate from its row; ``state`` holds the evidence that the slot before a split
    refers to.
    """
    body = plain["certificate"]
    certificate = SplitCertificate(
        **{
            **body,
            "pair": tuple(body["pair"]),
            "queries": tuple(body["queries"]),
            "channels": tuple(body["channels"]),
            "scorers": tuple(body["scorers"]),
            "parameters": tuple(
                (str(name), float(value)) for name, value in body.get("parameters", ())
            ),
            "models": tuple(body.get("models", ())),
            "candidates": tuple(_candidate_from(candidate) for candidate in body["candidates"]),
        }
    )
    before = slot_state(state, slot_row_from(plain["before"])) if plain["before"] else None
    return Certified(certificate, int(plain["seq"]), before, tuple(plain["moved"]))


def settings_to(settings: Settings) -> Json:
    return asdict(settings)


def settings_from(plain: Mapping[str, Any]) -> Settings:
    return Settings(**{**plain, "split": SplitSettings(**plain["split"])})


def vectors_to_bytes(vectors: Vector) -> bytes:
    return np.ascontiguousarray(vectors, "<f4").tobytes()


def vectors_from_bytes(raw: bytes, rows: int | None = None) -> Vector:
    """Give a copy, of shape (rows, d), or (d,) when ``rows`` is None."""
    flat = np.frombuffer(raw, "<f4").astype(np.float32)
    return flat if rows is None else flat.reshape(rows, -1)


def vectors_to_text(vectors: Vector) -> str:
    return base64.b64encode(vectors_to_bytes(vectors)).decode("ascii")


def vectors_from_text(text: str, rows: int | None = None) -> Vector:
    return vectors_from_bytes(base64.b64decode(text, validate=True), rows)


def dumps(plain: Any) -> str:
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def _candidate_from(plain: Mapping[str, Any]) -> Candidate:
    pairs = {name: tuple(plain[name]) for name in ("answers", "lower", "upper", "losses", "cover")}
    scores = (tuple(plain["scores"][0]), tuple(plain["scores"][1]))
    return Candidate(**{**plain, **pairs, "scores": scores})


def _time_to(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _time_from(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
