"""A memory of what one speaker said, turn by turn."""

from __future__ import annotations

from demem_agent import SlotMemory

__all__ = ["spoken"]


def spoken(
    *said: str, by: str = "user", at: str | None = None, session: str | None = None
) -> SlotMemory:
    """Return a memory to which one speaker said all this, in order."""
    memory = SlotMemory(clock=None)
    for text in said:
        memory.ingest(text, speaker=by, at=at, session=session)
    return memory
