"""Workers of Dask's in processes of their own, and what kills them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

Done = TypeVar("Done")


@contextmanager
def workers(folder: Path, count: int = 2) -> Iterator[Any]:
    """Run so many worker processes, of one thread each; skip the test where Dask is missing."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        local_directory=folder / "scratch",
        silence_logs=50,
    ) as cluster:
        yield cluster


def killing(done: Iterator[Done], client: Any, after: Sequence[int]) -> Iterator[Done]:
    """Yield what is done, and kill a worker when so many are; it must have been another process."""
    killed: set[int] = set()
    for count, one in enumerate(done, 1):
        yield one
        if count in after:
            pid = max(client.run(os.getpid).values())
            assert pid not in killed
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
    assert len(killed) == len(after)
