"""``demem history``: how a fact came to be what it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.json_values import evidence_value
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.successions import history_table

__all__ = ["history"]


def history(
    evidence_id: Annotated[
        str, typer.Argument(metavar="EVIDENCE_ID", help="Of any item in the chain, such as e12.")
    ],
    place: Place,
    output: Output,
) -> None:
    """Show what has taken the place of an item of evidence, and whose place it took, old to new."""
    with place.open() as memory:
        versions = memory.history(evidence_id)
        document = []
        for one in versions:
            replaces = list(map(asdict, one.replaces))
            item = evidence_value(one.evidence)
            document.append({**item, "holds": one.holds, "replaces": replaces})
        output.show(document, history_table(versions))
