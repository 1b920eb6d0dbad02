"""Fit and judge the probability that a line bears on a query: ``Line.probability``.

    pip install demem-agent scipy
    python benchmarks/fit_bearing.py --data FOLDER [--out bearing.json]

FOLDER is that of ``fit_weights.py``. Its result, ``weights.json``, and that of ``fit_adequacy.py``,
``adequacy.json``, must be made before this is. About four minutes.

The questions, answerable and not, are those of ``fit_adequacy.py``, each asked of the same
memories. Of the 20 lines that rank first for each a logistic model tells whether they are of a turn
that the data set names as evidence; for a question that cannot be answered no line is. The weights
of the model have their signs fixed beforehand. Every data set has the same weight, half of it for
answerable questions; every question of one kind has the same, and so do its lines.

The tables are for dialogues left out of all fits: of the weights that passages are ranked with, of
the probability that a memory holds what is asked, and of this (five folds). They show, in ten bins,
how probable lines were said to be and how many of them are evidence; the mean distance of the two;
what share of all lines is evidence, which differs between data sets by what they call it; and what
a threshold keeps of evidence and of all else.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from fit_adequacy import (
    ANSWERABLE,
    Cases,
    fingerprint,
    following,
    key,
    probabilities,
    questions,
    weights_by_fold,
)
from fit_adequacy import fit as fit_adequacy
from fit_weights import FOLDS, Floats, Sample, asked, folds, load, sample
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from unanswerable import Kinds

from demem_agent.evaluate import Probe
from demem_agent.scoring import (
    Adequacy,
    Bearing,
    PassageIndex,
    Ranking,
    Weights,
    default_adequacy,
    default_weights,
    rank,
)
from demem_agent.scoring.bearing import BEARINGS

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "bearing.json"
#: Lines of a question that are looked at, best first.
LINES = 20
BINS = 10
RIDGE = 1e-5
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that rank first for questions, one a row.

    Attributes:
        case: number of the question.
        table: ``met``, points behind and logarithm of the place, shape (n, 3).
        gold: whether each is of the evidence.
    """

    case: NDArray[np.intp]
    table: Floats
    gold: Marks

    def signals(self, held: Floats) -> Floats:
        """Return the signals in the order of the parameters, shape (n, 5).

        Args:
            held: by question, the probability that the memory holds what is asked.
        """
        told = logit(np.clip(held, 1e-4, 1 - 1e-4))[self.case]
        met, behind, place = self.table.T
        return np.stack([np.ones(len(told)), told, met, -behind, -place], axis=1)


# Asking


def ask_all(samples: Sequence[Sample]) -> tuple[Cases, Lines, Lines]:
    """Ask every question of its memories.

    Returns:
        the questions, and the lines that rank first, by weights held out and as shipped.
    """
    fold = folds(samples)
    of_fold = weights_by_fold(samples, fold)
    kinds = Kinds.among(s.dialogue for s in samples)
    rows: list[tuple[Any, ...]] = []
    held_out: list[tuple[Floats, Marks]] = []
    shipped: list[tuple[Floats, Marks]] = []
    for s in samples:
        print(f"{s.data_set}, {s.dialogue.name}".ljust(50), end="\r", file=sys.stderr)
        number = fold[key(s)]
        for kind, probe, index in questions(s, following(s, samples), kinds):
            gold = _gold(s, probe) if kind in ANSWERABLE else frozenset()
            signals = []
            for weights, lines in ((of_fold[number], held_out), (default_weights(), shipped)):
                ranking = _ranking(index, probe, weights)
                lines.append(_first_lines(index, ranking, gold))
                signals.append(astuple(ranking.signals))
            rows.append((s.data_set, s.dialogue.name, number, kind, *signals))
    cases = Cases(*map(np.array, zip(*rows, strict=True)))
    return cases, _joined(held_out), _joined(shipped)


def _gold(s: Sample, probe: Probe) -> frozenset[str]:
    """Return the ids of the items that are a question's evidence."""
    items = s.memory.evidence()
    return frozenset(item.id for item in items if item.source_id in probe.evidence)


