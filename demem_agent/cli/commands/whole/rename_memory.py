"""``demem rename-memory``: give a whole memory another id."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.json_values import memory_value
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.memories import rename_memory as renamed

__all__ = ["rename_memory"]


def rename_memory(
    place: Place,
    output: Output,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="Its new id.")],
    file: File = None,
    to_tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose it is then. [the same tenant's]")
    ] = None,
) -> None:
    """Give a memory another id, or another tenant. (demem rename is for slots.)"""
    at = place.at(file)
    at.store().close()
    made = renamed(at.url, at.memory_id, to=to, tenant=at.tenant, to_tenant=to_tenant)
    said = f"{at.memory_id} is called {made.memory_id} now, of the tenant {made.tenant}."
    output.show(memory_value(made), cell(said))
