"""Does a memory that learns read better? Replay annotated questions in order, each measured before
its feedback.

    pip install demem-agent scipy
    python benchmarks/learning.py --data FOLDER [--workers 2]

FOLDER is as for ``benchmarks/fit_weights.py``. Each dialogue is remembered, its questions are asked
in the file's order, and after each one its feedback is given: its reference, or only a reward, 1 if
the answer held half of what was asked for and 0 if not. LongMemEval has one question a haystack, so
ten haystacks make one memory, in order of time.

"later" is evidence recall, at 2,000 and 6,000 characters, of each question before its own feedback.
The others are that of all questions asked again at the end, put otherwise: "turned" is without stop
words and with the clauses in reverse order, "shortened" without every third of the words that
matter. Gains, in points, are over the same replay without learning. The default weights are fitted
anew for each memory, on all other dialogues ("known domain") or on the other two data sets ("new
domain"). How far lessons move weights, and how far what served is ahead, are also chosen on every
other dialogue and judged on those between. Splits are off. Intervals are of 95 %, by dialogue.
About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from fit_weights import Sample, fit, load, sample
from numpy.typing import NDArray

from demem_agent import SlotMemory, SplitSettings, Turn, flows
from demem_agent.answering.scorers import Contained, TokenF1
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.evaluate.metrics import UNANSWERABLE, Gold, Wording
from demem_agent.scoring import PassageIndex, Query, Weights, learning, score
from demem_agent.scoring.query import Words
from demem_agent.text.words import STOPWORDS
from demem_agent.types import Attempt

Domain = Literal["known", "new"]
Told = Literal["reference", "reward"]
Figures = NDArray[np.float64]

LIMITS = (2000, 6000)
HAYSTACKS = 10
STEPS = (5.0, 10.0, 20.0, 40.0)
SERVED = (3.0, 6.0, 12.0)
#: Cosines of two questions from which on what served the one is ahead for the other; -1 is any two.
ALIKE = (-1.0, 0.5)
#: An answer that holds this share of what was asked for is rewarded.
RIGHT = 0.5


@dataclass(frozen=True, slots=True)
class World:
    """A memory of a dialogue, its questions with what is gold for each, and its default weights by
    domain.
    """

    data_set: str
    name: str
    memory: SlotMemory
    asked: tuple[tuple[Probe, tuple[Gold, ...]], ...]
    priors: Mapping[Domain, Weights]


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to replay: with learning or without, from which default, and what is told."""

    domain: Domain = "known"
    told: Told = "reference"
    step: float = 0.0
    served: float = 0.0
    alike: float = learning.ALIKE

    @property
    def learns(self) -> bool:
        return bool(self.step or self.served)


#: The plans without learning that others are compared with.
EVERY = (Plan(), Plan(told="reward"), Plan("new"), Plan("new", "reward"))
#: By data set and dialogue: recall by "later" or wording, shape (questions, limits).
Outcome = dict[tuple[str, str], dict[str, Figures]]
WORLDS: list[World] = []
#: Features by memory, question and day: nothing is ingested during a replay, so they stay.
KEPT: dict[tuple[int, str, date | None], Any] = {}


# The worlds


def worlds(folder: Path) -> list[World]:
    """Remember every dialogue, and fit the weights that do not know it."""
    data = load(folder)
    samples: list[Sample] = []
    for name, dialogues in data.items():
        samples += [sample(name, dialogue) for dialogue in dialogues]
    other = {}
    for name in data:
        other[name] = fit([s for s in samples if s.data_set != name])
    found = []
    for name, dialogues in data.items():
        parts = [[d] for d in dialogues] if len(dialogues[0].probes) > 1 else _groups(dialogues)
        for part in parts:
            inside = {(name, dialogue.name) for dialogue in part}
            rest = fit([s for s in samples if (s.data_set, s.dialogue.name) not in inside])
            dialogue = part[0] if len(part) == 1 else _joined(part)
            found.append(_world(name, dialogue, {"known": rest, "new": other[name]}))
            print(f"{name} {dialogue.name}", end="\x1b[K\r", file=sys.stderr)
    return found


