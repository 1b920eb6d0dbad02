"""Who watches over workers: it starts them, and again when one dies, and has them end."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from demem_agent.errors import DeMemError, InvalidInput, StoreError
from demem_agent.server.common import Common
from demem_agent.server.workers.line import Began, Failed, Said, answered
from demem_agent.server.workers.working import Make, work
from demem_agent.turns import whole_field

__all__ = ["serve_workers"]

#: Seconds after which a worker that has died is started again: at first, and at most. They double
#: while it dies before it has served for as long as the last of these.
_FIRST, _LONGEST, _STEADY = 0.1, 10.0, 2.0
_WAITING = 1024
_MOST = 256

log = logging.getLogger("demem.server")


def serve_workers(
    make: Make,
    workers: int,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    rate: float | None = None,
    told_of: Callable[[Any], Any] | None = None,
    on_start: Callable[[str, Any], object] | None = None,
) -> None:
    """Serve by several processes at one address, until this one is told to end.

    A worker that dies is started again, at first at once and then later and later; the others go on
    meanwhile. On SIGTERM and SIGINT all are told to end, and what they have begun is done.

    Args:
        make: makes the application of a worker, in its process: it must be importable there, as a
            function of a module is. It takes what :func:`~demem_agent.server.make_app` takes as
            ``common``, and gives what the application is entered and left by, such as
            ``contextlib.closing(make_app(..., common=common))``.
        workers: how many, >= 1.
        host, port: to listen on; port 0 for any that is free.
        rate: requests a second that each key may make, of all workers together.
        told_of: says of an application what ``on_start`` is to be told; it must be importable.
        on_start: called with the address, and what ``told_of`` gave, once all listen.

    Raises:
        InvalidInput: for an address that cannot be listened on, a host that others reach where
            there are no keys, and on a system without what this needs.
        DeMemError: what has the first worker not begin.
    """
    whole_field("workers", workers, 1)
    if workers > _MOST:
        raise InvalidInput("workers", workers, f"at most {_MOST}")
    if sys.platform == "win32":
        raise InvalidInput("workers", workers, "1 on Windows")
    with _bound(host, port) as sock:
        common = Common(rate, workers)
        given = (make, told_of, host, sock)
        watch = _Watch([_Post(number, given, workers) for number in range(workers)], common)
        with _signalled() as ending:
            ended_by = watch.run(sock, ending, on_start)
    if ended_by is not None:
        signal.raise_signal(ended_by)


@contextlib.contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.create_server(address[:2], family=family, backlog=_WAITING)
    except OSError as error:
        allowed = f"one that can be listened on: {error.strerror or error}"
        raise InvalidInput("host and port", f"{host}:{port}", allowed) from error
    with sock:
        yield sock


@contextlib.contextmanager
def _signalled() -> Iterator[Connection]:
    """Have signals to end come as numbers out of a pipe, so that they can be waited for."""
    reads, writes = multiprocessing.Pipe(duplex=False)
    os.set_blocking(writes.fileno(), False)
    kinds = (signal.SIGTERM, signal.SIGINT)
    before = {kind: signal.signal(kind, lambda kind, _: writes.send(kind)) for kind in kinds}
    try:
        yield reads
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
        reads.close()
        writes.close()


class _Post:
    """The place of one worker: its process, what it says, and when it is started next.

    Args:
        given: what each worker is given.
    """

    def __init__(self, number: int, given: tuple[Any, ...], workers: int) -> None:
        self.number = number
        self.process: BaseProcess | None = None
        self.end: Connection | None = None
        self.due = 0.0
        self._given = given
        self._workers = workers
        self._serves_since: float | None = None
        self._deaths = 0

    @property
    def has_ended(self) -> bool:
        """Whether its process was there and is no more."""
        return self.process is not None and not self.process.is_alive()

    def start(self) -> None:
        """Start its process."""
        context = multiprocessing.get_context("spawn")
        self.end, other = context.Pipe()
        arguments = (*self._given, other, self.number, self._workers)
        self.process = context.Process(target=work, args=arguments, name=f"demem-{self.number}")
        self.process.start()
        other.close()

    def came(self) -> None:
        """Note that its process serves."""
        self._serves_since = time.monotonic()

    def left(self) -> None:
        """Note that its process has ended, and when there is to be another."""
        assert self.process is not None
        now = time.monotonic()
        was_steady = self._serves_since is not None and now - self._serves_since >= _STEADY
        self._deaths = 0 if was_steady else self._deaths + 1
        self._serves_since = None
        pause = min(_LONGEST, _FIRST * 2 ** max(0, self._deaths - 1))
        self.due = now + pause
        says = "worker %d has ended (%s); it is started again in %.1f s"
        log.error(says, self.number, self.process.exitcode, pause)
        self._let_go()

    def stop(self) -> None:
        """Tell its process to end."""
        if self.process is not None:
            self.process.terminate()

    def join(self) -> None:
        """Wait until its process has ended."""
        if self.process is not None:
            self.process.join()
            self._let_go()

    def _let_go(self) -> None:
        if self.end is not None:
            self.end.close()
        self.process = self.end = None


class _Watch:
    """Watches over workers, hears them, and answers what they ask of what they share."""

    def __init__(self, posts: list[_Post], common: Common) -> None:
        self._posts = posts
        self._common = common
        self._address = ""
        self._told: Any = None
        self._up: set[int] = set()
        self._has_begun = False

    def run(
        self,
        sock: socket.socket,
        ending: Connection,
        on_start: Callable[[str, Any], object] | None,
    ) -> signal.Signals | None:
        """Watch until a signal comes; return it.

        Raises:
            DeMemError: what has the first worker not begin.
        """
        try:
            self._posts[0].start()  # alone: it makes what is missing, and tells what is wrong
            while True:
                self._heard(ending)
                if ending.poll():
                    return signal.Signals(ending.recv())
                self._started()
                if len(self._up) == len(self._posts) and not self._has_begun:
                    self._has_begun = True
                    if on_start is not None:
                        on_start(self._address, self._told)
        finally:
            sock.close()  # nothing new comes
            for post in self._posts:
                post.stop()
            self._see_out(ending)

    def _started(self) -> None:
        """Start the workers that are to be."""
        if not self._address:
            return
        now = time.monotonic()
        for post in self._posts:
            if post.process is None and post.due <= now:
                post.start()

    def _heard(self, ending: Connection) -> None:
        """Wait for what workers say, for one that ends, or for a signal; take that in."""
        ends = {post.end: post for post in self._posts if post.end is not None}
        at_work = [post for post in self._posts if post.process is not None]
        sentinels = [post.process.sentinel for post in at_work if post.process is not None]
        for came in wait([*ends, *sentinels, ending], timeout=self._rest()):
            if isinstance(came, Connection) and came in ends:
                self._hear(ends[came], came)
        for post in at_work:
            if post.has_ended:
                self._lose(post)

    def _rest(self) -> float | None:
        """Return after how many seconds a worker is to be started; None for never."""
        due = [post.due for post in self._posts if post.process is None]
        if not due or not self._address:
            return None
        return max(0.0, min(due) - time.monotonic())

    def _hear(self, post: _Post, end: Connection) -> None:
        """Take in one thing that a worker says; what a dead one left is not whole."""
        try:
            said = end.recv()
            if isinstance(said, Said):
                answered(self._common, said, end)
        except (EOFError, OSError):
            end.close()
            post.end = None
            return
        if isinstance(said, Began):
            self._address, self._told = said.address, said.told
            post.came()
            self._up.add(post.number)
            self._common.came(post.number)
        elif isinstance(said, Failed):
            if not self._address:
                raise said.error
            log.error("worker %d cannot begin: %s", post.number, said.error)

    def _lose(self, post: _Post) -> None:
        self._up.discard(post.number)
        self._common.left(post.number)
        post.left()
        if not self._address:
            raise StoreError("the first worker has ended before it has begun; the log has more")

    def _see_out(self, ending: Connection) -> None:
        """Wait until all workers have ended, and answer what they ask meanwhile; who tells it to
        end once more does not want to wait.
        """
        for post in self._posts:
            while post.process is not None and not post.has_ended:
                ends = {one.end: one for one in self._posts if one.end is not None}
                for came in wait([*ends, post.process.sentinel, ending]):
                    if isinstance(came, Connection) and came in ends:
                        with contextlib.suppress(DeMemError):  # it ends in any case
                            self._hear(ends[came], came)
                if ending.poll():
                    ending.recv()
                    self._kill()
            post.join()

    def _kill(self) -> None:
        for post in self._posts:
            if post.process is not None:
                post.process.kill()
