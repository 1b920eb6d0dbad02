"""What is to be written to memories: in its order, and a while later where it cannot be at once."""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from demem_adapters.common.failures import LOG, logged
from demem_agent.errors import (
    CollaboratorError,
    DeMemError,
    InvalidInput,
    StaleState,
    StoreError,
)
from demem_agent.stores import remaining, spend, waiting_at_most
from demem_agent.turns import whole_field

__all__ = ["Writes", "patiently", "seconds_field"]

Result = TypeVar("Result")

#: Pauses, in seconds, between tries of an operation that others came in between of each time.
_PAUSES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
#: The first pause before what could not be written is tried again, and the longest.
_FIRST, _LONGEST = 0.05, 10.0
#: How often what fails by an encoder or a model is tried; a store that is in use may be so for
#: hours.
_MOST_TRIES = 8
#: Most seconds that somebody may wait for others.
_MOST_PATIENCE = 3600.0
#: Seconds that one try in the thread waits for who holds the store: who recalls from the memory
#: waits for it as long.
_ONE_TRY = 0.03
#: Seconds that the thread waits for more to write before it ends.
_LINGERS = 2.0
#: Seconds that are waited at the end of the process, and when memories are closed.
_AT_END = 5.0
#: What may be over when it is tried again.
_PASSING = (StoreError, CollaboratorError)
#: What is logged of what has to wait.
WAITS = "a turn waits to be remembered"


def patiently(work: Callable[[], Result]) -> Result:
    """Do what others may come in between of, with pauses between tries.

    Raises:
        StaleState: if others came in between each time, or until it may not be waited any longer.
    """
    for pause in _PAUSES:
        try:
            return work()
        except StaleState:
            pause *= 0.5 + random.random()  # so that two do not keep step
            if remaining(pause) < pause:
                raise
            time.sleep(pause)
            spend(pause)
    return work()


def seconds_field(name: str, seconds: float) -> float:
    """Return how long somebody waits.

    Raises:
        InvalidInput: for what is no number of seconds from 0 to 3,600.
    """
    if not 0 <= seconds <= _MOST_PATIENCE:  # nor is it a number that is none
        raise InvalidInput(name, seconds, f"seconds from 0 to {_MOST_PATIENCE:.0f}")
    return seconds


@dataclass(slots=True, weakref_slot=True, eq=False)
class _Waiting:
    """What waits to be written to one memory.

    Attributes:
        namespace: of the memory.
        jobs: the oldest first.
        tries: how often the oldest has failed.
        due: when it is tried again, in seconds of the monotonic clock.
        emptied: whether nothing waits.
        is_stuck: whether somebody has waited for that in vain, and others need not.
    """

    namespace: str
    jobs: deque[Callable[[], object]] = field(default_factory=deque)
    lock: Any = field(default_factory=threading.RLock)
    tries: int = 0
    due: float = 0.0
    emptied: threading.Event = field(default_factory=threading.Event)
    is_stuck: bool = False


def _nothing_around(_: str) -> contextlib.AbstractContextManager[object]:
    return contextlib.nullcontext()


