"""Corrections as they are remembered: with the question that they answer, as evidence of their own."""

from __future__ import annotations

from datetime import datetime

from demem_agent.reading.packing import strip_rendered
from demem_agent.turns import Turn
from demem_agent.types import Context

__all__ = ["CORRECTION", "correction_turn", "said_to", "stem"]

#: ``Evidence.source`` of what was remembered from a correction, and what its ``source_id`` begins
#: with.
CORRECTION = "correction"


def correction_turn(context: Context, correction: str, at: datetime | None) -> Turn:
    """Give a correction as it is remembered: with the question that it answers, dated when it was
    given.
    """
    text = f"{stem(context.query)} {strip_rendered(correction).strip()}"
    return Turn(
        text,
        CORRECTION,
        at or context.at,
        None,
        CORRECTION,
        f"{CORRECTION}:{context.id}",
        1.0,
        None,
    )


def stem(query: str) -> str:
    """Give a question as a correction begins with it: one sentence with what follows, so that no
    reading parts them.
    """
    return f"{strip_rendered(query).strip().rstrip('?').rstrip()}:"


def said_to(query: str, text: str) -> str | None:
    """Give what a correction says, if it is one of this very question."""
    asked, begins = stem(query).casefold(), text.casefold()
    return text[len(asked) :].strip() if begins.startswith(asked) else None
