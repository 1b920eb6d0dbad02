"""Admission: so much is done at once, so much may wait, and the rest is told to come later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from demem_agent.later import dataclass
from demem_agent.server.refusals import Refusal

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


#: By class: what only reads, what writes, and what takes seconds and touches a whole memory.
LANES = {
    "read": Room(at_once=8, waiting=64, seconds=30.0),
    "write": Room(at_once=4, waiting=64, seconds=60.0),
    "whole": Room(at_once=2, waiting=8, seconds=600.0),
}


class Lane:
    """One class of operations, with threads of its own."""

    def __init__(self, name: str, room: Room) -> None:
        self.name = name
        self.room = room
        self.taken = 0
        self._threads = ThreadPoolExecutor(room.at_once, thread_name_prefix=f"demem-{name}")

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Take a place in the lane.

        Raises:
            Refusal: if there is none.
        """
        if self.taken >= self.room.at_once + self.room.waiting:
            says = f"no room for another operation of the class {self.name!r}"
            raise Refusal("busy", says, {"Retry-After": "1"}, closes=True)
        self.taken += 1
        place = Place(self)
        try:
            yield place
        finally:
            place.leave()

    def submit(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Have a thread do some work."""
        return asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Wait until all that was begun is done."""
        self._threads.shutdown(wait=True)


class Place:
    """A place in a lane: it is given up when its work is done, also if nobody waits for that."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._works = False

    async def do(self, work: Callable[[], Result]) -> Result:
        """Do some work in a thread of the lane.

        Raises:
            Refusal: if it takes longer than it may. What a thread has begun it also ends.
        """
        seconds = self._lane.room.seconds
        future = self._lane.submit(work)
        self._works = True
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except TimeoutError:
            if future.done():
                raise  # it is the work's own
            begun = not future.cancel()
            says = f"not done within {seconds:g} s"
            says += ", and still at work" if begun else ", and not begun"
            raise Refusal("timed-out" if begun else "busy", says, {"Retry-After": "5"}) from None

    def leave(self) -> None:
        """Give the place up, unless a thread still works in it."""
        if not self._works:
            self._lane.taken -= 1

    def _done(self, future: asyncio.Future[Result]) -> None:
        self._lane.taken -= 1
        if not future.cancelled():
            future.exception()  # it is told to whoever waits, if anybody does
