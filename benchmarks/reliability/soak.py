"""One memory in a file that is used for very long: what it takes, and how long calls take.

    python benchmarks/reliability/soak.py [--operations 20000] [--items 300] [--seed 0] [--json]

A memory that keeps so many items is told things, asked, read, told what was right, has facts
changed and items forgotten, in a random order; now and then it is closed and opened again. Printed
are, for each tenth of the operations, and on the error stream as each ends: bytes of RAM of the
process, bytes of the file, how long the processor worked for a call in the median, and what one
call in a hundred took more than by the clock; then how much RAM and file grow by in 100,000
operations, by a line through the second half. What was asked has a row for good, and so have keys
and receipts up to a bound that is far off, so that a line that rises is expected: no more than the
stated one. Leaves with 1 where RAM or file rises more steeply than stated, calls in the last tenth
take longer than stated beside the third, or ``check()`` fails.
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
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, NotFound
from demem_agent.testing import BagEncoder

TENTHS = 10
#: Bytes that RAM and file may grow by in 100,000 operations, and what calls in the last tenth may
#: take beside those of the third, in the median.
RAM_LINE = 250 * 2**20
FILE_LINE = 250 * 2**20
SLOWER = 1.5
#: Operations between two times that it is closed and opened again.
REOPENED = 5_000
PAGE = resource.getpagesize()
SUBJECTS = tuple(f"thing{n}" for n in range(200))
KINDS = ("brass", "broken", "new", "golden", "red", "copper", "wide", "silver")


@dataclass(frozen=True, slots=True)
class Tenth:
    """What one tenth of the operations came to.

    Attributes:
        ram, file: bytes of the process and of the file with its log, at its end.
        p50: milliseconds that the processor worked for a call in the median: what others do on the
            machine is not in it.
        p99: milliseconds by the clock, of which one call in a hundred took more.
    """

    operations: int
    ram: int
    file: int
    p50: float
    p99: float


@dataclass(slots=True)
class Soaked:
    """A memory in use.

    Attributes:
        asked: ids of answers that were not rated yet.
        errors: of calls, by kind.
    """

    url: str
    items: int
    drawn: random.Random
    memory: SlotMemory = field(init=False)
    number: int = 0
    asked: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.memory = self._opened()

    def _opened(self) -> SlotMemory:
        return SlotMemory.open(
            self.url, clock=None, encoder=BagEncoder(64), most_items=self.items, slots=6
        )

    def step(self) -> tuple[float, float]:
        """Make the next call; return the milliseconds of the processor and of the clock it took."""
        self.number += 1
        if self.number % REOPENED == 0:
            self.memory.close()
            self.memory = self._opened()
        call = self._drawn()
        begun, worked = time.perf_counter(), time.process_time()
        try:
            call()
        except NotFound:
            pass  # it went for want of room
        except DeMemError as error:
            self.errors[f"{type(error).__name__}: {str(error)[:100]}"] += 1
        return 1e3 * (time.process_time() - worked), 1e3 * (time.perf_counter() - begun)

    def _drawn(self) -> Callable[[], Any]:
        memory, drawn = self.memory, self.drawn
        subject, kind, key = drawn.choice(SUBJECTS), drawn.choice(KINDS), f"k{self.number}"
        what = drawn.random()
        if what < 0.4:
            text = f"the {subject} has a {kind} part number {self.number % 997}"
            return lambda: memory.ingest(text, key=key, source_id=f"of {subject}")
        if what < 0.65:
            return lambda: memory.read(f"Which part has the {subject}?")
        if what < 0.8:
            return lambda: self.asked.append(memory.answer(f"Which part has the {subject}?").id)
        if what < 0.92 and self.asked:
            given = self.asked.pop()
            return lambda: memory.feedback(given, reward=drawn.random(), key=key)
        if what < 0.96:
            return lambda: memory.forget(source_id=f"of {subject}")
        newest = memory.evidence()[-1].id
        return lambda: memory.update(newest, f"the {subject} has a {kind} part now", key=key)


def resident() -> int:
    """Return the bytes of RAM that the process has."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def size(folder: str) -> int:
    """Return the bytes of all files of a folder."""
    return sum(path.stat().st_size for path in Path(folder).iterdir())


