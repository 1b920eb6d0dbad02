"""How many reads a second there are with few memories in PostgreSQL, and with many.

    python benchmarks/scale/reads.py [--few 100] [--many 10000] [--items 20] [--clients 2]
        [--seconds 8] [--rounds 3] [--seed 0]

One server holds both numbers of memories, in a schema each. One memory in a hundred is hot: of a
hundred reads 99 are of a hot one, and one is of any, which mostly has to be opened first. Clients
are processes with a pool of memories each, and read one after the other. Both numbers of memories
are read in turn, in each round, and the median ratio counts. Times of a read tell the openings too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from ingest import PEOPLE, THINGS, processor_of, said
from servers import own_server

from demem_agent import SlotMemory
from demem_agent.pool import MemoryPool
from demem_agent.stores import Address, MemoryStore
from demem_agent.stores.postgres import PostgresStore

HOT = 0.01
#: Reads of a hundred that are of a hot memory.
OFTEN = 99
#: Threads that make memories.
MAKERS = 4


@dataclass(frozen=True, slots=True)
class Reads:
    """What reading came to.

    Attributes:
        rate: reads a second; p50, p99: milliseconds of one.
        clients_ms, server_ms: milliseconds of the processor for one, of each.
    """

    rate: float
    p50: float
    p99: float
    clients_ms: float
    server_ms: float


def made(url: str, memories: int, items: int) -> None:
    """Make so many memories, all with the same items."""
    ram = MemoryStore()
    memory = SlotMemory.open(ram, memory_id="made")
    for n in range(items):
        memory.ingest(said("Ana", n), speaker=PEOPLE[n % 2])
    rows = ram.load(Address("default", "made"))
    assert rows is not None
    store = PostgresStore(url)
    addresses = [Address("default", f"m{n}") for n in range(memories)]
    with ThreadPoolExecutor(MAKERS) as makers:
        list(makers.map(store.put, addresses, repeat(rows)))
    store.close()


def read(url: str, memories: int, options: argparse.Namespace, client: int, out: Any) -> None:
    """Be a client: read until the time is over, and tell how long each read took."""
    drawn = random.Random(f"{options.seed} {client} {memories}")
    hot = max(1, int(memories * HOT))
    times = []
    with MemoryPool(url) as pool:
        for n in range(hot):
            pool.of(f"m{n}").read("Where is the bike?")
        out.put(None)
        before = time.process_time()
        ends = time.monotonic() + options.seconds
        while time.monotonic() < ends:
            n = drawn.randrange(hot) if drawn.randrange(100) < OFTEN else drawn.randrange(memories)
            thing = drawn.choice(THINGS)
            began = time.monotonic()
            pool.of(f"m{n}").read(f"Where did I leave the {thing}?")
            times.append(time.monotonic() - began)
        worked = time.process_time() - before
    out.put((worked, times))


def measured(url: str, memories: int, options: argparse.Namespace, server: int) -> Reads:
    """Let all clients read from so many memories for a while."""
    context = multiprocessing.get_context("spawn")
    outs = [context.Queue() for _ in range(options.clients)]
    clients = [
        context.Process(target=read, args=(url, memories, options, n, out))
        for n, out in enumerate(outs)
    ]
    for client in clients:
        client.start()
    for out in outs:
        out.get()  # what is hot is open
    before = processor_of(server)
    told = [out.get() for out in outs]
    worked = processor_of(server) - before
    times = sorted(one for _, found in told for one in found)
    for client in clients:
        client.join()
    return Reads(
        rate=len(times) / options.seconds,
        p50=times[len(times) // 2] * 1000,
        p99=times[int(len(times) * 0.99)] * 1000,
        clients_ms=sum(one for one, _ in told) / len(times) * 1000,
        server_ms=worked / len(times) * 1000,
    )


def main() -> None:
    """Make memories, read them, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    numbers = (options.few, options.many)
    ratios = []
    with own_server() as server:
        assert server.process is not None
        urls = {memories: f"{server.url}&schema=m{memories}" for memories in numbers}
        for memories, url in urls.items():
            began = time.monotonic()
            made(url, memories, options.items)
            took = time.monotonic() - began
            print(f"{memories:,} memories of {options.items} items in {took:.0f} s", flush=True)
        for _ in range(options.rounds):
            rates = {}
            for memories, url in urls.items():
                reads = measured(url, memories, options, server.process.pid)
                rates[memories] = reads.rate
                print(
                    f"{memories:7,} memories: {reads.rate:6.0f} reads/s, p50 {reads.p50:.1f} ms, "
                    f"p99 {reads.p99:.1f} ms; processor, clients {reads.clients_ms:.2f} ms, "
                    f"server {reads.server_ms:.2f} ms",
                    flush=True,
                )
            ratios.append(rates[options.many] / rates[options.few])
    print(
        f"{statistics.median(ratios):.2f} of the reads with {options.few} memories "
        f"(median of {options.rounds} rounds; {options.clients} clients, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f})"
    )


if __name__ == "__main__":
    main()
