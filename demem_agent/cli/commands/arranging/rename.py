"""``demem rename``: give a slot a name."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.commands.arranging.slots import show_slots
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output

__all__ = ["rename"]


def rename(
    number: Annotated[int, typer.Argument(min=0, metavar="SLOT", help="Number of the slot.")],
    place: Place,
    output: Output,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Its name; none takes it away.")
    ] = None,
) -> None:
    """Give a slot a name, for people: nothing else depends on it."""
    with place.open() as memory:
        memory.rename(number, name)
        said = f"Slot {number} is called {name!r}." if name else f"Slot {number} has no name."
        show_slots(memory, output, said)
