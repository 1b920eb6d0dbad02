"""How long a call waits for others: for another process that holds the file, or another thread that
holds a memory.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, repeat

from demem_agent.errors import StoreError

__all__ = ["Line", "Turnstile", "remaining", "spend", "tries", "waiting_at_most"]

#: Seconds between tries; the last one is repeated.
_PAUSES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


class _Left:
    """How many seconds may still be waited, inside of what else may be."""

    __slots__ = ("outer", "seconds")

    def __init__(self, seconds: float, outer: _Left | None) -> None:
        self.seconds = seconds
        self.outer = outer


#: None where each room waits as long as it does by itself.
_LEFT: ContextVar[_Left | None] = ContextVar("left", default=None)


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Have all that is done inside wait for others no longer than this, taken together.

    What is not to be had by then is a StoreError, and nothing was done. It is the waiting that is
    counted: what needs to wait for nobody is done however long it takes. Of two around each other
    both hold. They do in this thread, and in what ``asyncio.to_thread`` starts from it.

    Args:
        seconds: 0 or more; 0 means not to wait at all.
    """
    token = _LEFT.set(_Left(seconds, _LEFT.get()))
    try:
        yield
    finally:
        _LEFT.reset(token)


def remaining(most: float) -> float:
    """Return for how many seconds it may be waited: ``most``, or what is left where that is less,
    never below 0.
    """
    for left in _bounds():
        most = min(most, left.seconds)
    return max(0.0, most)


def spend(seconds: float) -> None:
    """Count what was waited."""
    for left in _bounds():
        left.seconds -= seconds


def tries(most: float) -> Iterator[bool]:
    """Yield for each try whether it is the last one; between them it is waited.

    Args:
        most: seconds that it is waited in all, unless less may be.
    """
    rest = remaining(most)
    for pause in chain(_PAUSES, repeat(_PAUSES[-1])):
        if rest <= 0:
            break
        yield False
        pause = min(rest, pause * (0.5 + random.random()))  # so that two do not keep step
        time.sleep(pause)
        spend(pause)
        rest -= pause
    yield True


class Turnstile:
    """A lock that the same thread may take again, for which nobody waits longer than they may."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if _LEFT.get() is None:
            self._lock.acquire()
        elif not self._lock.acquire(blocking=False):
            self._wait()

    def __exit__(self, *_: object) -> None:
        self.leave()

    def is_had(self) -> bool:
        """Take it if it is free or one's own, and tell whether it was; then it is to be left."""
        return self._lock.acquire(blocking=False)

    def leave(self) -> None:
        """Let others in."""
        self._lock.release()

    def _wait(self) -> None:
        began = time.monotonic()
        has_it = self._lock.acquire(timeout=remaining(threading.TIMEOUT_MAX))
        spend(time.monotonic() - began)
        if not has_it:
            raise StoreError("another thread holds the memory, or the connection to its store")


class Line:
    """How many threads are about to write a part."""

    __slots__ = ("_count", "_guard")

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._count = 0

    def __enter__(self) -> None:
        with self._guard:
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._count -= 1

    def __len__(self) -> int:
        return self._count


def _bounds() -> Iterator[_Left]:
    left = _LEFT.get()
    while left is not None:
        yield left
        left = left.outer
