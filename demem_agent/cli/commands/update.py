"""``demem update``: change a fact."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.turns import time_field

__all__ = ["update"]


def update(
    evidence_id: Annotated[
        str, typer.Argument(metavar="EVIDENCE_ID", help="Id of what holds no longer, as e12.")
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What holds in its place.")],
    place: Place,
    output: Output,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was said, ISO 8601; now unless given."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key again changes nothing.")
    ] = None,
) -> None:
    """Remember a text in the place of an item of evidence.

    Who said it, and where, is as it was. Nothing is lost: history shows both, readings mark the old
    one, and undo takes it back.
    """
    with place.open() as memory:
        done = memory.update(evidence_id, text, at=time_field("at", at), key=key)
        words = f"{done.evidence_id} says that already; nothing changed."
        if done.changed:
            words = f"{done.evidence_id} holds in place of {done.replaced}; "
            words += f"undo {done.succession} takes it back."
        output.show(asdict(done), cell(words))