def _ranking(index: PassageIndex, probe: Probe, weights: Weights) -> Ranking:
    return rank(index, asked(probe), weights)


def _first_lines(
    index: PassageIndex, ranking: Ranking, gold: frozenset[str]
) -> tuple[Floats, Marks]:
    """Return the signals of the lines that rank first, and which are evidence."""
    standing = ranking.standing
    assert standing is not None
    table = np.stack([standing.met, standing.behind, standing.place], axis=1)[:LINES]
    ids = [index.passages[row].evidence_id for row in ranking.rows[:LINES].tolist()]
    return table, np.array([id in gold for id in ids])


def _joined(found: Sequence[tuple[Floats, Marks]]) -> Lines:
    case = [np.full(len(gold), number) for number, (_, gold) in enumerate(found)]
    tables, gold = zip(*found, strict=True)
    return Lines(np.concatenate(case), np.concatenate(tables), np.concatenate(gold))


# Fitting


def weight_of(cases: Cases, lines: Lines, among: Marks) -> Floats:
    """Return the weight of each line: 1 in all, half of each data set for answerable questions.

    Args:
        among: the questions that count.
    """
    of_case = cases.weight(among & cases.fitted)
    count = np.bincount(lines.case, minlength=len(of_case))
    return of_case[lines.case] / count[lines.case]


def fit(lines: Lines, held: Floats, weight: Floats) -> Bearing:
    """Fit the model to lines by their weight; no parameter but the intercept is below 0."""
    table = lines.signals(held)[weight > 0]
    gold = lines.gold[weight > 0].astype(float)
    counts = weight[weight > 0]
    deviation = table.std(axis=0)
    deviation[0] = 1.0
    scaled = table / deviation

    def loss(found: Floats) -> tuple[float, Floats]:
        odds = scaled @ found
        away = counts * (expit(odds) - gold)
        value = counts @ (np.logaddexp(0.0, odds) - gold * odds) + RIDGE * found[1:] @ found[1:]
        penalty = np.concatenate([[0.0], 2 * RIDGE * found[1:]])
        return float(value), away @ scaled + penalty

    bounds = [(None, None), *[(0.0, None)] * (len(BEARINGS) - 1)]
    start = np.zeros(len(BEARINGS))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x / deviation
    return Bearing(*(round(float(value), 4) + 0.0 for value in found))


def told(model: Bearing, lines: Lines, held: Floats) -> Floats:
    """Return the probability of each line."""
    p: Floats = expit(lines.signals(held) @ np.array(astuple(model)))
    return p


def judge(cases: Cases, lines: Lines) -> Floats:
    """Return the probability of each line by models that saw nothing of its dialogue."""
    p = np.zeros(len(lines.case))
    for n in range(FOLDS):
        seen = cases.fold != n
        held = probabilities(fit_adequacy(cases, cases.held_out, seen), cases.held_out)
        model = fit(lines, held, weight_of(cases, lines, seen))
        unseen = ~seen[lines.case]
        p[unseen] = told(model, lines, held)[unseen]
    return p


# Judging


@dataclass(frozen=True, slots=True)
class Judged:
    """Lines with their held-out probability and what each counts for, of one data set or of all."""

    p: Floats
    gold: Marks
    weight: Floats
    first: Marks

    def among(self, marks: Marks) -> Judged:
        return Judged(self.p[marks], self.gold[marks], self.weight[marks], self.first[marks])

    def base_rate(self) -> float:
        return float(np.average(self.gold, weights=self.weight))

    def bins(self) -> list[tuple[float, float, int, float]]:
        """Return by bin the mean probability, the share that is evidence, lines, and weight."""
        number = np.minimum((self.p * BINS).astype(int), BINS - 1)
        found: list[tuple[float, float, int, float]] = []
        for n in range(BINS):
            part = number == n
            weight = self.weight[part]
            if weight.sum() > 0:
                mean = float(np.average(self.p[part], weights=weight))
                share = float(np.average(self.gold[part], weights=weight))
                found.append((mean, share, int(part.sum()), float(weight.sum())))
        return found

    def error(self) -> float:
        """Return the expected calibration error: the mean distance of probability and share."""
        bins = self.bins()
        total = sum(weight for *_, weight in bins)
        return sum(abs(mean - share) * weight for mean, share, _, weight in bins) / total

    def kept(self, threshold: float, *, gold: bool) -> float:
        """Return the share of the evidence, or of all else, that is as probable as a threshold."""
        part = self.gold == gold
        return float(np.average(self.p[part] >= threshold, weights=self.weight[part]))


