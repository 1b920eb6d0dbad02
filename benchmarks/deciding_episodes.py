"""What an agent loses that reads its episodes back, where its memory could decide.

    python benchmarks/deciding_episodes.py [--seeds 10] [--first 0] [--alpha .5] [--json]

The world of ``benchmarks/deciding.py``: 60 situations in plain English, 10 tools, 2,000 decisions.
One agent remembers every episode as a sentence, reads its memory in the default mode (2,000
characters) before each choice, and chooses by the rewards that it finds there: what did best, and
one in ten at random ("greedy"), or by the capped upper confidence index ("index"). The other asks
``SlotMemory.decide``; it is told which situations are the same, by one text for each, or takes the
three wordings of one as they come, and then for three situations. Regrets, and the ratio to the
better of both readers, with a 95 % interval paired by seed. Some 40 s a seed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from deciding import NOISE, NONE, SLOTS, TOOLS, Player, Run, play, ratio_of
from deciding import sentences as told_sentences
from deciding_memory import Whole
from rich.console import Console
from rich.progress import track
from rich.table import Table

from demem_agent import SlotMemory
from demem_agent.decision.learners.learner import capped_confidence
from demem_agent.settings import DecideSettings

EPISODE = "{text} I took tool {tool}, which brought {reward:.2f}."
_EPISODE = re.compile(r"I took tool (\d+), which brought (\d\.\d+)")
EXPLORED = 0.1
READERS = ("reads episodes, greedy", "reads episodes, index")
OURS = {"decides, noise 0.1": DecideSettings(noise=NOISE, steady=False), "decides, defaults": None}
TOLD = ", told which situation"


class Reader:
    """An agent that chooses by the episodes which its memory reads for a situation."""

    def __init__(self, seed: int, *, greedy: bool) -> None:
        self.memory = SlotMemory(slots=SLOTS, clock=None)
        self.rng = np.random.default_rng([seed, 7])
        self.order = self.rng.permutation(TOOLS)
        self.greedy = greedy
        self.texts: dict[tuple[int, int], list[str]] = {}

    def choose(self, situation: int, text: Any, offered: Sequence[int]) -> int:
        """Choose for a sentence."""
        counts, sums = self._read(str(text))
        tool = self._chosen(counts, sums)
        self.texts.setdefault((situation, tool), []).append(str(text))
        return tool

    def learn(self, situation: int, tool: int, reward: float) -> None:
        """Remember the episode."""
        text = self.texts[situation, tool].pop(0)
        self.memory.ingest(EPISODE.format(text=text, tool=tool, reward=reward))

    def _read(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Return how often each tool stands in a reading, and the sum of what it brought."""
        counts, sums = np.zeros(TOOLS), np.zeros(TOOLS)
        if len(self.memory):
            for tool, reward in _EPISODE.findall(self.memory.read(text).text):
                counts[int(tool)] += 1
                sums[int(tool)] += float(reward)
        return counts, sums

    def _chosen(self, counts: np.ndarray, sums: np.ndarray) -> int:
        if not self.greedy:
            return capped_confidence(counts, sums, NOISE, self.order, np.zeros(TOOLS))
        if not counts.any() or self.rng.random() < EXPLORED:
            return int(self.rng.integers(TOOLS))
        means = np.where(counts > 0, sums / np.maximum(counts, 1), -1.0)
        return int(means.argmax())


def players(seed: int) -> Mapping[str, Callable[[], Player]]:
    """Return who is compared, by name."""
    readers: dict[str, Callable[[], Player]] = {
        READERS[0]: lambda: Reader(seed, greedy=True),
        READERS[1]: lambda: Reader(seed, greedy=False),
    }
    return readers | {name: _decider(how) for name, how in OURS.items()}


def _decider(how: DecideSettings | None) -> Callable[[], Player]:
    return lambda: Whole(SlotMemory(slots=SLOTS, decide=how or DecideSettings(), clock=None))


def main() -> None:
    """Play all runs and print what they came to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    texts = np.array(told_sentences(), dtype=object)
    regrets: dict[str, list[float]] = {}
    plain = np.repeat(texts[:, :1], texts.shape[1], axis=1)  # one wording of each situation
    seeds = range(given.first, given.first + given.seeds)
    for seed in track(seeds, console=Console(stderr=True)):
        run = Run.drawn(seed, given.alpha)
        for name, make in players(seed).items():
            regrets.setdefault(name, []).append(play(make(), run, texts, NONE))
            if name in OURS:
                told = play(make(), run, plain, NONE)
                regrets.setdefault(f"{name}{TOLD}", []).append(told)
    best = min(READERS, key=lambda name: float(np.mean(regrets[name])))
    found = [
        ratio_of(given.alpha, regrets, (name, best), 0.3) for name in regrets if name not in READERS
    ]
    if given.json:
        document = {"seeds": given.seeds, "regrets": regrets, "ratios": list(map(asdict, found))}
        print(json.dumps(document, indent=1))
        return
    table = Table(title=f"regret over 2,000 decisions, {given.seeds} seeds, alpha {given.alpha:g}")
    for column in ("what", "regret", "to the better reader", "95 %"):
        table.add_column(column)
    ratios = {one.what: one for one in found}
    for name, values in regrets.items():
        one = ratios.get(name)
        shown = [] if one is None else [f"{one.ratio:.2f}", f"{one.low:.2f} to {one.high:.2f}"]
        table.add_row(name, f"{np.mean(values):.0f}", *shown)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
