"""What does it cost to keep decisions? The same work with and without, side by side.

    pip install 'demem-agent[cli]'
    python benchmarks/speed_decisions.py [--items 1000 4000] [--past 0 100 1000] [--askers] [--json]

Two memories hold the same conversation, made up from a seed as in ``benchmarks/speed.py``; one
keeps decisions. Both answered the same questions before, and were told each reference. Then is
timed, in one process, each step in the one and at once in the other, which of them first by turns:

* ``read``: a question that was not asked before;
* ``read again``: one that was, where there are any;
* ``chat turn``: ``read``, ``answered`` with what was read, and ``ingest`` of question and answer;
* ``feedback``: a reference, to an answer that was just given; the answering is not timed.

Times are of the processor, so that what else the machine does hardly counts.

A ratio is of the two medians, or 99th percentiles, of a run, and the median over the runs; each run
is on copies of the two memories. With ``--askers`` every question has one of two askers, by turns.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from speed_data import Invented
from speed_report import load, machine

from demem_agent import SlotMemory
from demem_agent.evaluate import Probe

#: Timed steps of each kind a run.
SAMPLES = 100
ASKERS = ("Marta Lind", "Oren Vale")
PERCENTILES = (50, 99)

Times = NDArray[np.float64]
Pair = tuple[SlotMemory, SlotMemory]
#: What is timed of one memory, and for which question.
Timed = Callable[[SlotMemory, "Asked"], float]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, who asks it, and what would be right."""

    question: str
    reference: str
    how: Mapping[str, Any]


def questions(seed: int, askers: bool) -> Iterator[Asked]:
    """Yield questions about the conversation without an end."""
    for number, probe in enumerate(Invented(seed).probes()):
        yield _asked(probe, ASKERS[number % 2] if askers else None)


def _asked(probe: Probe, asker: str | None) -> Asked:
    return Asked(probe.question, probe.reference, {"asker": asker} if asker else {})


# What is timed


def read(memory: SlotMemory, asked: Asked) -> float:
    """Return the seconds that a read takes."""
    begun = time.process_time()
    memory.read(asked.question, **asked.how)
    return time.process_time() - begun


def chat_turn(memory: SlotMemory, asked: Asked) -> float:
    """Return the seconds that a turn of a chat takes: read, record, remember both sides."""
    begun = time.process_time()
    reading = memory.read(asked.question, **asked.how)
    memory.answered(asked.question, asked.reference, reading=reading, **asked.how)
    memory.ingest(asked.question, speaker="user")
    memory.ingest(asked.reference, speaker="assistant")
    return time.process_time() - begun


def feedback(memory: SlotMemory, asked: Asked) -> float:
    """Return the seconds that a feedback takes."""
    answer = memory.answer(asked.question, **asked.how)
    begun = time.process_time()
    memory.feedback(answer, reference=asked.reference)
    return time.process_time() - begun


def side_by_side(memories: Pair, work: Timed, asked: Sequence[Asked]) -> Times:
    """Time the same steps in both memories: seconds of shape (n, 2), with decisions first."""
    times = np.zeros((len(asked), 2))
    gc.collect()
    for number, one in enumerate(asked):
        for side in (0, 1) if number % 2 else (1, 0):
            times[number, side] = work(memories[side], one)
    return times


# The memories


@dataclass(slots=True)
class Growing:
    """Two memories of as many items, that are told of more and more decisions."""

    memories: Pair
    asked: Iterator[Asked]
    past: list[Asked]

    @classmethod
    def of(cls, items: int, seed: int, askers: bool) -> Growing:
        """Remember the conversation."""
        turns = list(islice(Invented(seed).turns(), items))
        memories = SlotMemory(decisions=True), SlotMemory(decisions=False)
        for memory in memories:
            memory.ingest_many(turns)
        return cls(memories, questions(seed, askers), [])

    def tell(self, past: int) -> None:
        """Answer questions and tell of them, until there are so many past decisions."""
        for asked in islice(self.asked, past - len(self.past)):
            for memory in self.memories:
                feedback(memory, asked)
            self.past.append(asked)

    def timed(self) -> dict[str, Times]:
        """Time each kind of step once, on copies."""
        memories = copy.deepcopy(self.memories)
        new = list(islice(self.asked, 3 * SAMPLES))
        found = {"read": side_by_side(memories, read, new[:SAMPLES])}
        if self.past:
            found["read again"] = side_by_side(memories, read, self.past[-SAMPLES:])
        found["chat turn"] = side_by_side(memories, chat_turn, new[SAMPLES : 2 * SAMPLES])
        found["feedback"] = side_by_side(memories, feedback, new[2 * SAMPLES :])
        return found


