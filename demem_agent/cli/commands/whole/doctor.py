"""``demem doctor``: look at every memory of a file, and mend them in a copy."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, grid, table
from demem_agent.safekeeping import Examined, ExaminedMemory, Repaired, examine, repair

__all__ = ["doctor", "examined_parts", "examined_value"]

#: Names of damaged rows that a table shows.
_NAMED = 4


def doctor(
    output: Output,
    file: File = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", "-m", metavar="PATH", envvar="DEMEM_MEMORY", help="The same as FILE."
        ),
    ] = None,
    mended: Annotated[
        Path | None,
        typer.Option("--repair", metavar="OUT", help="Write a mended copy; OUT must not be there."),
    ] = None,
) -> None:
    """Look at every page, row and invariant of the memories in a file, which is not written to.

    Leaves with 2 where something is damaged. With --repair a copy is written of all that can be
    read, in which every memory is whole again, and what is lost is told.
    """
    path = file_of(Place(memory).at(file))
    with ticking("looking", transient=True) as tick:
        if mended is None:
            found = examine(path, progress=tick)
            output.show(examined_value(found), *examined_parts(found))
        else:
            done = repair(path, mended, progress=tick)
            found = done.found
            output.show(_repaired_value(done), *examined_parts(found), _repaired(done))
    if not found.is_sound and mended is None:
        raise typer.Exit(2)


def file_of(place: Place) -> Path:
    """Return the file of a place.

    Raises:
        UsageError: if none is named, it is not there, or is no SQLite file.
    """
    place.require_file()
    if place.path is None:
        raise UsageError(f"{place.shown} is no SQLite file")
    return place.path


def examined_value(found: Examined) -> dict[str, Any]:
    """Return how a file was found as JSON values."""
    memories = [{**asdict(one), "sound": one.is_sound} for one in found.memories]
    return {"sound": found.is_sound, **asdict(found), "memories": memories}


def examined_parts(found: Examined) -> list[Any]:
    """Return how a file was found for a person."""
    about = grid()
    about.add_row("file", cell(f"{found.path}, {found.size:,} bytes, schema {found.schema}"))
    about.add_row("pages", cell("; ".join(found.faults) or "sound", _style(not found.faults)))
    owed = "some may still be in the file" if found.owes_erasure else "none in the file"
    about.add_row("forgotten text", cell(owed))
    shown = table("memories")
    add_columns(shown, "tenant", "id")
    add_figures(shown, "items", "missing", "answers", "slots")
    add_columns(shown, "state")
    for one in found.memories:
        shown.add_row(
            cell(one.tenant),
            cell(one.memory_id),
            f"{one.items:,}",
            f"{one.missing:,}",
            f"{one.answers:,}",
            str(one.slots),
            cell(_state(one), _style(one.is_sound)),
        )
    return [about, shown]


def _state(one: ExaminedMemory) -> str:
    if one.is_sound:
        return "sound"
    told = list(one.damaged[:_NAMED])
    if len(one.damaged) > _NAMED:
        told.append(f"and {len(one.damaged) - _NAMED} more")
    if one.broken:
        told.append(one.broken)
    return f"damaged: {', '.join(told)}"


def _style(is_sound: bool) -> str:
    return "green" if is_sound else "red"


def _repaired(done: Repaired) -> Table:
    shown = grid()
    shown.add_row("mended copy", cell(f"{done.path}: {done.items:,} items"))
    shown.add_row("lost", cell(f"{done.lost:,} items"))
    for name in done.rows:
        shown.add_row("left out or made anew", cell(name))
    for tenant, memory_id, why in done.memories:
        shown.add_row("not mended", cell(f"{memory_id} of the tenant {tenant}: {why}"))
    return shown


def _repaired_value(done: Repaired) -> dict[str, Any]:
    return {**asdict(done), "found": examined_value(done.found)}
