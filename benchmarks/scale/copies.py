"""All memories of a file copied into PostgreSQL and back, compared byte for byte.

    python benchmarks/scale/copies.py [--memories 1000] [--items 12] [--seed 0]

Memories are made in a file, each with its own turns, answers, feedback, and things forgotten; then
`demem copy a.db postgresql://...` and `demem copy postgresql://... b.db` are run as commands. The
export of every memory must be the same in all three, to the byte. Leaves with 1 where one is not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from servers import own_server

from demem_agent import SlotMemory
from demem_agent.stores import Address, Store, open_store
from demem_agent.stores.loading import load_state
from demem_agent.stores.portable import export
from demem_agent.testing import BagEncoder
from demem_agent.text.units import measure

TENANTS = ("acme", "globex", "default")
THINGS = ("boiler", "violin", "ferry", "tent", "oven", "kayak", "lamp", "bridge")
MADE = ("brass", "broken", "new", "green", "heavy", "borrowed")


def lived(store: Store, n: int, items: int, drawn: random.Random) -> None:
    """Make one memory, with whatever happens to it."""
    memory = SlotMemory.open(
        store, tenant=TENANTS[n % len(TENANTS)], memory_id=f"user {n}", encoder=BagEncoder()
    )
    for item in range(items):
        thing, made = drawn.choice(THINGS), drawn.choice(MADE)
        memory.ingest(
            f"The {thing} number {item} of user {n} is {made}, \N{SNOWMAN} said it.",
            speaker=drawn.choice(["Ana", "Ben"]),
            at=f"2024-0{1 + item % 9}-1{item % 9}",
            key=f"k{item}" if drawn.random() < 0.5 else None,
        )
    for _ in range(drawn.randint(0, 3)):
        answer = memory.answer(f"What of the {drawn.choice(THINGS)}?")
        memory.feedback(answer, reward=drawn.random())
    if drawn.random() < 0.5:
        memory.forget(drawn.choice(memory.evidence()).id)


def exported(url: str) -> Iterator[tuple[Address, bytes]]:
    """Yield the address and the export of each memory of a store."""
    store = open_store(url, make=False)
    for one in store.survey():
        address = Address(one.tenant, one.memory_id)
        rows = store.load(address)
        assert rows is not None
        lines = export(load_state(rows, measure(rows.settings.unit, None)))
        yield address, "\n".join(json.dumps(line) for line in lines).encode()
    store.close()


def copied(source: str, target: str) -> float:
    """Run ``demem copy``; return the seconds that it took."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "demem_agent.cli", "copy", source, target], check=True)
    return time.monotonic() - began


def main() -> None:
    """Make, copy, compare, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with own_server() as server, tempfile.TemporaryDirectory(prefix="demem-copies-") as folder:
        first, back = f"sqlite:///{folder}/a.db", f"sqlite:///{folder}/b.db"
        store = open_store(first)
        for n in range(options.memories):
            lived(store, n, options.items, random.Random(f"{options.seed} {n}"))
        store.close()
        took = copied(first, server.url), copied(server.url, back)
        urls = (first, server.url, back)
        differ = compared(*(dict(exported(url)) for url in urls))
    print(
        f"{options.memories:,} memories: into PostgreSQL in {took[0]:.1f} s, back in "
        f"{took[1]:.1f} s, load {os.getloadavg()[0]:.1f}; {differ or 'no'} export differs"
    )
    if differ:
        sys.exit(1)


def compared(
    first: dict[Address, bytes], there: dict[Address, bytes], back: dict[Address, bytes]
) -> int:
    """Return how many memories are not the same in all three stores."""
    addresses = first.keys() | there.keys() | back.keys()
    return sum(
        not first.get(one) == there.get(one) == back.get(one) or one not in first
        for one in addresses
    )


if __name__ == "__main__":
    main()
