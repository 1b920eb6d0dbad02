"""How long a memory takes to open and to be read from first, and how much room its items take.

    python benchmarks/reliability/opening.py [--items 1000 20000] [--rounds 5] [--open 8] [--seed 0]
        [--json]

A memory of so many items is made in a file by one batch after the other. A process that has the
encoder loaded and has read from another memory opens it and asks a question; of several rounds the
quickest counts, by the clock and by the processor. Then as many memories of the smallest size are
opened together, each is read from, and what the process has grown by is told of one. Last, what
another handle has written is waited for: one item more, until it is read here.

Leaves with 1 where a line is missed that the page of reliability draws for this size.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from pool import resident

from demem_agent import SlotMemory, Turn
from demem_agent.memories import copy_memory
from demem_agent.stores import open_store

BATCH = 1_000
#: Milliseconds of the processor that opening and a first read may take, by items; bytes an item may
#: take in the file, and in RAM.
QUICK = {1_000: 15.0, 20_000: 60.0, 100_000: 200.0}
SMALL = 700
RESIDENT = 1_048
#: Milliseconds until what another handle wrote is read.
SOON = 5.0
COMMON = (
    "the to and I a you it of that in was is for my on have me with so but at this be just we are "
    "not do what like about they all had when up out get as if one there really from went then"
).split()
PEOPLE = ("Marta Lind", "Oren Vale")


@dataclass(frozen=True, slots=True)
class Opened:
    """What one size came to.

    Attributes:
        clock, processor: milliseconds until the memory is open and was read from.
        again: milliseconds of the processor of a read after that, of another question.
        news: milliseconds of the processor until an item that was written by another handle is
            read here, of which the read itself takes ``again``.
        on_disk: bytes of the file for each item.
    """

    items: int
    clock: float
    processor: float
    again: float
    news: float
    on_disk: float


def turns(seed: int, count: int) -> Iterator[Turn]:
    """Yield turns of 8 to 24 words; every second word is one of the commonest."""
    drawn = random.Random(seed)
    rare = [
        f"{a}{b}{c}" for a in "bdfklmnprst" for b in ("ar", "el", "in", "o", "u") for c in _ENDS
    ]
    for number in range(count):
        words = []
        for _ in range(drawn.randint(8, 24)):
            is_common = drawn.random() < 0.5
            nth = int(len(rare) ** drawn.random()) - 1
            words.append(drawn.choice(COMMON) if is_common else rare[nth])
        text = f"{' '.join(words).capitalize()}."
        yield Turn(text, speaker=drawn.choice(PEOPLE), session=f"s{number // 20}")


_ENDS = ("den", "ka", "mer", "nost", "pel", "rin", "sal", "ter", "vor", "wick", "zen", "bly", "gor")


def make(file: Path, items: int, seed: int) -> float:
    """Make a memory of so many items; return the bytes of the file for each."""
    with SlotMemory.open(f"sqlite:///{file}", memory_id="m", clock=None) as memory:
        told = list(turns(seed, items))
        for start in range(0, items, BATCH):
            memory.ingest_many(told[start : start + BATCH])
    return file.stat().st_size / items


def warm_up(seed: int) -> None:
    """Do once what any process does once: load the encoder, read, open a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "warm.db"
        make(file, 20, seed + 1)
        with SlotMemory.open(f"sqlite:///{file}", memory_id="m", clock=None) as memory:
            memory.read(QUESTION)
            memory.ingest("What was said last.")


QUESTION = "What did Marta say about the barden and the kelmer?"


def timed(what: Callable[[], object]) -> tuple[float, float]:
    """Return how many milliseconds something takes, by the clock and by the processor."""
    gc.collect()
    begun, worked = time.perf_counter(), time.process_time()
    what()
    return 1e3 * (time.perf_counter() - begun), 1e3 * (time.process_time() - worked)


def opened(file: Path, items: int, rounds: int, on_disk: float, seed: int) -> Opened:
    """Open a memory several times in this process; return what was quickest."""
    warm_up(seed)
    url = f"sqlite:///{file}"
    took = []
    for _ in range(rounds):
        held: list[SlotMemory] = []

        def first(held: list[SlotMemory] = held) -> None:
            held.append(SlotMemory.open(url, memory_id="m", clock=None))
            held[0].read(QUESTION)

        took.append(timed(first))
        (memory,) = held
        again = min(timed(partial(memory.read, f"{QUESTION} {nth}"))[1] for nth in range(4))
        with SlotMemory.open(url, memory_id="m", clock=None) as other:
            news = min(_until_read(other, memory, nth) for nth in range(4))
        memory.close()
    clock, processor = (min(one[n] for one in took) for n in range(2))
    return Opened(items, clock, processor, again, news, on_disk)