def slope(tenths: list[Tenth], of: str) -> float:
    """Return by how much something grows in 100,000 operations: a line through the second half."""
    half = tenths[TENTHS // 2 - 1 :]
    done = np.cumsum([one.operations for one in tenths])[TENTHS // 2 - 1 :]
    return float(np.polyfit(done / 1e5, [getattr(one, of) for one in half], 1)[0])


def measured(
    operations: int, items: int, seed: int, tell: Callable[[Tenth], object] = lambda _: None
) -> tuple[list[Tenth], Counter[str]]:
    """Use a memory for so many operations.

    Args:
        tell: is told each tenth as it ends: all of them may take hours.
    """
    tenths: list[Tenth] = []
    with tempfile.TemporaryDirectory() as folder:
        soaked = Soaked(f"sqlite:///{folder}/a.db", items, random.Random(f"{seed} soak"))
        soaked.memory.ingest("the first thing")
        for _ in range(TENTHS):
            took = [soaked.step() for _ in range(operations // TENTHS)]
            soaked.memory.check()
            p50 = float(np.median([worked for worked, _ in took]))
            p99 = float(np.percentile([passed for _, passed in took], 99))
            tenths.append(Tenth(len(took), resident(), size(folder), p50, p99))
            tell(tenths[-1])
        soaked.memory.close()
    return tenths, soaked.errors


def main() -> None:
    """Print what was measured; leave with 1 where a line was crossed."""
    parser = argparse.ArgumentParser(description="One memory, used for very long.")
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--items", type=int, default=300, help="that the memory keeps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tenths, errors = measured(
        given.operations, given.items, given.seed, lambda one: print(row(one), file=sys.stderr)
    )
    lines = {of: slope(tenths, of) for of in ("ram", "file")}
    slower = tenths[-1].p50 / tenths[2].p50
    if given.json:
        told = [asdict(one) for one in tenths]
        print(json.dumps({"tenths": told, "slopes": lines, "slower": slower, "errors": errors}))
    else:
        print(
            f"python {platform.python_version()} on {platform.machine()}, seed {given.seed}:",
            end=" ",
        )
        print(f"{given.operations:,} operations, {given.items} items kept")
        show(tenths, lines, slower, errors)
    crossed = lines["ram"] > RAM_LINE or lines["file"] > FILE_LINE or slower > SLOWER
    sys.exit(bool(crossed or errors))


def row(one: Tenth) -> str:
    """Return a line of the table."""
    sizes = f"{one.ram / 2**20:9.1f} {one.file / 2**20:9.2f}"
    return f"{sizes} {one.p50:7.2f} {one.p99:7.1f}"


def show(tenths: list[Tenth], lines: dict[str, float], slower: float, errors: Counter[str]) -> None:
    """Print it as a table, with the time of the median drawn."""
    print("  RAM MiB  file MiB  p50 ms  p99 ms")
    most = max(one.p50 for one in tenths)
    for one in tenths:
        print(f"{row(one)}  {'#' * round(30 * one.p50 / most)}")
    print(f"in 100,000 operations RAM grows by {lines['ram'] / 2**20:.1f} MiB", end=" ")
    print(f"(at most {RAM_LINE / 2**20:.0f}), the file by {lines['file'] / 2**20:.1f}", end=" ")
    print(f"({FILE_LINE / 2**20:.0f}); the last tenth takes {slower:.2f} of the third ({SLOWER})")
    for what, times in errors.most_common():
        print(f"{times:6,}  {what}")


if __name__ == "__main__":
    main()
