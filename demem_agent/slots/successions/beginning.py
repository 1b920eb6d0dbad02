"""Since when a line holds: from the day it names, if that is later than when it was said."""

from __future__ import annotations

from datetime import datetime, time

from demem_agent.text.times.beginning import begins
from demem_agent.types import Evidence

__all__ = ["since_when"]


def since_when(item: Evidence, start: int, end: int) -> datetime | None:
    """Return since when ``text[start:end]`` of an item holds; None where it is not known."""
    if item.at is None:
        return None
    first = begins(item.text[start:end], item.at.date())
    return item.at if first is None else datetime.combine(first, time(), item.at.tzinfo)
