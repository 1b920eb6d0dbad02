"""The slots as a block of text to put before a model: the last lines of each summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from demem_agent.reading.packing import wrap
from demem_agent.text.quoting.containing import contained, on_one_line
from demem_agent.text.units import Measure
from demem_agent.types import Slot

__all__ = ["overview"]


def overview(slots: Sequence[Slot], limit: int, measure: Measure) -> str:
    """Return the last lines of each slot's summary as one block; "" if none fits.

    Slots share the room evenly; what one does not need is left to the others.

    Args:
        limit: the most that the block measures.
    """
    parts = _parts(slots, limit - measure(wrap("")) - 1, measure)
    kept = [parts[number] for number in sorted(parts) if parts[number]]
    while kept and measure(wrap("\n".join(kept))) > limit:
        kept.pop()  # a tokenizer need not be additive
    return wrap("\n".join(kept)) if kept else ""


def _parts(slots: Sequence[Slot], room: int, measure: Measure) -> Mapping[int, str]:
    """Return what fits of each slot, by its number; the smallest slots choose first."""
    parts: dict[int, str] = {}
    by_size = sorted(slots, key=lambda slot: (slot.size, slot.number))
    for after, slot in enumerate(by_size):
        share = room // (len(by_size) - after)
        part = _last_lines(slot, share, measure)
        if part:
            room -= measure(part + "\n")
        parts[slot.number] = part
    return parts


def _last_lines(slot: Slot, limit: int, measure: Measure) -> str:
    head = _head(slot)
    room = limit - measure(head + "\n")
    lines: list[str] = []
    for line in reversed([*_entries(slot.summary)]):
        room -= measure(line + "\n")
        if room < 0:
            break
        lines.insert(0, line)
    return "\n".join([head, *lines]) if lines else ""


def _head(slot: Slot) -> str:
    named = f", {on_one_line(slot.name)}" if slot.name else ""
    return f"# part {slot.number}{named}"


def _entries(summary: str) -> Iterator[str]:
    """Yield the entries of a summary, each with the lines that go on from it."""
    entry = ""
    for line in contained(summary).splitlines():
        if line.startswith("- ") and entry:
            yield entry
            entry = ""
        entry = f"{entry}\n{line}" if entry else line
    if entry:
        yield entry
