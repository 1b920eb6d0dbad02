"""``demem items``: what is remembered, item by item."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table

from demem_agent import Evidence
from demem_agent.cli.filter_options import Filter
from demem_agent.cli.json_values import Json, evidence_value, slot_of_each
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_line
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
    chosen: Filter,
    file: File = None,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many of the latest; 0 for all.")
    ] = FEW,
) -> None:
    """List what is remembered, the latest last; demem show tells all of one item.

    What another item has taken the place of is marked (no longer): demem history tells by what.
    """
    with place.at(file).open() as memory:
        every = memory.evidence(where=chosen.given())
        if chosen.given() and not every:
            print_line(chosen.missed(memory), sys.stderr)
        ended = {item.id for item in memory.evidence(where={"holds": False})}
        slot_of = slot_of_each(memory)
        marks = {mark.evidence_id: mark for mark in memory.marks()}
    latest = every[-limit:] if limit else every
    looks = [
        Look(item, slot_of.get(item.id), marks.get(item.id), item.id not in ended)
        for item in latest
    ]
    values = [_value(look) for look in looks]
    shown = _table(looks, len(every))
    output.show({"items": values, "of": len(every)}, shown)


@dataclass(frozen=True, slots=True)
class Look:
    """An item, the slot it is in, what was settled of it, and whether it holds still."""

    item: Evidence
    slot: int | None
    mark: Mark | None
    holds: bool


def _value(look: Look) -> Json:
    mark = look.mark or Mark(look.item.id)
    settled = {"kept": mark.kept, "hidden": mark.hidden, "holds": look.holds}
    return {**evidence_value(look.item), "slot": look.slot, **settled}


def _table(latest: Sequence[Look], count: int) -> Table:
    shown = table(f"The latest {len(latest)} of {count} items")
    for name in ("id", "date", "speaker"):
        shown.add_column(name, overflow="fold")
    shown.add_column("slot", justify="right")
    shown.add_column("text", overflow="fold", ratio=1)
    for look in latest:
        item = look.item
        words = f"{_settled(look)} {first_words(item.text, WIDE)}".strip()
        slot = "-" if look.slot is None else str(look.slot)
        shown.add_row(*map(cell, (item.id, day(item.at), item.speaker or "-", slot, words)))
    return shown


def _settled(look: Look) -> str:
    """Return what became of an item, in brackets; "" for nothing."""
    ended = "" if look.holds else "(no longer)"
    return f"{ended} {settled(look.mark or Mark(look.item.id))}".strip()


def settled(mark: Mark) -> str:
    """Return what was settled of an item, in brackets; "" for nothing."""
    said = [word for word, holds in (("kept", mark.kept), ("hidden", mark.hidden)) if holds]
    return f"({', '.join(said)})" if said else ""
