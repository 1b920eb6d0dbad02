"""Fit the weights of Score_theta on three public benchmarks and conversations with an assistant
together, and judge them on dialogues they did not see.

    pip install demem-agent scipy
    python benchmarks/fit_weights.py --data FOLDER [--out weights.json] [--no-judging]

FOLDER holds ``locomo/*.json``, ``longmemeval/*.json`` (or ``.json.gz``) and
``beam/<chat>/chat.json``, each in the format it was published in, and ``chats``, which
``benchmarks/chats.py`` describes. Adversarial and unanswerable questions, which have no evidence,
are left out of fitting.

What is fitted is what a reading is judged by: how much of the gold turns is among the passages that
fill a limit. For one query and one limit B, passage p is "in" with probability sigmoid(s_p - t),
where the threshold t is such that the expected size of what is in equals B. The loss is the mean
over gold turns of -log(the share of the turn's word 4-grams that is expected to be in), over limits
of 2,000 and 6,000 characters, plus a small ridge. Long passages thus pay for the room they take.
After one fit to the benchmarks, each with equal weight, the dialogues of people and those of a user
with a model are fitted apart, the ridge drawing both towards the first; to the latter belong the
conversations, which are read at 500 characters as well, as their turns are short, and of which a
clause of a document is gold by its own words alone. So a score is in log-odds.

Figures are for dialogues left out of the fit (five folds of dialogues), through
``SlotMemory.read``: recall (``demem_agent.evaluate.recall``), averaged over questions. They come
out in Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import chats
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from demem_agent import SlotMemory
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, Probe, load_beam, load_locomo, load_longmemeval, recall
from demem_agent.evaluate.metrics import Gold
from demem_agent.reading import composing
from demem_agent.scoring import (
    FEATURES,
    PassageIndex,
    PassageScore,
    Query,
    Weights,
    default_weights,
    feature_table,
    features,
    focus,
)
from demem_agent.scoring.features.speakers import with_model
from demem_agent.text.quoting.saying import said
from demem_agent.turns import Turn

Floats = NDArray[np.float64]

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "weights.json"
SHIPPED_WEIGHTS = dict(zip(FEATURES, default_weights().values, strict=True))
LIMITS = (2000, 6000)
#: Of conversations, whose turns are short.
CHAT_LIMITS = (500, *LIMITS)
CHATS = "conversations"
#: What data sets count in the fit for chats, where it is not 1: those with the longest turns would
#: lose otherwise.
COUNTS = {"BEAM-100K": 1.5, "LongMemEval-S": 1.25}
RIDGE = 0.02
#: Share of a gold turn that is never lost: without it, one that is out of reach is all that counts.
LEAST = 0.02
FOLDS = 5
STEPS = 40
#: Characters that a passage takes in a reading besides what is said: the dash, the line end, its
#: part of a header.
OVERHEAD = 8
#: Set by hand, in log-odds. No data set here has untrusted turns, or tells who asks.
BY_HAND = {name: SHIPPED_WEIGHTS[name] for name in features.BY_HAND}
FITTED = [n for n, name in enumerate(FEATURES) if name not in BY_HAND]
#: Fitted for chats alone, and what they are in the first fit: no published data set here has
#: questions that a model's own words answer, and it would learn that none ever do (9.3).
WITHOUT_CHATS = {"user": 2.0, "model": 0.0, "model_replies": 0.0}
OF_CHATS = [FITTED.index(FEATURES.index(name)) for name in WITHOUT_CHATS]
WITHOUT_EVIDENCE = ("adversarial", "abstention")
PRIORS = (0.0, 0.15, 0.3)


def one_hot(**values: float) -> Weights:
    return Weights(tuple(float(values.get(name, 0.0)) for name in FEATURES))


BASELINES = {
    "cosine": one_hot(cosine=1.0),
    "BM25": one_hot(bm25=1.0),
    "z(cosine) + 0.6 z(BM25)": one_hot(cosine=1.0, bm25=0.6),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One question: features of shape (n, features) in :data:`FITTED`, what those set by hand add,
    the room that each passage takes, of each gold turn the rows and the share of it in each, and
    the limits that it is read with."""

    table: Floats
    fixed: Floats
    cost: Floats
    gold: tuple[tuple[NDArray[np.intp], Floats], ...]
    chat: bool
    limits: tuple[int, ...] = LIMITS


@dataclass(frozen=True, slots=True)
class Sample:
    """One dialogue of a data set, remembered, with its questions that have evidence."""

    data_set: str
    dialogue: Dialogue
    memory: SlotMemory
    probes: tuple[Probe, ...]
    cases: tuple[Case, ...]

    @property
    def index(self) -> PassageIndex:
        return self.memory._held.state.passage_index()


