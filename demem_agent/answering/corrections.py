"""Corrections as they are remembered: as evidence of their own, with the question they answer."""

from __future__ import annotations

from datetime import datetime

from demem_agent.reading.packing import strip_rendered
from demem_agent.turns import CORRECTION, Turn
from demem_agent.types import Context

__all__ = ["CORRECTION", "correction_turn", "said_to", "stem"]


def correction_turn(context: Context, correction: str, at: datetime | None) -> Turn:
    """Return a correction as it is remembered: with its question, dated when it was given."""
    return Turn(
        text=f"{stem(context.query)} {strip_rendered(correction).strip()}",
        speaker=CORRECTION,
        at=at or context.at,
        source=CORRECTION,
        source_id=f"{CORRECTION}:{context.id}",
    )


def stem(query: str) -> str:
    """Return a question as a correction begins with it.

    It is one sentence with what follows, so that no reading parts them.
    """
    return f"{strip_rendered(query).strip().rstrip('?').rstrip()}:"


def said_to(query: str, text: str) -> str | None:
    """Return what a correction says, if it is one of this very question."""
    asked = stem(query).casefold()
    if not text.casefold().startswith(asked):
        return None
    return text[len(asked) :].strip()
