"""``demem items``: what is remembered, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.table import Table

from demem_agent import Evidence
from demem_agent.cli.json_values import Json, evidence_value, slot_of_each
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, day, first_words, table
from demem_agent.types import Mark

__all__ = ["items"]

#: Items that are shown unless another number is asked for.
FEW = 20
#: Columns of a text that are shown.
WIDE = 160


def items(
    place: Place,
    output: Output,
    file: File = None,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many of the latest; 0 for all.")
    ] = FEW,
) -> None:
    """List what is remembered, the latest last; demem show tells all of one item."""
    with place.at(file).open() as memory:
        every = memory.evidence()
        slot_of = slot_of_each(memory)
        marks = {mark.evidence_id: mark for mark in memory.marks()}
    latest = every[-limit:] if limit else every
    values = [_value(item, slot_of, marks) for item in latest]
    shown = _table(latest, len(every), slot_of, marks)
    output.show({"items": values, "of": len(every)}, shown)


def _value(item: Evidence, slot_of: Mapping[str, int], marks: Mapping[str, Mark]) -> Json:
    mark = marks.get(item.id, Mark(item.id))
    settled = {"kept": mark.kept, "hidden": mark.hidden}
    return {**evidence_value(item), "slot": slot_of.get(item.id), **settled}


def _table(
    latest: Sequence[Evidence], count: int, slot_of: Mapping[str, int], marks: Mapping[str, Mark]
) -> Table:
    shown = table(f"The latest {len(latest)} of {count} items")
    for name in ("id", "date", "speaker"):
        shown.add_column(name, overflow="fold")
    shown.add_column("slot", justify="right")
    shown.add_column("text", overflow="fold", ratio=1)
    for item in latest:
        mark = marks.get(item.id, Mark(item.id))
        words = f"{settled(mark)} {first_words(item.text, WIDE)}".strip()
        slot = str(slot_of.get(item.id, "-"))
        shown.add_row(*map(cell, (item.id, day(item.at), item.speaker or "-", slot, words)))
    return shown


def settled(mark: Mark) -> str:
    """Return what was settled of an item, in brackets; "" for nothing."""
    said = [word for word, holds in (("kept", mark.kept), ("hidden", mark.hidden)) if holds]
    return f"({', '.join(said)})" if said else ""
