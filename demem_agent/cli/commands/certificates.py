"""``demem certificates``: every conflict that was certified."""

from __future__ import annotations

from dataclasses import asdict

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.certificate import certificates_table

__all__ = ["certificates"]


def certificates(place: Place, output: Output) -> None:
    """List the certificates: splits carried out, undone and suppressed alike."""
    with place.open() as memory:
        found = memory.certificates()
        words = certificates_table(found) if found else cell("No conflict was certified so far.")
        output.show(list(map(asdict, found)), words)
