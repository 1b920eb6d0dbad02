"""``demem check``: assert every invariant."""

from __future__ import annotations

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, counted, counts

__all__ = ["check"]


def check(place: Place, output: Output) -> None:
    """Assert every invariant; exit 2 names the first that does not hold."""
    with place.open() as memory:
        memory.check()
        found = counts(memory)
        document = {"ok": True, **found, "fingerprint": memory.fingerprint()}
        output.show(document, cell(f"Every invariant holds: {counted(found)}."))
