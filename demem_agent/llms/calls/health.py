"""Count what became of the calls of a model, so that a provider that misbehaves can be seen."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from demem_agent.llms.calls.breaker import BreakerState
from demem_agent.llms.model import Usage

__all__ = ["Health", "Meter"]


@dataclass(frozen=True, slots=True)
class Health:
    """How a model has done since it was made.

    Not hashable, as it counts by kind in a mapping.

    Attributes:
        calls: that were begun; ``running``: of these, not ended yet.
        failures: by kind of :class:`~demem_agent.errors.ModelError`, or ``budget spent``;
            ``abandoned``: of a caller who did not wait for the end.
        requests: HTTP requests; ``retries``: of these, not the first of their call.
        usage: what all calls together have used.
    """

    model: str
    calls: int
    running: int
    succeeded: int
    failures: Mapping[str, int]
    abandoned: int
    requests: int
    retries: int
    breaker: BreakerState
    usage: Usage


class Meter:
    """Count calls; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._usage = Usage()

    def begun(self) -> None:
        """Count a call's beginning."""
        with self._lock:
            self._counts["calls"] += 1

    def ended(self, usage: Usage, failure: str | None = None) -> None:
        """Count a call's end.

        Args:
            failure: kind of the failure, ``abandoned``, or None for success.
        """
        with self._lock:
            self._counts["ended"] += 1
            self._counts["retries"] += max(usage.requests - 1, 0)
            self._usage += usage
            if failure is None or failure == "abandoned":
                self._counts[failure or "succeeded"] += 1
            else:
                self._failures[failure] += 1

    def health(self, model: str, breaker: BreakerState) -> Health:
        """Return the counts as they are now."""
        with self._lock:
            counts = self._counts.copy()
            failures = dict(self._failures)
            usage = self._usage
        return Health(
            model=model,
            calls=counts["calls"],
            running=counts["calls"] - counts["ended"],
            succeeded=counts["succeeded"],
            failures=failures,
            abandoned=counts["abandoned"],
            requests=usage.requests,
            retries=counts["retries"],
            breaker=breaker,
            usage=usage,
        )
