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
    place: Place,
    output: Output,
    file: File = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="NAME", help="Of this tenant alone.")
    ] = None,
) -> None:
    """List the memories in a file, of all tenants: what is in each, and since when."""
    at = place.at(file)
    at.require_file()
    found = list_memories(at.url, of)
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