def _until_read(other: SlotMemory, memory: SlotMemory, nth: int) -> float:
    other.ingest(f"The ferry leaves from pier {nth} now.")
    return timed(partial(memory.read, f"{QUESTION} {nth} now"))[1]


def copied(file: Path, count: int) -> None:
    """Copy the memory of a file so often, each as it is once somebody has worked with it."""
    store = open_store(f"sqlite:///{file}")
    for n in range(count):
        copy_memory(store, "m", to=f"copy{n}")
        SlotMemory.open(store, memory_id=f"copy{n}", clock=None).close()
    store.close()


def grown(file: Path, items: int, count: int, seed: int) -> float:
    """Return how many bytes the process grows by for each of some memories that are open."""
    warm_up(seed)
    store = open_store(f"sqlite:///{file}")
    SlotMemory.open(store, memory_id="m", clock=None).read(QUESTION)
    gc.collect()
    before = resident()
    memories = []
    for n in range(count):
        memory = SlotMemory.open(store, memory_id=f"copy{n}", clock=None)
        memory.read(QUESTION)
        memories.append(memory)
    gc.collect()
    return (resident() - before) / count / items


def apart(*words: str) -> str:
    """Have a new process do a part, and return what it says."""
    command = [sys.executable, __file__, "--part", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measured(sizes: list[int], rounds: int, count: int, seed: int) -> tuple[list[Opened], float]:
    """Return what each size came to, and the bytes of RAM of an item of the smallest."""
    found = []
    in_ram = 0.0
    for items in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "opening.db"
            on_disk = make(file, items, seed)
            told = apart("opened", str(file), str(items), str(rounds), str(on_disk), str(seed))
            found.append(Opened(**json.loads(told)))
            if items == min(sizes):
                apart("copied", str(file), str(items), str(count), "0", str(seed))
                in_ram = float(apart("grown", str(file), str(items), str(count), "0", str(seed)))
    return found, in_ram


def part(words: list[str]) -> None:
    """Do a part in this process, and say what it came to."""
    what, file, items, times, on_disk, seed = words
    if what == "opened":
        one = opened(Path(file), int(items), int(times), float(on_disk), int(seed))
        print(json.dumps(asdict(one)))
    elif what == "copied":
        copied(Path(file), int(times))
    else:
        print(grown(Path(file), int(items), int(times), int(seed)))


def missed(found: list[Opened], in_ram: float) -> list[str]:
    """Return the lines that are missed, in words."""
    lines = []
    for one in found:
        if one.processor > QUICK.get(one.items, float("inf")):
            lines.append(f"{one.items:,} items open in {one.processor:.0f} ms")
        if one.news - one.again > SOON:
            lines.append(f"another's item is read after {one.news - one.again:.1f} ms")
        if one.on_disk > SMALL:
            lines.append(f"{one.on_disk:,.0f} bytes an item in the file")
    if in_ram > RESIDENT:
        lines.append(f"{in_ram:,.0f} bytes an item in RAM")
    return lines


def main() -> None:
    """Print what was measured; leave with 1 where a line is missed."""
    parser = argparse.ArgumentParser(description="How long a memory takes to open.")
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--open", type=int, default=8, help="memories that are open at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        part(given.part)
        return
    found, in_ram = measured(given.items, given.rounds, given.open, given.seed)
    lines = missed(found, in_ram)
    if given.json:
        print(json.dumps({"opened": [asdict(one) for one in found], "in_ram": in_ram}))
    else:
        where = f"{platform.machine()}, {os.cpu_count()} cores, seed {given.seed}"
        print(f"python {platform.python_version()} on {where}; the quickest of {given.rounds}")
        for one in found:
            print(
                f"{one.items:9,} items: open and read in {one.processor:.1f} ms of the processor, "
                f"{one.clock:.1f} by the clock; read again {one.again:.1f}; with another's item "
                f"{one.news:.1f}; {one.on_disk:,.0f} bytes an item in the file"
            )
        print(f"{in_ram:,.0f} bytes an item in RAM, of memories of {min(given.items):,}")
        for line in lines:
            print(f"missed: {line}")
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
