"""Measure how well actions are chosen for situations in plain English.

    pip install 'demem-agent[cli]'
    python benchmarks/deciding.py [--seeds 20] [--first 0] [--alphas 0 .25 .5 1] [--disturbed .5]
                                  [--json]
    python benchmarks/deciding.py --speed [--situations 10000] [--tools 50]

60 situations of 8 topics arrive in any order, each time in one of three wordings; for each, one of
10 tools is chosen, and its reward is told. What a tool is worth in a situation depends on a hidden
identity. With probability alpha it is not that of the situation's topic, but that of another
situation, drawn once. Rewards have a deviation of .1; 2,000 decisions a run. Descriptions are
vectors of the shipped encoder. Regret is what the best tool would have brought beyond the chosen.

Compared are the learner of the product, ``GrowingPrior``, told that the noise is .1 as the others
are, and with its defaults; the oracle, which pools by identity; slots by description, k-means of
all descriptions; and a state for each situation. The others know all situations beforehand, and
play the same capped index.

At the alphas of ``--disturbed`` the learner is then compared with itself, disturbed: rewards come
50 decisions late and a fifth of them never; a third of the tools is replaced half-way; all rewards
are drawn anew half-way; one arrival in twenty is taken for another situation. What the first and
the last cost the oracle, nobody avoids who hears late, or is told the wrong situation.

Intervals are of ratios of mean regrets, paired by seed, from resampled seeds. With ``--speed``,
choosing, taking and learning are timed instead, in a memory that has met all its situations.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from demem_agent.decision import GrowingPrior, Role
from demem_agent.decision.learners.growing import AWAITED
from demem_agent.decision.learners.learner import Tally, capped_confidence
from demem_agent.encoders import default_encoder
from demem_agent.studies.synthetic.baselines import k_means
from demem_agent.studies.synthetic.environment import World, make_world, noise_reach

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

SITUATIONS, TOPICS, TOOLS, DECISIONS, SLOTS = 60, 8, 10, 2_000, 8
NOISE = 0.1
LATE, MISSING, SWAPPED, REPLACED = 50, 0.2, 0.05, 3
RESAMPLES = 10_000
PERCENTILES = (50, 99)

#: For each topic what its eight things are called, a name for them, and three ways to say what
#: happened to one.
WORDINGS: Sequence[tuple[str, str, Sequence[str]]] = (
    (
        "label, plotter, receipt, office laser, photo, badge, dot-matrix, lobby",
        "the {} printer",
        (
            "{} is jammed and no page comes out of the printer.",
            "{} prints nothing but blank pages.",
            "Nobody can print on {}, the printer is offline again.",
        ),
    ),
    (
        "payroll, mailbox, admin, calendar, supplier, intern's, tax office, database",
        "the {} account",
        (
            "The password of {} has expired and must be reset.",
            "Login to {} fails, the password is refused.",
            "Locked out of {} after three wrong passwords at the login.",
        ),
    ),
    (
        "sofa, lamps, birthday, tyres, wine, tiles, bookshelf, medicine",
        "the {} parcel",
        (
            "The courier could not deliver {} to the door.",
            "The delivery of {} is late, the courier has lost the parcel.",
            "{} was to be delivered yesterday, the courier still has it.",
        ),
    ),
    (
        "roof, hotel, March, plumber's, deposit, printing, annual, caterer's",
        "the {} invoice",
        (
            "{} was charged twice, the invoice must be paid back.",
            "The amount on {} is wrong, too much was charged.",
            "Payment of {} bounced, the bank refused to pay the invoice.",
        ),
    ),
    (
        "tomato, rose, apple, lawn, strawberry, basil, pumpkin, vine",
        "the {} plants in the garden",
        (
            "The leaves of {} turn yellow and wilt.",
            "Insects are eating the leaves of {}.",
            "The soil under {} is dry, and watering them does not help.",
        ),
    ),
    (
        "delivery, blue, farm, racing, school, rental, pickup, fire",
        "the {} car",
        (
            "The engine of {} does not start.",
            "The brakes of {} squeal, and its engine stalls.",
            "A warning light is on in {}, the engine loses oil.",
        ),
    ),
    (
        "Lisbon, Hanover, Oslo, Naples, Boston, island, Kyoto, Warsaw",
        "the {} flight",
        (
            "{} was cancelled, the passengers must be booked on another flight.",
            "Passengers missed {} at the airport.",
            "A passenger at the airport wants another seat on {}.",
        ),
    ),
    (
        "young, old, tired, new, first, quiet, worried, last",
        "the {} patient",
        (
            "{} has a fever and a sore throat.",
            "The doctor should see {}, who has a fever and coughs.",
            "{} has a headache and fever, the doctor says.",
        ),
    ),
)


class Player(Protocol):
    """Choose a tool for a situation, and learn what it was worth, at once or later."""

    def choose(self, situation: int, vector: Floats, offered: Sequence[int]) -> int:
        """Choose one of the tools that are offered."""
        ...

    def learn(self, situation: int, tool: int, reward: float) -> None:
        """Take in a reward."""
        ...


class Product:
    """Play ``GrowingPrior``, which meets situations and tools as they come."""

    def __init__(self, **how: float | bool) -> None:
        self.learner = GrowingPrior(SLOTS, **how)  # type: ignore[arg-type]  # columns of a table
        self.contexts: dict[int, int] = {}

    def choose(self, situation: int, vector: Floats, offered: Sequence[int]) -> int:
        """Choose, and note that it was taken."""
        if situation not in self.contexts:
            self.contexts[situation] = self.learner.add_context(vector)
        while self.learner.actions <= max(offered):
            self.learner.add_action()
        context = self.contexts[situation]
        tool = self.learner.choose(context, offered).action
        self.learner.take(context, tool, offered)
        return tool

    def learn(self, situation: int, tool: int, reward: float) -> None:
        """Take in a reward."""
        self.learner.learn(self.contexts[situation], tool, reward)


class Fixed:
    """Play the learner's own index on groups that are known beforehand."""

    def __init__(self, labels: Labels, rng: Generator) -> None:
        self.labels = labels
        self.pool = Tally(int(labels.max()) + 1, TOOLS)
        self.order: Labels = rng.permutation(TOOLS)
        self.taken: deque[tuple[int, int]] = deque(maxlen=AWAITED)

    def choose(self, situation: int, vector: Floats, offered: Sequence[int]) -> int:
        """Choose for the situation's group."""
        row = int(self.labels[situation])
        awaited = np.zeros(TOOLS)
        for group, tool in self.taken:
            awaited[tool] += group == row
        counts, sums = self.pool.counts[row], self.pool.sums[row]
        tool = capped_confidence(counts, sums, NOISE, self.order, awaited)
        self.taken.append((row, tool))
        return tool

    def learn(self, situation: int, tool: int, reward: float) -> None:
        """Take in a reward."""
        row = int(self.labels[situation])
        if (row, tool) in self.taken:
            self.taken.remove((row, tool))
        self.pool.add(row, tool, reward)


