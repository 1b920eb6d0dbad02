"""What happens to a memory, told as it happens (server-sent events): numbers and names, no text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from demem_agent.errors import DeMemError
from demem_agent.later import dataclass
from demem_agent.server.receiving import Receive, Send
from demem_agent.server.seats import Seats

__all__ = ["Event", "Events", "Feed", "Stream"]

#: Events that wait for somebody who reads slowly; with one more he is told to look anew.
_WAITING = 100
#: Who is told at once.
_MOST = 256
#: What is told where it is not known what happened: look at the memory anew.
RESYNC = "resync"
#: What changed a memory that no request here did: another worker, or whoever has the file open.
ELSEWHERE = "elsewhere"
#: Seconds, at most, after which it is looked up whether anybody did.
LOOKS = 1.0
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Event:
    """One change of a memory.

    Attributes:
        operation: the name of the endpoint that made it, or ``elsewhere``, ``resync``, ``gone``.
        version: of the memory after it; "" where it is gone.
    """

    operation: str
    version: str

    def is_after(self, seen: str) -> bool:
        """Whether it tells of more than a version that was told already."""
        return is_after(self.version, seen)

    def written(self) -> bytes:
        """Return it as it is sent; its id is the number of the operation."""
        told = json.dumps({"operation": self.operation, "version": self.version})
        kind = self.operation if self.operation in (RESYNC, GONE) else "change"
        number = number_in(self.version)
        id = f"id: {number}\n" if number else ""
        return f"{id}event: {kind}\ndata: {told}\n\n".encode()


def number_in(version: str) -> str:
    """Return the number of the operation that a version is after."""
    return version.rpartition("-")[2]


def is_after(version: str, seen: str) -> bool:
    """Whether a version has what one that was seen has not: of one memory, the greater number."""
    era, _, number = version.rpartition("-")
    seen_era, _, seen_number = seen.rpartition("-")
    if era != seen_era or not (number and seen_number):
        return version != seen
    return int(number) > int(seen_number)


class Feed:
    """What somebody is to be told of one memory; a bounded queue."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Event] = asyncio.Queue(_WAITING)
        self._missed = False

    def put(self, event: Event) -> None:
        """Add an event, from any thread."""
        self._loop.call_soon_threadsafe(self._put, event)

    async def get(self) -> Event:
        """Return the next event; a resync in the place of all where some were missed."""
        event = await self._queue.get()
        if not self._missed:
            return event
        while not self._queue.empty():
            event = self._queue.get_nowait()
        self._missed = False
        return Event(RESYNC, event.version)

    def _put(self, event: Event) -> None:
        if self._queue.full():
            self._queue.get_nowait()
            self._missed = True
        self._queue.put_nowait(event)


class Events:
    """Who is to be told of which memory; safe to tell from any thread."""

    def __init__(self) -> None:
        self._feeds: dict[str, list[Feed]] = {}
        self._seats = Seats(_MOST, "no room for another who listens", 30)

    @property
    def readers(self) -> int:
        """How many listen."""
        return self._seats.taken

    def tell(self, memory_id: str, event: Event) -> None:
        """Tell everybody who listens that a memory has changed."""
        for feed in tuple(self._feeds.get(memory_id, ())):
            feed.put(event)

    @contextmanager
    def feed(self, memory_id: str, who: str) -> Iterator[Feed]:
        """Listen to what happens to a memory.

        Args:
            who: the id of a key; "" for none.

        Raises:
            Refusal: if too many listen already.
        """
        with self._seats.seat(who):
            feed = Feed()
            self._feeds.setdefault(memory_id, []).append(feed)
            try:
                yield feed
            finally:
                self._feeds[memory_id].remove(feed)
                if not self._feeds[memory_id]:
                    del self._feeds[memory_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What tells one caller of one memory until he goes, or the server ends.

    Attributes:
        who: the id of his key; "" for none.
        version: gives the version of the memory now; it may block. ``moved`` does so from the
            store alone, after the version that was seen last.
        is_allowed: whether the caller may still listen.
        last: the id of the last event that the caller has seen; None for none.
        seconds: between two signs of life.
        ending: is set when the server ends.

    What is done by requests of this process is told as it happens; the store is looked into for
    what others do. Both tell by the number of the operation, which says what was told already.
    """

    events: Events
    memory_id: str
    who: str
    version: Callable[[], str]
    moved: Callable[[str], str]
    is_allowed: Callable[[], bool]
    last: str | None
    seconds: float
    ending: asyncio.Event

    async def run(self, receive: Receive, send: Send) -> None:
        """Tell what happens, as it happens.

        Raises:
            Refusal: if too many listen already; nothing was sent.
            NotFound: if there is no such memory; nothing was sent.
        """
        with self.events.feed(self.memory_id, self.who) as feed:
            seen = await asyncio.to_thread(self.version)
            await send(_START)
            await _sent(send, b": listening\n\n")
            if self.last is not None and self.last != number_in(seen):
                await _sent(send, Event(RESYNC, seen).written())
            await self._tell(feed, seen, _until(receive, self.ending), send)

    async def _tell(self, feed: Feed, seen: str, ended: asyncio.Future[Any], send: Send) -> None:
        silent = 0.0
        try:
            while not ended.done():
                event = await self._next(feed, seen, ended)
                if event is not None and (event.operation == RESYNC or event.is_after(seen)):
                    await _sent(send, event.written())
                    seen, silent = event.version, 0.0
                elif silent >= self.seconds:
                    await _sent(send, b":\n\n")
                    silent = 0.0
                else:
                    silent += self._looks
                if not self.is_allowed() or (event and event.operation == GONE):
                    break
        finally:
            ended.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    @property
    def _looks(self) -> float:
        """Seconds between two looks into the store."""
        return min(LOOKS, self.seconds)

    async def _next(self, feed: Feed, seen: str, ended: asyncio.Future[Any]) -> Event | None:
        """Return the next event; where none comes in time, what was done elsewhere, or None."""
        coming = asyncio.ensure_future(feed.get())
        waiting = {coming, ended}
        await asyncio.wait(waiting, timeout=self._looks, return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result()
        coming.cancel()
        return None if ended.done() else await self._elsewhere(seen)

    async def _elsewhere(self, seen: str) -> Event | None:
        try:
            version = await asyncio.to_thread(self.moved, seen)
        except DeMemError:
            return Event(GONE, "")
        return Event(ELSEWHERE, version) if is_after(version, seen) else None


_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ],
}


async def _sent(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


def _until(receive: Receive, ending: asyncio.Event) -> asyncio.Future[Any]:
    """Return what is done when the caller goes or the server ends."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def either() -> None:
        both = {asyncio.ensure_future(gone()), asyncio.ensure_future(ending.wait())}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()

    return asyncio.ensure_future(either())
