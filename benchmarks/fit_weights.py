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

from demem_agent import SlotMemory, flows
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, Probe, load_beam, load_locomo, load_longmemeval, recall
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
    if missing := [name for name, dialogues in found.items() if not dialogues]:
        sys.exit(f"{folder} holds no {' and no '.join(missing)}; see --help for the layout")
    return found


def sample(data_set: str, dialogue: Dialogue) -> Sample:
    memory = SlotMemory()
    memory.ingest_many(dialogue.turns)
    probes = tuple(p for p in dialogue.probes if p.evidence and p.category not in WITHOUT_EVIDENCE)
    return Sample(
        data_set, dialogue, memory, probes, tuple(_case(memory, probe) for probe in probes)
    )


def asked(probe: Probe) -> Query:
    vector = default_encoder().encode([focus(probe.question)])[0]
    return Query(probe.question, vector, probe.at.date() if probe.at else None)


def _case(memory: SlotMemory, probe: Probe) -> Case:
    state = memory._held.state
    index = state.passage_index()
    rows, table = feature_table(index, asked(probe))
    passages = [index.passages[row] for row in rows]
    cost = [len(said(state.evidence[p.evidence_id], p.start, p.end)) + OVERHEAD for p in passages]
    sources = np.array([state.evidence[p.evidence_id].source_id for p in passages])
    gold = [np.flatnonzero(sources == source) for source in probe.evidence]
    fixed = table @ np.array([BY_HAND.get(name, 0.0) for name in FEATURES])
    return Case(
        table[:, FITTED].astype(np.float64),
        fixed,
        np.array(cost, float),
        tuple(g for g in gold if len(g)),
    )


# Fitting


def fit(samples: Sequence[Sample]) -> Weights:
    """Fit one weight a feature; data sets count the same, and so do the questions of one."""
    count: Counter[str] = Counter()
    for s in samples:
        count[s.data_set] += len(s.cases)
    cases = []
    for s in samples:
        cases += [(case, 1.0 / count[s.data_set]) for case in s.cases if case.gold]
    deviation = np.concatenate([case.table for case, _ in cases]).std(axis=0) + 1e-6
    scaled = [(replace(case, table=case.table / deviation), weight) for case, weight in cases]
    start = np.array([BASELINES["z(cosine) + 0.6 z(BM25)"].values[n] for n in FITTED]) * deviation
    thresholds: dict[tuple[int, int], float] = {}
    found = minimize(
        _loss, start, (scaled, thresholds), "L-BFGS-B", jac=True, options={"maxiter": STEPS}
    )
    fitted = dict(zip((FEATURES[n] for n in FITTED), found.x / deviation, strict=True))
    unit = fitted["cosine"]
    return Weights(
        tuple(BY_HAND.get(name, float(fitted.get(name, 0.0) / unit)) for name in FEATURES)
    )


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
        best = [held[scores[held].argmax()] for held in case.gold]
        for limit in LIMITS:
            t = _threshold(
                scores, case.cost, limit, thresholds.get((n, limit), float(np.sort(scores)[-8:][0]))
            )
            thresholds[n, limit] = t
            slope = case.cost * expit(scores - t) * expit(t - scores)
            moved = (slope / slope.sum()) @ case.table  # how t follows the weights
            margins = scores[best] - t
            share = weight / len(best)
            loss += share * float(np.logaddexp(0.0, -margins).sum())
            gradient = gradient - share * (expit(-margins) @ (case.table[best] - moved))
    return loss, gradient


def _threshold(scores: Floats, cost: Floats, limit: int, t: float) -> float:
    """Solve sum(cost * sigmoid(scores - t)) = limit by Newton steps kept inside a bracket."""
    low, high = float(scores.min()) - 30.0, float(scores.max()) + 30.0
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
    names = vars(flows)
    before = {name: names[name] for name in ("default_weights", "SLOT_PRIOR")}
    names.update(default_weights=lambda: weights, SLOT_PRIOR=prior)
    try:
        yield
    finally:
        names.update(before)


def recalls(s: Sample, limit: int) -> list[float]:
    """Give the share of gold turns in the reading, for each question."""
    shares = []
    turns = {turn.source_id: turn for turn in s.dialogue.turns}
    for probe in s.probes:
        text = s.memory.read(probe.question, limit=limit, at=probe.at).text
        shares.append(recall(text, [turns[id] for id in probe.evidence]))
    return shares


def table_of(
    samples: Sequence[Sample], weights: Callable[[Sample], Weights], prior: float
) -> dict[str, list[float]]:
    """Give for each data set the mean recall at each limit."""
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
    held_out: dict[tuple[str, str], Weights] = {}
    fold = folds(samples)
    for n in range(FOLDS):
        weights = fit([s for s in samples if fold[s.data_set, s.dialogue.name] != n])
        held_out |= {name: weights for name, of in fold.items() if of == n}
        print(f"fold {n + 1} of {FOLDS}", end="\r", file=sys.stderr)

    def chosen(s: Sample) -> Weights:
        return held_out[s.data_set, s.dialogue.name]

    sets = list(dict.fromkeys(s.data_set for s in samples))
    print(f"| | {' | '.join(sets)} |\n|---|{'---|' * len(sets)}")
    for name, weights in BASELINES.items():
        print(row(name, table_of(samples, lambda _, fixed=weights: fixed, 0.0)))  # type: ignore[misc]
    found = {}
    for prior in PRIORS:
        found[f"prior {prior}"] = table_of(samples, chosen, prior)
        print(row(f"fitted, held out, prior {prior}", found[f"prior {prior}"]), flush=True)
    return found


def _rounded(table: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    rounded = {}
    for name, values in table.items():
        rounded[name] = [round(value, 3) for value in values]
    return rounded


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the weights")
    parser.add_argument("--no-judging", action="store_true", help="only fit and write")
    given = parser.parse_args()
    samples: list[Sample] = []
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
        "weights": {
            name: round(value, 3) for name, value in zip(FEATURES, weights.values, strict=True)
        },
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(content["weights"], indent=2))


if __name__ == "__main__":
    main()
