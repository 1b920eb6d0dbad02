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

from demem_agent import SlotMemory, SplitSettings, Turn
from demem_agent.answering.scorers import Contained, TokenF1
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.evaluate.metrics import UNANSWERABLE, Gold, Wording
from demem_agent.scoring import PassageIndex, Query, Weights, learning, score
from demem_agent.scoring.query import Words
from demem_agent.slots import routing
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
    other: dict[str, Weights] = {}
    for name in data:
        other[name] = fit([s for s in samples if s.data_set != name])
    found: list[World] = []
    for name, dialogues in data.items():
        for part in _parts(dialogues):
            inside = {(name, dialogue.name) for dialogue in part}
            outside = [s for s in samples if (s.data_set, s.dialogue.name) not in inside]
            dialogue = part[0] if len(part) == 1 else _joined(part)
            found.append(_world(name, dialogue, {"known": fit(outside), "new": other[name]}))
            print(f"{name} {dialogue.name}", end="\x1b[K\r", file=sys.stderr)
    return found


def _parts(dialogues: Sequence[Dialogue]) -> list[list[Dialogue]]:
    """Return the dialogues of one memory each."""
    if len(dialogues[0].probes) > 1:
        return [[dialogue] for dialogue in dialogues]
    return _groups(dialogues)


def _world(data_set: str, dialogue: Dialogue, priors: Mapping[Domain, Weights]) -> World:
    memory = SlotMemory(split=SplitSettings(pairs=0))
    memory.ingest_many(dialogue.turns)
    asked = tuple(_asked(dialogue))
    with _features_kept():
        for probe, _ in asked:
            memory.route(probe.question, at=probe.at)
            for put in WORDING.values():
                memory.route(put(probe.question), at=probe.at)
    return World(data_set, dialogue.name, memory, asked, priors)


def _asked(dialogue: Dialogue) -> Iterator[tuple[Probe, tuple[Gold, ...]]]:
    """Yield the questions that can be answered, each with what is gold for it."""
    cut: dict[str | None, Gold] = {}
    for turn in dialogue.turns:
        gold = Gold.of(turn)
        if gold.whole:
            cut[turn.source_id] = gold
    for probe in dialogue.probes:
        if probe.category not in UNANSWERABLE:
            yield probe, tuple(cut[source] for source in probe.evidence if source in cut)


def _groups(dialogues: Sequence[Dialogue]) -> list[list[Dialogue]]:
    whole, left = divmod(len(dialogues), HAYSTACKS)
    count = max(whole, 1) + (left > HAYSTACKS // 2)
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
    with (
        _features_kept(),
        _set(routing, default_weights=lambda: world.priors[plan.domain], ALIKE=plan.alike),
        _set(learning, STEP=plan.step, SERVED=plan.served, ALIKE=plan.alike),
    ):
        measured = {"later": _recalled_and_taught(world, plan.told)}
        memory.check()
        for name, put in WORDING.items():
            measured[name] = _recalled_again(world, put)
    return measured


def _recalled_and_taught(world: World, told: Told) -> Figures:
    """Ask all questions in order, each measured before its feedback is given."""
    recalls: list[list[float]] = []
    for probe, gold in world.asked:
        if gold:
            recalls.append(_recalls(world.memory, probe, gold, probe.question))
        if probe.reference.strip():
            _teach(world.memory, probe, told)
    return np.array(recalls)


def _recalled_again(world: World, put: Callable[[str], str]) -> Figures:
    """Ask all questions once more, put otherwise."""
    recalls: list[list[float]] = []
    for probe, gold in world.asked:
        if gold:
            question = put(probe.question)
            recalls.append(_recalls(world.memory, probe, gold, question))
    return np.array(recalls)


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
        for done, figures in enumerate(pool.imap(replayed, jobs)):
            n, plan = jobs[done]
            found[plan][WORLDS[n].data_set, WORLDS[n].name] = figures
            print(f"{done + 1} of {len(jobs)} replays", end="\x1b[K\r", file=sys.stderr)
    return found


# Judging


@dataclass(frozen=True, slots=True)
class Gains:
    """What plans gained over the plan of the same domain and feedback that does not learn."""

    outcomes: Mapping[Plan, Outcome]

    def of(self, plan: Plan, dialogue: tuple[str, str], measure: str) -> Figures:
        """Return the gain of each question, shape (questions, limits)."""
        without = Plan(plan.domain, plan.told)
        learned = self.outcomes[plan][dialogue][measure]
        gain: Figures = learned - self.outcomes[without][dialogue][measure]
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
            cells += [_cell(at_limit, clusters) for at_limit in np.concatenate(gains).T]
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
    low = (found.low or 0.0) * 100
    high = (found.high or 0.0) * 100
    return f"{found.mean * 100:+.1f} [{low:+.1f}, {high:+.1f}]"


def chosen(
    gains: Gains, plans: Sequence[Plan], measures: Sequence[str]
) -> Callable[[tuple[str, str]], Plan]:
    """Choose the best plan on every other dialogue of each data set, for those between."""
    halves: list[list[tuple[str, str]]] = [[], []]
    for name in dict.fromkeys(world.data_set for world in WORLDS):
        of_set = [dialogue for dialogue in _dialogues() if dialogue[0] == name]
        halves[0] += of_set[0::2]
        halves[1] += of_set[1::2]
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
        rows = [(f"{plan.served:g}", gains.row(_always(plan), measure)) for plan in plans]
        rows.append(("chosen on the other half", gains.row(best, measure)))
        for plan in wider:
            name = f"{plan.served:g} from a cosine of {plan.alike:g}"
            rows.append((name, gains.row(_always(plan), measure)))
        show(f"What served alone, by how far it is ahead: {measure}, {_kind(without)}", rows)


def _kind(plan: Plan) -> str:
    return f"{plan.domain} domain, {plan.told}"


def _always(plan: Plan) -> Callable[[tuple[str, str]], Plan]:
    return lambda _: plan


def level(gains: Gains, plan: Plan, measure: str) -> str:
    found = []
    outcome = gains.outcomes[plan]
    for name in dict.fromkeys(world.data_set for world in WORLDS):
        parts = [figures[measure] for (of_set, _), figures in outcome.items() if of_set == name]
        found += [f"{value:.3f}".lstrip("0") for value in np.concatenate(parts).mean(axis=0)]
    return " | ".join(found)


def _plans(shipped: Plan) -> list[Plan]:
    """Return every plan that a table needs."""
    plans = [*EVERY]
    plans += [replace(plan, step=step) for plan, step in product(EVERY, STEPS)]
    for plan in EVERY[:2]:
        plans += [replace(plan, served=served) for served in SERVED]
    for plan in EVERY[:2]:
        plans += [replace(plan, served=shipped.served, alike=alike) for alike in ALIKE]
    plans += [replace(plan, step=shipped.step, served=shipped.served) for plan in EVERY]
    return plans


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    WORLDS.extend(worlds(given.data))
    shipped = Plan(step=learning.STEP, served=learning.SERVED)
    report(Gains(outcomes(_plans(shipped), given.workers)), shipped)


if __name__ == "__main__":
    main()
