"""Threads whose writes share a sync: on a disk that fails at every event, and killed.

    python benchmarks/reliability/together.py [--threads 4] [--rounds 8] [--kills 60] [--seed 0]
        [--every 1] [--json]

Each thread remembers turns in a memory of its own, all in one file. Three things are done:

* **crashes**: in each round every thread waits until all are about to write, so that they share one
  commit. All that is done to the file is recorded, and files are made as a machine could leave them
  that stops there (`faults.py` says how). Opened, each memory must hold the first of its turns and
  no other, no fewer than were acknowledged, and all memories equally many.
* **failures**: in each round the first event fails, then the second, and so on, once as on a full
  disk and once as an error. Each call must raise a DeMemError or be in the file and in its memory;
  what raised must be in neither, and calls are made again until all are done. After a crash no
  turn that was acknowledged may be missing.
* **kills**: a process in which all threads write as fast as they can gets SIGKILL. Each memory must
  hold what its thread was told, and at most the turn that was under way besides.

Leaves with 1 where anything else is seen.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from operator import lt
from pathlib import Path

from faults import in_ram, named, on, stops
from faulty_files import Disk, Event
from kills import Child
from reports import as_json

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError
from demem_agent.stores import groups, open_store
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.testing import BagEncoder

#: A disk that fails again and again in one round fails so often at most.
MOST = 400
#: Seconds that a process lives at most before it is killed.
SOON = 2.0
#: Turns that a thread of a process that is killed has to tell.
PLENTY = 100_000


@dataclass(slots=True)
class Found:
    """What became of it.

    Attributes:
        commits: syncs of the log in the recorded rounds.
        states: files that were opened after a crash, by how it came about.
        failed: events that were made to fail, by how.
        told, refused: calls that were acknowledged while something failed, or raised.
        kills: processes that were killed; acknowledged: turns that their threads had been told of.
        failures: what went wrong, by what it was.
    """

    rounds: int = 0
    commits: int = 0
    states: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    told: int = 0
    refused: int = 0
    kills: int = 0
    acknowledged: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def text(thread: int, number: int) -> str:
    """Return what a thread says in a turn."""
    return f"the boiler of house {thread} has number {number}"


@contextmanager
def in_one_group() -> Iterator[None]:
    """Have no group end because the machine is slow."""
    known = groups.LONG
    groups.LONG = 60.0
    try:
        yield
    finally:
        groups.LONG = known


class Together:
    """Memories in one file, with a thread each."""

    def __init__(self, url: str, threads: int) -> None:
        store = open_store(url)
        if not isinstance(store, SqliteStore):
            raise TypeError(f"{url} is no SQLite file")
        self._store = store
        self._threads = threads
        self._memories = opened(store, threads)

    def take(self, number: int, who: list[int]) -> dict[int, BaseException | None]:
        """Have threads remember the turn of a number; each waits until all are about to write.

        Returns:
            What each raised, or None.
        """
        raised: dict[int, BaseException | None] = {}

        def remember(thread: int) -> None:
            try:
                self._memories[thread].ingest(text(thread, number), key=str(number))
                raised[thread] = None
            except BaseException as error:
                raised[thread] = error

        connection = self._store._connection
        working = [threading.Thread(target=remember, args=(thread,)) for thread in who]
        with connection.lock:
            for one in working:
                one.start()
            while len(connection.line) + len(raised) < len(who):
                time.sleep(0.0005)
        for one in working:
            one.join()
        return raised

    def texts(self) -> list[list[str]]:
        """Return what each memory holds, after checking it."""
        return [_texts(memory) for memory in self._memories]

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()


def opened(store: SqliteStore, threads: int) -> list[SlotMemory]:
    """Return the memories of a store."""
    return [
        SlotMemory.open(store, memory_id=f"m{n}", encoder=BagEncoder(), clock=None)
        for n in range(threads)
    ]


def _texts(memory: SlotMemory) -> list[str]:
    memory.check()
    return [item.text for item in memory.evidence()]


def in_the_file(folder: Path, threads: int) -> list[list[str]]:
    """Return what the memories of a file hold, as who opens it finds them."""
    with closing(SqliteStore(folder / "a.db")) as store:
        return [_texts(memory) for memory in opened(store, threads)]


def lengths(found: list[list[str]]) -> list[int] | None:
    """Return how many of its turns each memory holds; None where one holds anything else."""
    for thread, texts in enumerate(found):
        if texts != [text(thread, number) for number in range(len(texts))]:
            return None
    return list(map(len, found))


# -- crashes


def crash(threads: int, rounds: int, seed: int, every: int, found: Found) -> None:
    """Open what a machine could leave that stops at any of so many events."""
    drawn = random.Random(f"{seed} crashes")
    with in_ram() as folder:
        for stop in stops(_recorded(threads, rounds, found), every):
            if stop.allowed[1] == 0:  # nobody has begun
                continue
            for how, files in stop.left_behind(drawn):
                found.states[how] += 1
                state = Path(folder, "state")
                _written(state, files)
                _look(state, threads, stop.allowed, how, found)
                shutil.rmtree(state)


def _recorded(threads: int, rounds: int, found: Found) -> list[Event]:
    disk = Disk(records=True)
    with in_ram() as folder, on(disk), in_one_group():
        working = Together(f"sqlite:///{folder}/a.db", threads)
        for number in range(rounds):
            disk.mark(f"begin {number + 1}")
            before = len(disk.events)
            raised = working.take(number, list(range(threads)))
            synced = [one for one in disk.events[before:] if one.kind == "sync"]
            found.commits += sum(one.path.endswith("-wal") for one in synced)
            disk.mark(f"done {number + 1}")
            for error in filter(None, raised.values()):
                found.failures[f"recording: {named(error)}"] += 1
        working.close()
    found.rounds += rounds
    return disk.events


def _written(folder: Path, files: dict[str, bytes | None]) -> None:
    folder.mkdir()
    for name, made in files.items():
        if made is not None:
            (folder / name).write_bytes(made)


def _look(folder: Path, threads: int, allowed: tuple[int, int], how: str, found: Found) -> None:
    sure, most = allowed
    try:
        held = lengths(in_the_file(folder, threads))
    except Exception as error:  # that there is none is what is measured
        found.failures[f"{how}: {named(error)}"] += 1
        return
    if held is None:
        found.failures[f"{how}: other turns than were told"] += 1
    elif not all(sure <= one <= most for one in held):
        found.failures[f"{how}: {held} turns, {sure} to {most} allowed"] += 1
    elif len(set(held)) > 1:
        found.failures[f"{how}: of one commit a part, {held}"] += 1


# -- failures


def fail(threads: int, rounds: int, how: str, found: Found) -> None:
    """Have each event of each round fail in turn."""
    disk = Disk()
    with in_ram() as folder, on(disk), in_one_group():
        working = Together(f"sqlite:///{folder}/a.db", threads)
        for number in range(rounds):
            if not _round(working, disk, Path(folder), threads, number, how, found):
                return
        working.close()


def _round(
    working: Together,
    disk: Disk,
    folder: Path,
    threads: int,
    number: int,
    how: str,
    found: Found,
) -> bool:
    """Take a round until each thread has been told; return whether the next one can be."""
    left = list(range(threads))
    for at in range(1, MOST):
        disk.fail(at, full=how == "full")
        raised = working.take(number, left)
        found.failed[how] += disk.fired
        disk.heal()
        for error in raised.values():
            if error is not None and not isinstance(error, DeMemError):
                found.failures[f"{how}: {named(error)}"] += 1
        told = [thread for thread, error in raised.items() if error is None]
        left = [thread for thread in left if thread not in told]
        found.told += len(told)
        found.refused += len(left)
        wanted = [number + (thread not in left) for thread in range(threads)]
        held = {"here": lengths(working.texts()), "there": lengths(in_the_file(folder, threads))}
        for where, one in held.items():
            if one != wanted:
                told_of = [named(error) for error in raised.values() if error is not None]
                found.failures[f"{how}: {one} turns {where}, {wanted} told: {told_of}"] += 1
                return False
        kept = lengths(_copied(folder, threads))  # what a crash left now
        if kept is None or any(map(lt, kept, wanted)):
            found.failures[f"{how}: {kept} turns after a crash, {wanted} told"] += 1
            return False
        if not left:
            return True
    found.failures[f"{how}: a round is never done"] += 1
    return False


def _copied(folder: Path, threads: int) -> list[list[str]]:
    """Return what is in a copy of the file and its log, as who opens them finds them."""
    with in_ram() as other:
        for name in ("a.db", "a.db-wal"):
            if (folder / name).exists():
                shutil.copy(folder / name, other)
        return in_the_file(Path(other), threads)


# -- kills


def kill(threads: int, times: int, seed: int, found: Found) -> None:
    """Kill a process that writes so often, each one going on where the last one stopped."""
    drawn = random.Random(f"{seed} kills")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = [0] * threads
        for _ in range(times):
            child = Child(lambda say: _live(folder, threads, say))
            lines = child.lines(wait=60)
            if next(lines, "") != "ready":
                found.failures["a process does not begin"] += 1
                child.kill()
                return
            time.sleep(drawn.random() * SOON)
            said = child.kill()
            found.kills += 1
            told = list(before)
            for line in said:
                if line.startswith("failed"):
                    found.failures[line[:160]] += 1
                    return
                thread, count = map(int, line.split())
                told[thread] = max(told[thread], count)
            found.acknowledged += sum(told) - sum(before)
            held = lengths(in_the_file(folder, threads))
            if held is None:
                found.failures["killed: other turns than were told"] += 1
                return
            if not all(one <= there <= one + 1 for one, there in zip(told, held, strict=True)):
                found.failures[f"killed: {held} turns, {told} told"] += 1
            before = held


def _live(folder: Path, threads: int, say: Callable[[str], None]) -> None:
    store = SqliteStore(folder / "a.db")
    memories = opened(store, threads)

    def work(thread: int) -> None:
        memory = memories[thread]
        for number in range(len(memory), PLENTY):
            memory.ingest(text(thread, number), key=str(number))
            say(f"{thread} {number + 1}")

    say("ready")
    working = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for one in working:
        one.start()
    for one in working:
        one.join()
    raise AssertionError("a thread has ended")


def measured(threads: int, rounds: int, kills: int, seed: int, every: int) -> Found:
    """Do all of it."""
    found = Found()
    kill(threads, kills, seed, found)
    crash(threads, rounds, seed, every, found)
    for how in ("full", "error"):
        fail(threads, rounds, how, found)
    if found.commits > found.rounds:
        found.failures[f"{found.commits} commits in {found.rounds} rounds"] += 1
    return found


def main() -> None:
    """Print what became of it; leave with 1 where anything failed."""
    parser = argparse.ArgumentParser(description="Threads that share a sync, and what is kept.")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="of so many writes one is looked at")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.threads, given.rounds, given.kills, given.seed, given.every)
    if given.json:
        print(as_json(found))
    else:
        show(found, given.threads, given.seed)
    sys.exit(bool(found.failures))


def show(found: Found, threads: int, seed: int) -> None:
    """Print what was found."""
    where = f"{platform.machine()}, {os.cpu_count()} cores, seed {seed}"
    print(f"python {platform.python_version()} on {where}: {threads} threads")
    states = ", ".join(f"{how} {times:,}" for how, times in found.states.most_common())
    print(f"{found.rounds} rounds in {found.commits} commits; states after crashes: {states}")
    failed = ", ".join(f"{how} {times:,}" for how, times in found.failed.most_common())
    print(f"failing events: {failed}; {found.told:,} calls acknowledged, {found.refused:,} raised")
    print(f"{found.kills:,} kills, {found.acknowledged:,} turns acknowledged before them")
    print(f"{found.failures.total()} failures")
    for what, times in found.failures.most_common(20):
        print(f"{times:6,}  {what}")


if __name__ == "__main__":
    main()
