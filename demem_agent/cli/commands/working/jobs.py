"""``demem jobs``: the background work that is queued in a store."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.faults import UsageError
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.stores import Store, opened_store

if TYPE_CHECKING:
    from demem_agent.stores.backlog import Backlog
    from demem_agent.stores.postgres.work import Work

__all__ = ["jobs"]


def jobs(
    output: Output,
    served: Served,
    off: Annotated[
        bool, typer.Option("--off", help="Queue nothing any more, and drop what waits.")
    ] = False,
) -> None:
    """Say how much background work is queued, and since when; --off ends that.

    A store in PostgreSQL has a queue once demem worker has worked on it; of a file, what is due
    follows from its memories, and nothing is queued.
    """
    with opened_store(served.url) as store:
        work = _work_of(store)
        if off:
            work.drop()
        backlog = work.backlog()
    output.show(asdict(backlog), *map(cell, _said(backlog)))


def _work_of(store: Store) -> Work:
    work: Work | None = getattr(store, "work", None)
    if work is None:
        raise UsageError(
            "only a postgresql:// store has a queue; demem worker finds what is due by itself"
        )
    return work


def _said(backlog: Backlog) -> list[str]:
    if not backlog.waiting:
        return ["Nothing is queued: demem worker begins that."]
    said = [f"{kind}: {count} waiting" for kind, count in backlog.waiting.items()]
    return [*said, f"The oldest: {backlog.oldest:.0f} s. Given up: {backlog.given_up}."]