def _world(data_set: str, dialogue: Dialogue, priors: Mapping[Domain, Weights]) -> World:
    memory = SlotMemory(split=SplitSettings(pairs=0))
    memory.ingest_many(dialogue.turns)
    cut: dict[str | None, Gold] = {}
    for turn in dialogue.turns:
        gold = Gold.of(turn)
        if gold.whole:
            cut[turn.source_id] = gold
    asked = []
    for probe in dialogue.probes:
        if probe.category not in UNANSWERABLE:
            golden = tuple(cut[source] for source in probe.evidence if source in cut)
            asked.append((probe, golden))
    with _features_kept():
        for probe, _ in asked:
            for question in (probe.question, *(put(probe.question) for put in WORDING.values())):
                memory.route(question, at=probe.at)
    return World(data_set, dialogue.name, memory, tuple(asked), priors)


def _groups(dialogues: Sequence[Dialogue]) -> list[list[Dialogue]]:
    count = max(len(dialogues) // HAYSTACKS, 1) + (len(dialogues) % HAYSTACKS > HAYSTACKS // 2)
    return [list(dialogues[n::count]) for n in range(count)]


def _joined(part: Sequence[Dialogue]) -> Dialogue:
    """Make one dialogue of several, as if one user had lived them all."""
    turns: list[Turn] = []
    probes: list[Probe] = []
    for d in part:
        for turn in d.turns:
            session = f"{d.name}/{turn.session}"
            source_id = f"{d.name}/{turn.source_id}"
            turns.append(replace(turn, session=session, source_id=source_id))
        for probe in d.probes:
            evidence = tuple(f"{d.name}/{source}" for source in probe.evidence)
            probes.append(replace(probe, evidence=evidence))
    name = f"{part[0].name} and {len(part) - 1} more"
    return Dialogue(name, tuple(sorted(turns, key=_time)), tuple(sorted(probes, key=_time)))


def _time(dated: Any) -> Any:
    return dated.at


# Other words for the same

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLAUSE = re.compile(
    r"(?<=[,;])\s+| (?=(?:in|on|at|after|before|during|when|while|for|with|from)\b)"
)


def turned(question: str) -> str:
    """Drop the stop words of a question, and put its clauses in reverse order.

    What it asks by stays.
    """
    asks = {"when", "who", "where", "what", "how", "why", "which"}
    clauses = reversed(_CLAUSE.split(question))
    found = _WORD.findall(" ".join(clauses))
    return " ".join(w for w in found if w.lower() not in STOPWORDS - asks) or question


def shortened(question: str) -> str:
    """Drop every third of the words of a question that are no stop words."""
    found = []
    count = 0
    for word in _WORD.findall(question):
        count += word.lower() not in STOPWORDS
        if word.lower() in STOPWORDS or count % 3:
            found.append(word)
    return " ".join(found)


WORDING = {"turned": turned, "shortened": shortened}
MEASURES = ("later", *WORDING)


# Replaying


def replayed(job: tuple[int, Plan]) -> dict[str, Figures]:
    """Replay one world by one plan, in a process of its own: it changes a copy of the memory."""
    number, plan = job
    world = WORLDS[number]
    memory = world.memory
    memory._held.state.settings = replace(memory.settings, learn=plan.learns)
    later = []
    with (
        _features_kept(),
        _set(flows, default_weights=lambda: world.priors[plan.domain]),
        _set(learning, STEP=plan.step, SERVED=plan.served, ALIKE=plan.alike),
        _set(flows, ALIKE=plan.alike),
    ):
        for probe, gold in world.asked:
            if gold:
                later.append(_recalls(memory, probe, gold, probe.question))
            if probe.reference.strip():
                _teach(memory, probe, plan.told)
        memory.check()
        measured = {"later": np.array(later)}
        for name, put in WORDING.items():
            again = []
            for probe, gold in world.asked:
                if gold:
                    again.append(_recalls(memory, probe, gold, put(probe.question)))
            measured[name] = np.array(again)
    return measured


def _recalls(memory: SlotMemory, probe: Probe, gold: Sequence[Gold], question: str) -> list[float]:
    texts = (memory.read(question, limit=limit, at=probe.at).text for limit in LIMITS)
    return [Wording.of(text).recall(gold) for text in texts]


def _teach(memory: SlotMemory, probe: Probe, told: Told) -> None:
    answer = memory.answer(probe.question, at=probe.at)
    if told == "reference":
        memory.feedback(answer, reference=probe.reference)
        return
    held = Contained().score(Attempt("", "", answer.text, probe.reference))
    alike = TokenF1().score(Attempt("", answer.text, "", probe.reference))
    memory.feedback(answer, reward=float(max(held, alike) >= RIGHT))


@contextmanager
def _set(module: ModuleType, **values: Any) -> Iterator[None]:
    names = vars(module)
    before = {name: names[name] for name in values}
    names.update(values)
    try:
        yield
    finally:
        names.update(before)


@contextmanager
def _features_kept() -> Iterator[None]:
    """Compute the features of a question once."""
    compute = score._table

    def table(index: PassageIndex, query: Query, words: Words) -> Any:
        key = (id(index), query.text, query.asked)
        if key not in KEPT:
            KEPT[key] = compute(index, query, words)
        return KEPT[key]

    with _set(score, _table=table):
        yield


def outcomes(plans: Sequence[Plan], workers: int) -> dict[Plan, Outcome]:
    """Replay every world by every plan."""
    jobs = [(n, plan) for plan, n in product(plans, range(len(WORLDS)))]
    found: dict[Plan, Outcome] = {plan: {} for plan in plans}
    context = multiprocessing.get_context("fork")
    with context.Pool(workers, maxtasksperchild=1) as pool:
        for done, ((n, plan), figures) in enumerate(
            zip(jobs, pool.imap(replayed, jobs), strict=True), 1
        ):
            found[plan][WORLDS[n].data_set, WORLDS[n].name] = figures
            print(f"{done} of {len(jobs)} replays", end="\x1b[K\r", file=sys.stderr)
    return found


# Judging


@dataclass(frozen=True, slots=True)
class Gains:
    """What plans gained over the plan of the same domain and feedback that does not learn."""

    outcomes: Mapping[Plan, Outcome]

    def of(self, plan: Plan, dialogue: tuple[str, str], measure: str) -> Figures:
        """Give the gain of each question, shape (questions, limits)."""
        without = Plan(plan.domain, plan.told)
        gain: Figures = (
            self.outcomes[plan][dialogue][measure] - self.outcomes[without][dialogue][measure]
        )
        return gain

    def row(self, choose: Callable[[tuple[str, str]], Plan], measure: str) -> str:
        """Put the mean gain on each data set in points, at both limits, with intervals."""
        cells = []
        for name in dict.fromkeys(world.data_set for world in WORLDS):
            parts = [d for d in _dialogues() if d[0] == name]
            gains = [self.of(choose(d), d, measure) for d in parts]
            clusters: list[tuple[str, str]] = []
            for d, gain in zip(parts, gains, strict=True):
                clusters += [d] * len(gain)
            cells += [_cell(np.concatenate(gains)[:, n], clusters) for n in range(len(LIMITS))]
        return " | ".join(cells)

    def mean(
        self, plan: Plan, dialogues: Sequence[tuple[str, str]], measures: Sequence[str]
    ) -> float:
        """Return the mean gain over data sets, limits and measures, each with equal weight."""
        sets = dict.fromkeys(name for name, _ in dialogues)
        means = []
        for name, measure in product(sets, measures):
            gains = [self.of(plan, d, measure) for d in dialogues if d[0] == name]
            means.append(np.concatenate(gains).mean())
        return float(np.mean(means))


def _dialogues() -> list[tuple[str, str]]:
    return [(world.data_set, world.name) for world in WORLDS]


def _cell(gains: Figures, clusters: Sequence[tuple[str, str]]) -> str:
    found = bootstrap([float(gain) for gain in gains], clusters)
    low, high = ((found.low or 0.0) * 100, (found.high or 0.0) * 100)
    return f"{found.mean * 100:+.1f} [{low:+.1f}, {high:+.1f}]"


def chosen(
    gains: Gains, plans: Sequence[Plan], measures: Sequence[str]
) -> Callable[[tuple[str, str]], Plan]:
    """Choose the best plan on every other dialogue of each data set, for those between."""
    halves: list[list[tuple[str, str]]] = [[], []]
    for name in dict.fromkeys(world.data_set for world in WORLDS):
        for n, dialogue in enumerate(d for d in _dialogues() if d[0] == name):
            halves[n % 2].append(dialogue)
    best = [max(plans, key=lambda plan: gains.mean(plan, half, measures)) for half in halves]
    return lambda dialogue: best[dialogue in halves[0]]


def show(title: str, rows: Sequence[tuple[str, str]]) -> None:
    sets = dict.fromkeys(world.data_set for world in WORLDS)
    heads = " | ".join(f"{name} {limit}" for name, limit in product(sets, LIMITS))
    print(f"\n{title}\n\n| | {heads} |\n|---|{'---|' * len(sets) * len(LIMITS)}")
    for name, cells in rows:
        print(f"| {name} | {cells} |", flush=True)


def report(gains: Gains, shipped: Plan) -> None:
    """Print every table."""
    for without in EVERY:
        _report_weights(gains, without)
    for without in EVERY[:2]:
        _report_served(gains, without, shipped.served)
    for without in EVERY:
        both = _always(replace(without, step=shipped.step, served=shipped.served))
        rows = [(measure, gains.row(both, measure)) for measure in MEASURES]
        show(f"Both, as shipped: {_kind(without)}", rows)


def _report_weights(gains: Gains, without: Plan) -> None:
    show(
        f"Recall without learning: {_kind(without)}",
        [(measure, level(gains, without, measure)) for measure in MEASURES],
    )
    plans = [replace(without, step=step) for step in STEPS]
    rows = [(f"{plan.step:g}", gains.row(_always(plan), "later")) for plan in plans]
    best = chosen(gains, [without, *plans], ["later"])
    rows.append(("chosen on the other half", gains.row(best, "later")))
    show(f"Weights alone, by step: later, {_kind(without)}", rows)


def _report_served(gains: Gains, without: Plan, served: float) -> None:
    plans = [replace(without, served=served) for served in SERVED]
    wider = [replace(without, served=served, alike=alike) for alike in ALIKE]
    best = chosen(gains, [without, *plans], MEASURES)
    for measure in MEASURES:
        rows = [(f"{p.served:g}", gains.row(_always(p), measure)) for p in plans]
        rows.append(("chosen on the other half", gains.row(best, measure)))
        rows += [
            (f"{p.served:g} from a cosine of {p.alike:g}", gains.row(_always(p), measure))
            for p in wider
        ]
        show(f"What served alone, by how far it is ahead: {measure}, {_kind(without)}", rows)


def _kind(plan: Plan) -> str:
    return f"{plan.domain} domain, {plan.told}"


def _always(plan: Plan) -> Callable[[tuple[str, str]], Plan]:
    return lambda _: plan


def level(gains: Gains, plan: Plan, measure: str) -> str:
    found = []
    for name in dict.fromkeys(world.data_set for world in WORLDS):
        parts = [
            figures[measure]
            for dialogue, figures in gains.outcomes[plan].items()
            if dialogue[0] == name
        ]
        found += [f"{value:.3f}".lstrip("0") for value in np.concatenate(parts).mean(axis=0)]
    return " | ".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    WORLDS.extend(worlds(given.data))
    shipped = Plan(step=learning.STEP, served=learning.SERVED)
    plans = [
        *EVERY,
        *(replace(plan, step=step) for plan, step in product(EVERY, STEPS)),
        *(replace(plan, served=served) for plan, served in product(EVERY[:2], SERVED)),
        *(
            replace(plan, served=shipped.served, alike=alike)
            for plan, alike in product(EVERY[:2], ALIKE)
        ),
        *(replace(plan, step=shipped.step, served=shipped.served) for plan in EVERY),
    ]
    report(Gains(outcomes(plans, given.workers)), shipped)


if __name__ == "__main__":
    main()
