"""``demem undo``: take a split back."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.commands.arranging.slots import show_slots
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output

__all__ = ["undo"]


def undo(
    certificate_id: Annotated[
        str, typer.Argument(metavar="CERTIFICATE_ID", help="Of the split, such as c1.")
    ],
    place: Place,
    output: Output,
) -> None:
    """Take a split back.

    Exactly, if nothing came after it; else by merging and keeping what came after.
    """
    with place.open() as memory:
        memory.undo(certificate_id)
        show_slots(memory, output, f"{certificate_id} is undone.", undone=certificate_id)
