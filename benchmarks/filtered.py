"""What does a filter cost? The same questions read with and without ``where``, side by side.

    pip install 'demem-agent[cli]'
    python benchmarks/filtered.py [--items 10000 100000] [--keep 0.01] [--samples 200] [--json]

A memory holds a conversation made up from a seed, as in ``benchmarks/speed.py``. Every question is
read without a filter, and with one that leaves about a share ``--keep`` of the items, which of both
first by turns, and no question twice. The filters are of metadata, of time, of speaker and slot:

* ``metadata``: items of a project that one in so many has;
* ``time``: the latest items;
* ``sessions``: some sessions out of all;
* ``speaker``: one of two speakers, half of the items, whatever ``--keep`` says.

``first`` is what the first reading with a filter takes beside the others with it: the items are
marked then, and only new ones after that. Times are of the processor, so that what else the machine
does hardly counts. A ratio is of the two medians. Beside it stands whether every line that was read
is of an item that the filter leaves: "exact".
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from speed_data import Invented

from demem_agent import SlotMemory, Turn
from demem_agent.where import Where

#: A filtered reading takes at most so many times as long as one without a filter.
TARGET = 1.2
CHUNK = 2_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What one filter costs in one memory.

    Attributes:
        kept: share of the items that it leaves.
        without, filtered: the median of a reading, in ms of the processor.
        first: the first reading with the filter, in ms.
        exact: whether nothing else was read.
    """

    items: int
    filter: str
    kept: float
    without: float
    filtered: float
    first: float
    exact: bool

    @property
    def ratio(self) -> float:
        """How many times as long a filtered reading takes."""
        return self.filtered / self.without


def turns(items: int, keep: float, seed: int) -> Iterator[Turn]:
    """Yield the turns of a conversation; about a share of them belongs to a project."""
    chance = random.Random(seed)
    for turn in islice(Invented(seed).turns(), items):
        project = "apollo" if chance.random() < keep else f"p{chance.randrange(20)}"
        yield replace(turn, metadata={"project": project, "tags": ["chat"]})


def remembered(items: int, keep: float, seed: int) -> SlotMemory:
    """Return a memory of so many turns."""
    memory = SlotMemory()
    coming = turns(items, keep, seed)
    while some := list(islice(coming, CHUNK)):
        memory.ingest_many(some)
    return memory


def filters(memory: SlotMemory, keep: float, seed: int) -> dict[str, Where]:
    """Return the filters by name."""
    held = memory.evidence()
    sessions = list(dict.fromkeys(item.session or "" for item in held))
    some = random.Random(seed).sample(sessions, max(1, round(keep * len(sessions))))
    latest = held[-max(1, round(keep * len(held)))].at
    return {
        "metadata": Where(metadata={"project": "apollo"}),
        "time": Where(since=latest),
        "sessions": Where(session=some),
        "speaker": Where(speaker=held[0].speaker),
    }


def cost(memory: SlotMemory, name: str, where: Where, asked: Sequence[str]) -> Cost:
    """Read questions with a filter and without; the first one is read with it alone."""
    first = seconds(memory, asked[0], {"where": where})
    left = {item.id for item in memory.evidence(where=where)}
    times = np.zeros((len(asked) - 1, 2))
    hows: tuple[Mapping[str, Any], ...] = ({}, {"where": where})
    gc.collect()
    for number, question in enumerate(asked[1:]):
        for side in (0, 1) if number % 2 else (1, 0):
            times[number, side] = seconds(memory, question, hows[side])
    without, filtered = np.median(times, axis=0) * 1e3
    readings = [memory.read(question, where=where) for question in asked[:20]]
    return Cost(
        items=len(memory),
        filter=name,
        kept=len(left) / len(memory),
        without=float(without),
        filtered=float(filtered),
        first=first * 1e3,
        exact=all(item.id in left for reading in readings for item in reading.evidence),
    )


def seconds(memory: SlotMemory, question: str, how: Mapping[str, Any]) -> float:
    """Return the seconds that a reading takes."""
    begun = time.process_time()
    memory.read(question, **how)
    return time.process_time() - begun


def measured(items: int, keep: float, samples: int, seed: int) -> Iterator[Cost]:
    """Yield what each filter costs in a memory of so many items."""
    memory = remembered(items, keep, seed)
    questions = (probe.question for probe in Invented(seed).probes())
    fresh = iter(dict.fromkeys(islice(questions, 20 * samples)))
    for warming in islice(fresh, 20):
        memory.read(warming)
    for name, where in filters(memory, keep, seed).items():
        yield cost(memory, name, where, list(islice(fresh, samples + 1)))


def shown(costs: Sequence[Cost]) -> Table:
    """Return a table of costs."""
    table = Table(
        "items", "filter", "kept", "without ms", "filtered ms", "ratio", "first ms", "exact"
    )
    for one in costs:
        table.add_row(
            f"{one.items:,}",
            one.filter,
            f"{one.kept:.1%}",
            f"{one.without:.2f}",
            f"{one.filtered:.2f}",
            f"{one.ratio:.2f}",
            f"{one.first:.1f}",
            "yes" if one.exact else "no",
        )
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--keep", type=float, default=0.01)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    costs: list[Cost] = []
    for items in given.items:
        costs += measured(items, given.keep, given.samples, given.seed)
    if given.json:
        print(json.dumps([{**asdict(one), "ratio": one.ratio} for one in costs], indent=2))
        return
    console = Console()
    console.print(shown(costs))
    console.print(f"target: a ratio of at most {TARGET} in the median")


if __name__ == "__main__":
    main()
