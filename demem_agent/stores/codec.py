"""Records to and from plain JSON values, a pair of functions for each.

JSON is written with ASCII escapes, so that lone surrogates in a user's text survive the way there
and back. What a ``*_from_json`` cannot read raises KeyError, TypeError, ValueError, IndexError or
AttributeError.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from itertools import starmap
from typing import Any, TypeVar

from demem_agent.metadata import metadata_field
from demem_agent.settings import DecideSettings, Settings, SplitSettings
from demem_agent.slots.records import Certified
from demem_agent.slots.state import State
from demem_agent.stores.slot_rows import SlotRow, slot_row, slot_state
from demem_agent.stores.vectors import vectors_from_text, vectors_to_text
from demem_agent.summaries.compress import Rank
from demem_agent.summaries.grounding import Written
from demem_agent.turns import unit_field
from demem_agent.types import (
    Candidate,
    Context,
    Decision,
    Evidence,
    Mark,
    Situation,
    SplitCertificate,
    Succession,
    Verdict,
    number_of,
)

__all__ = [
    "Json",
    "Plain",
    "certificate_from_json",
    "certified_from_json",
    "certified_to_json",
    "context_from_json",
    "context_to_json",
    "decision_from_json",
    "decision_to_json",
    "dumps",
    "evidence_from_json",
    "evidence_to_json",
    "mark_from_json",
    "rank_from_json",
    "settings_from_json",
    "settings_to_json",
    "situation_from_json",
    "situation_to_json",
    "slot_from_json",
    "slot_to_json",
    "spans_from_json",
    "succession_from_json",
    "succession_to_json",
    "written_from_json",
    "written_to_json",
]

Value = TypeVar("Value")
_written = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
#: What is written: a JSON object.
Json = dict[str, Any]
#: What is read: a JSON object that stays as it is.
Plain = Mapping[str, Any]


def dumps(plain: object) -> str:
    """Write plain values as JSON in a form that is the same each time."""
    return _written(plain)


def settings_to_json(settings: Settings) -> Json:
    """Return settings as plain values."""
    return asdict(settings)


def settings_from_json(plain: Plain) -> Settings:
    """Return settings from what :func:`settings_to_json` returned, in this version or before.

    They are checked as any others.
    """
    fields = _without(plain, "learn")
    fields["split"] = SplitSettings(**plain["split"])
    fields["decide"] = DecideSettings(**plain.get("decide", {}))
    return Settings(**fields)


def _values(record: Any) -> Json:
    """Return the fields of a record by name, none copied: each is plain, and none can change."""
    return {name: getattr(record, name) for name in record.__slots__}


def evidence_to_json(evidence: Evidence) -> Json:
    """Return an item as plain values."""
    plain = {**_values(evidence), "at": _time_to_json(evidence.at)}
    if not evidence.metadata:  # as it was written before there was any
        del plain["metadata"]
    return plain


def evidence_from_json(plain: Plain) -> Evidence:
    """Return an item from what :func:`evidence_to_json` returned, in this version or before."""
    fields = {**plain, "at": _time_from_json(plain["at"])}
    fields["metadata"] = metadata_field("metadata", plain.get("metadata"))
    fields["made_from"] = tuple(plain.get("made_from", ()))
    return Evidence(**fields)


def spans_from_json(plain: Iterable[Sequence[Any]]) -> tuple[tuple[int, int], ...]:
    """Return the passages of an item, (start, end) each, from a list of lists."""
    return tuple((int(start), int(end)) for start, end in plain)


def context_to_json(context: Context) -> Json:
    """Return a context as plain values."""
    return {**_values(context), "at": _time_to_json(context.at)}


def context_from_json(plain: Plain) -> Context:
    """Return a context from what :func:`context_to_json` returned, in this version or before."""
    fields = _without(plain, "lesson")
    fields["at"] = _time_from_json(plain["at"])
    fields["read"] = _stretches(plain["read"])
    fields["supports"] = tuple(plain["supports"])
    fields["kept"] = tuple(plain["kept"])
    fields["rewards"] = tuple(map(float, plain["rewards"]))
    fields["told"] = tuple(plain.get("told", ()))
    fields["untested"] = tuple(plain.get("untested", ()))
    fields["conditions"] = tuple(plain.get("conditions", ()))
    fields["verdicts"] = tuple(starmap(_verdict, plain.get("verdicts", ())))
    fields["known"] = bool(plain.get("known", True))
    return Context(**fields)


def slot_to_json(row: SlotRow) -> Json:
    """Return a slot's row as plain values."""
    return {
        "number": row.number,
        "parent": row.parent,
        "revision": row.revision,
        "total": vectors_to_text(row.total),
        "text": row.text,
        "cover": list(map(list, row.cover)),
        "gate": list(row.gate) if row.gate else None,
        "name": row.name,
        "pinned": row.pinned,
        "written": written_to_json(row.written),
    }


def slot_from_json(plain: Plain) -> SlotRow:
    """Return a slot's row from what :func:`slot_to_json` returned, in this version or before."""
    return SlotRow(
        number=int(plain["number"]),
        parent=plain["parent"],
        revision=int(plain["revision"]),
        total=vectors_from_text(plain["total"]).reshape(-1),
        text=str(plain["text"]),
        cover=_stretches(plain["cover"]),
        gate=rank_from_json(plain["gate"]),
        name=plain.get("name"),
        pinned=bool(plain.get("pinned", False)),
        written=written_from_json(plain.get("written")),
    )


def rank_from_json(plain: Sequence[float] | None) -> Rank | None:
    """Return the rank of an excerpt from a list of its numbers; None for None."""
    if plain is None:
        return None
    return int(plain[0]), float(plain[1]), int(plain[2]), int(plain[3])


