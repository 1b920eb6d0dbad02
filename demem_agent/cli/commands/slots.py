"""``demem slots``: what memory looks like."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.plain import slot_value
from demem_agent.cli.shared import Output, Place
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import NotFound

__all__ = ["slots"]


def slots(
    place: Place,
    output: Output,
    full: Annotated[int | None, typer.Option(metavar="NUMBER", help="Print one slot's whole summary.")] = None,
) -> None:
    """Show the slots: how full, what they hold, where they came from."""
    with place.open() as memory:
        settings = memory.settings
        if full is None:
            values = [slot_value(slot, settings.slot_limit) for slot in memory.slots]
            output.show({"slots": values, "of": settings.slots}, slots_table(memory.slots, settings))
            return
        chosen = [slot for slot in memory.slots if slot.number == full]
        if not chosen:
            raise NotFound("slot", str(full))
        output.show(slot_value(chosen[0], settings.slot_limit), cell(chosen[0].summary))
