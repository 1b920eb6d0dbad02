"""``demem pin``: have a slot stay as it is divided."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.commands.arranging.slots import show_slots
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output

__all__ = ["pin"]


def pin(
    number: Annotated[int, typer.Argument(min=0, metavar="SLOT", help="Number of the slot.")],
    place: Place,
    output: Output,
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
) -> None:
    """Have a slot stay as it is divided: neither split nor merged.

    A conflict certified in it is logged as suppressed, and acted on once it is unpinned.
    """
    with place.open() as memory:
        memory.pin(number, not off)
        done = "no longer pinned" if off else "pinned"
        show_slots(memory, output, f"Slot {number} is {done}.")
