"""One memory that clients of two processes all write to at once: no update is lost.

    python benchmarks/scale/hot.py [--clients 16] [--processes 2] [--seconds 8] [--json]

Each process has the memory open once, as a worker has, and its clients are threads of it. Each
client remembers turns as fast as it can; a call that raises `StoreError` is made again under its
key. At the end the memory must hold each turn that was acknowledged once, and stand its own check.
Leaves with 1 where it does not.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import threading
import time
from typing import Any

from servers import own_server

from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.stores.postgres import PostgresStore
from demem_agent.testing import BagEncoder


def work(url: str, names: list[str], seconds: float, out: Any) -> None:
    """Be a worker for so many seconds; tell what was acknowledged, and how long it took."""
    memory = SlotMemory.open(PostgresStore(url), memory_id="hot", encoder=BagEncoder())
    told: list[tuple[str, float]] = []
    failed = []
    ends = time.monotonic() + seconds

    def client(name: str) -> None:
        n = 0
        while time.monotonic() < ends:
            text = f"turn {n} of {name}"
            began = time.monotonic()
            while True:
                try:
                    memory.ingest(text, key=text)
                    break
                except StoreError:
                    failed.append(text)
            told.append((text, time.monotonic() - began))
            n += 1

    threads = [threading.Thread(target=client, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.put((told, len(failed)))


def main() -> None:
    """Write, look, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with own_server() as server:
        store = PostgresStore(server.url)
        SlotMemory.open(store, memory_id="hot", encoder=BagEncoder())
        context = multiprocessing.get_context("spawn")
        out = context.Queue()
        names = [f"client {n}" for n in range(options.clients)]
        shares = [names[n :: options.processes] for n in range(options.processes)]
        workers = [
            context.Process(target=work, args=(server.url, share, options.seconds, out))
            for share in shares
        ]
        for worker in workers:
            worker.start()
        came = [out.get() for _ in workers]
        for worker in workers:
            worker.join()
        memory = SlotMemory.open(store, memory_id="hot", encoder=BagEncoder())
        memory.check()
        held = sorted(item.text for item in memory.evidence())
        store.close()
    acknowledged = sorted(text for told, _ in came for text, _ in told)
    times = sorted(took for told, _ in came for _, took in told)
    found = {
        "acknowledged": len(acknowledged),
        "held": len(held),
        "same": held == acknowledged,
        "rate": len(acknowledged) / options.seconds,
        "p50_ms": times[len(times) // 2] * 1000,
        "p99_ms": times[int(len(times) * 0.99)] * 1000,
        "made_again": sum(failed for _, failed in came),
        "load": os.getloadavg()[0],
    }
    if options.json:
        print(json.dumps(found))
    else:
        print(
            f"{found['acknowledged']:,} turns acknowledged, {found['held']:,} held, "
            f"{'each once' if found['same'] else 'NOT THE SAME'}; {found['rate']:.0f}/s, "
            f"p50 {found['p50_ms']:.0f} ms, p99 {found['p99_ms']:.0f} ms, "
            f"{found['made_again']} calls made again, load {found['load']:.1f}"
        )
    if not found["same"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
