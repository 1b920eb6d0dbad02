"""``demem undo``: take back a certificate, what was told of an answer, or a succession."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.commands.arranging.slots import show_slots
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output

__all__ = ["undo"]


def undo(
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Of a certificate, such as c1, an answer, as a1, a succession, as s1, or e1>e3.",
        ),
    ],
    place: Place,
    output: Output,
) -> None:
    """Take back a certificate, what was told of an answer, or that a line was superseded.

    A split: exactly, if nothing came after it; else by merging and keeping what came after. A
    certificate that names rivals says nothing of readings any more. An answer: what its feedback
    said of lines; its rewards stay on record. A succession: its old line holds again.
    """
    with place.open() as memory:
        memory.undo(id)
        show_slots(memory, output, f"{id} is undone.", undone=id)
