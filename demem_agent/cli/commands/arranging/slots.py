"""``demem slots``: what memory looks like."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent import SlotMemory
from demem_agent.cli.json_values import slot_value
from demem_agent.cli.memory_options import Output, Place
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import NotFound

__all__ = ["show_slots", "slots"]


def slots(
    place: Place,
    output: Output,
    full: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Print one slot's whole summary.")
    ] = None,
) -> None:
    """Show the slots: how full, what they hold, where they came from."""
    with place.open() as memory:
        if full is None:
            show_slots(memory, output)
            return
        chosen = [slot for slot in memory.slots if slot.number == full]
        if not chosen:
            raise NotFound("slot", str(full))
        output.show(slot_value(chosen[0], memory.settings.slot_limit), cell(chosen[0].summary))


def show_slots(memory: SlotMemory, output: Output, said: str = "", **found: object) -> None:
    """Print the slots as they stand after what was done to them.

    Args:
        said: what was done; ``found``: the same for the JSON document.
    """
    settings = memory.settings
    values = [slot_value(slot, settings.slot_limit) for slot in memory.slots]
    parts = [cell(said)] if said else []
    output.show(
        {**found, "slots": values, "of": settings.slots},
        *parts,
        slots_table(memory.slots, settings),
    )
