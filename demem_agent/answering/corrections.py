"""Corrections as they are remembered: as evidence of their own, with the question they answer."""

from __future__ import annotations

import re
from datetime import datetime

from demem_agent.reading.packing import strip_rendered
from demem_agent.turns import CORRECTION, Turn
from demem_agent.types import Context

__all__ = ["CORRECTION", "correction_turn", "said_to", "stem"]


def correction_turn(context: Context, correction: str, at: datetime | None) -> Turn:
    """Return a correction as it is remembered: with its question, dated when that was asked.

    Nobody says it: who asked need not be who corrects.

    Args:
        at: when it was given, which dates it where nobody knows when the question was asked.
    """
    return Turn(
        text=f"{stem(context.query)} {strip_rendered(correction).strip()}",
        at=context.at or at,
        source=CORRECTION,
        source_id=f"{CORRECTION}:{context.id}",
    )


def stem(query: str) -> str:
    """Return how the correction of a question begins: it is quoted as it was asked.

    It is one sentence with what follows, so that no reading parts them.
    """
    return f'{CORRECTION} to "{_plain(query)}":'


def said_to(query: str, text: str) -> str | None:
    """Return what a correction says, if it is one of this very question, with or without "?"."""
    asked = re.escape(_plain(query).rstrip("? "))
    found = re.match(rf'{CORRECTION} to "{asked}[? ]*":', text, re.IGNORECASE)
    return None if found is None else text[found.end() :].strip()


def _plain(query: str) -> str:
    return strip_rendered(query).strip()
