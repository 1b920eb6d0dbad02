"""``demem copy``: copy a whole memory, or all of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import memory_value
from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import cell
from demem_agent.memories import copy_memories, copy_memory

__all__ = ["copy"]


def copy(
    place: Place,
    output: Output,
    file: File = None,
    into: Annotated[
        str | None,
        typer.Argument(
            metavar="INTO", help="File or URL that all memories are copied into, without --to."
        ),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="NAME", help="Id of the copy.")] = None,
    to_tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose the copy is. [the same tenant's]")
    ] = None,
    to_file: Annotated[
        str | None, typer.Option(metavar="PATH", help="File or URL of the copy. [the same file]")
    ] = None,
) -> None:
    """Copy a memory, with all that it has learned, under another id or into another file.

    With a second file or URL all memories of the first are copied into it, as they are called and
    whose they are; those that are there already, as they are here, are left.
    """
    at = place.at(file)
    if (to is None) == (into is None):
        raise UsageError("give --to NAME for one memory, or a second file or URL for all of them")
    if into is not None:
        _copy_all(at, at.at(into), output)
        return
    assert to is not None
    at.store().close()
    target = None if to_file is None else at.at(to_file)
    if target is not None:
        target.require_folder()
    made = copy_memory(
        at.url,
        at.memory_id,
        to=to,
        tenant=at.tenant,
        to_tenant=to_tenant,
        to_url=None if target is None else target.url,
    )
    output.show(memory_value(made), cell(f"{made.memory_id} has the same {made.items} items now."))


def _copy_all(at: Place, target: Place, output: Output) -> None:
    at.require_file()
    target.require_folder()
    with ticking("copying", transient=True) as tick:
        copied = copy_memories(at.url, target.url, progress=tick)
    memories = "1 memory was" if len(copied) == 1 else f"{len(copied):,} memories were"
    items = sum(one.items for one in copied)
    output.show(
        {"memories": len(copied), "items": items},
        cell(f"{memories} copied, with {items:,} items; those that were there are left."),
    )
