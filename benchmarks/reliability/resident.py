"""How large memories say that they are, beside what the process grows by.

    python benchmarks/reliability/resident.py [--items 200 1000 5000] [--kinds talk words] [--json]

Of each size so many memories are made, in a file, that they differ, and then copied. A new process
opens all of them; another reads from each; a third has each answer a hundred questions. What it has
grown by (RSS) is told of one, and what one says of itself (``memory.resident``, by which a pool
keeps its bound). Texts are of two kinds, which have many words of their own or few: those of
``opening.py`` and of ``pool.py``. Leaves with 1 where both differ by more than the stated share.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import opening
import pool

from demem_agent import SlotMemory, Turn
from demem_agent.memories import copy_memory
from demem_agent.stores import Store, open_store

#: Memories that differ; the others are copies.
DIFFERENT = 3
#: Items that are in RAM together, so that what is measured is many times what an allocator keeps.
TOGETHER = 8_000
ANSWERS = 100
#: By how much of the growth the estimate may differ.
LINE = 0.15
USES = ("opened", "read", "answered")
Told = Turn | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """What one memory takes.

    Attributes:
        grown: bytes that the process grew by.
        estimate: bytes, as the memory says.
    """

    kind: str
    items: int
    use: str
    grown: float
    estimate: float

    @property
    def off(self) -> float:
        """By how much of the growth the estimate is more."""
        return self.estimate / self.grown - 1


def talk(seed: int, items: int) -> list[Told]:
    """Return turns with many common words, and ever fewer new ones."""
    return list(opening.turns(seed, items))


def words(seed: int, items: int) -> list[Told]:
    """Return turns of words of which none is common."""
    return list(pool.turns(random.Random(seed), items))


KINDS: dict[str, Callable[[int, int], list[Told]]] = {"talk": talk, "words": words}


def questions(kind: str, nth: int, items: int) -> Iterator[str]:
    """Yield questions in words of a memory, without end."""
    told = KINDS[kind](nth, items)
    texts = [turn.text if isinstance(turn, Turn) else turn["text"] for turn in told]
    drawn = random.Random(nth)
    while True:
        text = drawn.choice(texts).strip(".").split()
        yield f"What about {' and '.join(drawn.sample(text, 3))}?"


def count_of(items: int) -> int:
    """Return how many memories of a size are open together."""
    return max(TOGETHER // items, 2 * DIFFERENT)


def make(store: Store, kind: str, items: int) -> None:
    """Make the memories, each as it is once somebody has worked with it."""
    for n in range(count_of(items) + 1):
        name = f"m{n}"
        if n < DIFFERENT:
            with SlotMemory.open(store, memory_id=name, clock=None) as memory:
                memory.ingest_many(KINDS[kind](n, items))
        else:
            copy_memory(store, f"m{n % DIFFERENT}", to=name)
            SlotMemory.open(store, memory_id=name, clock=None).close()


def measured(file: str, kind: str, items: int, use: str) -> Size:
    """Use the memories of a file in this process."""
    store = open_store(f"sqlite:///{file}")
    count = count_of(items)
    used(SlotMemory.open(store, memory_id=f"m{count}", clock=None), kind, count % DIFFERENT, use)
    gc.collect()
    before = pool.resident()
    memories = []
    for n in range(count):
        memory = SlotMemory.open(store, memory_id=f"m{n}", clock=None)
        used(memory, kind, n % DIFFERENT, use)
        memories.append(memory)
    gc.collect()
    grown = (pool.resident() - before) / count
    return Size(kind, items, use, grown, sum(one.resident for one in memories) / count)


def used(memory: SlotMemory, kind: str, nth: int, use: str) -> None:
    """Do with a memory what a use is."""
    if use == "opened":
        len(memory)
        return
    asked = questions(kind, nth, len(memory))
    if use == "read":
        memory.read(next(asked))
        return
    for _ in range(ANSWERS):
        memory.answer(next(asked))


def apart(file: Path, kind: str, items: int, use: str) -> Size:
    """Have a new process use the memories of a copy of a file."""
    command = [sys.executable, __file__, "--part", str(file), kind, str(items), use]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Size(**json.loads(told))


def main() -> None:
    """Print what was measured; leave with 1 where an estimate is off."""
    parser = argparse.ArgumentParser(description="What memories say that they take.")
    parser.add_argument("--items", type=int, nargs="+", default=[200, 1_000, 5_000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        file, kind, items, use = given.part
        print(json.dumps(asdict(measured(file, kind, int(items), use))))
        return
    found = []
    if not given.json:
        print(f"python {platform.python_version()} on {platform.machine()}")
        print("  items  texts   use       grown KiB  estimate KiB")
    for kind in given.kinds:
        for items in given.items:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "resident.db"
                store = open_store(f"sqlite:///{file}")
                make(store, kind, items)
                store.close()
                for use in USES:
                    one = apart(file, kind, items, use)
                    found.append(one)
                    if not given.json:
                        sizes = f"{one.grown / 1024:10.0f} {one.estimate / 1024:13.0f}"
                        print(f"{items:7,}  {kind:6} {use:9} {sizes}  {one.off:+.0%}", flush=True)
    if given.json:
        print(json.dumps([asdict(one) for one in found]))
    sys.exit(any(abs(one.off) > LINE for one in found))


if __name__ == "__main__":
    main()
