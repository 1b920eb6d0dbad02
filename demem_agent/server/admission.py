"""Admission: so much is done at once, so much may wait, and the rest is told to come later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeVar

from demem_agent.later import dataclass
from demem_agent.server.refusals import Refusal
from demem_agent.server.seats import Seats

__all__ = ["LANES", "Lane", "Room"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Room:
    """How much of one class of operations there may be.

    Attributes:
        at_once: threads that work on it, >= 1.
        waiting: how many more may wait for one, >= 0; those whose bodies are still coming count.
        seconds: that one may take.
    """

    at_once: int
    waiting: int
    seconds: float


#: By class: what needs no key but looks at the store, what only reads, what writes, and what takes
#: seconds and touches a whole memory.
LANES = {
    "ready": Room(at_once=1, waiting=15, seconds=5.0),
    "read": Room(at_once=8, waiting=64, seconds=30.0),
    "write": Room(at_once=4, waiting=64, seconds=60.0),
    "whole": Room(at_once=2, waiting=8, seconds=600.0),
}


class Lane:
    """One class of operations, with threads of its own."""

    def __init__(self, name: str, room: Room) -> None:
        self.name = name
        self.room = room
        full = f"no room for another operation of the class {name!r}"
        self.seats = Seats(room.at_once + room.waiting, full)
        self._threads = ThreadPoolExecutor(room.at_once, thread_name_prefix=f"demem-{name}")

    @property
    def taken(self) -> int:
        """How many are at work or waiting."""
        return self.seats.taken

    @contextmanager
    def place(self, who: str) -> Iterator[Place]:
        """Take a place in the lane.

        Args:
            who: the id of a key; "" for none.

        Raises:
            Refusal: if there is none.
        """
        self.seats.take(who)
        place = Place(self, who)
        try:
            yield place
        finally:
            place.leave()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have a thread do some work, in the context of whoever asks: it may be traced."""
        return self._threads.submit(copy_context().run, work)

    def close(self) -> None:
        """Wait until all that was begun is done."""
        self._threads.shutdown(wait=True)


class Place:
    """A place in a lane: it is given up when its work is done, also if nobody waits for that."""

    def __init__(self, lane: Lane, who: str) -> None:
        self._lane = lane
        self._who = who
        self._works = False

    async def do(self, work: Callable[[], Result]) -> Result:
        """Do some work in a thread of the lane.

        Raises:
            Refusal: if it takes longer than it may. What a thread has begun it also ends.
        """
        seconds = self._lane.room.seconds
        loop = asyncio.get_running_loop()
        running = self._lane.submit(work)
        self._works = True
        running.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        waited = asyncio.wrap_future(running)
        waited.add_done_callback(_looked_at)
        finished, _ = await asyncio.wait({waited}, timeout=seconds)
        if finished:
            return waited.result()
        begun = not running.cancel()
        says = f"not done within {seconds:g} s, and "
        says += "still at work" if begun else "not begun"
        raise Refusal("timed-out" if begun else "busy", says, {"Retry-After": "5"})

    def leave(self) -> None:
        """Give the place up, unless a thread still works in it."""
        if not self._works:
            self._done()

    def _done(self) -> None:
        self._lane.seats.leave(self._who)


def _looked_at(future: asyncio.Future[Any]) -> None:
    """Look at what went wrong, or asyncio logs it, with its words, where nobody waits for it."""
    if not future.cancelled():
        future.exception()