# Reading the data


def load(folder: Path) -> dict[str, list[Dialogue]]:
    """Read what is there of the three data sets."""
    found: dict[str, list[Dialogue]] = {"LoCoMo": [], "LongMemEval-S": [], "BEAM-100K": []}
    for path in sorted(folder.glob("locomo/*.json")):
        found["LoCoMo"] += load_locomo(path)
    for path in sorted(folder.glob("longmemeval/*.json*")):
        found["LongMemEval-S"] += load_longmemeval(path)
    if (folder / "beam").is_dir():
        found["BEAM-100K"] += load_beam(folder / "beam")
    missing = [name for name, dialogues in found.items() if not dialogues]
    if missing:
        sys.exit(f"{folder} holds no {' and no '.join(missing)}; see --help for the layout")
    return found


def sample(data_set: str, dialogue: Dialogue) -> Sample:
    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    probes = tuple(p for p in dialogue.probes if p.evidence and p.category not in WITHOUT_EVIDENCE)
    turns = {turn.source_id: turn for turn in dialogue.turns}
    cases = tuple(_case(memory, probe, turns) for probe in probes)
    return Sample(data_set, dialogue, memory, probes, cases)


def chat_sample(chat: chats.Chat) -> Sample:
    """Remember a conversation; of a clause of a document only its words are gold."""
    memory = chat.remembered()
    turns = {turn.source_id: turn for turn in chat.turns}
    probes, cases = [], []
    for question in chat.questions:
        probe = Probe(question.text, "", question.evidence, question.kind, at=question.at)
        clause = {question.evidence[0]: Turn(" ".join(question.quotes))} if question.quotes else {}
        probes.append(probe)
        cases.append(replace(_case(memory, probe, turns | clause), limits=CHAT_LIMITS))
    dialogue = Dialogue(chat.name, chat.turns, tuple(probes))
    return Sample(CHATS, dialogue, memory, tuple(probes), tuple(cases))


def asked(probe: Probe) -> Query:
    vector = default_encoder().encode([focus(probe.question)])[0]
    return Query(probe.question, vector, probe.at.date() if probe.at else None)


def _case(memory: SlotMemory, probe: Probe, turns: Mapping[str | None, Turn]) -> Case:
    state = memory._held.state
    index = state.passage_index()
    rows, table = feature_table(index, asked(probe))
    cost: list[int] = []
    sources: list[str | None] = []
    for row in rows:
        passage = index.passages[row]
        item = state.evidence[passage.evidence_id]
        cost.append(len(said(item, passage.start, passage.end)) + OVERHEAD)
        sources.append(item.source_id)
    source_of = np.array(sources)
    gold = []
    for source in dict.fromkeys(probe.evidence):
        found = np.flatnonzero(source_of == source)
        whole = Gold.of(turns[source]).grams
        if len(found) and whole:
            shares = _shares(memory, rows[found], whole)
            if shares.any():  # of a clause of a few words no four are in one passage
                gold.append((found, shares))
    by_hand = np.array([BY_HAND.get(name, 0.0) for name in FEATURES])
    return Case(
        table[:, FITTED].astype(np.float64),
        table @ by_hand,
        np.array(cost, float),
        tuple(gold),
        with_model(index.speakers.codes),
    )


def _shares(
    memory: SlotMemory, rows: NDArray[np.intp], whole: frozenset[tuple[str, ...]]
) -> Floats:
    """Return the share of a turn's n-grams that each of its passages holds."""
    state = memory._held.state
    shares = []
    for row in rows:
        passage = state.passage_index().passages[row]
        text = state.evidence[passage.evidence_id].text[passage.start : passage.end]
        shares.append(len(Gold.of(Turn(text)).grams & whole) / len(whole))
    return np.array(shares)


# Fitting