# Figures


@dataclass(frozen=True, slots=True)
class Figure:
    """One step at one size: milliseconds with and without, and their ratio.

    Attributes:
        ratio: the median of the ratios of runs; ``lowest`` and ``highest`` are the ends.
    """

    what: str
    items: int
    past: int
    percentile: int
    with_decisions: float
    without: float
    ratio: float
    lowest: float
    highest: float


def figures(items: int, past: int, runs: Sequence[Mapping[str, Times]]) -> Iterator[Figure]:
    """Compare the two memories, by step and percentile."""
    for what in runs[0]:
        for percentile in PERCENTILES:
            yield figure(what, items, past, percentile, [run[what] for run in runs])


def figure(what: str, items: int, past: int, percentile: int, runs: Sequence[Times]) -> Figure:
    """Compare the two memories by one percentile; shape (n, 2) a run."""
    sides = np.array([np.percentile(run, percentile, axis=0) for run in runs]) * 1e3
    ratios = sides[:, 0] / sides[:, 1]
    return Figure(
        what=what,
        items=items,
        past=past,
        percentile=percentile,
        with_decisions=median(map(float, sides[:, 0])),
        without=median(map(float, sides[:, 1])),
        ratio=median(map(float, ratios)),
        lowest=float(ratios.min()),
        highest=float(ratios.max()),
    )


def measure(given: argparse.Namespace, step: Callable[[str], None]) -> list[Figure]:
    """Measure at every size.

    Args:
        step: is told what goes on, between timed stretches only.
    """
    found: list[Figure] = []
    for items in given.items:
        step(f"two memories of {items:,} items")
        growing = Growing.of(items, given.seed, given.askers)
        for past in sorted(given.past):
            step(f"{items:,} items: {past:,} decisions")
            growing.tell(past)
            runs = []
            for run in range(given.runs):
                step(f"{items:,} items, {past:,} decisions: run {run + 1}")
                runs.append(growing.timed())
            found += figures(items, past, runs)
    return found


def run(given: argparse.Namespace) -> list[Figure]:
    """Measure everything under a progress bar on stderr."""
    looks = (TextColumn("{task.description:44}"), BarColumn(), TimeElapsedColumn())
    steps = len(given.items) * (1 + len(given.past) * (1 + given.runs))
    with Progress(*looks, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("", total=steps)

        def step(label: str) -> None:
            bar.update(task, description=label, advance=1, refresh=True)

        return measure(given, step)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 4_000])
    parser.add_argument("--past", type=int, nargs="+", default=[0, 100, 1_000], help="decisions")
    parser.add_argument("--askers", action="store_true", help="two people ask by turns")
    parser.add_argument("--runs", type=int, default=3, help="on copies (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="of the conversation (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    found = parser.parse_args()
    if found.runs < 1 or min(found.items) < 1 or min(found.past) < 0:
        parser.error("--runs and --items must be 1 or more, --past 0 or more")
    return found


def main() -> None:
    """Time memories with and without decisions, and print the table."""
    given = _arguments()
    about = machine() | {"askers": str(given.askers), "runs": str(given.runs)}
    before = load()
    found = run(given)
    about["load"] = f"{before} before, {load()} after"
    if given.json:
        print(json.dumps({"about": about, "figures": list(map(asdict, found))}, indent=1))
    else:
        show(about, found)


def show(about: Mapping[str, str], found: Sequence[Figure]) -> None:
    """Print a table."""
    for name, value in about.items():
        print(f"{name}: {value}")
    print(f"\n{'items':>6} {'past':>5} {'':<14} {'with':>9} {'without':>9}  ratio  of runs")
    for one in found:
        what = f"{one.what}, p{one.percentile}"
        times = f"{one.with_decisions:>6.2f} ms {one.without:>6.2f} ms"
        ends = f"{one.lowest:.2f} to {one.highest:.2f}"
        print(f"{one.items:>6} {one.past:>5} {what:<15} {times} {one.ratio:>6.2f}  {ends}")


if __name__ == "__main__":
    main()
