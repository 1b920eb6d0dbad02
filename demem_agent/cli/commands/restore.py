"""``demem import``: make a memory from what ``demem export`` wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json as Row
from demem_agent.cli.json_values import slot_values
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell, counted, counts
from demem_agent.errors import InvalidInput
from demem_agent.stores.manifest import END, ended

__all__ = ["restore"]

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
    rehearsed = _rehearsed(rows, file)
    _check_settings(rehearsed, budget.given())
    rows = _with_settings(rows, budget.given())
    if place.holds_memory():
        raise UsageError(
            f"{place.memory} already holds a memory with the id {place.memory_id!r}; "
            "pass another --id"
        )
    place.require_folder()
    with _restored(rows, place) as memory:
        _show(memory, file, output)


def _rehearsed(rows: list[Row], file: Path) -> SlotMemory:
    """Restore in RAM first: from a damaged file no memory is made."""
    try:
        return SlotMemory.restore(rows)
    except InvalidInput as error:
        error.add_note(f"{file.name} must be what demem export wrote; demem ingest reads turns")
        raise


def _show(memory: SlotMemory, file: Path, output: Output) -> None:
    found = counts(memory)
    slots = slot_values(memory.slots, memory.settings.slot_limit)
    document = {"file": str(file), **found, "slots": slots}
    words = cell(f"Imported {counted(found)}.")
    output.show(document, words, slots_table(memory.slots, memory.settings))


def _restored(rows: list[Row], place: Place) -> SlotMemory:
    return SlotMemory.restore(rows, place.url, memory_id=place.memory_id, tenant=place.tenant)


def _rows(file: Path) -> list[Row]:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(file), "JSON lines as demem export writes them") from error
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            rows.append(_row(line, f"{file.name} line {number}"))
    return rows


def _row(line: str, where: str) -> Row:
    try:
        row: Row = json.loads(line)
    except ValueError as error:
        raise InvalidInput(where, line, "one JSON object, as demem export writes it") from error
    return row


def _check_settings(exported: SlotMemory, given: Row) -> None:
    """Raise InvalidInput where what was typed cannot be put into the exported settings."""
    for name, value in given.items():
        kept = getattr(exported.settings, name)
        if name not in _FREE and value != kept:
            raise InvalidInput(name, value, f"{kept!r}, as in the export, or left out")
    _check_slots(exported, given)
    replace(exported.settings, **given)  # checks the ranges


def _check_slots(exported: SlotMemory, given: Row) -> None:
    needed = 1 + max((slot.number for slot in exported.slots), default=0)
    if given.get("slots", needed) < needed:
        expected = f"at least {needed}, since that many are in use"
        raise InvalidInput("slots", given["slots"], expected)


def _with_settings(rows: list[Row], given: Row) -> list[Row]:
    """Put what was typed into the exported settings; the last row tells of the others as they are
    then.
    """
    if not given:
        return rows
    first = {**rows[0], "settings": {**rows[0]["settings"], **given}}
    made = ended([first, *rows[1:]])
    return made if rows[-1]["kind"] == END else made[:-1]
