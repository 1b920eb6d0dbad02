"""``demem show``: all that is known of one item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from demem_agent import Evidence, SlotMemory
from demem_agent.cli.commands.looking.items import settled
from demem_agent.cli.json_values import Json, evidence_value, slot_of_each
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, first_words, grid
from demem_agent.cli.tables.successions import succession_words
from demem_agent.errors import NotFound
from demem_agent.types import Context, Mark, Succession, by_id, number_of

__all__ = ["show"]


def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="Of the item, such as e12.")],
    place: Place,
    output: Output,
    file: File = None,
) -> None:
    """Show an item: its text, who said it and when, what has taken its place, and who used it.

    Of one that was forgotten it says so.
    """
    with place.at(file).open() as memory:
        item = by_id(memory.evidence()).get(id)
        if item is None:
            _show_forgotten(id, memory, output)
            return
        slot = slot_of_each(memory).get(id)
        mark = next((one for one in memory.marks() if one.evidence_id == id), Mark(id))
        chain = (one for version in memory.history(id) for one in version.replaces)
        successions = [one for one in chain if id in (one.old[0], one.new[0])]
        used = list(_uses(id, memory.contexts()))
        shown = _shown(item, slot, mark)
        _add_successions(shown, id, successions, by_id(memory.evidence()))
        _add_uses(shown, used)
    document: Json = {
        **evidence_value(item),
        "forgotten": False,
        "slot": slot,
        "kept": mark.kept,
        "hidden": mark.hidden,
        "successions": list(map(asdict, successions)),
        "answers": [{"id": one.id, "query": one.query, "as": how} for one, how in used],
    }
    output.show(document, shown)


def _show_forgotten(id: str, memory: SlotMemory, output: Output) -> None:
    """Say of an item that is not there that it was.

    Raises:
        NotFound: for one that never was.
    """
    health = memory.health()
    was = id[:1] == "e" and id[1:].isdecimal()
    if not was or not 1 <= number_of(id) <= health.items + health.forgotten:
        raise NotFound("evidence", id)
    by_itself = any(id in receipt.evidence for receipt in memory.receipts())
    why = "for want of room or for its age" if by_itself else "by forget"
    document = {"id": id, "forgotten": True, "by_itself": by_itself}
    output.show(document, cell(f"{id} was forgotten, {why}: its text is nowhere any more."))


def _uses(id: str, contexts: tuple[Context, ...]) -> Iterator[tuple[Context, str]]:
    """Yield the answers that an item was read for, and how it did there."""
    for context in contexts:
        weights = [weight for item, *_, weight in context.verdicts if item == id]
        if any(weight > 0 for weight in weights):
            yield context, "right"
        elif weights:
            yield context, "wrong"
        elif id in context.supports:
            yield context, "rested on"
        elif any(item == id for item, _, _ in context.read):
            yield context, "read"


def _shown(item: Evidence, slot: int | None, mark: Mark) -> Table:
    shown = grid()
    shown.add_row(item.id, cell(item.text, "bold"))
    shown.add_row("said by", cell(item.speaker or "nobody that is named"))
    shown.add_row("at", cell(item.at.isoformat(sep=" ") if item.at else "a time not known"))
    told = {"session": item.session, "source": item.source, "your id": item.source_id}
    for name, value in told.items():
        if value is not None:
            shown.add_row(name, cell(value))
    if item.trust < 1:
        shown.add_row("trust", cell(str(item.trust)))
    shown.add_row("slot", cell("none" if slot is None else str(slot)))
    if mark.says_something:
        shown.add_row("marked", cell(settled(mark)))
    return shown


def _add_successions(
    shown: Table, id: str, successions: list[Succession], live: dict[str, Evidence]
) -> None:
    for one in successions:
        if one.old[0] == id:
            shown.add_row("no longer holds", cell(succession_words(one, live)))
        else:
            shown.add_row("holds since", cell(f"it has taken the place of {one.old[0]} ({one.id})"))


def _add_uses(shown: Table, used: list[tuple[Context, str]]) -> None:
    for context, how in used:
        question = first_words(context.query) or "(forgotten)"
        shown.add_row(f"{how} in {context.id}", cell(question))
    if not used:
        shown.add_row("answers", cell("no answer was read from it", "dim"))
