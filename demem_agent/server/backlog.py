"""The background work of a server's memories: how much waits, and whether for too long."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client.metrics_core import GaugeMetricFamily

from demem_agent.errors import InvalidInput
from demem_agent.server.metrics import Numbers
from demem_agent.server.refusals import Refusal
from demem_agent.stores import Store
from demem_agent.stores.backlog import Backlog

__all__ = ["TOO_OLD", "WorkWatch", "told_by"]

#: Seconds for which work may wait unless said otherwise: a quarter of an hour.
TOO_OLD = 900.0


class WorkWatch:
    """Looks at background work whenever somebody asks.

    Args:
        told: tells what waits; None where nobody does.
        too_old: seconds for which the oldest work may wait, >= 0; 0 for any time.

    Raises:
        InvalidInput: for a time below 0.
    """

    def __init__(self, told: Callable[[], Backlog] | None = None, too_old: float = TOO_OLD) -> None:
        if too_old < 0:
            raise InvalidInput("work_too_old", too_old, "seconds, at least 0")
        self._told = told
        self._too_old = too_old

    def require_young(self) -> None:
        """Refuse where work has waited for too long: nobody does it, or it fails."""
        if self._told is None or not self._too_old:
            return
        oldest = self._told().oldest
        if oldest > self._too_old:
            says = f"background work has waited for {oldest:.0f} s, of at most {self._too_old:.0f}"
            raise Refusal("busy", says, {"Retry-After": "60"})

    def numbers(self) -> Numbers:
        """Return what waits, as series; none where nobody tells."""
        if self._told is None:
            return []
        backlog = self._told()
        waiting = GaugeMetricFamily(
            "demem_work_waiting", "Memories that wait for background work.", labels=["kind"]
        )
        for kind, count in sorted(backlog.waiting.items()):
            waiting.add_metric([kind], count)
        oldest = GaugeMetricFamily(
            "demem_work_oldest_seconds", "Seconds since the oldest of it was due.", backlog.oldest
        )
        given_up = GaugeMetricFamily(
            "demem_work_given_up", "Work that failed too often.", backlog.given_up
        )
        return [waiting, oldest, given_up]


def told_by(store: Store) -> Callable[[], Backlog] | None:
    """Return what tells the background work of a store; None where it has no queue of it."""
    work = getattr(store, "work", None)
    return None if work is None else work.backlog
