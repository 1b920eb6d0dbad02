"""Reads that may be a little old, while somebody writes and the standby falls behind.

    python benchmarks/scale/replica.py [--seconds 60] [--age 1.0] [--halt 2.0] [--seed 0] [--json]

A process remembers turns in one memory as fast as it can, and notes down when each was
acknowledged. Another reads it, by a URL that names the standby as replica, as often as it can. The
standby stops replaying again and again, for up to ``--halt`` seconds, and goes on for as long.

What is read must have every turn that was acknowledged ``--age`` seconds before it was asked for.
Leaves with 1 where it does not. Told besides: how far behind what was read was, and how often the
standby was the one that was looked at.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import threading
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from load import at_share

from demem_agent import SlotMemory
from demem_agent.stores import Address, at_most_old
from demem_agent.stores.postgres import PostgresStore
from demem_agent.testing import BagEncoder

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from postgres_server import Server, programs

MEMORY = "shared"
#: Turns of which so many are kept: a memory of thousands is slow to write to.
KEPT = 50


@dataclass(frozen=True, slots=True)
class Found:
    """What became of it.

    Attributes:
        reads, turns: how many there were; the turns were remembered meanwhile.
        too_old: reads that lacked a turn that they had to have.
        behind: seconds by which a read was behind what was acknowledged, in the median, the 99th
            percentile and at most; 0 for one that lacked nothing.
        of_standby: the share of looks at the memory's version that were at the standby.
    """

    reads: int
    turns: int
    too_old: int
    behind: tuple[float, float, float]
    of_standby: float

    def __str__(self) -> str:
        median, p99, most = self.behind
        return (
            f"{self.reads:,} reads while {self.turns:,} turns were remembered: {self.too_old} too "
            f"old; behind by {median:.3f} s (median), {p99:.2f} (p99), {most:.2f} at most; "
            f"{self.of_standby:.0%} of the looks were at the standby"
        )


class Counted(PostgresStore):
    """A store that counts how often its replica was to be looked at, and was."""

    wanted = given = 0

    def look_at_copy(self, address: Address, age: float, look: Callable[[Any], Any]) -> Any:
        """Look at the replica."""
        found = super().look_at_copy(address, age, look)
        self.wanted += 1
        self.given += bool(found)
        return found


def opened(store: PostgresStore) -> SlotMemory:
    """Open the memory."""
    return SlotMemory.open(store, memory_id=MEMORY, encoder=BagEncoder(), most_items=KEPT)


def writes(url: str, notes: str, ends: Event) -> None:
    """Be the process that remembers turns, and notes down when each was acknowledged."""
    memory = opened(PostgresStore(url))
    with Path(notes).open("ab", buffering=0) as file:
        for number in count(1):
            if ends.is_set():
                return
            memory.ingest(f"turn {number}: the boiler has valve number {number}")
            array("d", [time.monotonic()]).tofile(file)


@contextmanager
def written_to(url: str, notes: Path) -> Iterator[None]:
    """Have a process remember turns meanwhile."""
    context = multiprocessing.get_context("spawn")
    ends = context.Event()
    writer = context.Process(target=writes, args=(url, str(notes), ends))
    writer.start()
    try:
        while not notes.exists() or not notes.stat().st_size:
            time.sleep(0.05)
        yield
    finally:
        ends.set()
        writer.join()


@contextmanager
def falling_behind(standby: Server, most: float, seed: int) -> Iterator[None]:
    """Have a standby replay nothing now and then."""
    drawn = random.Random(seed)
    ends = threading.Event()

    def run() -> None:
        with psycopg.connect(standby.url, autocommit=True) as db:
            while not ends.is_set():
                for what in ("pause", "resume"):
                    db.execute(f"SELECT pg_wal_replay_{what}()".encode())
                    ends.wait(drawn.uniform(0, most))
            db.execute("SELECT pg_wal_replay_resume()")

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def last_turn(memory: SlotMemory) -> int:
    """Return the number of the last turn that a memory holds."""
    return int(memory.evidence()[-1].text.split()[1].rstrip(":"))


def tried(bin: Path, options: argparse.Namespace) -> Found:
    """Read for a while, and look how old it was."""
    reads: list[tuple[float, int]] = []
    with (
        closing(Server(bin, durable=True)) as primary,
        closing(Server(bin, durable=True, follows=primary)) as standby,
    ):
        notes = primary.folder / "notes"
        url = f"{primary.url}&parts=2"
        with written_to(url, notes), closing(Counted(f"{url}&replica={standby.folder}")) as store:
            memory = opened(store)
            with falling_behind(standby, options.halt, options.seed), at_most_old(options.age):
                until = time.monotonic() + options.seconds
                while time.monotonic() < until:
                    asked = time.monotonic()
                    reads.append((asked, last_turn(memory)))
        acknowledged = array("d", notes.read_bytes())
        return looked_at(reads, acknowledged, options.age, store)


def looked_at(
    reads: Sequence[tuple[float, int]], acknowledged: Sequence[float], age: float, store: Counted
) -> Found:
    """Compare what was read with what was acknowledged by then.

    Args:
        reads: when each was asked for, and the last turn that it had.
        acknowledged: when each turn was.
    """
    behind = []
    too_old = 0
    for asked, last in reads:
        too_old += last < bisect_right(acknowledged, asked - age)
        missed = bisect_right(acknowledged, asked)
        behind.append(asked - acknowledged[last] if last < missed else 0.0)
    return Found(
        reads=len(reads),
        turns=len(acknowledged),
        too_old=too_old,
        behind=(median(behind), at_share(0.99, behind), max(behind)),
        of_standby=store.given / store.wanted,
    )


def main() -> None:
    """Read, look, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--age", type=float, default=1.0)
    parser.add_argument("--halt", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bin = programs()
    if bin is None or not (bin / "pg_basebackup").exists():
        sys.exit("no PostgreSQL with pg_basebackup: pip install pgserver")
    found = tried(bin, options)
    print(json.dumps(asdict(found)) if options.json else found)
    if found.too_old:
        sys.exit(1)


if __name__ == "__main__":
    main()
