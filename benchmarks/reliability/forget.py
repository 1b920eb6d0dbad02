"""How long a forget takes in files of several sizes.

    python benchmarks/reliability/forget.py [--megabytes 1 4 12] [--forgets 40] [--seed 0] [--json]

The memory that forgets has the same 200 items in every file; the rest of a file are other memories.
A forget destroys keys and empties the log, so that its time must not grow with the file.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder

ITEMS, BATCH = 200, 500
MEGABYTE = 2**20
OPTIONS: dict[str, Any] = {"encoder": BagEncoder(256), "clock": None}
#: How much longer it may take in the largest file than in the smallest.
MOST = 2.0


def texts(drawn: random.Random, count: int) -> list[dict[str, str]]:
    """Return turns that have nothing in common but their words."""
    things = ("boiler", "violin", "ferry", "plover", "harbour", "lamp", "garden", "train")
    found = []
    for number in range(count):
        one, other = drawn.sample(things, 2)
        found.append({"text": f"the {one} {drawn.randrange(10**9)} of the {other} {number}"})
    return found


def filled(file: Path, megabytes: float, drawn: random.Random) -> None:
    """Fill a file with other memories until it has a size."""
    number = 0
    while not file.exists() or file.stat().st_size < megabytes * MEGABYTE:
        with SlotMemory.open(f"sqlite:///{file}", memory_id=f"m{number}", **OPTIONS) as memory:
            memory.ingest_many(texts(drawn, BATCH))
        number += 1


def timed(file: Path, forgets: int, drawn: random.Random) -> list[float]:
    """Return how long each forget takes, in milliseconds."""
    took = []
    with SlotMemory.open(f"sqlite:///{file}", memory_id="ours", **OPTIONS) as memory:
        memory.ingest_many(texts(drawn, ITEMS))
        for number in range(1, forgets + 1):
            began = time.perf_counter()
            memory.forget(f"e{number}")
            took.append(1000 * (time.perf_counter() - began))
    return took


def measure(sizes: list[float], forgets: int, seed: int) -> list[dict[str, float]]:
    """Return what forgets take in files of these sizes."""
    rows = []
    for megabytes in sizes:
        drawn = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.db"
            filled(file, megabytes, drawn)
            took = sorted(timed(file, forgets, drawn))
            rows.append(
                {
                    "megabytes": round(file.stat().st_size / MEGABYTE, 1),
                    "median_ms": round(statistics.median(took), 1),
                    "p95_ms": round(took[int(0.95 * (len(took) - 1))], 1),
                    "most_ms": round(took[-1], 1),
                }
            )
    return rows


def main() -> None:
    """Print what forgets take; fail where the largest file takes much longer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1.0, 4.0, 12.0])
    parser.add_argument("--forgets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.megabytes, options.forgets, options.seed)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"{platform.machine()}, Python {platform.python_version()}, seed {options.seed}")
        for row in rows:
            print(
                f"{row['megabytes']:8.1f} MB: median {row['median_ms']:.1f} ms, "
                f"p95 {row['p95_ms']:.1f}, most {row['most_ms']:.1f}"
            )
    sys.exit(rows[-1]["median_ms"] > MOST * rows[0]["median_ms"])


if __name__ == "__main__":
    main()