def fit(samples: Sequence[Sample]) -> Weights:
    """Fit one weight a feature, twice; the questions of one data set count the same."""
    benchmarks = weighted([s for s in samples if s.data_set != CHATS])
    deviation = np.concatenate([case.table for case, _ in benchmarks]).std(axis=0) + 1e-6

    def scaled(cases: Sequence[tuple[Case, float]]) -> list[tuple[Case, float]]:
        return [(replace(case, table=case.table / deviation), weight) for case, weight in cases]

    baseline = np.array(BASELINES["z(cosine) + 0.6 z(BM25)"].values)[FITTED]
    baseline[OF_CHATS] = list(WITHOUT_CHATS.values())
    among_people = np.ones(len(FITTED), np.bool_)
    among_people[OF_CHATS] = False
    start = baseline * deviation
    both = _minimum(scaled(benchmarks), start, np.zeros(len(FITTED)), among_people)
    found = []
    for chat in (False, True):
        cases = weighted(samples, COUNTS) if chat else benchmarks
        part = [(case, weight) for case, weight in scaled(cases) if case.chat == chat]
        moved = among_people | chat
        fitted = _minimum(part, both, both, moved) if part else both
        by_name = dict(zip([FEATURES[n] for n in FITTED], fitted / deviation, strict=True))
        found.append(one_hot(**by_name, **BY_HAND).values)
    return Weights(*found)


def _minimum(
    cases: Sequence[tuple[Case, float]],
    start: Floats,
    towards: Floats,
    moved: NDArray[np.bool_],
) -> Floats:
    """Return the weights of the least loss, from a start, drawn towards some weights.

    Args:
        moved: which of them are fitted; the others stay.
    """
    thresholds: dict[tuple[int, int], float] = {}

    def loss(weights: Floats) -> tuple[float, Floats]:
        found, gradient = _loss(weights, cases, thresholds, towards)
        return found, gradient * moved

    found = minimize(loss, start, method="L-BFGS-B", jac=True, options={"maxiter": STEPS})
    values: Floats = found.x
    return values


def weighted(
    samples: Sequence[Sample], counts: Mapping[str, float] = MappingProxyType({})
) -> list[tuple[Case, float]]:
    """Return the cases with gold, and what each counts for.

    Args:
        counts: of data sets, where it is not 1.
    """
    count: Counter[str] = Counter()
    for s in samples:
        count[s.data_set] += sum(1 for case in s.cases if case.gold)
    cases: list[tuple[Case, float]] = []
    for s in samples:
        weight = counts.get(s.data_set, 1.0) / count[s.data_set]
        cases += [(case, weight) for case in s.cases if case.gold]
    return cases


def _loss(
    weights: Floats,
    cases: Sequence[tuple[Case, float]],
    thresholds: dict[tuple[int, int], float],
    towards: Floats,
) -> tuple[float, Floats]:
    """Return the loss and its gradient.

    It starts to look at the ``thresholds`` of the last call.
    """
    away = weights - towards
    loss = RIDGE * float(away @ away)
    gradient = 2 * RIDGE * away
    for n, (case, weight) in enumerate(cases):
        scores = case.table @ weights + case.fixed
        share = weight / len(case.gold)
        for limit in case.limits:
            before = thresholds.get((n, limit), float(np.sort(scores)[-8:][0]))
            t = threshold(scores, case.cost, limit, before)
            thresholds[n, limit] = t
            inside = expit(scores - t)
            steep = inside * (1 - inside)
            slope = case.cost * steep
            moved = (slope / slope.sum()) @ case.table  # how t follows the weights
            for rows, held in case.gold:
                expected = float(held @ inside[rows]) + LEAST
                pull = held * steep[rows] / expected
                loss -= share * float(np.log(expected))
                gradient = gradient - share * (pull @ case.table[rows] - pull.sum() * moved)
    return loss, gradient


def threshold(scores: Floats, cost: Floats, limit: int, t: float) -> float:
    """Solve sum(cost * sigmoid(scores - t)) = limit by Newton steps kept inside a bracket."""
    low = float(scores.min()) - 30.0
    high = float(scores.max()) + 30.0
    for _ in range(60):
        inside = expit(scores - t)
        excess = float(cost @ inside) - limit
        if abs(excess) < 1e-4 * limit:
            break
        low, high = (t, high) if excess > 0 else (low, t)
        slope = float(cost @ (inside * (1 - inside)))
        step = t + excess / max(slope, 1e-9)
        t = step if low < step < high else (low + high) / 2
    return t


# Judging


@contextmanager
def in_use(memory: SlotMemory, form: PassageScore, prior: float) -> Iterator[None]:
    """Have a memory read by this form of the score and this prior of the routed slot."""
    state = memory._held.state
    default = state.score_theta
    shipped = composing.SLOT_PRIOR
    state.score_theta = form
    composing.SLOT_PRIOR = prior
    try:
        yield
    finally:
        state.score_theta = default
        composing.SLOT_PRIOR = shipped


