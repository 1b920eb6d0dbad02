"""Why a question goes to one slot and not to another."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from demem_agent import Route, Slot
from demem_agent.cli.tables.cells import (
    add_columns,
    add_figures,
    cell,
    first_words,
    number,
    sentence,
    table,
)

__all__ = ["NOT_KNOWN", "route_table", "route_words"]

#: Said of an answer that memory does not seem to hold.
NOT_KNOWN = "(not known: memory does not seem to hold what is asked)"


def route_words(route: Route) -> Text:
    """Say in one line where a question went and whether memory bears on it."""
    if route.slot is None:
        return sentence("memory is empty")
    bears = cell("memory does not seem to hold what is asked", "yellow")
    if route.adequate:
        bears = cell("memory seems to hold what is asked", "green")
    probability = f", probability {number(route.probability)}"
    return sentence(f"slot {route.slot}, ahead by {number(route.margin)}, ", bears, probability)


def route_table(route: Route, slots: Sequence[Slot], held_in: int | None) -> Table:
    """Show the score of every slot, best first.

    Args:
        held_in: the slot that the decision counts for; feedback may have moved it from where it was
            routed.
    """
    shown = table("Why this slot: the scores as they are now")
    add_figures(shown, "slot", "score", "items")
    add_columns(shown, "")
    shown.add_column("begins", overflow="fold")
    best_first = sorted(slots, key=lambda slot: (-route.scores[slot.number], slot.number))
    for slot in best_first:
        beginning = first_words(slot.summary.removeprefix("- "))
        shown.add_row(
            str(slot.number),
            number(route.scores[slot.number]),
            str(len(slot.evidence)),
            cell(_notes(slot, route, held_in), "bold"),
            cell(beginning),
        )
    return shown


def _notes(slot: Slot, route: Route, held_in: int | None) -> str:
    notes: list[str] = []
    if slot.number == route.slot:
        notes.append("chosen")
    if slot.number == held_in:
        notes.append("holds this decision")
    return ", ".join(notes)
