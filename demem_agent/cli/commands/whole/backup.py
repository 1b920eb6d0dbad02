"""``demem backup``: copy a file of memories while it is used."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import cell
from demem_agent.safekeeping import backup as backed_up

__all__ = ["backup"]


def backup(
    source: Annotated[str, typer.Argument(metavar="FROM", help="File of memories, or its URL.")],
    to: Annotated[Path, typer.Argument(metavar="TO", help="The copy; it must not be there yet.")],
    output: Output,
) -> None:
    """Copy all memories of a file as of one moment, while others go on using it.

    The copy is there whole or not at all, and its owner alone may read it. demem restore --verify
    reads it through.
    """
    place = Place(source)
    place.require_file()
    with ticking("backing up", transient=True) as tick:
        made = backed_up(place.url, to, progress=tick)
    memories = "1 memory" if made.memories == 1 else f"{made.memories} memories"
    said = f"{memories} in {made.path}, {made.size:,} bytes, SHA-256 {made.digest}"
    output.show({**asdict(made), "at": made.at.isoformat()}, cell(said))
