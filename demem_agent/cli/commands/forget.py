"""``demem forget``: erase evidence and every text that came from it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.filter_options import Filter
from demem_agent.cli.hints import by_own_id
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.receipt import receipt_grid

__all__ = ["forget"]


def forget(
    place: Place,
    output: Output,
    chosen: Filter,
    evidence_id: Annotated[
        str | None, typer.Argument(metavar="EVIDENCE_ID", help="The memory's own id, such as e12.")
    ] = None,
    source_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Your own id of the turn.")
    ] = None,
    versions: Annotated[
        bool,
        typer.Option("--versions", help="All versions of it, as history shows them, as well."),
    ] = False,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="Everything dated earlier, ISO 8601.")
    ] = None,
) -> None:
    """Erase evidence, and every text that came from it, for good.

    It is in no slot, answer or certificate and not in the file any more. What it had taken the
    place of holds again, unless --versions erases that too. Give exactly one of EVIDENCE_ID,
    --source-id, --before, and a filter: --where, --since and --until together.
    """
    where = chosen.given()
    if [evidence_id, source_id, before, where].count(None) != 3:
        raise UsageError("give exactly one of EVIDENCE_ID, --source-id, --before and a filter")
    with place.open() as memory:
        missed = chosen.missed(memory) if where else "nothing was dated earlier"
        with by_own_id(memory, evidence_id):
            receipt = memory.forget(
                evidence_id, source_id=source_id, before=before, where=where, versions=versions
            )
        output.show(asdict(receipt), receipt_grid(receipt, missed))
