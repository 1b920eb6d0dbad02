"""A slot as it is stored: without the lines of its excerpts, which loading derives again."""

from __future__ import annotations

from demem_agent.later import dataclass
from demem_agent.slots.records import SlotState, Vector
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt, Rank, Summary
from demem_agent.summaries.grounding import Written

__all__ = ["SlotRow", "slot_row", "slot_state"]

#: Excerpts, as (evidence id, start, end).
Cover = tuple[tuple[str, int, int], ...]


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
    cover: Cover
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
        cover=tuple(map(_stretch, summary.kept)),
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
    return SlotState(
        number=row.number,
        parent=row.parent,
        revision=row.revision,
        total=row.total,
        summary=Summary(row.text, _kept(state, row.cover), row.gate),
        name=row.name,
        pinned=row.pinned,
        written=row.written,
    )


def _stretch(excerpt: Excerpt) -> tuple[str, int, int]:
    return excerpt.evidence_id, excerpt.start, excerpt.end


def _kept(state: State, cover: Cover) -> tuple[Excerpt, ...]:
    """Cut the stretches of a cover from the evidence again."""
    cut: dict[tuple[str, int, int], Excerpt] = {}
    for item in dict.fromkeys(item for item, _, _ in cover):
        for excerpt in state.excerpts_of(item):
            cut[_stretch(excerpt)] = excerpt
    return tuple(cut[stretch] for stretch in cover)
