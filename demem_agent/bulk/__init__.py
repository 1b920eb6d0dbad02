"""Many memories at once: told what is in files, or encoded anew, here or on Dask's workers.

A task is one memory, so that two of them never wait for each other's writes. It may be done twice,
or be cut short and begun again: each turn is remembered once by its key. What else is done to
memories one by one, such as :class:`demem_agent.evaluate.Evaluating`, goes the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from demem_agent.bulk.loads import Load, Piece, loads_of
from demem_agent.bulk.tasks import Done, Reembedding, Telling, Work
from demem_agent.later import module

__all__ = ["Done", "Load", "Piece", "Reembedding", "Telling", "Work", "by_dask", "here", "loads_of"]

_dask: Any = module("demem_agent.bulk.dask")  # which needs an extra


def here(work: Work[Any], tasks: Iterable[Any]) -> Iterator[Done]:
    """Do tasks in this process, one after the other, and yield what came of each."""
    return map(work, tasks)


def by_dask(
    work: Work[Any],
    tasks: Iterable[Any],
    *,
    workers: int = 2,
    scheduler: str | None = None,
) -> Iterator[Done]:
    """Do tasks on Dask's workers, and yield what came of each as it is done.

    Args:
        workers: processes that are begun here for it, >= 1, unless a scheduler is named.
        scheduler: of workers that run elsewhere, ``tcp://host:8786``; they need the same
            package, the files under the same paths, and the store.

    Raises:
        MissingExtra: without Dask's distributed.
        InvalidInput: for a scheduler that does not answer.
        WorkersGone: where no worker was there for two minutes; what was yielded is done. Of
            workers that run elsewhere their scheduler says after how long, if ever.
    """
    done: Iterator[Done] = _dask.done(work, tasks, workers=workers, scheduler=scheduler)
    return done
