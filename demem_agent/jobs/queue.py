"""Work on the memories of a PostgreSQL store, from a queue of Procrastinate in the same database.

A job is queued in the transaction of what causes it, and says of which memory what kind of work may
be due. It may be begun twice, where a worker is killed or not heard of: what it does is checked
against the version of the memory, and done once.

Workers ask for jobs every so often, by transactions that leave nothing behind in a connection: a
pooler may stand between.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from demem_agent.errors import CollaboratorError, MissingExtra, StoreError
from demem_agent.jobs.kinds import RETENTION, Done, Means, Opened, attempted, kinds_of
from demem_agent.jobs.telling import tell
from demem_agent.jobs.trying import MOST_TRIES, wait_after
from demem_agent.stores import Address
from demem_agent.stores.backlog import Backlog
from demem_agent.stores.postgres import PostgresStore
from demem_agent.stores.postgres.queueing import SWEEP, task_of
from demem_agent.turns import whole_field

try:
    import procrastinate
    from procrastinate.exceptions import ConnectorException
    from procrastinate.schema import SchemaManager
except ImportError as error:
    raise MissingExtra("a queue of background work", "jobs") from error

__all__ = ["GivenUp", "Queue"]

_log = logging.getLogger("demem.work")
#: Names of Procrastinate's tables, types and functions, which its queries leave unqualified.
_NAMES = re.compile(r"\bprocrastinate_(?=\w)")
#: Heartbeats in the time after which a worker is taken for dead.
_BEATS = 6
#: Threads beside those that do the work.
_MORE_THREADS = 4


class GivenUp(CollaboratorError):
    """Report work that was tried as often as it is: its job stays as failed."""


class Queue:
    """Background work on a PostgreSQL store, by this process and any number of others.

    Args:
        store: where the memories live.
        kinds: names of :data:`~demem_agent.jobs.kinds.KINDS`. Once somebody has begun with a kind
            it is queued by all who write.
        means: by whom and by which rules; nobody, and none, unless given.
        tenant: whose memories are looked through, where the store shows one tenant's alone.
        concurrency: memories that are worked on at once, >= 1.
        stalled: seconds without a sign of life after which a worker's jobs are done by others.

    Raises:
        InvalidInput: for a kind that there is not, or a concurrency below 1.
        StoreError: if the tables of the queue cannot be made.
    """

    def __init__(
        self,
        store: PostgresStore,
        kinds: Sequence[str],
        means: Means | None = None,
        *,
        tenant: str = "default",
        concurrency: int = 1,
        stalled: float = 60.0,
    ) -> None:
        self._store = store
        self._kinds = kinds_of(kinds)
        self._means = means or Means()
        self._tenant = tenant
        self._concurrency = whole_field("concurrency", concurrency, 1)
        self._stalled = stalled
        self._counts: Counter[str] = Counter()
        self._begun = 0
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None
        store.work.begin(self._kinds, SchemaManager.get_schema(), _migrations(), tenant)

    @property
    def backlog(self) -> Backlog:
        """What waits, of all workers together."""
        return self._store.work.backlog()

    @property
    def counts(self) -> dict[str, int]:
        """How much was done here since this began, by kind, as ``Done`` counts."""
        with self._lock:
            return {kind: self._counts[kind] for kind in self._kinds}

    def once(self) -> dict[str, int]:
        """Do what waits, until nothing more can be done now.

        Returns:
            How much was done, by kind. What failed waits, and what others do is not waited for.
        """
        before = self.counts
        begun = -1
        while begun != self._begun and not self._ending.is_set():
            begun = self._begun
            self._look_after()
            self._work(wait=False, every=1.0)
        return {kind: count - before[kind] for kind, count in self.counts.items()}

    def run(self, every: float = 10.0) -> None:
        """Do what waits and look for more, until :meth:`end` is called.

        A database that cannot be reached is asked again.

        Args:
            every: seconds between two looks, > 0.
        """
        while not self._ending.is_set():
            try:
                self._look_after()
                self._work(wait=True, every=every)
            except (ConnectorException, StoreError) as error:
                _log.error("the queue cannot be reached: %s", error)
            self._ending.wait(every)

    def end(self) -> None:
        """Have :meth:`run` and :meth:`once` end, once what is at hand is done."""
        self._ending.set()
        if self._running is not None:
            loop, worker = self._running
            loop.call_soon_threadsafe(worker.cancel)

    def _look_after(self) -> None:
        """See to what no worker does any more, and to what only the calendar causes."""
        work = self._store.work
        work.take_over(self._stalled, MOST_TRIES)
        work.queue_daily([kind for kind in work.kinds() if kind == RETENTION], self._tenant)

    def _work(self, *, wait: bool, every: float) -> None:
        """Do jobs until this is to end, or no more waits."""
        with suppress(asyncio.CancelledError):
            asyncio.run(self._working(wait, every))

    async def _working(self, wait: bool, every: float) -> None:
        loop = asyncio.get_running_loop()
        threads = self._concurrency + _MORE_THREADS
        loop.set_default_executor(ThreadPoolExecutor(threads, "demem-work"))
        async with self._app().open_async() as app:
            worker = asyncio.ensure_future(
                app.run_worker_async(
                    queues=[*self._kinds, SWEEP],
                    concurrency=self._concurrency,
                    wait=wait,
                    fetch_job_polling_interval=every,
                    listen_notify=False,
                    delete_jobs="successful",
                    install_signal_handlers=False,
                    update_heartbeat_interval=self._stalled / _BEATS,
                    stalled_worker_timeout=self._stalled,
                )
            )
            self._running = loop, worker
            if self._ending.is_set():  # before there was anything to end
                worker.cancel()
            looking = asyncio.ensure_future(self._looking_after())
            try:
                await worker
            finally:
                self._running = None
                looking.cancel()

    async def _looking_after(self) -> None:
        while True:
            await asyncio.sleep(self._stalled / 2)
            with suppress(StoreError):  # who asks for jobs says that it cannot be reached
                await asyncio.to_thread(self._look_after)

    def _app(self) -> procrastinate.App:
        work = self._store.work
        connector = _Qualified(
            work.schema,
            conninfo=work.conninfo,
            kwargs={"autocommit": True, "prepare_threshold": None},
            min_size=1,
            max_size=self._concurrency + _MORE_THREADS,
        )
        app = procrastinate.App(connector=connector)
        for kind in self._kinds:
            app.task(name=task_of(kind), queue=kind)(partial(self._do, kind))
        app.task(name=task_of(SWEEP), queue=SWEEP)(self._sweep)
        return app

    def _do(self, kind: str, *, tenant: str, memory_id: str, since: float, tries: int) -> None:
        """Do one job; where it fails, queue another for later.

        Raises:
            GivenUp: where it was tried as often as it is.
        """
        address = Address(tenant, memory_id)
        opened = Opened(self._store, address, self._means)
        with self._lock:
            self._begun += 1
        try:
            done = attempted(kind, opened)
        finally:
            opened.close()
        self._note(kind, address, done, since, tries + 1)

    def _note(self, kind: str, address: Address, done: Done, since: float, tries: int) -> None:
        with self._lock:
            self._counts[kind] += done.count
        wait = wait_after(tries) if done.failed else None
        tell(kind, address.memory_id, done, wait)
        if wait is not None:
            work = self._store.work
            work.queue_again(kind, address, since=since, tries=tries, wait=wait)
        elif done.failed:
            raise GivenUp(f"{kind}: {done.failed}")

    def _sweep(self, *, kinds: list[str], revive: bool, tenant: str) -> None:
        """Queue what no write has queued."""
        work = self._store.work
        with self._lock:
            self._begun += 1
        if revive:
            work.revive()
        work.queue_all(kinds, tenant)


class _Qualified(procrastinate.PsycopgConnector):
    """A connector whose queries name the schema.

    A search path would have to be set for each connection, which a pooler does not keep.
    """

    def __init__(self, schema: str, **pool: Any) -> None:
        super().__init__(**pool)
        self._qualified = f'"{schema}".procrastinate_'

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        await super().execute_query_async(self._named(query), **arguments)

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = await super().execute_query_one_async(
            self._named(query), **arguments
        )
        return found

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await super().execute_query_all_async(
            self._named(query), **arguments
        )
        return found

    def _named(self, query: str) -> Any:
        return _NAMES.sub(self._qualified, query)


def _migrations() -> dict[str, str]:
    """Return Procrastinate's migrations by name, in order."""
    folder = Path(SchemaManager.get_migrations_path())
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.sql"))}
