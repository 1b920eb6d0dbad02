"""Records as the JSON values that ``--json`` prints."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from demem_agent import Answer, Evidence, Reading, Slot, SlotMemory
from demem_agent.stores import DeletionReceipt, MemoryInfo
from demem_agent.types import Decision, Line, Superseded

__all__ = [
    "Document",
    "Json",
    "answer_value",
    "decision_value",
    "evidence_value",
    "lines_value",
    "memory_value",
    "reading_value",
    "receipt_value",
    "slot_of_each",
    "slot_value",
    "slot_values",
]

#: What is printed.
Json = dict[str, Any]
#: What is read and stays as it is, such as a report.
Document = Mapping[str, Any]


def slot_value(slot: Slot, limit: int) -> Json:
    """Return a slot as a JSON value, with the limit of its summary."""
    return {**asdict(slot), "limit": limit}


def slot_values(slots: Sequence[Slot], limit: int) -> list[Json]:
    """Return slots as JSON values, each with the limit of its summary."""
    return [slot_value(slot, limit) for slot in slots]


def decision_value(decision: Decision) -> Json:
    """Return a decision as a JSON value, its time in ISO 8601."""
    return {**asdict(decision), "at": decision.at.isoformat() if decision.at else None}


def evidence_value(item: Evidence) -> Json:
    """Return an item of evidence as a JSON value, its time in ISO 8601."""
    return {**asdict(item), "at": item.at.isoformat() if item.at else None}


def memory_value(info: MemoryInfo) -> Json:
    """Return what is told of a memory as a JSON value, its times in ISO 8601."""
    times = {name: getattr(info, name) for name in ("first", "last", "made", "changed")}
    told = {name: at.isoformat() if at else None for name, at in times.items()}
    return {**asdict(info), **told}


def receipt_value(receipt: DeletionReceipt) -> Json:
    """Return what was deleted as a JSON value, its time in ISO 8601."""
    return {**asdict(receipt), "at": receipt.at.isoformat()}


def lines_value(lines: Sequence[Line], memory: SlotMemory, cited: Collection[str]) -> list[Json]:
    """Return lines of a reading, each with its slot and whether the answer rests on it."""
    slot_of = slot_of_each(memory)
    return [_line_value(line, slot_of, cited) for line in lines]


def slot_of_each(memory: SlotMemory) -> dict[str, int]:
    """Return the number of the slot that holds each item of evidence, by the item's id."""
    slot_of: dict[str, int] = {}
    for slot in memory.slots:
        slot_of.update(dict.fromkeys(slot.evidence, slot.number))
    return slot_of


def reading_value(reading: Reading, memory: SlotMemory, cited: Collection[str] = ()) -> Json:
    """Return a reading as a JSON value."""
    return {
        "text": reading.text,
        "size": reading.size,
        "limit": reading.limit,
        "unit": reading.unit,
        "mode": reading.mode,
        "slots": list(reading.slots),
        "recognised": reading.recognised,
        "decisions": list(reading.decisions),
        "opposed": list(reading.opposed),
        "withheld": list(reading.withheld),
        "advice": reading.advice,
        "unranked": reading.unranked,
        "gated": reading.gated,
        "lines": lines_value(reading.lines, memory, cited),
        "left_out": {
            "lines": reading.left_out.lines,
            "best": lines_value(reading.left_out.best, memory, cited),
            "next_limit": reading.left_out.next_limit,
            "unrelated": reading.left_out.unrelated,
        },
    }


def answer_value(answer: Answer, query: str, memory: SlotMemory) -> Json:
    """Return an answer as a JSON value, with its route and its reading."""
    return {
        "id": answer.id,
        "query": query,
        "text": answer.text,
        "known": answer.known,
        "evidence": list(answer.evidence),
        "route": asdict(answer.route),
        "reading": reading_value(answer.reading, memory, answer.evidence),
    }


def _line_value(line: Line, slot_of: Mapping[str, int], cited: Collection[str]) -> Json:
    item = line.evidence
    return {
        **evidence_value(item),
        "text": line.text,
        "start": line.start,
        "end": line.end,
        "probability": line.probability,
        "slot": slot_of.get(item.id),
        "cited": item.id in cited,
        "superseded": list(map(_superseded_value, line.superseded)),
        "again": [other.id for other in line.again],
        "more": line.more,
    }


def _superseded_value(stale: Superseded) -> Json:
    return {**asdict(stale), "at": stale.at.isoformat() if stale.at else None}
