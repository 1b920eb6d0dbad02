"""What a server counts of itself, for Prometheus: requests, their seconds, refusals, room left.

Labels are names of operations, statuses, problems and lanes, of which there are so many and no
more: never an id of a memory or of a key. Where several workers serve, each counts for itself, and
whichever is asked tells the numbers of all, with ``worker`` as a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from demem_agent.pool import MemoryPool
from demem_agent.server.admission import Lane
from demem_agent.server.events import Events

__all__ = ["MEDIA_TYPE", "Metrics", "Numbers", "text_of"]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Seconds. A reading takes milliseconds: where the first bucket ends at a tenth of a second, as
#: usual, nothing is seen.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
_WORKER = "worker"

#: What one worker has counted, by series.
Numbers: TypeAlias = Sequence[Metric]


class Metrics:
    """The numbers of one worker."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "demem_requests",
            "Requests that were answered.",
            ["operation", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "demem_request_seconds",
            "Seconds from the first line of a request to its response.",
            ["operation"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._problems = Counter(
            "demem_problems",
            "Requests that were refused or failed, by the kind of problem.",
            ["problem"],
            registry=self._registry,
        )

    def note(self, operation: str, status: int, problem: str, seconds: float) -> None:
        """Count one request.

        Args:
            problem: the name of the problem that came of it; "" for none.
        """
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)
        if problem:
            self._problems.labels(problem).inc()

    def watch(self, lanes: Mapping[str, Lane], pool: MemoryPool, events: Events) -> None:
        """Have what is there looked at whenever somebody asks for the numbers."""
        taken = self._gauge("demem_lane_taken", "Operations at work or waiting.", ["lane"])
        room = self._gauge(
            "demem_lane_room", "Operations there may be at once, waiting too.", ["lane"]
        )
        for name, lane in lanes.items():
            taken.labels(name).set_function(partial(getattr, lane, "taken"))
            room.labels(name).set(lane.room.at_once + lane.room.waiting)
        kept = self._gauge("demem_open_memories", "Memories that are kept in RAM.")
        kept.set_function(lambda: len(pool.warm))
        resident = self._gauge("demem_open_bytes", "About how many bytes those take.")
        resident.set_function(lambda: pool.resident)
        allowed = self._gauge("demem_open_bytes_allowed", "How many they may take.")
        allowed.set(pool.most_bytes)
        readers = self._gauge("demem_event_readers", "Who listens to what happens.")
        readers.set_function(lambda: events.readers)

    def numbers(self) -> Numbers:
        """Return all numbers as they are now."""
        return [*self._registry.collect()]

    def _gauge(self, name: str, says: str, labels: list[str] | None = None) -> Gauge:
        return Gauge(name, says, labels or [], registry=self._registry)


def text_of(told: Iterable[tuple[int | None, Numbers]]) -> bytes:
    """Return the numbers of workers in the text format of Prometheus, version 0.0.4.

    Args:
        told: each with which worker it is; None where there is one alone.
    """
    registry = CollectorRegistry()
    registry.register(_Told(told))
    return generate_latest(registry)


class _Told(Collector):
    """Numbers of several workers, a series each: the format has each name once."""

    def __init__(self, told: Iterable[tuple[int | None, Numbers]]) -> None:
        self._told = told

    def collect(self) -> Iterable[Metric]:
        """Return them with the worker as a label, where there are several."""
        found: dict[str, Metric] = {}
        for worker, numbers in self._told:
            labels = {} if worker is None else {_WORKER: str(worker)}
            for one in numbers:
                new = Metric(one.name, one.documentation, one.type, one.unit)
                series = found.setdefault(one.name, new)
                for sample in one.samples:
                    series.samples.append(sample._replace(labels={**sample.labels, **labels}))
        return found.values()
