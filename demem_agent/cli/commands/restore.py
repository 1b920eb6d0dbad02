"""``demem import``: make a memory from what ``demem export`` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.cli.plain import slot_value
from demem_agent.cli.shared import Budget, Output, Place
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import InvalidInput

__all__ = ["restore"]

Row = dict[str, Any]

#: Settings that may be set anew; summaries and passages were made for the others.
_FREE = frozenset({"slots", "read_limit", "initial_slots"})


def restore(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="What demem export wrote.")],
    place: Place,
    budget: Budget,
    output: Output,
) -> None:
    """Make a memory from an export, under --id and --tenant; it has the exported settings unless others are given.

    --slot-limit and --unit cannot differ from those of the export.
    """
    rows = _with_settings(_rows(file), budget.given())
    SlotMemory.restore(rows).check()  # in RAM first: a damaged file makes no file
    if place.holds_memory():
        raise UsageError(f"{place.memory} holds a memory with the id {place.id!r} already; import under another --id")
    place.require_folder()
    with SlotMemory.restore(rows, place.url, memory_id=place.id, tenant=place.tenant) as memory:
        counts = {"evidence": len(memory), "answers": len(memory.contexts()), "certificates": len(memory.certificates())}
        limit = memory.settings.slot_limit
        output.show(
            {"file": str(file), **counts, "slots": [slot_value(slot, limit) for slot in memory.slots]},
            cell(f"{len(memory)} items, {counts['answers']} answers, {counts['certificates']} certificates imported."),
            slots_table(memory.slots, memory.settings),
        )


def _rows(file: Path) -> list[Row]:
    rows: list[Row] = []
    try:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                rows.append(json.loads(line))
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(file), "JSON lines as demem export writes them") from error
    except ValueError as error:
        raise InvalidInput(f"{file.name} line {number}", line, "one JSON object, as demem export writes it") from error
    return rows


def _with_settings(rows: list[Row], given: Row) -> list[Row]:
    """Put what was typed into the exported settings, as far as they may change."""
    if not given or not rows or not isinstance(rows[0].get("settings"), dict):
        return rows
    exported = rows[0]["settings"]
    for name, value in given.items():
        if name not in _FREE and value != exported.get(name):
            raise InvalidInput(name, value, f"{exported.get(name)!r}, as in the export, or left out")
    used = [row["number"] for row in rows if row.get("kind") == "slot"]
    if "slots" in given and given["slots"] <= max(used, default=-1):
        raise InvalidInput("slots", given["slots"], f"at least {max(used) + 1}, since that many are in use")
    return [{**rows[0], "settings": {**exported, **given}}, *rows[1:]]
