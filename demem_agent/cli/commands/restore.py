"""``demem import`` and ``demem restore``: make a memory from what ``demem export`` wrote, or take a
backup back.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from demem_agent import SlotMemory
from demem_agent.cli.commands.whole.doctor import examined_parts, examined_value
from demem_agent.cli.exports import rows_of
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json as Row
from demem_agent.cli.json_values import slot_values
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import cell, counted, counts
from demem_agent.cli.tables.slots import slots_table
from demem_agent.errors import InvalidInput
from demem_agent.safekeeping import backup, examine
from demem_agent.stores.manifest import END, digest_of, ended

__all__ = ["restore"]

#: Settings that may be set anew; summaries and passages were made for the others.
_FREE = frozenset({"slots", "read_limit", "initial_slots"})


def restore(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="What demem export wrote, or demem backup.",
        ),
    ],
    place: Place,
    budget: Budget,
    output: Output,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all of it and check it; write nothing.")
    ] = False,
) -> None:
    """Make a memory from what demem export wrote, or put a backup in its place again.

    A memory is known by --id and --tenant, and has the exported settings unless others are given;
    --slot-limit and --unit cannot differ from those of the export. A backup goes whole into a file
    that is not there yet.
    """
    if _is_database(file):
        _restore_backup(file, place, output, verify=verify)
        return
    rows = rows_of(file)
    rehearsed = _rehearsed(rows, file)
    if verify:
        _show_verified(rehearsed, rows, file, output)
        return
    _check_settings(rehearsed, budget.given())
    rows = _with_settings(rows, budget.given())
    if place.holds_memory():
        raise UsageError(
            f"{place.shown} already holds a memory with the id {place.memory_id!r}; "
            "pass another --id"
        )
    place.require_folder()
    with _restored(rows, place) as memory:
        _show(memory, file, output)


def _is_database(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(16) == b"SQLite format 3\0"


def _restore_backup(file: Path, place: Place, output: Output, *, verify: bool) -> None:
    """Look at a backup, and copy it where all of it is sound."""
    with ticking("reading", transient=True) as tick:
        found = examine(file, progress=tick)
    if verify or not found.is_sound:
        output.show(examined_value(found), *examined_parts(found))
    if not found.is_sound:
        raise typer.Exit(2)
    if verify:
        return
    if place.path is None:
        raise UsageError(f"{place.shown} is no file; a backup goes into one")
    made = backup(f"sqlite:///{file.resolve()}", place.path)
    said = f"{made.memories} memories are in {made.path}."
    output.show({**asdict(made), "at": made.at.isoformat()}, cell(said))


def _show_verified(memory: SlotMemory, rows: list[Row], file: Path, output: Output) -> None:
    memory.check()
    found = counts(memory)
    digest = digest_of(rows)
    said = f"{file} is whole: {counted(found)}, {len(rows)} lines, digest {digest}."
    output.show({"ok": True, "file": str(file), **found, "digest": digest}, cell(said))


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
