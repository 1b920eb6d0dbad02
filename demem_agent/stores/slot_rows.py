"""A slot as it is stored: without the lines of its excerpts, which loading derives again."""

from __future__ import annotations

from dataclasses import dataclass

from demem_agent.slots.records import SlotState, Vector
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt, Rank, Summary
from demem_agent.summaries.grounding import Written

__all__ = ["SlotRow", "slot_row", "slot_state"]


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot as stored.

    Attributes:
        cover: its excerpts by rank, as (evidence id, start, end).
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
    """Return a slot as it is stored."""
    summary = slot.summary
    return SlotRow(
        number=slot.number,
        parent=slot.parent,
        revision=slot.revision,
        total=slot.total,
        text=summary.text,
        cover=tuple((e.evidence_id, e.start, e.end) for e in summary.kept),
        gate=summary.gate,
        name=slot.name,
        pinned=slot.pinned,
        written=slot.written,
    )


def slot_state(state: State, row: SlotRow) -> SlotState:
    """Derive a slot again from its row and the evidence in ``state``.

    Raises:
        KeyError: if the cover names a stretch that the evidence does not have.
    """
    cut: dict[tuple[str, int, int], Excerpt] = {}
    for item in dict.fromkeys(item for item, _, _ in row.cover):
        for excerpt in state.excerpts_of(item):
            cut[excerpt.evidence_id, excerpt.start, excerpt.end] = excerpt
    kept = tuple(cut[stretch] for stretch in row.cover)
    return SlotState(
        number=row.number,
        parent=row.parent,
        revision=row.revision,
        total=row.total,
        summary=Summary(row.text, kept, row.gate),
        name=row.name,
        pinned=row.pinned,
        written=row.written,
    )
