"""What one memory costs here: python benchmarks/scale/units.py [--items 1000] [--out units.json]

Bytes of an item in a file, RAM of a process and of an open memory, bytes of an object that is put
aside; and seconds of the processor of a read, an ingest, of opening, of taking in what another
process wrote, of putting aside and bringing back. All seconds are kept, in the order in which they
were measured: waiting is made of the long ones, and of stretches in which all are long. Written
with the machine and the commit, for ``plan.py`` and ``simulate.py``. The clock is the processor's:
what a disk takes is not in it.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from load import at_share, filled, name_of, questions, said, warmed

from demem_agent import SlotMemory
from demem_agent.pool import MemoryPool
from demem_agent.stores import Address, open_store

__all__ = ["Units", "in_a_process_of_its_own", "measured", "read", "seconds_of"]

Result = TypeVar("Result")

_MEMORIES = 24
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Units:
    """What was measured.

    Attributes:
        items: of each memory.
        machine, commit: where, and of what.
        item_bytes: of a file, for each item; object_bytes: of a memory that is put aside.
        process_bytes: RAM of a process with its encoder; memory_bytes: of each open memory.
        collects_every: memories that are opened before Python looks for garbage in all its heap.
        seconds: of the processor, as they were measured, by what they are of: a ``read`` or
            ``ingest`` in a memory that is open, ``open`` to the first of them, ``collect``,
            ``follow`` what another process wrote, ``cool`` and ``back``.
    """

    items: int
    machine: str
    commit: str
    item_bytes: float
    object_bytes: float
    process_bytes: float
    memory_bytes: float
    collects_every: float
    seconds: dict[str, list[float]]

    def mean(self, what: str) -> float:
        """Return the mean seconds of something."""
        return sum(self.seconds[what]) / len(self.seconds[what])


def read(path: Path) -> Units:
    """Return what was measured before."""
    return Units(**json.loads(path.read_text()))


def measured(items: int, memories: int = _MEMORIES, rounds: int = _ROUNDS) -> Units:
    """Measure; it takes a minute or two."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "units.db"
        filled(path, memories, items)
        bytes_of_items = path.stat().st_size / (memories * items)
        process, memory = _resident(path, memories)
        seconds, every = in_a_process_of_its_own(seconds_of, path, memories, rounds)
        size, cool, back = _aside(path, Path(folder) / "cold")
    seconds |= {"cool": cool, "back": back}
    return Units(
        items=items,
        machine=f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        commit=_commit(),
        item_bytes=bytes_of_items,
        object_bytes=size,
        process_bytes=process,
        memory_bytes=memory,
        collects_every=every,
        seconds={what: [round(one, 6) for one in taken] for what, taken in seconds.items()},
    )


