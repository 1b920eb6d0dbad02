"""What is left to do for a memory after an operation, by others and later: notes to be taken of
what came in, lines to be judged by it, and summaries to be written of slots that do not fit as they
are.
"""

from __future__ import annotations

from demem_agent.slots.records import Delta, SlotState
from demem_agent.turns import CORRECTION
from demem_agent.types import Evidence

__all__ = ["CHANGES", "NOTES", "SUMMARIES", "causes", "wants_note", "wants_summary"]

NOTES, CHANGES, SUMMARIES = "notes", "changes", "summaries"


def wants_note(item: Evidence) -> bool:
    """Whether notes are taken of an item: it is no note itself, and no correction."""
    return not item.made_from and item.source != CORRECTION


def wants_summary(slot: SlotState) -> bool:
    """Whether a slot's content has changed since a summary was written, and does not fit as it is.

    Without a gate the excerpts hold all of the slot: there is nothing to write.
    """
    return slot.written is None and slot.summary.gate is not None


def causes(delta: Delta) -> tuple[str, ...]:
    """Return the kinds of work that there may be once a delta is written."""
    kinds = []
    if any(wants_note(stored.evidence) for stored in delta.evidence):
        kinds += [NOTES, CHANGES]
    if any(map(wants_summary, delta.slots)):
        kinds.append(SUMMARIES)
    return tuple(kinds)
