"""``demem undo``: take a split back."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.plain import slot_value
from demem_agent.cli.shared import Output, Place
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell

__all__ = ["undo"]


def undo(
    certificate_id: Annotated[str, typer.Argument(metavar="CERTIFICATE_ID", help="Of the split, such as c1.")],
    place: Place,
    output: Output,
) -> None:
    """Take a split back.

    Exactly, if nothing came after it; else by merging and keeping what came after."""
    with place.open() as memory:
        memory.undo(certificate_id)
        limit = memory.settings.slot_limit
        output.show(
            {"undone": certificate_id, "slots": [slot_value(slot, limit) for slot in memory.slots]},
            cell(f"{certificate_id} is undone."),
            slots_table(memory.slots, memory.settings),
        )
