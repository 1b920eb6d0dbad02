"""How many turns a second are remembered durably in PostgreSQL, by many clients at once.

    python benchmarks/scale/ingest.py [--clients 32] [--processes 2] [--seconds 5] [--rounds 3]
        [--url postgresql://...] [--json]

In each round, one after the other on the same server, whose data is on the disk and synced:

* bare: each client inserts 1,024 bytes into one table and commits, with the same driver;
* commit: each client writes deltas that were made before, to a memory of its own: the store alone;
* ingest: each client calls `SlotMemory.ingest` on a memory of its own, with the shipped encoder.

Clients are threads of a few processes, as workers of a server are. A call counts once it has
returned. The ratio to the bare statement is taken within each round and the median round counts,
since on a machine that does much else a rate by itself says little; so that what the processors
work for a call, of clients and server together, is told too.

At the end each memory must hold what its client was told. Leaves with 1 where it does not.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from demem_agent import SlotMemory
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta
from demem_agent.stores import Address, MemoryStore, Store
from demem_agent.stores.postgres import PostgresStore
from demem_agent.stores.postgres.urls import place_of

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from postgres_server import Server, programs

BODY = 1024
#: Deltas that are made before; a client that has written all begins another memory.
DELTAS = 400
KINDS = ("bare", "commit", "ingest")
TENANT = "bench"
PEOPLE = ("Marta", "Oren")
THINGS = ("bike", "guitar", "telescope", "tent", "camera", "van", "oven", "kayak")
PLACES = ("pottery studio", "harbour", "night market", "climbing hall", "library", "old mill")


@dataclass(frozen=True, slots=True)
class Rate:
    """What one kind of call came to in one round.

    Attributes:
        rate: calls a second; p50, p99: milliseconds of one.
        clients_ms, server_ms: milliseconds of the processor for a call, of each.
    """

    kind: str
    calls: int
    rate: float
    p50: float
    p99: float
    clients_ms: float
    server_ms: float


def said(client: str, n: int) -> str:
    """Return the nth turn of a client."""
    thing, place = THINGS[n % len(THINGS)], PLACES[n // len(THINGS) % len(PLACES)]
    return f"I left the {thing} number {n} at the {place} when I was there with {client}."


class Recording(MemoryStore):
    """A store that keeps the deltas that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.deltas: list[Delta] = []

    def commit(self, address: Address, delta: Delta) -> None:
        super().commit(address, delta)
        self.deltas.append(delta)


def deltas_of(turns: int) -> tuple[Settings, list[Delta]]:
    """Return the settings of a memory and what so many ingests change in it."""
    store = Recording()
    memory = SlotMemory.open(store, tenant=TENANT, memory_id="made")
    for n in range(turns):
        memory.ingest(said("Ana", n), speaker=PEOPLE[n % 2])
    rows = store.load(Address(TENANT, "made"))
    assert rows is not None
    return rows.settings, store.deltas


def bare(url: str) -> Callable[[], None]:
    """Return what inserts one row by a connection of its own."""
    db = psycopg.connect(place_of(url).conninfo, autocommit=True, prepare_threshold=None)
    body = os.urandom(BODY)
    return lambda: (db.execute("INSERT INTO bare (body) VALUES (%b)", (body,)), None)[1]


def committing(
    store: Store, name: str, settings: Settings, made: list[Delta]
) -> Callable[[], None]:
    """Return what writes the next delta to a memory, or the first to another one."""
    coming = iter(())
    memories = count()
    address = Address(TENANT, name)

    def write() -> None:
        nonlocal coming, address
        delta = next(coming, None)
        if delta is None:
            address = Address(TENANT, f"{name} {next(memories)}")
            store.create(address, settings)
            coming = iter(made)
            delta = next(coming)
        store.commit(address, delta)

    return write


def ingesting(store: Store, name: str) -> Callable[[], None]:
    """Return what remembers the next turn in a memory."""
    memory = SlotMemory.open(store, tenant=TENANT, memory_id=name)
    numbers = count()

    def ingest() -> None:
        n = next(numbers)
        memory.ingest(said(name, n), speaker=PEOPLE[n % 2])

    return ingest


