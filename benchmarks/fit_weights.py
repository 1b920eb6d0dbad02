"""Fit the weights of Score_theta on three public benchmarks together, and judge them on dialogues
they did not see.

    pip install demem-agent scipy
    python benchmarks/fit_weights.py --data FOLDER [--out weights.json] [--no-judging]

FOLDER holds ``locomo/*.json``, ``longmemeval/*.json`` (or ``.json.gz``) and
``beam/<chat>/chat.json``, each in the format it was published in. Adversarial and unanswerable
questions, which have no evidence, are left out of fitting.

What is fitted is what a reading is judged by: that gold turns are among the passages that fill a
limit. For one query and one limit B, passage p is "in" with probability sigmoid(s_p - t), where the
threshold t is such that the expected size of what is in equals B. The loss is the mean over gold
turns of -log P(best passage of the turn is in), over limits of 2,000 and 6,000 characters, each
data set with equal weight, plus a small ridge. Long passages thus pay for the room they take. The
scores are then divided by the weight of the cosine, whose unit they keep.

Figures are for dialogues left out of the fit (five folds of dialogues), through
``SlotMemory.read``: the share of a question's gold turns that are found in the text, averaged over
questions. They come out in Markdown.
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

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from demem_agent import SlotMemory
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, Probe, load_beam, load_locomo, load_longmemeval, recall
from demem_agent.reading import composing
from demem_agent.scoring import (
    FEATURES,
    PassageIndex,
    Query,
    Weights,
    default_weights,
    feature_table,
    features,
    focus,
)
from demem_agent.slots import routing
from demem_agent.text.saying import said

Floats = NDArray[np.float64]

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "weights.json"
SHIPPED_WEIGHTS = dict(zip(FEATURES, default_weights().values, strict=True))
LIMITS = (2000, 6000)
RIDGE = 0.05
FOLDS = 5
STEPS = 40
#: Characters that a passage takes in a reading besides what is said: the dash, the line end, its
#: part of a header.
OVERHEAD = 8
#: Set by hand, in deviations of the cosine. No data set here has untrusted turns. And since one
#: passage of a turn is enough to count, fitting would hold back the rest of a long turn (to -3.3)
#: more than a reader wants: -1 costs no recall and reads more of the gold.
BY_HAND = {name: SHIPPED_WEIGHTS[name] for name in features.BY_HAND}
FITTED = [n for n, name in enumerate(FEATURES) if name not in BY_HAND]
WITHOUT_EVIDENCE = ("adversarial", "abstention")
PRIORS = (0.0, 0.15, 0.3)


def one_hot(**values: float) -> Weights:
    return Weights(tuple(values.get(name, 0.0) for name in FEATURES))


BASELINES = {
    "cosine": one_hot(cosine=1.0),
    "BM25": one_hot(bm25=1.0),
    "z(cosine) + 0.6 z(BM25)": one_hot(cosine=1.0, bm25=0.6),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One question: features of shape (n, features) in :data:`FITTED`, what those set by hand add,
    the room that each passage takes, and the rows of each gold turn."""

    table: Floats
    fixed: Floats
    cost: Floats
    gold: tuple[NDArray[np.intp], ...]


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
    memory = SlotMemory()
    memory.ingest_many(dialogue.turns)
    probes = tuple(p for p in dialogue.probes if p.evidence and p.category not in WITHOUT_EVIDENCE)
    cases = tuple(_case(memory, probe) for probe in probes)
    return Sample(data_set, dialogue, memory, probes, cases)


def asked(probe: Probe) -> Query:
    vector = default_encoder().encode([focus(probe.question)])[0]
    return Query(probe.question, vector, probe.at.date() if probe.at else None)


def _case(memory: SlotMemory, probe: Probe) -> Case:
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
    gold = [np.flatnonzero(source_of == source) for source in probe.evidence]
    by_hand = np.array([BY_HAND.get(name, 0.0) for name in FEATURES])
    return Case(
        table[:, FITTED].astype(np.float64),
        table @ by_hand,
        np.array(cost, float),
        tuple(rows_of_turn for rows_of_turn in gold if len(rows_of_turn)),
    )


# Fitting


def fit(samples: Sequence[Sample]) -> Weights:
    """Fit one weight a feature; data sets count the same, and so do the questions of one."""
    cases = _weighted(samples)
    deviation = np.concatenate([case.table for case, _ in cases]).std(axis=0) + 1e-6
    scaled = [(replace(case, table=case.table / deviation), weight) for case, weight in cases]
    baseline = np.array(BASELINES["z(cosine) + 0.6 z(BM25)"].values)
    start = baseline[FITTED] * deviation
    thresholds: dict[tuple[int, int], float] = {}
    found = minimize(
        _loss, start, (scaled, thresholds), "L-BFGS-B", jac=True, options={"maxiter": STEPS}
    )
    names = [FEATURES[n] for n in FITTED]
    fitted = dict(zip(names, found.x / deviation, strict=True))
    unit = fitted["cosine"]
    in_cosines = {name: float(value / unit) for name, value in fitted.items()}
    return one_hot(**in_cosines, **BY_HAND)


