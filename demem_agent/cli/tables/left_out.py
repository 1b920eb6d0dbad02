"""How much a reading holds, and what it had no room for."""

from __future__ import annotations

from demem_agent import Reading
from demem_agent.cli.tables.cells import counted

__all__ = ["left_out_words", "size_words"]


def size_words(reading: Reading) -> str:
    """Say how much was read: ``102 of 1500 chars, 1 line``."""
    lines = counted({"lines": len(reading.lines)})
    return f"{reading.size} of {reading.limit} {reading.unit}, {lines}"


def left_out_words(reading: Reading) -> str:
    """Say how much more there is, and at which limit it comes in; "" if all was read.

    It is as in ``12 more lines: the next one at a limit of 2140 chars``.
    """
    left = reading.left_out
    if left.next_limit is None:
        return ""
    at = f"at a limit of {left.next_limit} {reading.unit}"
    if not reading.lines:
        return f"no line fits into {reading.limit} {reading.unit}: the first one {at}"
    more = "1 more line" if left.lines == 1 else f"{left.lines} more lines"
    return f"{more}: the next one {at}"
