"""Who does background work on a store: the runner that fits it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from demem_agent.jobs.kinds import Means
from demem_agent.jobs.rounds import Rounds
from demem_agent.stores import Store
from demem_agent.stores.backlog import Backlog

__all__ = ["Runner", "runner_of"]


class Runner(Protocol):
    """Does background work on the memories of a store."""

    @property
    def backlog(self) -> Backlog:
        """What waits."""
        ...

    @property
    def counts(self) -> dict[str, int]:
        """How much was done since this began, by kind."""
        ...

    def once(self) -> dict[str, int]:
        """Do what can be done now; return how much was done, by kind."""
        ...

    def run(self, every: float = 10.0) -> None:
        """Do what is due and look for more, every so many seconds, until :meth:`end`."""
        ...

    def end(self) -> None:
        """Have the others end, once what is at hand is done."""
        ...


def runner_of(
    store: Store,
    kinds: Sequence[str],
    means: Means | None = None,
    *,
    tenant: str = "default",
    concurrency: int = 1,
) -> Runner:
    """Return who does background work on a store: a queue where it can have one, else rounds.

    Args:
        kinds, means, tenant, concurrency: as for :class:`~demem_agent.jobs.rounds.Rounds`.

    Raises:
        InvalidInput: as :class:`~demem_agent.jobs.rounds.Rounds` does.
    """
    if hasattr(store, "work"):
        from demem_agent.jobs.queue import Queue  # psycopg and procrastinate are extras

        return Queue(store, kinds, means, tenant=tenant, concurrency=concurrency)  # type: ignore[arg-type]  # no other store has a queue
    return Rounds(store, kinds, means, tenant=tenant, concurrency=concurrency)