def recalls(s: Sample, limit: int) -> list[float]:
    """Return how much of the gold turns is in the reading, for each question."""
    shares = []
    turns = {turn.source_id: turn for turn in s.dialogue.turns}
    for probe in s.probes:
        text = s.memory.read(probe.question, limit=limit, at=probe.at).text
        shares.append(recall(text, [turns[id] for id in probe.evidence]))
    return shares


def table_of(
    samples: Sequence[Sample], form: Callable[[Sample], PassageScore], prior: float
) -> dict[str, list[float]]:
    """Return for each data set the mean recall at each limit."""
    found: dict[str, list[list[float]]] = {}
    for s in samples:
        with in_use(s.memory, form(s), prior):
            parts = found.setdefault(s.data_set, [[] for _ in LIMITS])
            for part, limit in zip(parts, LIMITS, strict=True):
                part += recalls(s, limit)
    return {data_set: _means(parts) for data_set, parts in found.items()}


def _means(parts: Sequence[Sequence[float]]) -> list[float]:
    return [float(np.mean(part)) for part in parts]


def row(name: str, figures: Mapping[str, Sequence[float]]) -> str:
    cells = " | ".join(map(_cell, figures.values()))
    return f"| {name} | {cells} |"


def _cell(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.3f}".lstrip("0") for value in values)


# All of it


def folds(samples: Sequence[Sample]) -> dict[tuple[str, str], int]:
    """Deal the dialogues of each data set into folds, in the order of the files."""
    dealt: Counter[str] = Counter()
    found: dict[tuple[str, str], int] = {}
    for s in samples:
        found[s.data_set, s.dialogue.name] = dealt[s.data_set] % FOLDS
        dealt[s.data_set] += 1
    return found


def judge(samples: Sequence[Sample]) -> dict[str, dict[str, list[float]]]:
    """Print the tables; return the held-out figures by the prior they were read with."""
    fitted = held_out(samples)

    def chosen(s: Sample) -> Weights:
        return fitted[s.data_set, s.dialogue.name]

    sets = list(dict.fromkeys(s.data_set for s in samples))
    print(f"| | {' | '.join(sets)} |\n|---|{'---|' * len(sets)}")
    for name, weights in BASELINES.items():
        print(row(name, table_of(samples, _always(weights), 0.0)))
    found = {}
    for prior in PRIORS:
        figures = table_of(samples, chosen, prior)
        found[f"prior {prior}"] = figures
        print(row(f"fitted, held out, prior {prior}", figures), flush=True)
    return found


def _always(weights: Weights) -> Callable[[Sample], Weights]:
    return lambda _: weights


def held_out(samples: Sequence[Sample]) -> dict[tuple[str, str], Weights]:
    """Return for each dialogue the weights that are fitted without it."""
    found: dict[tuple[str, str], Weights] = {}
    fold = folds(samples)
    for n in range(FOLDS):
        left_in = [s for s in samples if fold[s.data_set, s.dialogue.name] != n]
        left_out = [name for name, of in fold.items() if of == n]
        found |= dict.fromkeys(left_out, fit(left_in))
        print(f"fold {n + 1} of {FOLDS}", end="\r", file=sys.stderr)
    return found


def _rounded(table: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    rounded = {}
    for name, values in table.items():
        rounded[name] = [round(value, 3) for value in values]
    return rounded


def _by_name(values: Sequence[float]) -> dict[str, float]:
    rounded = [round(value, 3) for value in values]
    return dict(zip(FEATURES, rounded, strict=True))


def options(what: str, shipped: Path) -> argparse.Namespace:
    """Read the command line of a fit.

    Args:
        what: is fitted, in a few words.
        shipped: where it is written unless something else is given.
    """
    parser = argparse.ArgumentParser(description=f"Fit {what}.")
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--out", type=Path, default=shipped, help="where to write it")
    parser.add_argument("--no-judging", action="store_true", help="only fit and write")
    return parser.parse_args()


def main() -> None:
    given = options("the weights of the score", SHIPPED)
    samples = [chat_sample(chat) for chat in chats.load(given.data / "chats")]
    for name, dialogues in load(given.data).items():
        samples += [sample(name, dialogue) for dialogue in dialogues]
    figures = {} if given.no_judging else judge(samples)
    weights = fit(samples)
    content = {
        "made_by": "benchmarks/fit_weights.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "fitted_on": Counter(s.data_set for s in samples),
        "limits": LIMITS,
        "held_out_recall": {prior: _rounded(table) for prior, table in figures.items()},
        "weights": _by_name(weights.of(chat=False)),
        "chat": _by_name(weights.of(chat=True)),
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"weights": content["weights"], "chat": content["chat"]}, indent=2))


if __name__ == "__main__":
    main()
