"""``demem memories``: who is in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from demem_agent.cli.json_values import memory_value
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, day, table
from demem_agent.memories import MemoryInfo, list_memories

__all__ = ["memories"]


def memories(
    output: Output,
    file: File = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", "-m", metavar="PATH", envvar="DEMEM_MEMORY", help="The same as FILE."
        ),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of this tenant alone. [of all]")
    ] = None,
) -> None:
    """List the memories in a file: what is in each, and since when."""
    place = Place(memory).at(file)
    place.require_file()
    found = list_memories(place.url, tenant)
    output.show(list(map(memory_value, found)), _table(found))


def _table(found: Sequence[MemoryInfo]) -> Table:
    shown = table(f"{len(found)} memories" if len(found) != 1 else "1 memory")
    add_columns(shown, "tenant", "id")
    add_figures(shown, "items", "bytes", "answers", "slots")
    add_columns(shown, "first item", "last item", "changed", no_wrap=True)
    for one in found:
        shown.add_row(
            cell(one.tenant),
            cell(one.memory_id),
            str(one.items),
            f"{one.size:,}",
            str(one.answers),
            str(one.slots),
            day(one.first),
            day(one.last),
            day(one.changed),
        )
    return shown
