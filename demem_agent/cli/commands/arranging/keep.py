"""``demem keep``: have an item stay whatever else is forgotten."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell

__all__ = ["keep"]


def keep(
    id: Annotated[str, typer.Argument(metavar="ID", help="Of the item, such as e12.")],
    place: Place,
    output: Output,
    off: Annotated[bool, typer.Option("--off", help="It may be forgotten again.")] = False,
) -> None:
    """Have an item stay whatever else is forgotten, for want of room or for its age."""
    with place.open() as memory:
        memory.keep(id, not off)
        said = f"{id} may be forgotten." if off else f"{id} stays."
        output.show({"marks": list(map(asdict, memory.marks()))}, cell(said))
