"""One worker: it serves at a socket that it shares with others, and ends with who watches."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection
from typing import Any

from demem_agent.errors import DeMemError
from demem_agent.server.app import App
from demem_agent.server.common import Shared
from demem_agent.server.serving import Server
from demem_agent.server.workers.line import Began, Failed, Line, shown

__all__ = ["Make", "work"]

#: Makes the application of a worker, for as long as it is entered.
Make = Callable[[Shared], AbstractContextManager[App]]

#: Seconds between two times that a worker tells what it has counted.
_TELLS = 2.0


def work(
    make: Make,
    told_of: Callable[[App], Any] | None,
    host: str,
    sock: socket.socket,
    end: Connection,
    number: int,
    workers: int,
) -> None:
    """Be a worker, until it is told to end: the main function of its process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: who watches tells it to end
    line = Line(end, number, workers)
    try:
        with make(line) as app:
            _Worker(app, line, told_of, host).run(sockets=[sock])
    except (DeMemError, OSError) as error:
        line.say(Failed(shown(error)))
        raise SystemExit(1) from error


class _Worker(Server):
    """A server of a worker."""

    def __init__(
        self, app: App, line: Line, told_of: Callable[[App], Any] | None, host: str
    ) -> None:
        super().__init__(app, host=host, on_start=self._say, shared=True)
        self._line = line
        self._told_of = told_of

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen, and to tell what is counted."""
        await super().startup(sockets)
        self._telling = asyncio.ensure_future(self._tell())
        threading.Thread(target=self._end_with_parent, daemon=True).start()

    async def shutdown(self, sockets: Any = None) -> None:
        """End: what was begun is done."""
        self._telling.cancel()
        await super().shutdown(sockets)

    def _say(self, address: str) -> None:
        told = None if self._told_of is None else self._told_of(self.app)
        self._line.note(self.app.house.metrics.numbers())  # from the first moment on they are told
        self._line.say(Began(address, told))

    async def _tell(self) -> None:
        """Tell what was counted, every while: whichever worker is asked tells it all."""
        with contextlib.suppress(DeMemError):
            while True:
                await asyncio.sleep(_TELLS)
                numbers = self.app.house.metrics.numbers()
                await asyncio.to_thread(self._line.note, numbers)

    def _end_with_parent(self) -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            self.should_exit = True