def in_a_process_of_its_own(work: Callable[..., Result], *given: Any) -> Result:
    """Do something in a new process, such as a worker is.

    How often Python looks for garbage in all of its heap, and how long, follows from what else is
    in the heap; what filled a file before would be in it.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as processes:
        return processes.submit(work, *given).result()


def _resident(path: Path, memories: int) -> tuple[float, float]:
    """Return the RAM of a process that has read once, and of each memory more that it opens."""
    with MemoryPool(f"sqlite:///{path}", most_bytes=2**40) as pool:
        pool.of(name_of(0)).read("Where is the lamp?")
        gc.collect()
        before = _rss()
        for number in range(1, memories):
            pool.of(name_of(number)).read("Where is the lamp?")
        gc.collect()
        return before, (_rss() - before) / (memories - 1)


def _rss() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def seconds_of(path: Path, memories: int, rounds: int) -> tuple[dict[str, list[float]], float]:
    """Return what operations take, each in every memory so many times, without what Python then
    takes to look for garbage in all of its heap; that apart; and how often it does, in memories
    that are opened between. The file is written to.
    """
    url = f"sqlite:///{path}"
    warmed()
    asks, says = questions(5), said(7)
    taken: dict[str, list[float]] = {name: [] for name in ("read", "ingest", "open", "follow")}
    firsts: list[float] = []
    with _collections() as collected, MemoryPool(url, most_open=max(1, memories // 4)) as pool:
        pool.of(name_of(0)).read(next(asks))
        collected.clear()
        for _ in range(rounds):
            for number in range(memories):  # in turn, so that each was let go of meanwhile
                opened, memory = _timed(lambda number=number: pool.of(name_of(number)), collected)  # type: ignore[misc]
                first, _ = _timed(lambda memory=memory: memory.read(next(asks)), collected)  # type: ignore[misc]
                second, _ = _timed(lambda memory=memory: memory.read(next(asks)), collected)  # type: ignore[misc]
                took, _ = _timed(lambda memory=memory: memory.ingest(next(says)), collected)  # type: ignore[misc]
                firsts.append(opened + first)
                taken["read"].append(second)
                taken["ingest"].append(took)
        taken["collect"] = [*collected] or [0.0]
    usual = at_share(0.5, taken["read"])
    taken["open"] = [max(0.0, one - usual) for one in firsts]
    taken["follow"] = _following(url, rounds * 4)
    return taken, len(firsts) / max(1, len(collected))


@contextmanager
def _collections() -> Iterator[list[float]]:
    """Give how long Python looks for garbage in all of its heap, each time that it does."""
    found: list[float] = []
    began = 0.0

    def note(phase: str, about: dict[str, int]) -> None:
        nonlocal began
        if about["generation"] < 2:
            return
        if phase == "start":
            began = time.process_time()
        else:
            found.append(time.process_time() - began)

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


def _following(url: str, rounds: int) -> list[float]:
    """Return what a read takes more after another handle has written one item."""
    asks, says = questions(5), said(8)
    more: list[float] = []
    with MemoryPool(url) as pool, SlotMemory.open(url, memory_id=name_of(0)) as other:
        memory = pool.of(name_of(0))
        memory.read(next(asks))
        for _ in range(rounds):
            other.ingest(next(says))
            question = next(asks)
            first, _ = _timed(lambda question=question: memory.read(question))  # type: ignore[misc]
            again, _ = _timed(lambda question=question: memory.read(question))  # type: ignore[misc]
            more.append(max(0.0, first - again))
    return more


def _aside(path: Path, folder: Path) -> tuple[float, list[float], list[float]]:
    """Return the bytes of an object, and what it takes to make one and to bring one back."""
    try:
        from demem_agent.stores.cold import ColdStore, made_ready
    except ImportError:  # without obstore nothing is put aside, and nothing is measured of it
        return 0.0, [0.0], [0.0]
    store = open_store(f"sqlite:///{path}")
    made_ready(store)
    cold, to = ColdStore(store), f"file://{folder}"
    sizes: list[float] = []
    cool: list[float] = []
    back: list[float] = []
    for number in range(6):
        address = Address("default", name_of(number))
        took, done = _timed(lambda address=address: cold.cool([address], to))  # type: ignore[misc]
        cool.append(took)
        sizes.append(done.size)
        took, _ = _timed(lambda address=address: cold.bring_back(address))  # type: ignore[misc]
        back.append(took)
    cold.close()
    return sum(sizes) / len(sizes), cool, back


def _timed(work: Callable[[], Any], collected: Sequence[float] = ()) -> tuple[float, Any]:
    """Return what something takes, without what is collected meanwhile, and what it gives."""
    before = len(collected)
    began = time.process_time()
    result = work()
    took = time.process_time() - began
    return took - sum(collected[before:]), result


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(asked, cwd=Path(__file__).parent, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def main() -> int:
    """Measure, print, and write it down."""
    parser = argparse.ArgumentParser(description="Measure what one memory costs.")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=_MEMORIES)
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("units.json"))
    given = parser.parse_args()
    units = measured(given.items, given.memories, given.rounds)
    given.out.write_text(json.dumps(asdict(units), indent=1) + "\n")
    print(f"{units.machine}, {units.commit}: {units.items:,} items a memory")
    print(f"{units.item_bytes:,.0f} bytes an item in a file; {units.object_bytes:,.0f} an object")
    print(
        f"{units.process_bytes / 2**20:.0f} MB a process, {units.memory_bytes / 2**20:.2f} MB an "
        "open memory"
    )
    for what in units.seconds:
        print(f"{what:>7}: {units.mean(what) * 1000:.2f} ms of the processor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