def judged_by_set(cases: Cases, lines: Lines, p: Floats) -> dict[str, Judged]:
    """Return what is judged of all data sets together, and of each."""
    weight = weight_of(cases, lines, np.ones(len(cases.kind), np.bool_))
    first = lines.table[:, -1] == 0.0
    every = Judged(p, lines.gold, weight, first)
    found = {"all": every.among(weight > 0)}
    for name in cases.sets:
        found[name] = every.among((weight > 0) & (cases.data_set[lines.case] == name))
    return found


def figures(judged: dict[str, Judged]) -> dict[str, Any]:
    """Return the held-out figures as they go into the file."""
    return {
        "base_rate": {name: round(one.base_rate(), 3) for name, one in judged.items()},
        "calibration_error": {name: round(one.error(), 3) for name, one in judged.items()},
        "calibration_error_of_the_first": {
            name: round(one.among(one.first).error(), 3) for name, one in judged.items()
        },
    }


def show(judged: dict[str, Judged], held_out: dict[str, Any]) -> None:
    """Print the tables of docs/scoring.md."""
    for name, one in judged.items():
        bins = one.bins()
        print(f"\n| {name}: probability given | {' | '.join(_cell(b[0]) for b in bins)} |")
        print(f"|---|{'---|' * len(bins)}")
        print(f"| share that is evidence | {' | '.join(_cell(b[1]) for b in bins)} |")
        print(f"| lines | {' | '.join(f'{b[2]:,}' for b in bins)} |")
    print(f"\n| | {' | '.join(judged)} |\n|---|{'---|' * len(judged)}")
    rows = {
        "share of the lines that is evidence": "base_rate",
        "calibration error": "calibration_error",
        "of the first line of each question": "calibration_error_of_the_first",
    }
    for words, name in rows.items():
        cells = [f"{value:.3f}".lstrip("0") for value in held_out[name].values()]
        print(f"| {words} | {' | '.join(cells)} |")
    print(f"\n| from | {' | '.join(judged)} |\n|---|{'---|' * len(judged)}")
    for threshold in THRESHOLDS:
        cells = [_kept(one, threshold) for one in judged.values()]
        print(f"| {threshold} | {' | '.join(cells)} |")


def _kept(one: Judged, threshold: float) -> str:
    shares = [one.kept(threshold, gold=gold) for gold in (True, False)]
    return " / ".join(map(_cell, shares))


def _cell(share: float) -> str:
    return f"{share:.2f}".lstrip("0") if share < 1 else f"{share:.2f}"


# All of it


def model_name(model: Adequacy) -> str:
    """Name the model of the probability that a memory holds what is asked.

    tests/scoring/test_bearing.py holds the shipped one to it.
    """
    told = json.dumps([model.intercept, *astuple(model.weights)])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the parameters")
    return parser.parse_args()


def main() -> None:
    given = options()
    samples: list[Sample] = []
    for name, dialogues in load(given.data).items():
        samples += [sample(name, dialogue) for dialogue in dialogues]
    cases, unseen, shipped = ask_all(samples)
    judged = judged_by_set(cases, unseen, judge(cases, unseen))
    held_out = figures(judged)
    show(judged, held_out)
    every = np.ones(len(cases.kind), np.bool_)
    held = probabilities(default_adequacy(), cases.shipped)
    model = fit(shipped, held, weight_of(cases, shipped, every))
    content = {
        "made_by": "benchmarks/fit_bearing.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "score_weights": fingerprint(default_weights()),
        "adequacy": model_name(default_adequacy()),
        "lines": int((weight_of(cases, shipped, every) > 0).sum()),
        "held_out": held_out,
        **dict(zip(BEARINGS, astuple(model), strict=True)),
    }
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=2))


if __name__ == "__main__":
    main()
