"""What ``demem serve`` is to serve, as each of its processes makes it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demem_agent.cli.commands.serving.guests import Guests
from demem_agent.cli.commands.serving.places import Served
from demem_agent.cli.memory_options import Budget, Helpers, Place

if TYPE_CHECKING:
    from demem_agent.server import App
    from demem_agent.server.common import Shared

__all__ = ["Plan", "Told", "logging_at", "told_of"]

_LOGGERS = ("demem.server", "uvicorn.error", "asyncio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Options as they were typed: they go to another process as they are.

    Attributes:
        names: by which the server may be called.
        body, ram: bytes of a body, and of open memories in one process.
        level: from which on the log says something.
        work_too_old: seconds for which background work may wait.
        read_age: seconds for which what was written may be missing in what is read.
    """

    served: Served
    budget: Budget
    helpers: Helpers
    guests: Guests
    names: tuple[str, ...]
    body: int
    rate: float | None
    ram: int
    tenant: str
    encoder: str | None
    audit: str | None
    otlp: str | None
    level: int
    work_too_old: float
    read_age: float | None

    @contextmanager
    def app(self, common: Shared | None = None) -> Iterator[App]:
        """Give the application, and have this process log and trace meanwhile.

        Args:
            common: what it has in common with other workers.
        """
        from demem_agent.server import Limits, make_app
        from demem_agent.server.exporting import exporting

        encoder = Place(encoder=self.encoder).options()
        settings = {**self.budget.given(), **self.helpers.given(), **encoder}
        app = make_app(
            self.served.url,
            keys=self.served.keys_path,
            names=self.names,
            limits=Limits(body=self.body, rate=self.rate),
            audit=self.audit,
            most_bytes=self.ram,
            guests=self.guests.invited(),
            common=common,
            work_too_old=self.work_too_old,
            read_age=self.read_age,
            tenant=self.tenant,
            **settings,
        )
        try:
            with logging_at(self.level), exporting(self.otlp):
                yield app
        finally:
            app.close()


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a server that begins.

    Attributes:
        memories: how many there are; ``keys``: how many are valid.
        has_keys: whether there was ever one.
    """

    memories: int
    keys: int
    has_keys: bool


def told_of(app: App) -> Told:
    """Return what is said of a server that begins."""
    ring = app.house.ring
    keys = sum(key.is_valid() for key in ring.all())
    return Told(len(app.house.pool.names()), keys, ring.has_any())


@contextmanager
def logging_at(level: int) -> Iterator[None]:
    """Have the server's log, and what uvicorn and asyncio warn of, go to stderr meanwhile.

    By a handler that needs nothing more: what others would load for it may not be there to be
    opened, where too much is open already.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    loggers[0].setLevel(level)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True
