"""Background work whose workers are killed at random: each job has its effect once, none is lost.

    python benchmarks/scale/jobs.py [--jobs 10000] [--workers 2] [--pause 0] [--store URL] [--json]

So many memories are told one thing each, and a note is due of each. Workers, processes of some
threads, take notes with a fake that answers after a pause and notes down what it was asked. One
drawn at random gets SIGKILL after a while drawn at random, and another begins in its place, until
nothing waits. At the end each memory must hold one note of its one item, and the queue no job.
Work that was begun twice is counted: it is no fault. Leaves with 1 where a memory is not as it
must be.

Without --store it is done on a PostgreSQL server of its own, by the queue in it; with
sqlite:///new.db on that file, which workers look through.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory
from demem_agent.jobs import Means, Rounds, Runner
from demem_agent.stores import Store, open_store
from demem_agent.testing import BagEncoder
from demem_agent.types import Noting, Proposal

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from postgres_server import Server, programs

#: Seconds that a worker works before it is killed.
SOON, LATE = 0.1, 2.0
#: Seconds without a sign of life after which a worker's jobs are done by others.
STALLED = 3.0
#: Seconds after which nothing more is waited for.
PATIENCE = 7_200.0
THREADS = 4


@dataclass(slots=True)
class Found:
    """What became of it.

    Attributes:
        begun: jobs in which the note taker was asked; again: how often that was for the same.
        wrong: memories that are not as they must be, by what is wrong.
    """

    jobs: int
    kills: int = 0
    begun: int = 0
    again: int = 0
    seconds: float = 0.0
    wrong: Counter[str] = field(default_factory=Counter)


class Copying:
    """Takes each item as a note, and appends to a file of which memory it was asked."""

    name = "copying"

    def __init__(self, path: Path, pause: float) -> None:
        self._pause = pause
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def take_notes(self, task: Noting) -> Proposal:
        texts = tuple(source.text for source in task.sources)
        os.write(self._file, f"{texts[0]}\n".encode())
        time.sleep(self._pause)
        return Proposal(texts, tuple((source.evidence_id,) for source in task.sources))


def told_all(url: str, jobs: int) -> None:
    """Tell each memory one thing."""
    store = open_store(url)
    for n in range(jobs):
        memory = SlotMemory.open(store, memory_id=f"m{n}", encoder=BagEncoder(), clock=None)
        memory.ingest(f"The boat number {n} is green.")
    store.close()


def runner(store: Store, path: Path, pause: float) -> Runner:
    """Return who does the work of a store."""
    options: Any = {"encoder": BagEncoder(), "note_taker": Copying(path, pause), "clock": None}
    means = Means(options)
    if not hasattr(store, "work"):
        return Rounds(store, ["notes"], means, concurrency=THREADS)
    from demem_agent.jobs.queue import Queue

    return Queue(store, ["notes"], means, concurrency=THREADS, stalled=STALLED)  # type: ignore[arg-type]


def work(url: str, path: Path, pause: float, begun: Any) -> None:
    """Be a worker."""
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    working = runner(open_store(url), path, pause)
    begun.set()
    working.run(0.2)


@contextmanager
def workers(url: str, path: Path, pause: float, count: int) -> Iterator[Workers]:
    """Give workers, and end them."""
    team = Workers(url, path, pause, count)
    try:
        yield team
    finally:
        team.end()


class Workers:
    """Processes that work, of which one can be killed, and another begins."""

    def __init__(self, url: str, path: Path, pause: float, count: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._given = url, path, pause
        self._team = [self._begun() for _ in range(count)]

    def kill(self, drawn: random.Random, lived: float) -> None:
        """Kill one after so many seconds of work, and begin another."""
        place = drawn.randrange(len(self._team))
        process, begun = self._team[place]
        if not begun.wait(120):
            raise RuntimeError("a worker does not begin")
        time.sleep(lived)
        process.kill()
        process.join()
        self._team[place] = self._begun()

    def end(self) -> None:
        """Kill them all."""
        for process, _ in self._team:
            process.kill()
            process.join()

    def _begun(self) -> tuple[Any, Any]:
        begun = self._context.Event()
        process = self._context.Process(target=work, args=(*self._given, begun))
        process.start()
        return process, begun


def found_of(
    url: str, jobs: int, drawn: random.Random, *, count: int = 2, pause: float = 0.0
) -> Found:
    """Have work done while workers are killed, and look at every memory."""
    found = Found(jobs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "asked"
        store = open_store(url)
        queued = runner(store, path, pause)  # from here on it is queued
        told_all(url, jobs)
        began = time.monotonic()
        with workers(url, path, pause, count) as team:
            while not _is_done(queued, path, jobs) and time.monotonic() - began < PATIENCE:
                team.kill(drawn, drawn.uniform(SOON, LATE))
                found.kills += 1
        queued.once()  # what the last one left, where nothing is queued
        found.seconds = round(time.monotonic() - began, 1)
        asked = Counter(path.read_text().splitlines())
        found.begun, found.again = asked.total(), asked.total() - len(asked)
        found.wrong = wrong_in(store, jobs)
        found.wrong["still waiting"] = sum(queued.backlog.waiting.values())
        found.wrong["given up"] = queued.backlog.given_up
        store.close()
    return found


def _is_done(queued: Runner, path: Path, jobs: int) -> bool:
    """Whether nothing waits; of rounds this is known by what was asked."""
    if isinstance(queued, Rounds):
        return path.exists() and len(set(path.read_text().splitlines())) >= jobs
    return not any(queued.backlog.waiting.values())


def wrong_in(store: Store, jobs: int) -> Counter[str]:
    """Return how many memories are not as they must be, by what is wrong."""
    wrong: Counter[str] = Counter()
    for n in range(jobs):
        memory = SlotMemory.open(store, memory_id=f"m{n}", encoder=BagEncoder(), clock=None)
        made = [item.made_from for item in memory.evidence() if item.made_from]
        if len(memory) - len(made) != 1:
            wrong["items"] += 1
        if len(made) != 1:
            wrong["lost" if not made else "done twice"] += 1
    return wrong


def main() -> None:
    """Kill, look, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that a note takes")
    parser.add_argument("--store")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    server = None
    if asked.store is None:
        folder = programs()
        if folder is None:
            parser.error("there are no programs of a PostgreSQL server: pip install pgserver")
        server = Server(folder)
    try:
        url = asked.store or server.url  # type: ignore[union-attr]
        drawn = random.Random(asked.seed)
        found = found_of(url, asked.jobs, drawn, count=asked.workers, pause=asked.pause)
    finally:
        if server is not None:
            server.close()
    if asked.json:
        print(json.dumps(asdict(found)))
    else:
        print(
            f"{found.jobs} jobs, {found.kills} workers killed, {found.seconds} s: "
            f"{found.begun} begun, {found.again} of them again"
        )
        print(f"wrong: {dict(+found.wrong) or 'nothing'}")
    sys.exit(bool(+found.wrong))


if __name__ == "__main__":
    main()
