"""Memories to measure scale on, and which of them are asked for: few of them often (Zipf)."""

from __future__ import annotations

import random
import sys
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from speed_data import Invented

from demem_agent import SlotMemory
from demem_agent.stores import open_store

__all__ = ["Zipf", "at_share", "filled", "questions", "said", "warmed"]

#: Turns after which next to nothing is used for the first time: each pattern is compiled then.
_WARM = 400


class Zipf:
    """Draws memories: the nth most popular is asked for as often as 1 / n to a power.

    Args:
        count: of memories.
        power: 0 for all alike; text and caches of the web have some .7 to 1.2.
    """

    def __init__(self, count: int, power: float, rng: random.Random) -> None:
        self._up_to = [*accumulate(1 / rank**power for rank in range(1, count + 1))]
        self._rng = rng

    def draw(self) -> int:
        """Return the number of a memory, the most popular is 0."""
        return bisect(self._up_to, self._rng.random() * self._up_to[-1])

    def share_of(self, most_popular: int) -> float:
        """Return which share of the requests is for the most popular so many."""
        return self._up_to[most_popular - 1] / self._up_to[-1]


def filled(path: Path, memories: int, items: int, seed: int = 11) -> None:
    """Make a file of memories, each with other items."""
    turns = Invented(seed).turns()
    store = open_store(f"sqlite:///{path}")
    try:
        for number in range(memories):
            with SlotMemory.open(store, memory_id=name_of(number)) as memory:
                memory.ingest_many(islice(turns, items))
    finally:
        store.close()


def warmed() -> None:
    """Use what ingests and reads use, once: a worker has long done so when it is measured."""
    memory = SlotMemory(clock=None)
    memory.ingest_many(islice(Invented(13).turns(), _WARM))
    for question in islice(questions(13), 20):
        memory.read(question)


def name_of(number: int) -> str:
    """Return the id of a memory."""
    return f"m{number}"


def questions(seed: int) -> Iterator[str]:
    """Yield what is asked, over and over."""
    return cycle([probe.question for probe in islice(Invented(seed).probes(), 200)])


def said(seed: int) -> Iterator[str]:
    """Yield what is said."""
    return (f"{turn.text} ({number})" for number, turn in enumerate(Invented(seed).turns()))


def at_share(share: float, values: Sequence[float]) -> float:
    """Return the value that such a share of all is below."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
