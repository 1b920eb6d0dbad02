"""Tasks on workers of Dask's distributed: a worker that dies has its tasks begun again by another.

Needs an extra: ``pip install 'demem-agent[bulk]'``.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from demem_agent.bulk.tasks import Done, Work
from demem_agent.errors import InvalidInput, MissingExtra, WorkersGone

if TYPE_CHECKING:
    import dask.config
    from distributed import Client, Future, LocalCluster, as_completed
    from distributed.scheduler import NoValidWorkerError, NoWorkerError
else:
    try:
        import dask.config
        from distributed import Client, LocalCluster, as_completed
        from distributed.scheduler import NoValidWorkerError, NoWorkerError
    except ImportError as error:
        raise MissingExtra("work on many memories by several processes", "bulk") from error

__all__ = ["done"]

#: Tasks that the scheduler knows of at a time; of a million, it need not hold all.
AHEAD = 1000
#: Nobody but this machine is to reach what is begun here, and no port is to be taken twice.
_LOCAL = "127.0.0.1:0"
_SECONDS = 10
_SETTINGS = {
    # A worker that is killed while it begins is not begun again. With none left, tasks would wait
    # for ever; after so long the call ends, and the same call again does them.
    "distributed.scheduler.no-workers-timeout": "2 minutes",
    # Nobody looks at what workers note down of themselves every few milliseconds.
    "distributed.worker.profile.enabled": False,
}
_GONE = "no worker is left; what is done is kept, and the same call again does the rest"


def done(
    work: Work[Any], tasks: Iterable[Any], *, workers: int, scheduler: str | None
) -> Iterator[Done]:
    """Do tasks, and yield what came of each as it is done; ``by_dask`` explains the rest."""
    with _workers(workers) if scheduler is None else _client(scheduler) as client:
        yield from _as_done(client, work, tasks)


@contextmanager
def _workers(count: int) -> Iterator[Client]:
    """Begin workers of one thread each on this machine, and end them."""
    with (
        dask.config.set(_SETTINGS),
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=_LOCAL,
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _client(scheduler: str) -> Iterator[Client]:
    """Connect to workers that are there."""
    try:
        client = Client(scheduler, timeout=_SECONDS)
    except (OSError, ValueError) as error:  # no such host, nobody there, or no address
        raise InvalidInput(
            "scheduler", scheduler, "the address of Dask's, tcp://host:8786"
        ) from error
    with client:
        yield client


def _as_done(client: Client, work: Work[Any], tasks: Iterable[Any]) -> Iterator[Done]:
    names: dict[object, str] = {}

    def begun(task: Any) -> Future:
        future = client.submit(work, task, pure=False)
        names[future.key] = work.named(task)
        return future

    coming = iter(tasks)
    running = as_completed(map(begun, islice(coming, AHEAD)))
    for future in running:
        yield _of(future, names.pop(future.key))
        for task in islice(coming, 1):
            running.add(begun(task))


def _of(future: Future, name: str) -> Done:
    """Return what a task came to; of one that broke off, or took its workers with it, the error.

    Raises:
        WorkersGone: where none is left. Those that wait would each say the same, in turn.
    """
    error = future.exception()
    if error is None:
        result: Done = future.result()
        return result
    if isinstance(error, NoWorkerError | NoValidWorkerError):
        raise WorkersGone(_GONE) from error
    return Done(name, error=f"{type(error).__name__}: {error}")
