"""``demem slots``: what memory looks like."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent import Slot, SlotMemory
from demem_agent.cli.json_values import slot_value, slot_values
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.slots import slots_table
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
        chosen = _slot(memory, full)
        output.show(slot_value(chosen, memory.settings.slot_limit), cell(chosen.summary))


def show_slots(memory: SlotMemory, output: Output, said: str = "", **found: object) -> None:
    """Print the slots as they stand after what was done to them.

    Args:
        said: what was done; ``found``: the same for the JSON document.
    """
    settings = memory.settings
    values = slot_values(memory.slots, settings.slot_limit)
    document = {**found, "slots": values, "of": settings.slots}
    parts = [cell(said)] if said else []
    output.show(document, *parts, slots_table(memory.slots, settings))


def _slot(memory: SlotMemory, number: int) -> Slot:
    for slot in memory.slots:
        if slot.number == number:
            return slot
    raise NotFound("slot", str(number))
