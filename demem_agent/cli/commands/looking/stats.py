"""``demem stats``: how a memory stands."""

from __future__ import annotations

from dataclasses import asdict

from demem_agent.cli.memory_options import File, Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid

__all__ = ["stats"]


def stats(place: Place, output: Output, file: File = None) -> None:
    """Show how a memory stands: what it holds, against its bounds, and what waits in it."""
    with place.at(file).open() as memory:
        health = memory.health()
    shown = grid()
    for what, how_much in health.told():
        shown.add_row(what, cell(how_much))
    changed = health.changed.isoformat() if health.changed else None
    output.show({**asdict(health), "changed": changed}, shown)