def worked(kind: str, url: str, names: list[str], seconds: float, start: Any, out: Any) -> None:
    """Be a process of some clients for so many seconds, and tell the times of their calls."""
    store = None if kind == "bare" else PostgresStore(f"{url}&connections={len(names)}")
    settings, made = deltas_of(DELTAS) if kind == "commit" else (Settings(), [])
    calls: dict[str, Callable[[], None]] = {}
    for name in names:
        if store is None:
            calls[name] = bare(url)
        elif kind == "commit":
            calls[name] = committing(store, name, settings, made)
        else:
            calls[name] = ingesting(store, name)
        calls[name]()  # what is made at the first call is not timed
    times: dict[str, list[float]] = {name: [] for name in names}
    start.wait()
    ends = time.monotonic() + seconds
    before = time.process_time()

    def client(name: str) -> None:
        call, own = calls[name], times[name]
        while (began := time.monotonic()) < ends:
            call()
            own.append(time.monotonic() - began)

    threads = [threading.Thread(target=client, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.put((time.process_time() - before, times))
    if store is not None:
        store.close()


def measured(kind: str, url: str, options: argparse.Namespace, round: int, server: int) -> Rate:
    """Let all clients make calls of one kind for a while."""
    context = multiprocessing.get_context("spawn")
    start, out = context.Event(), context.Queue()
    names = [f"{kind} {round} {n}" for n in range(options.clients)]
    shares = [names[n :: options.processes] for n in range(options.processes)]
    workers = [
        context.Process(target=worked, args=(kind, url, share, options.seconds, start, out))
        for share in shares
    ]
    for worker in workers:
        worker.start()
    time.sleep(options.settle if kind != "bare" else 2)
    before = processor_of(server)
    start.set()
    told = [out.get() for _ in workers]
    after = processor_of(server)
    for worker in workers:
        worker.join()
    times = sorted(one for _, found in told for own in found.values() for one in own)
    if kind == "ingest":
        require_all(url, {name: len(own) + 1 for _, found in told for name, own in found.items()})
    return Rate(
        kind=kind,
        calls=len(times),
        rate=len(times) / options.seconds,
        p50=times[len(times) // 2] * 1000,
        p99=times[int(len(times) * 0.99)] * 1000,
        clients_ms=sum(one for one, _ in told) / len(times) * 1000,
        server_ms=(after - before) / len(times) * 1000,
    )


def require_all(url: str, told: dict[str, int]) -> None:
    """Leave with 1 unless each memory holds what its client was told."""
    store = PostgresStore(url)
    held = {one.memory_id: one.items for one in store.survey(TENANT)}
    store.close()
    wrong = {name: (held.get(name), n) for name, n in told.items() if held.get(name) != n}
    if wrong:
        sys.exit(f"memories that hold another number of items than was acknowledged: {wrong}")


def processor_of(server: int) -> float:
    """Return the seconds of the processor that a server's processes have worked, those gone too."""
    if not server:
        return 0.0
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == server:
            ticks += int(fields[11]) + int(fields[12])
        elif stat.parent.name == str(server):
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def bytes_of_item(url: str) -> float:
    """Return the bytes on the disk, with indexes and what is not vacuumed yet, for each item."""
    place = place_of(url)
    with psycopg.connect(place.conninfo, autocommit=True) as db:
        ((size,),) = db.execute(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = %s AND relkind = 'r'",
            (place.schema,),
        ).fetchall()
        count = f'SELECT count(*) FROM "{place.schema}".row WHERE kind = 0'
        ((items,),) = db.execute(count.encode()).fetchall()
    return float(size) / float(items)


def main() -> None:
    """Measure, and print a line for each kind in each round, and the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--settle", type=float, default=12, help="seconds in which clients begin")
    parser.add_argument("--url", help="of a server that is there; its schema is made and kept")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = programs()
    if options.url is None and found is None:
        sys.exit("no PostgreSQL: pip install pgserver")
    server = Server(found, durable=True) if options.url is None and found is not None else None
    url = f"{server.url}&parts=16" if server else options.url
    pid = server.process.pid if server and server.process else 0
    try:
        with psycopg.connect(place_of(url).conninfo, autocommit=True) as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS bare "
                "(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea)"
            )
            ((version,),) = db.execute("SHOW server_version").fetchall()
        PostgresStore(url).close()
        rates = []
        for round in range(options.rounds):
            for kind in KINDS:
                rates.append(measured(kind, url, options, round, pid))
                show(rates[-1], as_json=options.json)
        size = bytes_of_item(url)
    finally:
        if server is not None:
            server.close()
    show_ratios(rates, options, version)
    print(f"{size:,.0f} bytes on the disk for each item")


def show(rate: Rate, *, as_json: bool) -> None:
    """Print what one kind came to in one round."""
    if as_json:
        print(json.dumps(asdict(rate)), flush=True)
        return
    print(
        f"{rate.kind:7} {rate.rate:7,.0f}/s  p50 {rate.p50:6.1f} ms  p99 {rate.p99:6.1f} ms  "
        f"processor, clients {rate.clients_ms:.2f} ms, server {rate.server_ms:.2f} ms",
        flush=True,
    )


def show_ratios(rates: list[Rate], options: argparse.Namespace, version: str) -> None:
    """Print how many times the bare statement each kind came to, and the load."""
    by_kind = {kind: [one.rate for one in rates if one.kind == kind] for kind in KINDS}
    for kind in KINDS[1:]:
        pairs = zip(by_kind[kind], by_kind["bare"], strict=True)
        ratio = statistics.median(one / plain for one, plain in pairs)
        print(f"{kind}: {ratio:.2f} of the bare statement (median of {options.rounds} rounds)")
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(
        f"PostgreSQL {version}, {options.clients} clients in {options.processes} processes, "
        f"{os.cpu_count()} cores, load {load}"
    )


if __name__ == "__main__":
    main()