def _weighted(samples: Sequence[Sample]) -> list[tuple[Case, float]]:
    """Return the cases with gold, and what each counts for."""
    count: Counter[str] = Counter()
    for s in samples:
        count[s.data_set] += len(s.cases)
    cases: list[tuple[Case, float]] = []
    for s in samples:
        cases += [(case, 1.0 / count[s.data_set]) for case in s.cases if case.gold]
    return cases


def _loss(
    weights: Floats, cases: Sequence[tuple[Case, float]], thresholds: dict[tuple[int, int], float]
) -> tuple[float, Floats]:
    """Return the loss and its gradient.

    It starts to look at the ``thresholds`` of the last call.
    """
    loss = RIDGE * float(weights @ weights)
    gradient = 2 * RIDGE * weights
    for n, (case, weight) in enumerate(cases):
        scores = case.table @ weights + case.fixed
        best = [rows[scores[rows].argmax()] for rows in case.gold]
        share = weight / len(best)
        for limit in LIMITS:
            before = thresholds.get((n, limit), float(np.sort(scores)[-8:][0]))
            t = _threshold(scores, case.cost, limit, before)
            thresholds[n, limit] = t
            slope = case.cost * expit(scores - t) * expit(t - scores)
            moved = (slope / slope.sum()) @ case.table  # how t follows the weights
            margins = scores[best] - t
            loss += share * float(np.logaddexp(0.0, -margins).sum())
            pull = expit(-margins) @ (case.table[best] - moved)
            gradient = gradient - share * pull
    return loss, gradient


def _threshold(scores: Floats, cost: Floats, limit: int, t: float) -> float:
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
def in_use(weights: Weights, prior: float) -> Iterator[None]:
    """Have every memory read with these weights and this prior of the routed slot."""
    default = routing.default_weights
    shipped = composing.SLOT_PRIOR
    routing.default_weights = lambda: weights
    composing.SLOT_PRIOR = prior
    try:
        yield
    finally:
        routing.default_weights = default
        composing.SLOT_PRIOR = shipped


def recalls(s: Sample, limit: int) -> list[float]:
    """Return the share of gold turns in the reading, for each question."""
    shares = []
    turns = {turn.source_id: turn for turn in s.dialogue.turns}
    for probe in s.probes:
        text = s.memory.read(probe.question, limit=limit, at=probe.at).text
        shares.append(recall(text, [turns[id] for id in probe.evidence]))
    return shares


def table_of(
    samples: Sequence[Sample], weights: Callable[[Sample], Weights], prior: float
) -> dict[str, list[float]]:
    """Return for each data set the mean recall at each limit."""
    found: dict[str, list[list[float]]] = {}
    for s in samples:
        with in_use(weights(s), prior):
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
    held_out = _held_out(samples)

    def chosen(s: Sample) -> Weights:
        return held_out[s.data_set, s.dialogue.name]

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


def _held_out(samples: Sequence[Sample]) -> dict[tuple[str, str], Weights]:
    """Return for each dialogue the weights that are fitted without it."""
    held_out: dict[tuple[str, str], Weights] = {}
    fold = folds(samples)
    for n in range(FOLDS):
        left_in = [s for s in samples if fold[s.data_set, s.dialogue.name] != n]
        left_out = [name for name, of in fold.items() if of == n]
        held_out |= dict.fromkeys(left_out, fit(left_in))
        print(f"fold {n + 1} of {FOLDS}", end="\r", file=sys.stderr)
    return held_out


def _rounded(table: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    rounded = {}
    for name, values in table.items():
        rounded[name] = [round(value, 3) for value in values]
    return rounded


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the weights")
    parser.add_argument("--no-judging", action="store_true", help="only fit and write")
    return parser.parse_args()


def main() -> None:
    given = options()
    samples: list[Sample] = []
    for name, dialogues in load(given.data).items():
        samples += [sample(name, dialogue) for dialogue in dialogues]
    figures = {} if given.no_judging else judge(samples)
    weights = [round(value, 3) for value in fit(samples).values]
    content = {
        "made_by": "benchmarks/fit_weights.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "fitted_on": Counter(s.data_set for s in samples),
        "limits": LIMITS,
        "held_out_recall": {prior: _rounded(table) for prior, table in figures.items()},
        "weights": dict(zip(FEATURES, weights, strict=True)),
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(content["weights"], indent=2))


if __name__ == "__main__":
    main()
