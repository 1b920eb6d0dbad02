"""``demem import``: make a memory from what ``demem export`` wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import slot_value
from demem_agent.cli.memory_options import Budget, Output, Place
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell, counted, counts
from demem_agent.errors import InvalidInput

__all__ = ["restore"]

Row = dict[str, Any]

#: Settings that may be set anew; summaries and passages were made for the others.
_FREE = frozenset({"slots", "read_limit", "initial_slots"})


def restore(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, help="What demem export wrote."
        ),
    ],
    place: Place,
    budget: Budget,
    output: Output,
) -> None:
    """Make a memory from what demem export wrote.

    It is known by --id and --tenant, and has the exported settings unless others are given;
    --slot-limit and --unit cannot differ from those of the export.
    """
    rows = _rows(file)
    rehearsed = SlotMemory.restore(rows)  # in RAM first: from a damaged file no memory is made
    rows = _with_settings(rows, rehearsed, budget.given())
    if place.holds_memory():
        raise UsageError(
            f"{place.memory} already holds a memory with the id {place.memory_id!r}; pass another --id"
        )
    place.require_folder()
    with SlotMemory.restore(
        rows, place.url, memory_id=place.memory_id, tenant=place.tenant
    ) as memory:
        found = counts(memory)
        limit = memory.settings.slot_limit
        output.show(
            {
                "file": str(file),
                **found,
                "slots": [slot_value(slot, limit) for slot in memory.slots],
            },
            cell(f"Imported {counted(found)}."),
            slots_table(memory.slots, memory.settings),
        )


def _rows(file: Path) -> list[Row]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(file), "JSON lines as demem export writes them") from error
    return [
        _row(line, f"{file.name} line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _row(line: str, where: str) -> Row:
    try:
        row: Row = json.loads(line)
    except ValueError as error:
        raise InvalidInput(where, line, "one JSON object, as demem export writes it") from error
    return row


def _with_settings(rows: list[Row], memory: SlotMemory, given: Row) -> list[Row]:
    """Put what was typed into the exported settings, as far as they may change."""
    for name, value in given.items():
        if name not in _FREE and value != getattr(memory.settings, name):
            raise InvalidInput(
                name, value, f"{getattr(memory.settings, name)!r}, as in the export, or left out"
            )
    needed = 1 + max((slot.number for slot in memory.slots), default=0)
    if given.get("slots", needed) < needed:
        raise InvalidInput(
            "slots", given["slots"], f"at least {needed}, since that many are in use"
        )
    replace(memory.settings, **given)  # checks the ranges
    return [
        {**row, "settings": {**row["settings"], **given}} if row["kind"] == "memory" else row
        for row in rows
    ]
