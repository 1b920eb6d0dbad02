"""How often a certificate of ``SlotMemory.decide`` is wrong.

    python benchmarks/deciding_certificates.py [--runs 300] [--first 0] [--json]

Memories of 12 situations and 5 tools decide 800 times with K = 3 and delta = .05, told of rewards
through ``feedback``. In the first worlds all situations want the same: whatever certificate is
given, that some situation's rewards differ from those of the others in its profile, is wrong. In
the second, half of the situations want something else than they look like: there certificates are
to be given. Rewards are successes and failures, under all defaults; or means with a deviation of .1
that the memory knows (``DecideSettings(noise=0.1, steady=False)``). Counted are memories with one
certificate or more, and those that took the world to have changed, which it never did. With 95 %
intervals (Clopper and Pearson). Some half an hour; needs the extra `lab`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import binomtest

from demem_agent import SlotMemory
from demem_agent.settings import DecideSettings
from demem_agent.slots.choosing.log import History

SLOTS, DECISIONS = 3, 800
TOOLS = [f"tool {n}" for n in range(5)]
ABOUT = ("Password reset for {}", "Broken printer at {}", "Lost badge of {}")
TEAMS = ("legal", "sales", "research", "reception")
#: What a tool brings, drawn around its mean.
Draw = Callable[[Generator, float], float]
ALIKE, MISLEADING = "all alike", "half otherwise"


def success(rng: Generator, mean: float) -> float:
    """Draw a success or a failure."""
    return float(rng.random() < mean)


def spread(rng: Generator, mean: float) -> float:
    """Draw uniformly with a deviation of .1 around a mean in [.2, .8]."""
    return mean + math.sqrt(3) * 0.1 * float(rng.uniform(-1.0, 1.0))


REWARDS: Mapping[str, tuple[Draw, DecideSettings]] = {
    "successes and failures, defaults": (success, DecideSettings()),
    "deviation .1, known": (spread, DecideSettings(noise=0.1, steady=False)),
}


@dataclass(frozen=True, slots=True)
class Counted:
    """Memories with a certificate, and with a change of the world, of so many."""

    world: str
    rewards: str
    runs: int
    certified: int
    certificates: int
    changed: int


def means_of(world: str, rng: Generator) -> dict[str, np.ndarray]:
    """Return what each tool is worth in each situation."""
    texts = [about.format(team) for about, team in product(ABOUT, TEAMS)]
    alike = rng.uniform(0.2, 0.8, size=len(TOOLS))
    if world == ALIKE:
        return dict.fromkeys(texts, alike)
    looks = {about: np.where(np.arange(len(TOOLS)) == n, 0.8, 0.2) for n, about in enumerate(ABOUT)}
    found = {}
    for about, team in product(ABOUT, TEAMS):
        other = ABOUT[int(rng.integers(len(ABOUT)))] if rng.random() < 0.5 else about
        found[about.format(team)] = looks[other]
    return found


def decided(world: str, rewards: str, seed: int) -> History:
    """Have a memory decide, and play its log again."""
    rng = np.random.default_rng([seed, 11])
    draw, settings = REWARDS[rewards]
    means = means_of(world, rng)
    texts = list(means)
    memory = SlotMemory(slots=SLOTS, decide=settings, clock=None)
    for _ in range(DECISIONS):
        text = texts[int(rng.integers(len(texts)))]
        made = memory.decide(text, TOOLS)
        memory.feedback(made, reward=draw(rng, float(means[text][TOOLS.index(made.action)])))
    log = memory.decision_log()
    history = History(log)
    for event in log.events():
        history.happen(event)
    return history


def counted(world: str, rewards: str, first: int, runs: int) -> Counted:
    """Count over runs what is certified."""
    certificates = []
    changed = 0
    title = f"{world}, {rewards}"
    for seed in track(range(first, first + runs), title, console=Console(stderr=True)):
        history = decided(world, rewards, seed)
        certificates.append(sum(parting.action is not None for parting in history.partings))
        changed += len(history.restarts) > 0
    certified = sum(count > 0 for count in certificates)
    return Counted(world, rewards, runs, certified, sum(certificates), changed)


def interval(one: Counted) -> tuple[float, float]:
    """Return the exact 95 % interval of the share of memories with a certificate."""
    found = binomtest(one.certified, one.runs).proportion_ci(method="exact")
    return float(found.low), float(found.high)


def main() -> None:
    """Count, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = [
        counted(world, rewards, given.first, given.runs)
        for world, rewards in product((ALIKE, MISLEADING), REWARDS)
    ]
    if given.json:
        shares = [{**asdict(one), "interval": interval(one)} for one in found]
        print(json.dumps(shares, indent=1))
        return
    table = Table(title=f"{given.runs} memories each, delta .05")
    for column in ("situations", "rewards", "certified", "95 %", "certificates", "changes seen"):
        table.add_column(column)
    for one in found:
        low, high = interval(one)
        row = (f"{one.certified}", f"{low:.3f} to {high:.3f}", f"{one.certificates}")
        table.add_row(one.world, one.rewards, *row, f"{one.changed}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
