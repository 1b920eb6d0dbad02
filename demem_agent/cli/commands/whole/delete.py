"""``demem delete``: delete a whole memory."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import receipt_value
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.memories import DeletionReceipt, delete_memory, list_memories

__all__ = ["delete"]


def delete(
    place: Place,
    output: Output,
    file: File = None,
    all: Annotated[
        bool, typer.Option("--all-of-tenant", help="Delete all memories of --tenant.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a whole memory for good: nothing of it is in the file any more."""
    at = place.at(file)
    if all:
        at.require_file()
    else:
        at.store().close()  # says which there are where it is none of them
    if not yes:
        _ask(_meant(at, all=all), output)
    memory_id = None if all else at.memory_id
    receipt = delete_memory(at.url, memory_id, tenant=at.tenant)
    output.show(receipt_value(receipt), _shown(receipt))


def _meant(place: Place, *, all: bool) -> str:
    """Return in words what would be deleted."""
    found = list_memories(place.url, place.tenant)
    those = [one for one in found if all or one.memory_id == place.memory_id]
    items = sum(one.items for one in those)
    what = f"{len(those)} memories" if all else f"the memory {place.memory_id!r}"
    return f"Delete {what} of the tenant {place.tenant!r}, with {items} items, for good?"


def _ask(question: str, output: Output) -> None:
    """Go on only if a person says so.

    Raises:
        UsageError: where nobody can be asked.
        typer.Abort: if the answer is no.
    """
    if output.json or not sys.stdin.isatty():
        raise UsageError("nobody is there to be asked whether to delete it; add --yes")
    typer.confirm(question, abort=True, err=True)


def _shown(receipt: DeletionReceipt) -> Table:
    shown = grid()
    shown.add_row("deleted", cell(", ".join(receipt.memories), "bold"))
    shown.add_row("of the tenant", cell(receipt.tenant))
    shown.add_row("items", cell(f"{receipt.items}, {receipt.size:,} bytes of text"))
    shown.add_row("answers", cell(str(receipt.answers)))
    shown.add_row("at", cell(f"{receipt.at:%Y-%m-%d %H:%M:%S} UTC"))
    return shown