@dataclass(frozen=True, slots=True)
class Disturbance:
    """What makes a run harder.

    Attributes:
        late: decisions until a reward is told.
        missing: share of rewards that never are.
        replaced: tools that others take the place of half-way.
        redrawn: whether all rewards are drawn anew half-way.
        swapped: share of arrivals that are taken for another situation.
    """

    late: int = 0
    missing: float = 0.0
    replaced: int = 0
    redrawn: bool = False
    swapped: float = 0.0


NONE = Disturbance()
LATELY = "rewards late, a fifth missing"
WRONGLY = "arrivals recognised wrongly"
DISTURBED = {
    LATELY: Disturbance(late=LATE, missing=MISSING),
    "a third of the tools replaced": Disturbance(replaced=REPLACED),
    "rewards drawn anew half-way": Disturbance(redrawn=True),
    WRONGLY: Disturbance(swapped=SWAPPED),
}
#: What costs an oracle as well.
UNAVOIDABLE = (LATELY, WRONGLY)
OURS = {f"noise {NOISE:g}": {"noise": NOISE, "steady": False}, "defaults": {}}
RIVALS = ("slots by description", "a state for each situation")
Regrets = dict[str, list[float]]


def sentences() -> list[list[str]]:
    """Return the wordings of each situation; situation i is of topic i modulo 8."""
    found = []
    for situation in range(SITUATIONS):
        names, called, frames = WORDINGS[situation % TOPICS]
        name = names.split(", ")[situation // TOPICS]
        said = [frame.format(called.format(name)) for frame in frames]
        found.append([sentence[0].upper() + sentence[1:] for sentence in said])
    return found


def encoded() -> Floats:
    """Return unit vectors of all wordings, shape (situations, wordings, d)."""
    vectors = [default_encoder().encode(said) for said in sentences()]
    array = np.array(vectors, dtype=np.float64)
    return array / np.linalg.norm(array, axis=2, keepdims=True)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run's world, and all that is drawn for it: the same for every player.

    Attributes:
        worth: of each tool in each situation, shape (60, 13); the last are those that come later.
        redrawn: the same after the change.
        identity: shape (60,).
    """

    worth: Floats
    redrawn: Floats
    identity: Labels
    situations: Labels
    wordings: Labels
    noise: Floats
    chances: Floats
    others: Labels

    @classmethod
    def drawn(cls, seed: int, alpha: float) -> Run:
        """Draw a run; one seed gives the same at every alpha, but for who has which identity."""
        world: World = make_world(alpha, np.random.default_rng([seed, 1]), contexts=SITUATIONS)
        rng = np.random.default_rng([seed, 2])
        identities = int(world.identity.max()) + 1
        later = rng.uniform(size=(TOPICS, REPLACED))[world.identity]
        redrawn = rng.uniform(size=(TOPICS, TOOLS + REPLACED))[world.identity]
        assert identities <= TOPICS
        return cls(
            worth=np.hstack([world.mu, later]),
            redrawn=redrawn,
            identity=world.identity,
            situations=rng.integers(SITUATIONS, size=DECISIONS),
            wordings=rng.integers(3, size=DECISIONS),
            noise=rng.uniform(-1.0, 1.0, size=DECISIONS),
            chances=rng.uniform(size=(DECISIONS, 2)),
            others=rng.integers(SITUATIONS, size=DECISIONS),
        )

    def offered(self, step: int, how: Disturbance) -> Sequence[int]:
        """Return the tools that there are at a step."""
        gone = how.replaced if step >= DECISIONS // 2 else 0
        return range(gone, TOOLS + gone)

    def taken_for(self, step: int, how: Disturbance) -> int:
        """Return which situation the arrival of a step is taken for."""
        mistaken = self.chances[step, 0] < how.swapped
        return int(self.others[step] if mistaken else self.situations[step])

    def reward(self, step: int, worth: Floats, tool: int) -> float:
        """Return what a tool brings at a step, where tools are worth so much."""
        reward = worth[tool] + noise_reach(worth)[tool] * self.noise[step]
        return min(max(float(reward), 0.0), 1.0)

    def worth_at(self, step: int, how: Disturbance) -> Floats:
        """Return what each tool is worth at a step, shape (60, 13)."""
        return self.redrawn if how.redrawn and step >= DECISIONS // 2 else self.worth


def play(player: Player, run: Run, vectors: Floats, how: Disturbance) -> float:
    """Return the regret of a player over a run."""
    waiting: deque[tuple[int, int, int, float]] = deque()
    regret = 0.0
    for step, situation in enumerate(run.situations.tolist()):
        while waiting and waiting[0][0] <= step:
            player.learn(*waiting.popleft()[1:])
        taken_for = run.taken_for(step, how)
        offered = run.offered(step, how)
        tool = player.choose(taken_for, vectors[situation, run.wordings[step]], offered)
        worth = run.worth_at(step, how)[situation]
        regret += float(worth[list(offered)].max() - worth[tool])
        if run.chances[step, 1] >= how.missing:
            waiting.append((step + 1 + how.late, taken_for, tool, run.reward(step, worth, tool)))
    return regret


def players(run: Run, vectors: Floats, seed: int) -> dict[str, Callable[[], Player]]:
    """Return who is compared, by name."""
    rng = np.random.default_rng([seed, 3])
    by_description = k_means(vectors.mean(axis=1), SLOTS, rng)
    return {
        "oracle": lambda: Fixed(run.identity, rng),
        RIVALS[0]: lambda: Fixed(by_description, rng),
        RIVALS[1]: lambda: Fixed(np.arange(SITUATIONS), rng),
        **{name: _product(how) for name, how in OURS.items()},
    }


def _product(how: dict[str, float | bool]) -> Callable[[], Player]:
    return lambda: Product(**how)


def cases(alphas: Sequence[float], seeds: Sequence[int]) -> Iterator[tuple[float, int]]:
    """Yield every alpha and seed, all alphas of a seed together."""
    for seed, alpha in product(seeds, alphas):
        yield alpha, seed


def measured(
    alpha: float, seed: int, vectors: Floats, disturbances: Mapping[str, Disturbance]
) -> dict[str, float]:
    """Return the regret of everyone in one run, and of ours in each disturbance of it."""
    run = Run.drawn(seed, alpha)
    found = {}
    for name, make in players(run, vectors, seed).items():
        found[name] = play(make(), run, vectors, NONE)
        for disturbed, how in disturbances.items():
            if name in OURS or (name == "oracle" and disturbed in UNAVOIDABLE):
                found[f"{name}, {disturbed}"] = play(make(), run, vectors, how)
    return found


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of mean regrets, with a 95 % interval."""

    alpha: float
    what: str
    against: str
    regret: float
    other: float
    ratio: float
    low: float
    high: float
    target: float | None


def ratios(alpha: float, regrets: Regrets) -> Iterator[Ratio]:
    """Yield what is compared at one alpha."""
    best = min(RIVALS, key=lambda name: float(np.mean(regrets[name])))
    targets = dict(zip(DISTURBED, (1.3, 1.3, 2.0, 1.2), strict=True))
    for name in OURS:
        against, target = ("oracle", 1.05) if alpha == 0 else (best, 0.65)
        yield ratio_of(alpha, regrets, (name, against), target)
        for disturbed, most in targets.items():
            pair = (f"{name}, {disturbed}", name)
            if pair[0] in regrets:
                yield ratio_of(alpha, regrets, pair, most)
    for disturbed in UNAVOIDABLE:
        pair = (f"oracle, {disturbed}", "oracle")
        if pair[0] in regrets:
            yield ratio_of(alpha, regrets, pair, None)


def ratio_of(alpha: float, regrets: Regrets, names: tuple[str, str], target: float | None) -> Ratio:
    """Return how the mean regrets of two compare, with an interval paired by seed."""
    ours, other = (np.array(regrets[name]) for name in names)
    drawn = np.random.default_rng(0).integers(len(ours), size=(RESAMPLES, len(ours)))
    resampled = ours[drawn].mean(axis=1) / other[drawn].mean(axis=1)
    low, high = np.quantile(resampled, (0.025, 0.975))
    means = float(ours.mean()), float(other.mean())
    return Ratio(alpha, *names, *means, means[0] / means[1], float(low), float(high), target)


def speed(situations: int, tools: int, seconds: float = 60.0) -> dict[str, float]:
    """Time choose, take and learn together, in milliseconds of the processor.

    Situations have 16 topics and 24 identities, half of them misleading; each was met a few times.
    """
    rng = np.random.default_rng(0)
    learner = GrowingPrior(SLOTS, noise=NOISE, steady=False)  # so that contexts soon leave slots
    for _ in range(tools):
        learner.add_action()
    topics = rng.integers(16, size=situations)
    misled = rng.uniform(size=situations) < 0.5
    identities = np.where(misled, rng.integers(24, size=situations), topics)
    arriving = arrivals_timed(learner, topics, rng)
    took = rounds_timed(learner, rng.uniform(size=(24, tools))[identities], seconds, rng)
    return {
        "situations": situations,
        "tools": tools,
        "decisions": len(took),
        "alone": int((learner.role == Role.ALONE).sum()),
        "placed": int((learner.role == Role.PLACED).sum()),
        **milliseconds("", took),
        **milliseconds("arrival ", arriving),
    }


def milliseconds(of: str, took: Sequence[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the worst of some times, which are in seconds."""
    p50, p99 = (np.percentile(took, PERCENTILES) * 1_000).tolist()
    return {f"{of}p50 ms": p50, f"{of}p99 ms": p99, f"{of}worst ms": max(took) * 1_000}


def arrivals_timed(learner: GrowingPrior, topics: Labels, rng: Generator) -> list[float]:
    """Have a situation of each topic arrive; return how long each took, in seconds."""
    centres = rng.normal(size=(16, 256))
    took = []
    for topic in topics:
        vector = centres[topic] + 0.5 * rng.normal(size=256)
        begun = time.process_time()
        learner.add_context(vector / np.linalg.norm(vector))
        took.append(time.process_time() - begun)
    return took


def rounds_timed(
    learner: GrowingPrior, worth: Floats, seconds: float, rng: Generator
) -> list[float]:
    """Decide for so long in any situation; return how long each decision took, in seconds.

    Args:
        worth: of each tool in each situation.
    """
    situations, tools = worth.shape
    took = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        context = int(rng.integers(situations))
        luck = rng.normal()
        begun = time.process_time()
        action = learner.choose(context, range(tools)).action
        learner.take(context, action)
        reward = float(np.clip(worth[context, action] + NOISE * luck, 0.0, 1.0))
        learner.learn(context, action, reward)
        took.append(time.process_time() - begun)
    return took


def table(found: Sequence[Ratio], seeds: int) -> Table:
    """Draw the ratios."""
    drawn = Table(title=f"regret over {DECISIONS:,} decisions, {seeds} seeds")
    for heading in ("alpha", "what", "against", "regret", "its regret", "ratio", "95 %", "target"):
        drawn.add_column(heading, justify="left" if heading in ("what", "against") else "right")
    for row in found:
        interval = f"{row.low:.2f} to {row.high:.2f}"
        numbers = (f"{row.regret:.0f}", f"{row.other:.0f}", f"{row.ratio:.2f}")
        target = f"<= {row.target:g}" if row.target else ""
        drawn.add_row(f"{row.alpha:g}", row.what, row.against, *numbers, interval, target)
    return drawn


def main() -> None:
    """Play all runs and print the ratios, or time decisions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="how many runs at each alpha")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.0, 0.25, 0.5, 1.0])
    parser.add_argument("--disturbed", type=float, nargs="*", default=[0.5], help="alphas")
    parser.add_argument("--speed", action="store_true", help="time decisions instead")
    parser.add_argument("--situations", type=int, default=10_000, help="for --speed")
    parser.add_argument("--tools", type=int, default=50, help="for --speed")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args()
    if given.speed:
        print(json.dumps(speed(given.situations, given.tools), indent=1))
        return
    seeds = range(given.first, given.first + given.seeds)
    regrets = played(given.alphas, seeds, given.disturbed)
    found: list[Ratio] = []
    for alpha, by_name in regrets.items():
        found += ratios(alpha, by_name)
    if given.json:
        rows = [asdict(row) for row in found]
        print(json.dumps({"ratios": rows, "regrets": regrets}, indent=1))
        return
    Console(width=140).print(table(found, given.seeds))


def played(
    alphas: Sequence[float], seeds: Sequence[int], disturbed: Sequence[float]
) -> dict[float, Regrets]:
    """Play every case, with a bar, and return all regrets by alpha and name."""
    vectors = encoded()
    regrets: dict[float, Regrets] = {alpha: {} for alpha in alphas}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("runs", total=len(alphas) * len(seeds))
        for alpha, seed in cases(alphas, seeds):
            disturbances = DISTURBED if alpha in disturbed else {}
            for name, regret in measured(alpha, seed, vectors, disturbances).items():
                regrets[alpha].setdefault(name, []).append(regret)
            progress.advance(bar)
    return regrets


if __name__ == "__main__":
    main()
