"""``demem supersede``: settle that one item holds in place of another."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.successions import successions_table
from demem_agent.types import by_id

__all__ = ["supersede"]


def supersede(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Id of what holds no longer, as e3.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Id of what holds in its place.")],
    place: Place,
    output: Output,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key again changes nothing.")
    ] = None,
) -> None:
    """Settle that one item of evidence has taken the place of another.

    Nothing is deleted. Readings mark the old one, behind the new one; undo takes it back.
    """
    with place.open() as memory:
        made = memory.supersede(old, new, key=key)
        items = by_id(memory.evidence())
        title = f"{old} is superseded by {new}; undo {made.id} takes it back"
        output.show(asdict(made), successions_table(title, [made], items))