def written_to_json(written: Written | None) -> Json | None:
    """Return a summary that a model wrote as plain values; None for None."""
    return asdict(written) if written else None


def written_from_json(plain: Plain | None) -> Written | None:
    """Return such a summary from what :func:`written_to_json` returned."""
    if plain is None:
        return None
    covers = tuple(tuple(map(str, cover)) for cover in plain["covers"])
    text = str(plain["text"])
    author = str(plain["author"])
    return Written(text, covers, author)


def certified_to_json(certified: Certified) -> Json:
    """Return a certificate, with what undoing it needs, as plain values."""
    before = certified.before
    return {
        "certificate": asdict(certified.certificate),
        "seq": certified.seq,
        "before": slot_to_json(slot_row(before)) if before else None,
        "moved": list(certified.moved),
    }


def certified_from_json(plain: Plain, state: State) -> Certified:
    """Return a certificate from what :func:`certified_to_json` returned.

    Args:
        state: holds the evidence that the slot before a split refers to.
    """
    certificate = certificate_from_json(plain["certificate"])
    before = plain["before"]
    return Certified(
        certificate=certificate,
        seq=int(plain["seq"]),
        before=slot_state(state, slot_from_json(before)) if before else None,
        moved=tuple(plain["moved"]),
    )


def succession_to_json(succession: Succession) -> Json:
    """Return a succession as plain values."""
    return _values(succession)


def succession_from_json(plain: Plain) -> Succession:
    """Return a succession from what :func:`succession_to_json` returned, in this version or before.

    Raises:
        ValueError: also for a confidence outside [0, 1], or another way to know of it.
    """
    old, new = _stretches((plain["old"], plain["new"]))
    confidence = float(plain["confidence"])
    if not 0 <= confidence <= 1 or plain["how"] not in ("found", "told", "updated", "judged"):
        raise ValueError("a succession that cannot be")
    return Succession(
        id=str(plain["id"]),
        old=old,
        new=new,
        confidence=confidence,
        how=plain["how"],
        undone=bool(plain["undone"]),
        after=int(plain["after"]),
        reason=str(plain.get("reason", "")),
    )


def mark_from_json(plain: Plain) -> Mark:
    """Return what was settled of an item from the fields of a :class:`Mark` as plain values.

    Raises:
        ValueError: also for another id than evidence has.
    """
    id = str(plain["evidence_id"])
    if id != f"e{number_of(id)}":
        raise ValueError("a mark of what is no evidence")
    return Mark(id, bool(plain["kept"]), bool(plain["hidden"]))


def situation_to_json(situation: Situation) -> Json:
    """Return a situation as plain values."""
    return _values(situation)


def situation_from_json(plain: Plain) -> Situation:
    """Return a situation from what :func:`situation_to_json` returned."""
    conditions = tuple(map(str, plain["conditions"]))
    return Situation(**{**plain, "conditions": conditions, "seen": int(plain["seen"])})


def decision_to_json(decision: Decision) -> Json:
    """Return a decision as plain values."""
    return {**_values(decision), "at": _time_to_json(decision.at)}


def decision_from_json(plain: Plain) -> Decision:
    """Return a decision from what :func:`decision_to_json` returned.

    Raises:
        ValueError: also for an action that was none of those offered, or a reward that cannot be.
    """
    fields = dict(plain)
    fields["actions"] = tuple(map(str, plain["actions"]))
    fields["slot"] = _optional(int, plain["slot"])
    fields["explores"] = bool(plain["explores"])
    fields["cost"] = unit_field("cost", plain["cost"])
    fields["probability"] = _optional(float, plain["probability"])
    fields["at"] = _time_from_json(plain["at"])
    fields["taken"] = int(plain["taken"])
    fields["reward"] = _optional(partial(unit_field, "reward"), plain["reward"])
    fields["judged"] = _optional(int, plain["judged"])
    decision = Decision(**fields)
    half_told = (decision.reward is None) != (decision.judged is None)
    if decision.action not in decision.actions or half_told:
        raise ValueError("a decision that cannot be")
    return decision


def _optional(of: Callable[[Any], Value], plain: Any) -> Value | None:
    return None if plain is None else of(plain)


def certificate_from_json(plain: Plain) -> SplitCertificate:
    """Return a certificate, without what undoing it needs, from its fields as plain values."""
    fields = dict(plain)
    for name in ("pair", "queries", "channels", "scorers"):
        fields[name] = tuple(plain[name])
    parameters = plain.get("parameters", ())
    fields["parameters"] = tuple((str(name), float(value)) for name, value in parameters)
    fields["models"] = tuple(plain.get("models", ()))
    fields["rivals"] = _stretches(plain.get("rivals", ()))
    fields["candidates"] = tuple(map(_candidate_from_json, plain["candidates"]))
    return SplitCertificate(**fields)


def _candidate_from_json(plain: Plain) -> Candidate:
    fields = dict(plain)
    for name in ("answers", "lower", "upper", "losses", "cover"):
        fields[name] = tuple(plain[name])
    scores = plain["scores"]
    fields["scores"] = (tuple(scores[0]), tuple(scores[1]))
    return Candidate(**fields)


def _without(plain: Plain, gone: str) -> Json:
    """Return the fields of a record, but for one that earlier versions wrote."""
    return {name: value for name, value in plain.items() if name != gone}


def _stretches(plain: Iterable[Sequence[Any]]) -> tuple[tuple[str, int, int], ...]:
    return tuple((str(item), int(start), int(end)) for item, start, end in plain)


def _verdict(item: str, start: int, end: int, weight: float) -> Verdict:
    if not math.isfinite(weight):
        raise ValueError("a verdict that is no number")
    return str(item), int(start), int(end), float(weight)


def _time_to_json(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _time_from_json(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
