"""``demem merge``: put two slots together."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.commands.arranging.slots import show_slots
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output

__all__ = ["merge"]


def merge(
    number: Annotated[
        int, typer.Argument(min=0, metavar="SLOT", help="Number of the slot that is closed.")
    ],
    into: Annotated[int, typer.Option(min=0, metavar="SLOT", help="Where all that it holds goes.")],
    place: Place,
    output: Output,
) -> None:
    """Move all that is in one slot into another, and close it.

    Its number is free for a later split. Splits that this takes back are marked as undone.
    """
    with place.open() as memory:
        memory.merge(number, into=into)
        show_slots(memory, output, f"Slot {number} is merged into slot {into}.")
