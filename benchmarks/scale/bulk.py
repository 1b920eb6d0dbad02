"""Many memories told by `demem bulk`: by one worker, by two, and while one is killed twice.

    python benchmarks/scale/bulk.py [--memories 1000] [--items 50] [--rounds 1] [--postgres]

A file of JSON lines has so many turns of each memory, those of all memories mixed. Dask's workers
tell it to a new store: one, then two, in turn, and then two of which one gets SIGKILL after a third
and after two thirds of the memories. What is timed begins when all workers have told a memory of
their own. Then each memory is read: it must hold its turns, each once and in their order; and it is
told all once more, which does what was not done, where both workers were gone for half a minute.
Leaves with 1 where anything is lost or doubled.

Beside the times stands what the processor worked for a turn: workers, and the process that tells
them what to do. Two workers that wait for nobody take as much for a turn as one, and half the time;
on a machine that has other work this says more than its clock.

The store is a SQLite file; with --postgres it is a database of a server begun for it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import dask
from distributed import Client, LocalCluster

from demem_agent import SlotMemory, Turn
from demem_agent.bulk import Load, Telling, by_dask, loads_of
from demem_agent.errors import WorkersGone
from demem_agent.stores import open_store

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1]))
from postgres_server import Server, programs
from speed_data import Invented

FIELD = "user"
#: As of the workers that the command begins, but that it waits for them less long.
SETTINGS = {
    "distributed.scheduler.no-workers-timeout": "30s",
    "distributed.worker.profile.enabled": False,
}
#: Turns that each worker tells a memory of its own before it is timed.
WARM = 60


@dataclass(frozen=True, slots=True)
class Took:
    """What telling took: seconds by the clock, and of the processor, by workers and this process.

    A worker that was killed counts for nothing.
    """

    seconds: float
    workers: float
    here: float


@dataclass
class Found:
    """What came of it.

    Attributes:
        one, two: what each round took, of one worker and of two.
        killed: seconds with workers that were killed; again: of a run that finds all done.
        wrong: memories that hold anything else than what they were told.
        load: of the machine, a minute's average before and after.
    """

    memories: int
    items: int
    one: list[Took]
    two: list[Took]
    killed: float
    again: float
    kills: int
    wrong: int
    load: tuple[float, float]

    @property
    def ratio(self) -> float:
        """How many times as fast two workers were."""
        rounds = zip(self.one, self.two, strict=True)
        return statistics.median(one.seconds / two.seconds for one, two in rounds)


def written(path: Path, memories: int, items: int) -> dict[str, list[str]]:
    """Write what memories are told, and return it."""
    turns = Invented(11).turns()
    texts: dict[str, list[str]] = {f"m{number}": [] for number in range(memories)}
    with path.open("w", encoding="utf-8") as file:
        for _ in range(items):
            for name, turn in zip(texts, islice(turns, memories), strict=True):
                texts[name].append(turn.text)
                row = {"text": turn.text, "speaker": turn.speaker, FIELD: name}
                file.write(f"{json.dumps(row)}\n")
    return texts


@contextmanager
def workers(count: int, folder: Path) -> Iterator[Client]:
    """Give workers that have loaded what they need."""
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=folder / "scratch",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(warmed, list(islice(Invented(12).turns(), WARM)))
        yield client


def warmed(turns: list[Turn]) -> None:
    """Load the encoder, and what else a first memory needs."""
    SlotMemory().ingest_many(turns)


def told(url: str, loads: list[Load], client: Client) -> Took:
    """Tell memories, and return what it took."""
    began, worked, here = time.monotonic(), of_workers(client), time.process_time()
    for one in by_dask(Telling(url), loads, scheduler=client.scheduler.address):
        if one.error is not None:
            sys.exit(f"{one.memory_id}: {one.error}")
    seconds, here = time.monotonic() - began, time.process_time() - here
    return Took(seconds, of_workers(client) - worked, here)


def of_workers(client: Client) -> float:
    """Return the seconds of the processor that workers have worked."""
    return sum(client.run(time.process_time).values())


def told_by_the_dying(url: str, loads: list[Load], client: Client) -> tuple[float, int]:
    """Tell memories and kill workers meanwhile; return the seconds, and how many were killed."""
    began, kills = time.monotonic(), 0
    kill_after = (len(loads) // 3, 2 * len(loads) // 3)
    with suppress(WorkersGone):  # what was not done then is done by who tells it again
        for count, _ in enumerate(by_dask(Telling(url), loads, scheduler=client.scheduler.address)):
            if count + 1 in kill_after:
                os.kill(max(client.run(os.getpid).values()), signal.SIGKILL)
                kills += 1
    return time.monotonic() - began, kills


def wrong_in(url: str, texts: dict[str, list[str]]) -> int:
    """Return how many memories hold anything else than what they were told."""
    store = open_store(url)
    wrong = len(set(store.memories("default")) ^ set(texts))
    for name in set(texts) & set(store.memories("default")):
        with SlotMemory.open(store, memory_id=name) as memory:
            wrong += [item.text for item in memory.evidence()] != texts[name]
    store.close()
    return wrong


class Stores:
    """New stores, one after the other."""

    def __init__(self, folder: Path, server: Server | None) -> None:
        self._folder, self._server, self._made = folder, server, 0

    def new(self) -> str:
        """Return the URL of a new one, which is made."""
        self._made += 1
        if self._server is None:
            url = f"sqlite:///{self._folder}/{self._made}.db"
        else:
            import psycopg

            with psycopg.connect(self._server.url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE bulk{self._made}")
            head, _, query = self._server.url.partition("?")
            url = f"{head.rpartition('/')[0]}/bulk{self._made}" + (f"?{query}" if query else "")
        open_store(url).close()
        return url


def found_of(asked: argparse.Namespace, folder: Path, server: Server | None) -> Found:
    """Tell memories by one worker and by two, then by two that are killed, and look."""
    path = folder / "turns.jsonl"
    texts = written(path, asked.memories, asked.items)
    loads = loads_of(path, FIELD)
    stores = Stores(folder, server)
    before = os.getloadavg()[0]
    times: dict[int, list[Took]] = {1: [], 2: []}
    wrong = 0
    for _ in range(asked.rounds):
        for count in times:
            url = stores.new()
            with workers(count, folder) as client:
                times[count].append(told(url, loads, client))
            wrong += wrong_in(url, texts)
    url = stores.new()
    with workers(2, folder) as client:
        killed, kills = told_by_the_dying(url, loads, client)
    with workers(2, folder) as client:
        again = told(url, loads, client).seconds
    wrong += wrong_in(url, texts)
    load = (before, os.getloadavg()[0])
    return Found(asked.memories, asked.items, times[1], times[2], killed, again, kills, wrong, load)


def shown(found: Found) -> Iterator[str]:
    """Yield what came of it, in lines."""
    turns = found.memories * found.items
    before, after = found.load
    yield f"{found.memories} memories x {found.items} turns; load {before:.0f} to {after:.0f}"
    for name, rounds in (("one worker", found.one), ("two workers", found.two)):
        each = ", ".join(f"{one.seconds:.0f}" for one in rounds)
        rate = turns / statistics.median(one.seconds for one in rounds)
        work = statistics.median(one.workers for one in rounds) / turns * 1000
        here = statistics.median(one.here for one in rounds) / turns * 1000
        yield f"{name}: {each} s, {rate:.0f} turns/s"
        yield f"  of the processor {work:.2f} ms a turn, and {here:.2f} where it is given out"
    yield f"two are {found.ratio:.2f} times as fast as one"
    yield f"two, with {found.kills} SIGKILLs: {found.killed:.0f} s; told again: {found.again:.0f} s"
    yield f"memories with turns lost, doubled or in another order: {found.wrong}"


def main() -> None:
    """Tell, kill, look, and say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    server = None
    if asked.postgres:
        folder = programs()
        if folder is None:
            parser.error("there are no programs of a PostgreSQL server: pip install pgserver")
        server = Server(folder)
    try:
        with tempfile.TemporaryDirectory() as place:
            found = found_of(asked, Path(place), server)
    finally:
        if server is not None:
            server.close()
    if asked.json:
        print(json.dumps({**asdict(found), "ratio": found.ratio}))
    else:
        print("\n".join(shown(found)))
    sys.exit(bool(found.wrong))


if __name__ == "__main__":
    main()
