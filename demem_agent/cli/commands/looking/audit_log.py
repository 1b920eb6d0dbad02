"""``demem audit-log``: who did what to which memory and items."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.auditing import Noted, noted_in
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import add_columns, cell, table

__all__ = ["audit_log"]

#: Ids of one call that a table shows.
_SHOWN = 8


def audit_log(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="File of an audit log.")],
    output: Output,
    actor: Annotated[str | None, typer.Option(metavar="NAME", help="Who called.")] = None,
    memory_id: Annotated[
        str | None, typer.Option("--memory-id", metavar="NAME", help="Of which memory.")
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="ID", help="An id that was named, given or changed.")
    ] = None,
) -> None:
    """Show who did what to which memory, and when; there are ids in it and no texts."""
    found = list(noted_in(log, actor=actor, memory_id=memory_id, item=item))
    shown = table("calls")
    add_columns(shown, "at", "actor", "operation", "tenant", "memory", "ids", "error")
    for one in found:
        about = (one.actor, one.operation, one.tenant, one.memory_id)
        at = one.at.isoformat(timespec="seconds")
        shown.add_row(cell(at), *map(cell, about), cell(_ids(one)), cell(one.error))
    output.show([{**asdict(one), "at": one.at.isoformat()} for one in found], shown)


def _ids(one: Noted) -> str:
    """Return the first ids of a call, and how many more there were."""
    more = one.more + len(one.ids[_SHOWN:])
    told = [*one.ids[:_SHOWN], *([f"and {more} more"] if more else [])]
    return ", ".join(told)
