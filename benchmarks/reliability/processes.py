"""Several processes that work on one memory at once, and on memories of their own in one file.

    python benchmarks/reliability/processes.py [--processes 4] [--operations 2000] [--seed 0]
        [--json]

Each process remembers, asks, tells what was right and reads, in an order of its own; every call
that takes a key has one, and every twentieth is made again at once, as a caller would who lost the
answer. At the end the file must hold exactly what was acknowledged: an item for each key, and no
other. Printed is how long calls took. Leaves with 1 where an item is lost, there twice or was never
told, where any call ended in an error, or where more than one call in a hundred took longer than
the bound.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError
from demem_agent.testing import BagEncoder

#: The most that one call in a hundred may take longer than, in milliseconds.
BOUND = 200.0
OPTIONS: dict[str, Any] = {"clock": None, "encoder": BagEncoder()}
SUBJECTS = ("boiler", "violin", "ferry", "piano", "lamp", "kettle", "bridge", "clock")


@dataclass(slots=True)
class Told:
    """What one process has to say at the end.

    Attributes:
        texts: what was acknowledged.
        errors: by the name of their kind, with the call that ended in them.
        milliseconds: that each call took; ``worked``, that the processor worked for it.
    """

    texts: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one way of sharing.

    Attributes:
        p50, p99, longest: milliseconds of all calls together.
        worked: milliseconds of the processor, of which one call in a hundred took more: what else
            runs on the machine is not in it, nor is waiting.
        seconds: from the first call to the last.
    """

    way: str
    calls: int
    lost: int
    doubled: int
    invented: int
    errors: dict[str, int]
    p50: float
    p99: float
    longest: float
    worked: float
    seconds: float

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost, doubled or invented, and nothing failed or took too long."""
        return not (self.lost or self.doubled or self.invented or self.errors) and (
            self.p99 <= BOUND
        )


def calls(memory: SlotMemory, name: str, count: int, seed: int, told: Told) -> Iterator[Any]:
    """Yield the calls of one process, each with its name."""
    drawn = random.Random(f"{seed} {name}")
    asked: list[str] = []
    for n in range(count):
        subject = drawn.choice(SUBJECTS)
        key = f"{name} {n}"
        drawn_kind = drawn.random()
        if drawn_kind < 0.5:
            text = f"the {subject} of {name} has number {n}"

            def remember(text: str = text, key: str = key) -> None:
                memory.ingest(text, key=key)
                told.texts.append(text)

            yield "ingest", remember
            if n % 20 == 0:
                yield "ingest again", lambda text=text, key=key: memory.ingest(text, key=key)
        elif drawn_kind < 0.75:
            yield "read", lambda subject=subject: memory.read(f"Which number has the {subject}?")
        elif drawn_kind < 0.9 or not asked:
            question = f"Which number has the {subject} of {name}?"
            yield "answer", lambda question=question: asked.append(memory.answer(question).id)
        else:
            given = asked.pop()
            reward = drawn.random()

            def judge(given: str = given, reward: float = reward, key: str = key) -> None:
                memory.feedback(given, reward=reward, key=key)

            yield "feedback", judge


def work(url: str, memory_id: str, name: str, count: int, seed: int) -> Told:
    """Do the work of one process."""
    told = Told()
    with SlotMemory.open(url, memory_id=memory_id, **OPTIONS) as memory:
        for what, call in calls(memory, name, count, seed, told):
            begun, worked = time.perf_counter(), time.process_time()
            try:
                call()
            except DeMemError as error:
                told.errors[f"{what}: {type(error).__name__}: {str(error)[:90]}"] += 1
            told.worked.append(1e3 * (time.process_time() - worked))
            told.milliseconds.append(1e3 * (time.perf_counter() - begun))
        memory.check()
    return told


def warm_up() -> None:
    """Make each call once, so that what is imported then is not in what is timed."""
    told = Told()
    for _, call in calls(SlotMemory(**OPTIONS), "warm", 40, 0, told):
        call()


def _worker(given: tuple[str, str, str, int, int], results: Any, go: Any) -> None:
    warm_up()
    go.wait()
    try:
        results.put(work(*given))
    except BaseException as error:
        results.put(Told(errors=Counter({f"{type(error).__name__}: {str(error)[:90]}": 1})))
        raise


def shared(
    way: str, url: str, ids: list[str], count: int, seed: int, start: str = "spawn"
) -> Outcome:
    """Have one process for each id work on that memory, all at once.

    Args:
        start: how processes are started, as ``multiprocessing`` calls it.
    """
    made: Any = multiprocessing.get_context(start)
    results, go = made.Queue(), made.Event()
    works = [(url, memory_id, f"p{n}", count, seed) for n, memory_id in enumerate(ids)]
    running = [made.Process(target=_worker, args=(one, results, go)) for one in works]
    for process in running:
        process.start()
    begun = time.perf_counter()
    go.set()
    found = [results.get() for _ in running]
    seconds = time.perf_counter() - begun
    for process in running:
        process.join()
    return outcome(way, found, remembered(url, sorted(set(ids))), seconds)


def remembered(url: str, ids: list[str]) -> Counter[str]:
    """Return the texts of memories, after checking each."""
    found: Counter[str] = Counter()
    for memory_id in ids:
        with SlotMemory.open(url, memory_id=memory_id, **OPTIONS) as memory:
            memory.check()
            found.update(item.text for item in memory.evidence())
    return found


def outcome(way: str, found: list[Told], there: Counter[str], seconds: float) -> Outcome:
    """Compare what is there with what was acknowledged."""
    told: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    took: list[float] = []
    worked: list[float] = []
    for one in found:
        told.update(one.texts)
        errors.update(one.errors)
        took += one.milliseconds
        worked += one.worked
    return Outcome(
        way=way,
        calls=len(took),
        lost=len(told.keys() - there.keys()),
        doubled=sum(times > 1 for times in there.values()),
        invented=len(there.keys() - told.keys()),
        errors=dict(errors.most_common()),
        p50=float(np.percentile(took, 50)),
        p99=float(np.percentile(took, 99)),
        longest=max(took),
        worked=float(np.percentile(worked, 99)),
        seconds=seconds,
    )


def measured(processes: int, operations: int, seed: int) -> list[Outcome]:
    """Measure both ways."""
    found = []
    ways: dict[str, Callable[[int], str]] = {
        "one memory": lambda _: "shared",
        "memories of their own": lambda n: f"own{n}",
    }
    for way, name in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            ids = [name(n) for n in range(processes)]
            found.append(shared(way, f"sqlite:///{folder}/a.db", ids, operations, seed))
    return found


def main() -> None:
    """Print what became of the calls; leave with 1 where anything is amiss."""
    parser = argparse.ArgumentParser(description="Several processes on one file.")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--operations", type=int, default=2_000, help="of each process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.processes, given.operations, given.seed)
    if given.json:
        print(json.dumps([asdict(one) for one in found]))
    else:
        where = f"{platform.machine()}, {os.cpu_count()} cores, seed {given.seed}"
        print(f"python {platform.python_version()} on {where}: {given.processes} processes")
        for one in found:
            show(one)
    sys.exit(not all(one.is_sound for one in found))


def show(one: Outcome) -> None:
    """Print the outcome of one way."""
    print(f"{one.way}: {one.calls:,} calls in {one.seconds:.1f} s,", end=" ")
    print(f"{one.lost} lost, {one.doubled} doubled, {one.invented} invented,", end=" ")
    print(f"{sum(one.errors.values())} errors;", end=" ")
    print(
        f"p50 {one.p50:.1f} ms, p99 {one.p99:.1f} (at most {BOUND:.0f}), max {one.longest:.1f};",
        end=" ",
    )
    print(f"p99 of the processor {one.worked:.1f}")
    for what, times in one.errors.items():
        print(f"{times:6,}  {what}")


if __name__ == "__main__":
    main()
