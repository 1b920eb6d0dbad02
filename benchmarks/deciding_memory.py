"""How well a whole memory chooses, which has to know situations again by itself.

    python benchmarks/deciding_memory.py [--seeds 5] [--first 0] [--alphas 0 .25 .5 1] [--json]
    python benchmarks/deciding_memory.py --speed [--situations 2000] [--tools 50]

The world of ``benchmarks/deciding.py``, in the path of the product: ``SlotMemory.decide`` gets a
sentence and the names of tools, and ``feedback`` its reward. Each arrival is in one of three
wordings; nobody tells the memory which of them are of one situation. Compared with the learner that
is told, and with rivals that are told. With ``--speed``, a decision with its outcome is timed in a
memory in RAM that knows so many situations, and so is making it again from an export.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from deciding import (
    DISTURBED,
    NOISE,
    NONE,
    RIVALS,
    SLOTS,
    Product,
    Run,
    cases,
    encoded,
    play,
    players,
)
from deciding import sentences as told_sentences
from rich.console import Console
from rich.progress import track
from rich.table import Table

from demem_agent import SlotMemory
from demem_agent.settings import DecideSettings
from demem_agent.types import Decision

TOLD = "the learner, told which"
WHOLE = "a whole memory"


@dataclass
class Whole:
    """A memory as a player; what it plays by is the sentence alone.

    Attributes:
        met: by id of a situation as the memory knows it, which ones it was taken for.
    """

    memory: SlotMemory = field(default_factory=lambda: _memory())
    open: dict[tuple[int, int], list[Decision]] = field(default_factory=dict)
    met: dict[str, list[int]] = field(default_factory=dict)

    def choose(self, situation: int, text: Any, offered: Sequence[int]) -> int:
        """Choose for a sentence."""
        made = self.memory.decide(str(text), [f"tool {tool}" for tool in offered])
        tool = int(made.action.removeprefix("tool "))
        self.open.setdefault((situation, tool), []).append(made)
        self.met.setdefault(made.situation, []).append(situation)
        return tool

    def learn(self, situation: int, tool: int, reward: float) -> None:
        """Tell the reward of the oldest decision that waits for it."""
        made = self.open[situation, tool].pop(0)
        self.memory.feedback(made, reward=reward)

    def recognition(self) -> dict[str, float]:
        """Return how many situations it knows, and how many arrivals it took for another one."""
        wrong = 0
        for situations in self.met.values():
            first = situations[0]
            wrong += sum(one != first for one in situations)
        arrived = sum(map(len, self.met.values()))
        return {"situations": len(self.met), "wrong": wrong / arrived}


def _memory() -> SlotMemory:
    return SlotMemory(slots=SLOTS, decide=DecideSettings(noise=NOISE), clock=None)


def measured(alpha: float, seed: int) -> dict[str, float]:
    """Return the regret of everyone in one run, and how situations were known again."""
    vectors = encoded()
    run = Run.drawn(seed, alpha)
    rivals = {name: make for name, make in players(run, vectors, seed).items() if name in RIVALS}
    found = {name: play(make(), run, vectors, NONE) for name, make in rivals.items()}
    found[TOLD] = play(Product(noise=NOISE), run, vectors, NONE)
    texts = np.array(told_sentences(), dtype=object)
    whole = Whole()
    found[WHOLE] = play(whole, run, texts, NONE)
    found |= whole.recognition()
    for name, how in DISTURBED.items():
        if not how.swapped:  # it takes some for another by itself
            found[f"{WHOLE}, {name}"] = play(Whole(), run, texts, how)
    return found


def speed(situations: int, tools: int, decisions: int = 1_000) -> dict[str, float]:
    """Time a decision with its outcome, and making the memory again, on the processor."""
    drawn = np.random.default_rng(0)
    memory = SlotMemory(slots=SLOTS, clock=None)
    names = [f"tool {tool}" for tool in range(tools)]
    texts = [
        f"case {n} of {drawn.integers(10**6)} at {drawn.integers(10**6)}" for n in range(situations)
    ]
    for text in texts:
        memory.decided(text, names[0], actions=names)
    took = []
    for _ in range(decisions):
        text = texts[int(drawn.integers(situations))]
        begun = time.process_time()
        memory.feedback(memory.decide(text, names), reward=float(drawn.uniform()))
        took.append(time.process_time() - begun)
    lines = memory.export()
    begun = time.process_time()
    SlotMemory.restore(lines)
    again = time.process_time() - begun
    p50, p99 = (np.percentile(took, (50, 99)) * 1_000).tolist()
    return {
        "situations": situations,
        "tools": tools,
        "p50 ms": p50,
        "p99 ms": p99,
        "again s": again,
    }


def table(rows: Mapping[float, Sequence[Mapping[str, float]]]) -> Table:
    """Show means over seeds, with their standard errors."""
    drawn = Table(title="regret over 2,000 decisions, mean and standard error over seeds")
    drawn.add_column("what")
    for alpha in rows:
        drawn.add_column(f"alpha {alpha:g}", justify="right")
    names = list(next(iter(rows.values()))[0])
    for name in names:
        cells = []
        for runs in rows.values():
            values = np.array([run[name] for run in runs])
            spread = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
            cells.append(f"{values.mean():.3g} +- {spread:.2g}")
        drawn.add_row(name, *cells)
    return drawn


def main() -> None:
    """Play all runs and print what they came to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.0, 0.25, 0.5, 1.0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--situations", type=int, default=2_000)
    parser.add_argument("--tools", type=int, default=50)
    given = parser.parse_args()
    if given.speed:
        print(json.dumps(speed(given.situations, given.tools), indent=1))
        return
    rows: dict[float, list[dict[str, float]]] = {alpha: [] for alpha in given.alphas}
    seeds = range(given.first, given.first + given.seeds)
    every = list(cases(given.alphas, seeds))
    for alpha, seed in track(every, console=Console(stderr=True)):
        rows[alpha].append(measured(alpha, seed))
    if given.json:
        print(json.dumps(rows))
        return
    Console(width=140).print(table(rows))


if __name__ == "__main__":
    main()
