"""The server as a process: made from a store's URL, run by uvicorn, ended without loss."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Unpack

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from demem_agent.auditing import Audit
from demem_agent.errors import DeMemError, InvalidInput
from demem_agent.options import Options, settings_given
from demem_agent.pool import MOST_BYTES, MemoryPool
from demem_agent.server.access import is_loopback
from demem_agent.server.admission import Room
from demem_agent.server.app import App
from demem_agent.server.backlog import TOO_OLD, WorkWatch, told_by
from demem_agent.server.common import Common, Shared
from demem_agent.server.guests import Invited
from demem_agent.server.house import House
from demem_agent.server.keys import KeyRing
from demem_agent.server.receiving import Limits
from demem_agent.server.sending import problem
from demem_agent.settings import Settings
from demem_agent.stores import Store
from demem_agent.stores.ages import age_field
from demem_agent.stores.backlog import Backlog
from demem_agent.wire.problems import PROBLEMS

__all__ = ["Server", "make_app", "serve"]

#: Seconds that requests have to end in when the server does; what they began is done all the same.
GRACE = 10
#: Files and connections that the process asks to be allowed: some systems give 256 unless asked.
_FILES = 4096
#: Connections that are let in before any of them is looked at, and that may wait to be let in.
#: Where processes share a socket it is one at a time: the next goes to whoever has less to do.
_LET_IN, _WAITING = 64, 1024


def make_app(
    url: str | Store = "memory://",
    *,
    keys: str | KeyRing | None = None,
    names: tuple[str, ...] = (),
    limits: Limits | None = None,
    rooms: Mapping[str, Room] | None = None,
    audit: str | None = None,
    most_bytes: int = MOST_BYTES,
    guests: Sequence[Invited] = (),
    common: Shared | None = None,
    backlog: Callable[[], Backlog] | None = None,
    work_too_old: float = TOO_OLD,
    read_age: float | None = None,
    **options: Unpack[Options],
) -> App:
    """Return an ASGI application that serves the memories of a store.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, or a store object.
        keys: the file of the keys, or a ring of them; in RAM, and so none, unless given.
        names: by which the server may be called besides those of this machine.
        limits: of what comes in.
        rooms: by class of operation, how many there may be at once and waiting.
        audit: the file in which every request is noted down, without text; none unless given.
        most_bytes: bytes of RAM that the memories may take together.
        guests: what is served beside the endpoints, such as a proxy.
        common: what :func:`serve_workers` gives, where this is one worker of several; it then
            counts requests by its own ``rate``.
        backlog: tells what background work waits, as that of a runner of this process; the queue
            of the store unless given, where it has one.
        work_too_old: seconds for which the oldest of it may wait, >= 0: then the server is not
            ready any more. 0 for any time.
        read_age: seconds, > 0, for which what was written may be missing in what is read: then
            requests that change nothing are answered from the replica that the URL names.
        options: as :class:`~demem_agent.SlotMemory` takes them: who does the work in all memories,
            and the settings of those that are made here; ``tenant`` is whose they are.

    Raises:
        InvalidInput: for an option out of its range.
        StoreError: if the store, the keys or the audit log cannot be opened, or the store cannot be
            shared between processes and is to be.
    """
    settings = set(settings_given(options)) & set(options)
    given: Any = {name: value for name, value in options.items() if name in settings}
    team: Any = {name: value for name, value in options.items() if name not in settings}
    Settings(**settings_given(given))  # before a file is made for what cannot be
    WorkWatch(backlog, work_too_old)
    if read_age is not None:
        age_field("read_age", read_age)
    pool = MemoryPool(url, most_bytes=most_bytes, **team)
    if common is not None and common.workers > 1:
        _require_sharing(pool, keys)
    ring = keys if isinstance(keys, KeyRing) else KeyRing(keys or ":memory:")
    note = None if audit is None else Audit(audit)
    watch = WorkWatch(backlog or told_by(pool.store), work_too_old)
    house = House(pool, ring, given, common or Common((limits or Limits()).rate), watch, read_age)
    return App(house, names=names, limits=limits, rooms=rooms, audit=note, guests=guests)


def _require_sharing(pool: MemoryPool, keys: str | KeyRing | None) -> None:
    """Refuse what several workers could not have in common.

    Raises:
        StoreError: for a store that is one process's alone.
        InvalidInput: for keys in RAM.
    """
    require = getattr(pool.store, "require_sharing", None)
    try:
        if require is not None:
            require()
        path = keys.path if isinstance(keys, KeyRing) else keys
        if path is None or path == ":memory:":
            raise InvalidInput("keys", path, "a file, where several processes serve")
    except DeMemError:
        pool.close()
        raise


class Server(uvicorn.Server):
    """A server of an application.

    Args:
        host, port: to listen on; port 0 for any that is free.
        on_start: called with the address once it listens.
        shared: whether other processes let in connections at the same socket.

    Raises:
        InvalidInput: for a host that others reach, where there are no keys.
    """

    def __init__(
        self,
        app: App,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        on_start: Callable[[str], object] | None = None,
        shared: bool = False,
    ) -> None:
        if not is_loopback(host) and not app.house.ring.has_any():
            allowed = "an address of this machine alone, as long as there are no keys"
            raise InvalidInput("host", host, allowed)
        self._on_start = on_start
        self.app = app
        limits = app.limits
        most = min(limits.connections, _files() // 2)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            http=_protocol(limits, most),
            backlog=1 if shared else min(_LET_IN, max(1, most // 8)),
            ws="none",
            lifespan="on",
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=limits.headers,
            timeout_keep_alive=limits.idle,
            timeout_graceful_shutdown=GRACE,
        )
        super().__init__(config)

    @property
    def address(self) -> str:
        """The URL at which it listens."""
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def shutdown(self, sockets: Any = None) -> None:
        """End: streams first, or they would be waited for."""
        self.app.end()
        await super().shutdown(sockets)

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        for server in self.servers:
            _have_wait(server.sockets)
        if self.started and self._on_start is not None:
            self._on_start(self.address)


def serve(
    app: App,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    on_start: Callable[[str], object] | None = None,
) -> None:
    """Serve an application until the process is told to end; what was begun is done first.

    Args:
        host, port: to listen on; port 0 for any that is free.
        on_start: called with the address once it listens.

    Raises:
        InvalidInput: for a host that others reach, where there are no keys.
    """
    try:
        Server(app, host=host, port=port, on_start=on_start).run()
    finally:
        app.close()


def _files() -> int:
    """Return how many files and connections the process may have, after asking for more."""
    try:
        import resource
    except ImportError:  # Windows, which counts them otherwise
        return _FILES
    may, can = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if can == resource.RLIM_INFINITY else min(_FILES, can)
    if may < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, can))
    return max(may, wanted)


def _have_wait(sockets: Iterable[Any]) -> None:
    """Have more connections wait than are let in at once, which asyncio takes for one number."""
    for sock in sockets:
        with sock.dup() as same:
            same.listen(_WAITING)


def _protocol(limits: Limits, connections: int) -> type[asyncio.Protocol]:
    """Return HTTP as uvicorn speaks it, within the limits of one server.

    Args:
        connections: that there may be at once.
    """

    class Protocol(_Http):
        header_seconds = limits.header_seconds
        idle = limits.idle
        most = connections
        resting: ClassVar[dict[_Http, None]] = {}

    return Protocol


class _Http(H11Protocol):
    """HTTP whose headers must come in time, whose responses must be read, and that has a problem
    document for what is none.

    There are so many connections and no more: for a new one that goes which has rested the longest,
    so that whoever has something to ask is heard, however many others ask nothing.
    """

    header_seconds: float
    idle: float
    most: int
    #: Connections with no request at work, the one that has rested the longest first.
    resting: ClassVar[dict[_Http, None]]

    def connection_made(self, transport: Any) -> None:
        self._waiting: asyncio.TimerHandle | None = None
        self._unread = 0
        super().connection_made(transport)
        self._rest()
        self._wait()
        self._watching = self.loop.call_later(self.idle, self._watch)
        if len(self.connections) > self.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()
            self.resting.pop(self, None)
        elif self._is_idle and self._waiting is None:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing() or not self._is_idle:
            return
        self._rest()
        if self._has_begun:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._watching.cancel()
        self.resting.pop(self, None)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or has too much before its body."""
        if self.cycle is not None and self.cycle.response_started and not self._is_idle:
            self.transport.close()  # in the midst of a response there is no place for another
            return
        made = problem(PROBLEMS["malformed"], "this is no HTTP request that can be read")
        lines = [f"HTTP/1.1 {made.status} Bad Request", "connection: close"]
        lines += [f"{name.lower()}: {value}" for name, value in made.headers.items()]
        lines.append(f"content-length: {len(made.body)}")
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + made.body)
        self.transport.close()

    @property
    def _is_idle(self) -> bool:
        """Whether no request is at work."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _has_begun(self) -> bool:
        """Whether a part of a request has come, or of a body that nobody waits for any more."""
        return bool(self.conn.trailing_data[0]) or self.conn.their_state is h11.SEND_BODY

    def _rest(self) -> None:
        self.resting.pop(self, None)
        self.resting[self] = None

    def _make_room(self) -> None:
        """End what has rested the longest: this connection, where all others are at work."""
        longest = next(iter(self.resting))
        del self.resting[longest]
        longest.transport.abort()

    def _watch(self) -> None:
        """End a connection that has taken in nothing of what is to be sent for as long as one may
        be idle.
        """
        left = self.transport.get_write_buffer_size()
        if left and left == self._unread:
            self.transport.abort()
            return
        self._unread = left
        self._watching = self.loop.call_later(self.idle, self._watch)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        """Close a connection whose headers did not come."""
        if self.transport is not None:
            self.transport.close()