class Writes:
    """Write to memories, each in its order: at once, or where that fails as soon as it can be.

    What could not be written is held in RAM, no more than ``most`` of it, and tried again in a
    thread with growing pauses, at the end of the process as well. What is lost even so is logged by
    its kind and counted. A job that is tried again must come to the same as if it had been done
    once.

    Args:
        background: leave everything to the thread, so that nobody waits for a write.
        patience: seconds that somebody waits for a write, at most: for what was to be written
            before it, and for who else holds the memory or its store.
        around: gives what holds while something is written to a memory.

    Attributes:
        lost: how many were given up.
    """

    def __init__(
        self,
        *,
        background: bool = False,
        most: int = 1000,
        patience: float = 1.0,
        around: Callable[[str], contextlib.AbstractContextManager[object]] = _nothing_around,
    ) -> None:
        self.background = background
        self.patience = seconds_field("patience", patience)
        self.most = whole_field("most_waiting", most, 1)
        self.lost = 0
        self._around = around
        self._begin()

    def _begin(self) -> None:
        #: One for each memory that is being written to, so that its lock holds for all, and
        #: those that hold something.
        self._queues: WeakValueDictionary[str, _Waiting] = WeakValueDictionary()
        self._full: dict[str, _Waiting] = {}
        self._guard = threading.Lock()
        self._stirred = threading.Event()
        self._worker: threading.Thread | None = None
        self._here = threading.local()

    @property
    def waiting(self) -> int:
        """How many writes wait."""
        return sum(len(queue.jobs) for queue in [*self._full.values()])

    @property
    def is_at_work(self) -> bool:
        """Whether it is asked from within what is being written."""
        return getattr(self._here, "at_work", False)

    def do(
        self, namespace: str, work: Callable[[], Result], waits: str = WAITS, *, later: bool = False
    ) -> Result | None:
        """Write to a memory; None where that has to wait.

        Args:
            waits: what is logged then.
            later: leave it to the thread in any case.

        Raises:
            DeMemError: what cannot be over when it is tried again.
        """
        queue = self._queue_of(namespace)
        if (self.background or later) and self.waiting < self.most:
            self._put(queue, work)
            return None
        with waiting_at_most(self.patience):
            # Who comes after one that waits is written after it.
            if self._is_written_soon(queue) and _acquired(queue, self.patience):
                try:
                    return self._done_or_put(queue, work, waits)
                finally:
                    queue.lock.release()
        self._put(queue, work)
        return None

    def _done_or_put(
        self, queue: _Waiting, work: Callable[[], Result], waits: str
    ) -> Result | None:
        if not queue.jobs:
            try:
                with self._at_work():
                    return patiently(lambda: self._within(queue.namespace, work))
            except _PASSING as error:
                LOG.warning("%s: %s", waits, type(error).__name__)
                self._failed(queue)
                queue.is_stuck = remaining(self.patience) <= 0
        self._put(queue, work)
        return None

    def settle(self, namespace: str) -> None:
        """Wait for what is to be written to a memory, as far as that can be done soon."""
        queue = self._full.get(namespace)
        if queue is not None and not self.is_at_work:
            self._is_written_soon(queue)

    @contextlib.contextmanager
    def dropped(self, namespace: str) -> Iterator[None]:
        """Write nothing to a memory meanwhile, and let go of what waits to be written to it."""
        queue = self._queue_of(namespace)
        with queue.lock:
            yield
            self._take_out(queue, len(queue.jobs))

    def settle_all(self) -> None:
        """Write what waits to be written to any memory, as far as that can be done now."""
        for queue in [*self._full.values()]:
            with queue.lock:
                self._written(queue)

    def drain(self, seconds: float = _AT_END) -> None:
        """Write all that waits, or give it up after so many seconds, which is logged."""
        end = time.monotonic() + seconds
        self.settle_all()
        while self.waiting and time.monotonic() < end:
            time.sleep(_FIRST)
            self.settle_all()
        for queue in [*self._full.values()]:
            with queue.lock:
                self._give_up(queue, len(queue.jobs), "the memories were closed")
        _BUSY.discard(self)

    def _queue_of(self, namespace: str) -> _Waiting:
        with self._guard:
            queue = self._queues.get(namespace)
            if queue is None:
                queue = self._queues[namespace] = _Waiting(namespace)
            return queue

    def _put(self, queue: _Waiting, work: Callable[[], object]) -> None:
        if self.waiting >= self.most:
            self.lost += 1
            LOG.warning("a turn was not remembered: %d wait already", self.most)
            return
        with self._guard:
            queue.jobs.append(work)
            queue.emptied.clear()
            self._full[queue.namespace] = queue
            _BUSY.add(self)
            self._stirred.set()
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="demem-writes", daemon=True)
                self._worker.start()

    def _is_written_soon(self, queue: _Waiting) -> bool:
        """Wait until nothing waits to be written to a memory, and tell whether it was so.

        Of those who come while another process holds the store for longer, one waits in vain.
        """
        if not queue.jobs:
            return True
        most = remaining(self.patience)
        began = time.monotonic()
        if queue.is_stuck or queue.due - began > most:
            return False
        self._stirred.set()
        is_written = queue.emptied.wait(most)
        spend(time.monotonic() - began)
        queue.is_stuck = not is_written
        return is_written

    def _written(self, queue: _Waiting) -> bool:
        """Write what waits in a queue, the oldest first; whether nothing is left."""
        while queue.jobs:
            rest = queue.due - time.monotonic()
            if rest > 2 * _FIRST:
                return False
            if rest > 0:
                time.sleep(rest)
            try:
                with self._at_work(), _told():
                    patiently(lambda: self._tried(queue))
            except _PASSING as error:
                self._failed(queue)
                if isinstance(error, StoreError) or queue.tries < _MOST_TRIES:
                    return False
                self._give_up(queue, 1, type(error).__name__)
                continue
            self._take_out(queue, 1)
        return True

    def _tried(self, queue: _Waiting) -> None:
        """Do the oldest job of a queue without waiting long: it comes again."""
        with waiting_at_most(_ONE_TRY):
            self._within(queue.namespace, queue.jobs[0])

    def _within(self, namespace: str, work: Callable[[], Result]) -> Result:
        with self._around(namespace):
            return work()

    def _failed(self, queue: _Waiting) -> None:
        """Note that the oldest of a queue could not be written."""
        pause = min(_LONGEST, _FIRST * 2**queue.tries)
        queue.tries += 1
        queue.due = time.monotonic() + pause

    def _take_out(self, queue: _Waiting, most: int) -> None:
        """Let go of the oldest of a queue."""
        with self._guard:
            for _ in range(most):
                queue.jobs.popleft()
            queue.tries = 0
            queue.due = 0.0
            queue.is_stuck = False
            if not queue.jobs:
                queue.emptied.set()
                self._full.pop(queue.namespace, None)

    def _give_up(self, queue: _Waiting, most: int, why: str) -> None:
        self._take_out(queue, most)
        self.lost += most
        if most:
            one = "1 turn or a part of one was"
            told = one if most == 1 else f"{most} turns or parts of them were"
            LOG.warning("%s not remembered: %s", told, why)

    def _work(self) -> None:
        """Write what waits, until nothing has for a while: to start a thread takes longer than to
        wake one.
        """
        while True:
            self._stirred.clear()
            self.settle_all()
            if self._stirred.wait(self._rest() if self.waiting else _LINGERS):
                continue
            with self._guard:
                if not self.waiting:
                    _BUSY.discard(self)
                    self._worker = None
                    return

    def _rest(self) -> float:
        """Return how many seconds there is nothing to do."""
        due = [queue.due for queue in [*self._full.values()]]
        return max(0.001, min(due, default=0.0) - time.monotonic())

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        """Have what a job looks up not wait for the jobs behind it."""
        before = self.is_at_work
        self._here.at_work = True
        try:
            yield
        finally:
            self._here.at_work = before


def _acquired(queue: _Waiting, most: float) -> bool:
    """Take the lock of a queue, and tell whether it was to be had."""
    began = time.monotonic()
    has_it: bool = queue.lock.acquire(timeout=remaining(most))
    spend(time.monotonic() - began)
    return has_it


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Log what cannot be over when it is tried again; the rest is raised."""
    try:
        yield
    except _PASSING:
        raise
    except DeMemError as error:
        with logged("a turn was not remembered"):
            raise error


#: Those that have something to write, kept alive until it is written.
_BUSY: set[Writes] = set()


def _drain_all() -> None:
    end = time.monotonic() + _AT_END  # of all together: a program is to end
    for writes in [*_BUSY]:
        writes.drain(max(0.0, end - time.monotonic()))


def _forget_all() -> None:
    """In a process that was forked off: what waits is the other's to write."""
    for writes in [*_BUSY]:
        writes._begin()
    _BUSY.clear()


atexit.register(_drain_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
