"""``demem copy``: copy a whole memory."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.json_values import memory_value
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.memories import copy_memory

__all__ = ["copy"]


def copy(
    place: Place,
    output: Output,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="Id of the copy.")],
    file: File = None,
    to_tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose the copy is. [the same tenant's]")
    ] = None,
    to_file: Annotated[
        str | None, typer.Option(metavar="PATH", help="File or URL of the copy. [the same file]")
    ] = None,
) -> None:
    """Copy a memory, with all that it has learned, under another id or into another file."""
    at = place.at(file)
    at.store().close()
    target = None if to_file is None else at.at(to_file)
    if target is not None:
        target.require_folder()
    made = copy_memory(
        at.url,
        at.memory_id,
        to=to,
        tenant=at.tenant,
        to_tenant=to_tenant,
        to_url=None if target is None else target.url,
    )
    output.show(memory_value(made), cell(f"{made.memory_id} has the same {made.items} items now."))
