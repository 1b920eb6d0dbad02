"""Many memories in one process, kept within a bound of bytes.

    python benchmarks/reliability/pool.py [--memories 2000] [--items 200] [--limit-mb 64] [--json]

So many memories of so many items are made in one file, and then read from in a random order
through one :class:`~demem_agent.pool.MemoryPool`, where most calls go to few of them, as users do.
Printed are, for each tenth of the calls, how many bytes the process has grown by (RSS), what the
pool says that its memories take, how many are open, and reads a second relative to the first tenth:
they are to stay as they are. Leaves with 1 where the process has grown beyond the bound by more
than a tenth, or a memory does not hold all its items.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from demem_agent import SlotMemory
from demem_agent.memories import copy_memory
from demem_agent.pool import MemoryPool
from demem_agent.stores import Store, open_store

SEED = 0
TENTHS = 10
#: The share of calls that goes to the first tenth of the memories.
TO_FEW = 0.5
#: How far the process may exceed the bound: by what an allocator keeps.
SLACK = 0.1
#: Memories that differ; the others are copies.
DIFFERENT = 8
PAGE = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Tenth:
    """What one tenth of the calls came to.

    Attributes:
        grown: bytes that the process has grown by since before the first memory was opened.
        resident: bytes that the memories take, as the pool estimates.
        warm: how many are kept.
        speed: reads a second relative to those of the first tenth.
    """

    grown: int
    resident: int
    warm: int
    speed: float


def turns(drawn: random.Random, items: int) -> Iterator[dict[str, str]]:
    """Yield turns of words from a vocabulary of 3,000."""
    for _ in range(items):
        words = [f"word{drawn.randrange(3_000)}" for _ in range(12)]
        yield {"text": f"{' '.join(words)}.", "speaker": drawn.choice(("Ana", "Ben"))}


def make(store: Store, memories: int, items: int) -> None:
    """Make the memories."""
    for n in range(memories):
        name = f"m{n}"
        if n < DIFFERENT:
            with SlotMemory.open(store, memory_id=name, clock=None) as memory:
                memory.ingest_many(list(turns(random.Random(f"{SEED} {n}"), items)))
        else:
            copy_memory(store, f"m{n % DIFFERENT}", to=name)


def resident() -> int:
    """Return the bytes of RAM that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def chosen(drawn: random.Random, memories: int) -> int:
    """Return the number of a memory: half of the calls go to a tenth of them."""
    few = max(1, memories // 10)
    return drawn.randrange(few if drawn.random() < TO_FEW else memories)


def measured(folder: str, memories: int, items: int, limit: int, calls: int) -> list[Tenth]:
    """Read from memories through a pool, and return what each tenth came to.

    Raises:
        SystemExit: if a memory does not hold all its items.
    """
    store = open_store(f"sqlite:///{folder}/pool.db")
    make(store, memories, items)
    SlotMemory.open(store, memory_id="m0", clock=None).read("word1 word2")  # what all share
    gc.collect()
    before = resident()
    drawn = random.Random(SEED)
    found: list[Tenth] = []
    first = 0.0
    with MemoryPool(store, most_bytes=limit, clock=None) as pool:
        for _ in range(TENTHS):
            begun = time.process_time()
            for _ in range(calls // TENTHS):
                memory = pool.of(f"m{chosen(drawn, memories)}")
                memory.read(f"word{drawn.randrange(3_000)} word{drawn.randrange(3_000)}")
                if len(memory) != items:
                    sys.exit(f"a memory of {items} items was opened with {len(memory)}")
            speed = (calls // TENTHS) / (time.process_time() - begun)
            first = first or speed
            grown = resident() - before
            found.append(Tenth(grown, pool.resident, len(pool.warm), speed / first))
    store.close()
    return found


def main() -> None:
    """Print what was measured; leave with 1 where the bound was not kept."""
    parser = argparse.ArgumentParser(description="Many memories in one process.")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--limit-mb", type=int, default=64)
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    limit = given.limit_mb * 2**20
    with tempfile.TemporaryDirectory() as folder:
        found = measured(folder, given.memories, given.items, limit, given.calls)
    if given.json:
        print(json.dumps([asdict(one) for one in found]))
    else:
        print(f"python {platform.python_version()} on {platform.machine()}, seed {SEED}:", end=" ")
        print(f"{given.memories:,} memories of {given.items:,} items, bound {given.limit_mb} MiB")
        print("  grown MiB  estimate MiB  open  reads/s, relative to the first tenth")
        for one in found:
            bar = "#" * round(20 * one.speed)
            sizes = f"{one.grown / 2**20:11.1f} {one.resident / 2**20:13.1f}"
            print(f"{sizes} {one.warm:5}  {one.speed:4.2f} {bar}")
    sys.exit(max(one.grown for one in found) > limit * (1 + SLACK))


if __name__ == "__main__":
    main()
