"""Records as the JSON values that ``--json`` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from demem_agent import Answer, Evidence, Reading, Slot, SlotMemory
from demem_agent.types import Line

__all__ = ["answer_value", "evidence_value", "lines_value", "reading_value", "slot_value"]

Json = dict[str, Any]


def slot_value(slot: Slot, limit: int) -> Json:
    return {**asdict(slot), "limit": limit}


def evidence_value(item: Evidence) -> Json:
    return {**asdict(item), "at": item.at.isoformat() if item.at else None}


def lines_value(lines: tuple[Line, ...], memory: SlotMemory, cited: tuple[str, ...]) -> list[Json]:
    """Give the lines of a reading, each with the slot of its evidence and whether the answer rests
    on it.
    """
    slot_of = {item: slot.number for slot in memory.slots for item in slot.evidence}
    return [
        {
            **evidence_value(line.evidence),
            "text": line.text,
            "start": line.start,
            "end": line.end,
            "slot": slot_of.get(line.evidence.id),
            "cited": line.evidence.id in cited,
        }
        for line in lines
    ]


def reading_value(reading: Reading, memory: SlotMemory, cited: tuple[str, ...] = ()) -> Json:
    return {
        "text": reading.text,
        "size": reading.size,
        "limit": reading.limit,
        "unit": reading.unit,
        "mode": reading.mode,
        "slots": list(reading.slots),
        "lines": lines_value(reading.lines, memory, cited),
    }


def answer_value(answer: Answer, query: str, memory: SlotMemory) -> Json:
    return {
        "id": answer.id,
        "query": query,
        "text": answer.text,
        "evidence": list(answer.evidence),
        "route": asdict(answer.route),
        "reading": reading_value(answer.reading, memory, answer.evidence),
    }
