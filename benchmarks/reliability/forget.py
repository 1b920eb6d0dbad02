"""How long a forget takes in files of several sizes, and what others notice who read the file.

    python benchmarks/reliability/forget.py [--megabytes 1 4 12] [--forgets 40] [--reads 400]
        [--seed 0] [--json]

The memory that forgets has the same 200 items in every file; the rest of a file are other memories.
A forget destroys keys and empties the log, so that its time must not grow with the file. Then
another process reads one of the others, by turns while nobody does anything and while this one
forgets: it must take as long.

Leaves with 1 where one forget in a hundred takes longer than stated, where the median grows with
the file, or where one read in a hundred takes longer than stated beside forgets.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import random
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import SlotMemory
from demem_agent.memories import copy_memory
from demem_agent.stores import open_store
from demem_agent.testing import BagEncoder

ITEMS, OTHERS = 200, 500
MEGABYTE = 2**20
OPTIONS: dict[str, Any] = {"encoder": BagEncoder(256), "clock": None}
#: How much longer the median may be in the largest file than in the smallest.
MOST = 2.0
#: Milliseconds that one forget in a hundred may take.
SLOWEST = 20.0
#: How much longer one read in a hundred may take while another process forgets.
BESIDE = 1.1
#: How often another process reads by itself, and how often beside forgets.
TURNS = 5


@dataclass(frozen=True, slots=True)
class Took:
    """What one size of file came to, in milliseconds.

    Attributes:
        median, p99, most: of a forget.
        alone, beside: of which one read in a hundred by another process took more, while nobody
            did anything else and while this one forgot.
    """

    megabytes: float
    median: float
    p99: float
    most: float
    alone: float
    beside: float


def texts(drawn: random.Random, count: int) -> list[dict[str, str]]:
    """Return turns that have nothing in common but their words."""
    things = ("boiler", "violin", "ferry", "plover", "harbour", "lamp", "garden", "train")
    found = []
    for number in range(count):
        one, other = drawn.sample(things, 2)
        found.append({"text": f"the {one} {drawn.randrange(10**9)} of the {other} {number}"})
    return found


def filled(file: Path, megabytes: float, drawn: random.Random) -> None:
    """Fill a file with other memories, copies of one, until it has a size."""
    url = f"sqlite:///{file}"
    with SlotMemory.open(url, memory_id="m0", **OPTIONS) as memory:
        memory.ingest_many(texts(drawn, OTHERS))
    with closing(open_store(url)) as store:
        number = 1
        while file.stat().st_size < megabytes * MEGABYTE:
            copy_memory(store, "m0", to=f"m{number}")
            number += 1


def forgotten(memory: SlotMemory, ids: list[str]) -> list[float]:
    """Forget items one by one; return the milliseconds that each took."""
    took = []
    for id in ids:
        began = time.perf_counter()
        memory.forget(id)
        took.append(1000 * (time.perf_counter() - began))
    return took


def reading(url: str, wanted: Any, took: Any) -> None:
    """Read from another memory as often as it is wanted, and tell how long each took."""
    with SlotMemory.open(url, memory_id="m0", **OPTIONS) as memory:
        memory.read("Which boiler is it?")
        for count in iter(wanted.get, 0):
            found = []
            for number in range(count):
                began = time.perf_counter()
                memory.read(f"Which ferry is {number}?")
                found.append(1000 * (time.perf_counter() - began))
            took.put(found)


def beside(file: Path, reads: int, seed: int) -> tuple[float, float]:
    """Return the 99th percentiles of another process's reads, alone and beside forgets."""
    url = f"sqlite:///{file}"
    own: Any = multiprocessing.get_context("spawn")
    wanted, took = own.Queue(), own.Queue()
    reader = own.Process(target=reading, args=(url, wanted, took))
    reader.start()
    times: tuple[list[float], list[float]] = [], []
    with SlotMemory.open(url, memory_id="beside", **OPTIONS) as memory:
        for turn in range(2 * TURNS):
            told = memory.ingest_many(texts(random.Random(f"{seed} {turn}"), ITEMS))
            ids = [one.evidence_id for one in told]
            wanted.put(reads // TURNS)
            while turn % 2 and took.empty() and ids:
                memory.forget(ids.pop())
            times[turn % 2].extend(took.get())
    wanted.put(0)
    reader.join()
    alone, busy = (float(np.percentile(each, 99)) for each in times)
    return alone, busy


def measured(megabytes: float, forgets: int, reads: int, seed: int) -> Took:
    """Return what forgets take in a file of this size."""
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.db"
        filled(file, megabytes, drawn)
        with SlotMemory.open(f"sqlite:///{file}", memory_id="ours", **OPTIONS) as memory:
            memory.ingest_many(texts(drawn, max(ITEMS, forgets)))
            took = forgotten(memory, [f"e{number}" for number in range(1, forgets + 1)])
        alone, busy = beside(file, reads, seed)
        return Took(
            megabytes=file.stat().st_size / MEGABYTE,
            median=statistics.median(took),
            p99=float(np.percentile(took, 99)),
            most=max(took),
            alone=alone,
            beside=busy,
        )


def missed(rows: list[Took]) -> list[str]:
    """Say which lines were missed."""
    found = []
    for row in rows:
        if row.p99 > SLOWEST:
            found.append(f"one forget in a hundred takes {row.p99:.1f} ms, at most {SLOWEST:.0f}")
        if row.beside > BESIDE * row.alone:
            found.append(f"reads beside it take {row.beside / row.alone:.2f}, at most {BESIDE}")
    if rows[-1].median > MOST * rows[0].median:
        found.append("a forget takes longer in the largest file than in the smallest")
    return found


def main() -> None:
    """Print what forgets take; leave with 1 where a line is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1.0, 4.0, 12.0])
    parser.add_argument("--forgets", type=int, default=40)
    parser.add_argument("--reads", type=int, default=400, help="of another process, either way")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measured(size, given.forgets, given.reads, given.seed) for size in given.megabytes]
    lines = missed(rows)
    if given.json:
        print(json.dumps({"sizes": [asdict(row) for row in rows], "missed": lines}, indent=1))
    else:
        print(f"{platform.machine()}, Python {platform.python_version()}, seed {given.seed}")
        for row in rows:
            print(
                f"{row.megabytes:8.1f} MB: median {row.median:.1f} ms, p99 {row.p99:.1f}, most "
                f"{row.most:.1f}; one read of another process in a hundred {row.alone:.1f} ms, "
                f"{row.beside:.1f} beside it"
            )
        for line in lines:
            print(f"missed: {line}")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
