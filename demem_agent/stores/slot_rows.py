"""A slot as it is stored: without the lines of its excerpts, which loading derives again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.slots.records import SlotState, Vector
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt, Rank, Summary, summary_text
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


def slot_state(state: State, row: SlotRow, *, later: bool = False) -> SlotState:
    """Derive a slot again from its row and the evidence in ``state``.

    Args:
        later: cut its excerpts when they are first asked for.

    Raises:
        KeyError: if the cover names a stretch that the evidence does not have.
    """
    kept = partial(_kept_of, _without_slots(state), row) if later else _kept(state, row.cover)
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


def _without_slots(state: State) -> State:
    """Return what excerpts are cut from: a slot that held its whole state would never go from RAM
    before Python looks for what holds itself, which is seldom.
    """
    return replace(state, slots={})


def _stretch(excerpt: Excerpt) -> tuple[str, int, int]:
    return excerpt.evidence_id, excerpt.start, excerpt.end


def _kept_of(state: State, row: SlotRow) -> tuple[Excerpt, ...]:
    """Cut the excerpts of a slot that was loaded before.

    Raises:
        StoreError: if they do not fit it.
    """
    with suppress(KeyError):
        kept = _kept(state, row.cover)
        if summary_text(kept) == row.text:
            return kept
    raise StoreError(f"damaged rows: slot {row.number}; open with skip_damaged=True")


def _kept(state: State, cover: Cover) -> tuple[Excerpt, ...]:
    """Cut the stretches of a cover from the evidence again."""
    cut: dict[tuple[str, int, int], Excerpt] = {}
    for item in dict.fromkeys(item for item, _, _ in cover):
        for excerpt in state.excerpts_of(item):
            cut[_stretch(excerpt)] = excerpt
    return tuple(cut[stretch] for stretch in cover)
