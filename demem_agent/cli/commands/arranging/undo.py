"""``demem undo``: take back a certificate, or what was told of an answer."""

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
        typer.Argument(metavar="ID", help="Of a certificate, as c1, or of an answer, as a1."),
    ],
    place: Place,
    output: Output,
) -> None:
    """Take back a certificate, or what was told of an answer.

    A split: exactly, if nothing came after it; else by merging and keeping what came after. A
    certificate that names rivals says nothing of readings any more. An answer: what its feedback
    said of lines; its rewards stay on record.
    """
    with place.open() as memory:
        memory.undo(id)
        show_slots(memory, output, f"{id} is undone.", undone=id)
