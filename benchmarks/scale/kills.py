"""Workers, and PostgreSQL itself, killed while turns are remembered: none is lost, none is doubled.

    python benchmarks/scale/kills.py [--kills 50] [--threads 8] [--seed 0] [--json]

A process of some threads remembers turns as fast as it can, each thread in a memory of its own,
each turn under a key, and notes down what was acknowledged. Two things are done:

* **workers**: the process gets SIGKILL after a while drawn at random, and another goes on from what
  was noted down: what was under way is told again under its key, as a client would.
* **server**: all processes of the server get SIGKILL, and it is started on the same data, while the
  process goes on; a call that fails is made again under its key.

At the end each memory must hold each turn that was acknowledged once, in its order, and at most the
one that was under way besides; and it must stand its own check. Leaves with 1 where it does not.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.stores.postgres import PostgresStore
from demem_agent.testing import BagEncoder

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from postgres_server import Server
from servers import own_server

#: Seconds that a worker, or the server, lives before it is killed: from when it does something.
SOON, LATE = 0.1, 0.8
#: Seconds after which somebody who has come no further is given up.
PATIENCE = 120.0


@dataclass(slots=True)
class Found:
    """What became of it.

    Attributes:
        acknowledged: turns that a caller was told of.
        held: turns that the memories hold; failed: calls that raised and were made again.
        wrong: what is not as it should be, by what it is: of how many turns, or memories.
    """

    what: str
    kills: int = 0
    acknowledged: int = 0
    held: int = 0
    failed: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        wrong = ", ".join(f"{n} {what}" for what, n in self.wrong.items()) or "nothing wrong"
        return (
            f"{self.what}: {self.kills} kills, {self.acknowledged:,} turns acknowledged, "
            f"{self.held:,} held, {self.failed} calls made again, {wrong}"
        )

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "wrong": dict(self.wrong)}  # asdict makes another of a Counter


def text(name: str, n: int) -> str:
    """Return the nth turn of a memory."""
    return f"turn {n} of {name}: the boiler has valve number {n}"


def place_of_turn(turn: str) -> int:
    """Return which turn of its memory one is."""
    return int(turn.split()[1])


def work(url: str, names: list[str], folder: str) -> None:
    """Be a process that remembers turns from where its notes end."""
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it says each time that it is cut
    store = PostgresStore(url)

    def client(name: str) -> None:
        notes = Path(folder) / name
        done = len(notes.read_text().splitlines()) if notes.exists() else 0
        file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        memory = None
        while True:
            try:
                if memory is None:
                    memory = SlotMemory.open(store, memory_id=name, encoder=BagEncoder())
                memory.ingest(text(name, done), key=str(done))
            except StoreError:
                os.write(
                    os.open(f"{folder}/{name}.failed", os.O_WRONLY | os.O_APPEND | os.O_CREAT), b"x"
                )
                time.sleep(0.05)
                continue
            os.write(file, b".\n")
            done += 1

    for name in names:
        threading.Thread(target=client, args=(name,), daemon=True).start()
    threading.Event().wait()


class Worker:
    """A process of clients, which is started again where its notes end."""

    def __init__(self, url: str, what: str, threads: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="demem-kills-")
        self.folder = Path(self._folder.name)
        self.names = [f"{what} {n}" for n in range(threads)]
        self._url = url
        self.start()

    def start(self) -> None:
        """Start it."""
        context: Any = multiprocessing.get_context("spawn")
        named = (self._url, self.names, str(self.folder))
        self.process = context.Process(target=work, args=named, daemon=True)
        self.process.start()

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.join()

    def acknowledged(self) -> dict[str, int]:
        """Return how many turns of each memory were acknowledged."""
        return {name: _size(self.folder / name) // 2 for name in self.names}

    def failed(self) -> int:
        """Return how many calls raised."""
        return sum(_size(self.folder / f"{name}.failed") for name in self.names)

    def goes_on(self) -> None:
        """Wait until turns are acknowledged again."""
        before = sum(self.acknowledged().values())
        until = time.monotonic() + PATIENCE
        while sum(self.acknowledged().values()) <= before:
            if time.monotonic() > until:
                sys.exit("nothing is acknowledged any more")
            time.sleep(0.01)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def tried(server: Server, what: str, options: argparse.Namespace) -> Found:
    """Kill workers, or the server, again and again; look at what there is in the end."""
    drawn = random.Random(f"{options.seed} {what}")
    worker = Worker(server.url, what, options.threads)
    found = Found(what)
    for _ in range(options.kills):
        worker.goes_on()
        time.sleep(drawn.uniform(SOON, LATE))
        if what == "server":
            server.kill()
            server.start()
        else:
            worker.kill()
            worker.start()
        found.kills += 1
    worker.goes_on()
    worker.kill()
    look(server.url, worker, found)
    return found


def look(url: str, worker: Worker, found: Found) -> None:
    """Compare what the memories hold with what was acknowledged."""
    store = PostgresStore(url)
    found.failed = worker.failed()
    for name, acknowledged in worker.acknowledged().items():
        memory = SlotMemory.open(store, memory_id=name, encoder=BagEncoder())
        memory.check()
        held = [item.text for item in memory.evidence()]
        found.acknowledged += acknowledged
        found.held += len(held)
        told = [text(name, n) for n in range(acknowledged)]
        wrong = {
            "turns lost": len(set(told) - set(held)),
            "turns doubled": len(held) - len(set(held)),
            "turns that were not told": len(set(held) - {*told, text(name, acknowledged)}),
            "memories in another order": held != sorted(held, key=place_of_turn),
        }
        found.wrong.update({what: int(count) for what, count in wrong.items() if count})
    store.close()


def main() -> None:
    """Kill, look, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with own_server() as server:
        told = [tried(server, what, options) for what in ("workers", "server")]
    for found in told:
        print(json.dumps(found.plain()) if options.json else found)
    if any(found.wrong for found in told):
        sys.exit(1)


if __name__ == "__main__":
    main()
