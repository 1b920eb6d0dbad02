"""``demem hide``: have an item never be read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell

__all__ = ["hide"]


def hide(
    id: Annotated[str, typer.Argument(metavar="ID", help="Of the item, such as e12.")],
    place: Place,
    output: Output,
    off: Annotated[bool, typer.Option("--off", help="It may be read again.")] = False,
) -> None:
    """Have an item never be read: it is in no reading, answer or summary, but not forgotten."""
    with place.open() as memory:
        memory.hide(id, not off)
        said = f"{id} may be read." if off else f"{id} is never read."
        output.show({"marks": list(map(asdict, memory.marks()))}, cell(said))
