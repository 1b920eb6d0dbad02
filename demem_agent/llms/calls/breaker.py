"""A circuit breaker: leave a provider that keeps failing alone, then try it with one call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

from demem_agent.turns import whole_field

__all__ = ["Breaker", "BreakerState"]

BreakerState = Literal["closed", "open", "half-open"]


class Breaker:
    """Let calls through until some in a row have failed, then none for a while.

    The next call after that decides whether it closes or stays open for another while. Several
    models of one provider may share one breaker. Safe to use from several threads.

    Args:
        failures: calls in a row that must fail before it opens, >= 1.
        rest: seconds that it stays open.
        clock: gives seconds that never go back.
    """

    def __init__(
        self, failures: int = 5, rest: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = whole_field("failures", failures, 1)
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._opened: float | None = None
        self._trying = False
        # Counts changes between closed and open: how a call from before one ended says nothing.
        self._era = 0

    @property
    def state(self) -> BreakerState:
        """What it would do with a call now: let it through, not, or let through just one."""
        with self._lock:
            return self._state()

    def admit(self) -> int | None:
        """Return a ticket for one call, to be settled, or None when it must not be made."""
        with self._lock:
            state = self._state()
            if state == "open" or self._trying:
                return None
            self._trying = state == "half-open"
            return self._era

    def settle(self, ticket: int, succeeded: bool | None) -> None:
        """Take in how a call ended; None where that says nothing about the provider."""
        with self._lock:
            if ticket != self._era:
                return
            self._trying = False
            if succeeded is False:
                self._count_failure()
            elif succeeded:
                self._close()

    def _count_failure(self) -> None:
        self._failed += 1
        if self._opened is not None or self._failed >= self._most:
            self._era += 1
            self._opened = self._clock()

    def _close(self) -> None:
        self._failed = 0
        if self._opened is not None:
            self._era += 1
            self._opened = None

    def _state(self) -> BreakerState:
        if self._opened is None:
            return "closed"
        return "open" if self._clock() - self._opened < self._rest else "half-open"
