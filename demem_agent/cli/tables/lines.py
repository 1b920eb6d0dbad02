"""The evidence in a reading, or behind a decision."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rich.table import Table

from demem_agent.cli.tables.cells import cell, day, table
from demem_agent.reading.packing import until
from demem_agent.text.quoting.saying import margin
from demem_agent.types import Line

__all__ = ["lines_table"]


def lines_table(
    title: str,
    lines: Sequence[Line],
    *,
    cited: Collection[str],
    slot_of: Mapping[str, int],
    shared: Sequence[str] = (),
) -> Table:
    """Show lines in their order, those that the answer rests on marked with a star.

    Args:
        cited: ids of the evidence that the answer rests on.
        slot_of: number of the slot that holds each item of evidence, by the item's id.
        shared: for each line, what it shares with the question; the column is left out when there
            is none.
    """
    shown = _empty(title, with_shared=bool(shared))
    for n, line in enumerate(lines):
        words = [
            *_words(line, slot_of),
            *shared[n : n + 1],
            f"{margin(list(until(line)))}{line.text}",
        ]
        is_cited = line.evidence.id in cited
        style = "bold" if is_cited else ""
        cells = [cell(part, style) for part in words]
        shown.add_row("*" if is_cited else "", *cells)
    return shown


def _empty(title: str, *, with_shared: bool) -> Table:
    shown = table(title)
    shown.add_column("", width=1)
    for name in ("id", "turn", "date", "speaker"):
        shown.add_column(name, overflow="fold")
    shown.add_column("slot", justify="right")
    if with_shared:
        shown.add_column("shares", overflow="fold", max_width=18)
    shown.add_column("text", overflow="fold", ratio=1)
    return shown


def _words(line: Line, slot_of: Mapping[str, int]) -> list[str]:
    """Return what is shown of a line before its text."""
    item = line.evidence
    slot = str(slot_of.get(item.id, "-"))
    return [item.id, item.source_id or "-", day(item.at), item.speaker or "-", slot]
