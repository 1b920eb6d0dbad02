"""Fit and judge the probability that a memory holds what is asked: ``Route.probability`` and its
threshold.

    pip install "demem-agent[lab]"
    python benchmarks/fit_adequacy.py --data FOLDER [--out adequacy.json] [--figure FILE.png]

FOLDER is that of ``fit_weights.py``, whose result, ``weights.json``, must be made before this is.
About four minutes.

Answerable are the questions of a dialogue asked of its own memory. Unanswerable are the same
questions asked of a memory that the turns of their evidence were left out of, or of another
dialogue's memory, the questions that the data sets call abstention, and questions made by rule
(``unanswerable.py``), in which another person or thing is asked about. The first two are asked once
more of a small memory, of the sessions that hold the evidence alone, since most memories begin
small. LoCoMo's adversarial questions, and memories without the sessions of the evidence, are for
judging only.

The model is logistic, with weights whose signs are fixed beforehand, so that it is monotone. Every
data set has the same weight, half of it for answerable questions. The threshold is the largest one
below which no data set has more than 5 % of its answerable questions. All figures are for dialogues
left out: of this fit (five folds of dialogues) and of the fit of the weights that passages are
ranked with. Intervals are 95 %, from drawing dialogues.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from fit_weights import FOLDS, WITHOUT_EVIDENCE, Floats, Sample, asked, folds, load, sample
from fit_weights import fit as fit_weights
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from unanswerable import Kinds, replaced, swapped

from demem_agent.evaluate import Probe
from demem_agent.evaluate.bootstrap import _draws, _tail
from demem_agent.scoring import (
    SIGNALS,
    Adequacy,
    PassageIndex,
    Signals,
    Weights,
    default_weights,
    rank,
)

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "adequacy.json"
#: How a signal may move the probability: a fit that says otherwise has found an accident of the
#: data.
SIGNS = {name: -1 if name == "missing" else 1 for name in SIGNALS}
#: By sign, what a weight may be.
_SIGNED = {1: (0, None), -1: (None, 0)}
RIDGE = 0.003
#: Answerable questions that the threshold may refuse, in any data set; the others are for the
#: table.
REFUSED = 0.05
ALLOWED = (0.01, 0.02, REFUSED, 0.1, 0.2)
BINS = 10
#: A bin with fewer questions is not drawn: its share is all chance.
DRAWN = 10
ANSWERABLE = ("own", "small own")
MADE = ("swapped", "replaced")
FITTED = (*ANSWERABLE, "removed", "next", "abstention", *MADE, "small removed", "small next")
#: Kinds of unanswerable questions, and the answerable ones that each is told from.
TOLD_FROM = {
    "removed": "own",
    "sessions removed": "own",
    "abstention": "own",
    "adversarial": "own",
    "swapped": "own",
    "replaced": "own",
    "next": "own",
    "small removed": "small own",
    "small next": "small own",
}
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cases:
    """Questions asked of memories, one a row: what they are, and their signals by weights held out
    and as shipped.
    """

    data_set: NDArray[np.str_]
    dialogue: NDArray[np.str_]
    fold: NDArray[np.intp]
    kind: NDArray[np.str_]
    held_out: Floats
    shipped: Floats

    @property
    def answerable(self) -> Marks:
        return np.isin(self.kind, ANSWERABLE)

    @property
    def fitted(self) -> Marks:
        return np.isin(self.kind, FITTED)

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(self.data_set.tolist()))

    def of(self, data_set: str, kind: str) -> Marks:
        marks: Marks = (self.data_set == data_set) & (self.kind == kind)
        return marks

    def count(self, data_set: str, kind: str) -> int:
        return int(self.of(data_set, kind).sum())

    def weight(self, among: Marks) -> Floats:
        """Return the weight of each case: 1 in all, half of each data set for the answerable."""
        weight = np.zeros(len(self.kind))
        for data_set in self.sets:
            for answerable in (True, False):
                part = among & (self.data_set == data_set) & (self.answerable == answerable)
                weight[part] = 0.5 / (len(self.sets) * part.sum())
        return weight


# Asking


def ask_all(samples: Sequence[Sample]) -> Cases:
    """Ask every question of its memories, with weights that saw nothing of the dialogue."""
    fold = folds(samples)
    of_fold = weights_by_fold(samples, fold)
    kinds = Kinds.among(s.dialogue for s in samples)
    rows: list[tuple[Any, ...]] = []
    for s in samples:
        print(f"{s.data_set}, {s.dialogue.name}".ljust(50), end="\r", file=sys.stderr)
        number = fold[key(s)]
        for kind, probe, index in questions(s, following(s, samples), kinds):
            held_out = signals(index, probe, of_fold[number])
            shipped = signals(index, probe, default_weights())
            rows.append((s.data_set, s.dialogue.name, number, kind, held_out, shipped))
    columns = zip(*rows, strict=True)
    return Cases(*map(np.array, columns))


def weights_by_fold(
    samples: Sequence[Sample], fold: Mapping[tuple[str, str], int]
) -> list[Weights]:
    """Return for each fold the weights that are fitted without its dialogues."""
    fitted: list[Weights] = []
    for n in range(FOLDS):
        seen = [s for s in samples if fold[key(s)] != n]
        fitted.append(fit_weights(seen))
    return fitted


def key(s: Sample) -> tuple[str, str]:
    return s.data_set, s.dialogue.name


def following(s: Sample, samples: Sequence[Sample]) -> Sample:
    """Return the next dialogue of the data set; after the last comes the first."""
    group = [other for other in samples if other.data_set == s.data_set]
    place = group.index(s) + 1
    return group[place % len(group)]


def signals(index: PassageIndex, probe: Probe, weights: Weights) -> tuple[float, ...]:
    return astuple(rank(index, asked(probe), weights).signals)


def questions(s: Sample, other: Sample, kinds: Kinds) -> Iterator[tuple[str, Probe, PassageIndex]]:
    """Yield the kind of each question, the question, and the memory that it is asked of."""
    for probe in s.dialogue.probes:
        if probe.category in WITHOUT_EVIDENCE:
            yield probe.category, probe, s.index
    for probe in other.probes:
        yield "next", probe, s.index
    whole = pickle.dumps(s.index)
    for n, probe in enumerate(s.probes):
        gold, inside, outside = around(s, probe)
        yield "own", probe, s.index
        for kind, made in zip(MADE, made_of(s, probe, kinds, n), strict=True):
            if made is not None:
                yield kind, made, s.index
        yield from without("removed", probe, whole, gold)
        yield from without("sessions removed", probe, whole, inside)
        yield from without("small own", probe, whole, outside)
        yield from without("small removed", probe, whole, outside | gold)
        if other.probes:
            foreign = other.probes[n % len(other.probes)]
            yield from without("small next", foreign, whole, outside)


def made_of(s: Sample, probe: Probe, kinds: Kinds, number: int) -> tuple[Probe | None, ...]:
    """Return the unanswerable questions that are made of one, in the order of :data:`MADE`."""
    return (
        swapped(s.dialogue, probe),
        replaced(s.dialogue, probe, s.index, kinds, number),
    )


def around(s: Sample, probe: Probe) -> tuple[set[str], set[str], set[str]]:
    """Return the ids of the gold of a question, of the items in its sessions, and of the others."""
    items = s.memory.evidence()
    gold = {item.id for item in items if item.source_id in probe.evidence}
    sessions = {item.session for item in items if item.id in gold}
    inside = {item.id for item in items if item.session in sessions}
    outside = {item.id for item in items if item.session not in sessions}
    return gold, inside, outside


def without(
    kind: str, probe: Probe, whole: bytes, ids: AbstractSet[str]
) -> Iterator[tuple[str, Probe, PassageIndex]]:
    """Ask a question of a memory that never held some of its items, unless none is left."""
    index: PassageIndex = pickle.loads(whole)
    index.remove(ids)  # leaves the index as if they had never been added
    if len(index):
        yield kind, probe, index


# Fitting


def fit(cases: Cases, values: Floats, among: Marks) -> Adequacy:
    """Fit the model to some of the cases and choose its threshold on them."""
    chosen = among & cases.fitted
    deviation = values[chosen].std(axis=0) + 1e-9
    found = _least(
        values[chosen] / deviation,
        cases.answerable[chosen].astype(float),
        cases.weight(chosen)[chosen],
    )
    intercept = round(float(found[0]), 4)
    weights = Signals(*(round(float(value), 4) + 0.0 for value in found[1:] / deviation))
    p = probabilities(Adequacy(intercept, weights, 0.0), values)
    return Adequacy(intercept, weights, threshold(cases, p, chosen, REFUSED))


def _least(table: Floats, answerable: Floats, weight: Floats) -> Floats:
    """Return the intercept and the weights of the least loss among those with the right signs."""

    def loss(found: Floats) -> tuple[float, Floats]:
        weights = found[1:]
        odds = found[0] + table @ weights
        slope = weight * (expit(odds) - answerable)
        misfit = weight @ (np.logaddexp(0.0, odds) - answerable * odds)
        penalty = RIDGE * weights @ weights
        gradient = np.concatenate([[slope.sum()], slope @ table + 2 * RIDGE * weights])
        return float(misfit + penalty), gradient

    free = (None, None)
    bounds = [free, *(_SIGNED[SIGNS[name]] for name in SIGNALS)]
    start = np.zeros(len(bounds))
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def probabilities(model: Adequacy, values: Floats) -> Floats:
    p: Floats = expit(model.intercept + values @ np.array(astuple(model.weights)))
    return p


def threshold(cases: Cases, p: Floats, among: Marks, allowed: float) -> float:
    """Return the largest threshold that refuses no more than a share of the answerable questions.

    It holds for those of any data set.
    """
    found = []
    for data_set in cases.sets:
        answerable = among & cases.answerable & (cases.data_set == data_set)
        own = np.sort(p[answerable])
        found.append(own[int(allowed * len(own))])
    return round(float(min(found)), 4)


# Judging


@dataclass(frozen=True, slots=True)
class Judged:
    """For every case: its probability by a model that saw nothing of its dialogue, and what
    thresholds refuse it.
    """

    p: Floats
    refused: Mapping[float, Marks]


def judge(cases: Cases) -> Judged:
    p = np.zeros(len(cases.kind))
    refused = {allowed: np.zeros(len(p), np.bool_) for allowed in ALLOWED}
    for n in range(FOLDS):
        seen = cases.fold != n
        unseen = cases.fold == n
        model = fit(cases, cases.held_out, seen)
        of_fold = probabilities(model, cases.held_out)
        p[unseen] = of_fold[unseen]
        for allowed, marks in refused.items():
            limit = threshold(cases, of_fold, seen & cases.fitted, allowed)
            marks[unseen] = of_fold[unseen] < limit
    return Judged(p, refused)


def auc(cases: Cases, p: Floats, data_set: str, kind: str) -> tuple[float, float, float] | None:
    """Return the area under the ROC curve with its interval by dialogue.

    None where there is no such question.
    """
    own = cases.of(data_set, TOLD_FROM[kind])
    other = cases.of(data_set, kind)
    if not other.any():
        return None
    names = sorted({*cases.dialogue[own], *cases.dialogue[other]})
    first = [p[own & (cases.dialogue == name)] for name in names]
    second = [p[other & (cases.dialogue == name)] for name in names]
    return _area_between(first, second)


def _area_between(first: Sequence[Floats], second: Sequence[Floats]) -> tuple[float, float, float]:
    """Return the area and its interval for two kinds of questions, each by dialogue."""
    compared = [_wins(one, another) for one, another in product(first, second)]
    wins = np.array(compared).reshape(len(first), len(second))
    first_counts = np.array([*map(len, first)], float)
    second_counts = np.array([*map(len, second)], float)
    area = wins.sum() / (first_counts.sum() * second_counts.sum())
    low, high = _interval(wins, first_counts, second_counts)
    return float(area), low, high


def _interval(wins: Floats, first_counts: Floats, second_counts: Floats) -> tuple[float, float]:
    """Return where 95 % of the areas lie that drawn dialogues give."""
    count = len(wins)
    drawn = _draws(count, 0, 2000)
    pairs = (drawn @ first_counts) * (drawn @ second_counts)
    won = np.einsum("di,ij,dj->d", drawn, wins, drawn)
    some = pairs > 0
    tail = _tail(count)
    low, high = np.quantile(won[some] / pairs[some], [tail, 1 - tail])
    return float(low), float(high)


def _wins(first: Floats, second: Floats) -> float:
    """Count the pairs in which the first has the larger value; equal ones count half."""
    difference = first[:, None] - second[None, :]
    return float((difference > 0).sum() + 0.5 * (difference == 0).sum())


def reliability(
    cases: Cases, p: Floats, data_sets: Sequence[str]
) -> tuple[list[tuple[float, float, int]], float]:
    """Return the bins, each by mean probability, answerable share and questions; and the error.

    The error is that of calibration: the mean of what the first two differ by.
    """
    among = cases.fitted & np.isin(cases.data_set, data_sets)
    weight = cases.weight(cases.fitted)
    bin_of = np.minimum((p * BINS).astype(int), BINS - 1)
    bins: list[tuple[float, float, int]] = []
    error = 0.0
    for n in range(BINS):
        part = among & (bin_of == n)
        if part.any():
            mean = float(np.average(p[part], weights=weight[part]))
            share = float(np.average(cases.answerable[part], weights=weight[part]))
            bins.append((mean, share, int(part.sum())))
            part_of_all = float(weight[part].sum() / weight[among].sum())
            error += abs(mean - share) * part_of_all
    return bins, error


# Reporting


def figures(cases: Cases, judged: Judged) -> dict[str, Any]:
    """Return the held-out figures as they go into the file."""
    errors = {"all": _error(cases, judged, cases.sets)}
    errors |= {name: _error(cases, judged, [name]) for name in cases.sets}
    return {
        "auc": {name: _areas(cases, judged, name) for name in cases.sets},
        "refused": {name: refused(cases, judged.refused[REFUSED], name) for name in cases.sets},
        "calibration_error": errors,
    }


def _error(cases: Cases, judged: Judged, data_sets: Sequence[str]) -> float:
    return round(reliability(cases, judged.p, data_sets)[1], 3)


def _areas(cases: Cases, judged: Judged, data_set: str) -> dict[str, list[float]]:
    areas: dict[str, list[float]] = {}
    for kind in TOLD_FROM:
        found = auc(cases, judged.p, data_set, kind)
        if found:
            areas[kind] = [round(value, 3) for value in found]
    return areas


def refused(cases: Cases, marks: Marks, data_set: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for kind in (*ANSWERABLE, *TOLD_FROM):
        part = cases.of(data_set, kind)
        if part.any():
            shares[kind] = round(float(marks[part].mean()), 3)
    return shares


def show(cases: Cases, judged: Judged, held_out: Mapping[str, Any]) -> None:
    """Print the tables of docs/scoring.md."""
    _table(
        "AUC",
        cases,
        TOLD_FROM,
        lambda name, kind: _area(held_out["auc"][name].get(kind), cases.count(name, kind)),
    )
    _table(
        "refused",
        cases,
        (*ANSWERABLE, *TOLD_FROM),
        lambda name, kind: _share(held_out["refused"][name].get(kind)),
    )
    _show_refused(cases, judged)
    print("\n| probability | answerable | questions |\n|---|---|---|")
    for mean, share, count in reliability(cases, judged.p, cases.sets)[0]:
        print(f"| {_share(mean)} | {_share(share)} | {count:,} |")
    print("\ncalibration error:", json.dumps(held_out["calibration_error"]))


def _show_refused(cases: Cases, judged: Judged) -> None:
    print("\n| refused at most, on training folds | kind |", " | ".join(cases.sets), "|")
    print(f"|---|---|{'---|' * len(cases.sets)}")
    for allowed, marks in judged.refused.items():
        for kind in ("own", "removed", "next"):
            shares = [_share(refused(cases, marks, name)[kind]) for name in cases.sets]
            print(f"| {allowed:.0%} | {kind} | {' | '.join(shares)} |")


def _table(
    title: str,
    cases: Cases,
    kinds: Sequence[str] | Mapping[str, str],
    cell: Callable[[str, str], str],
) -> None:
    print(f"\n| {title} | {' | '.join(cases.sets)} |\n|---|{'---|' * len(cases.sets)}")
    for kind in kinds:
        cells = [cell(name, kind) for name in cases.sets]
        print(f"| {kind} | {' | '.join(cells)} |")


def _area(found: Sequence[float] | None, count: int) -> str:
    if found is None:
        return "-"
    mean, low, high = map(_share, found)
    return f"{mean} [{low}, {high}] of {count}"


def _share(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}".lstrip("0") if value < 1 else f"{value:.2f}"


def draw(cases: Cases, judged: Judged, path: Path) -> None:
    """Draw the reliability, and ROC curves with a line for each kind of unanswerable question."""
    from demem_agent.evaluate.drawing.looks import label, new_figure

    figure = new_figure(10, 9.4)
    *panels, last = figure.subplots(2, 2).flat
    for name, axes in zip(cases.sets, panels, strict=True):
        _draw_roc(axes, cases, judged.p, name)
        label(axes, "answerable questions refused", "unanswerable questions refused", name)
    _draw_reliability(last, cases, judged.p)
    label(
        last,
        "probability given",
        "share that is answerable",
        f"Reliability; dots stand for {DRAWN} questions or more",
    )
    for axes in figure.axes:
        axes.plot([0, 1], [0, 1], color="#AAAAAA", linewidth=1, linestyle=":", zorder=0)
    figure.suptitle(
        "Can a question be answered from memory? Dialogues left out of every fit", fontsize=12.5
    )
    figure.savefig(path)


def _draw_roc(axes: Any, cases: Cases, p: Floats, data_set: str) -> None:
    for n, kind in enumerate(TOLD_FROM):
        area = auc(cases, p, data_set, kind)
        if area is None:
            continue
        own = p[cases.of(data_set, TOLD_FROM[kind])]
        other = p[cases.of(data_set, kind)]
        line = "--" if kind.startswith("small") else "-"
        told = f"{area[0]:.2f} {kind}"
        axes.plot(*roc(own, other), line, color=f"C{n}", linewidth=1.6, label=told)
    axes.legend(fontsize=9, frameon=False, loc="lower right", title="area, and what is told apart")


def _draw_reliability(axes: Any, cases: Cases, p: Floats) -> None:
    everything = {"color": "#000000", "linewidth": 2.6, "label": "all, equal weight"}
    _reliable(axes, cases, p, cases.sets, everything)
    for n, name in enumerate(cases.sets):
        _reliable(axes, cases, p, [name], {"color": f"C{n}", "linewidth": 1.2, "label": name})
    axes.legend(fontsize=9, frameon=False, loc="upper left")


def _reliable(
    axes: Any, cases: Cases, p: Floats, data_sets: Sequence[str], look: Mapping[str, Any]
) -> None:
    bins, _ = reliability(cases, p, data_sets)
    points = [(mean, share) for mean, share, count in bins if count >= DRAWN]
    axes.plot(*zip(*points, strict=True), marker="o", markersize=5, **look)


def roc(own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the shares of the answerable and of the other questions below each threshold."""
    met = np.unique(np.concatenate([own, other]))
    limits = np.concatenate([[-np.inf], met, [np.inf]])
    return _below(limits, own), _below(limits, other)


def _below(limits: Floats, values: Floats) -> Floats:
    shares: Floats = np.searchsorted(np.sort(values), limits) / len(values)
    return shares


def fingerprint(weights: Weights) -> str:
    """Name the weights that the signals come from; tests/scoring/test_adequacy.py holds the shipped
    ones to it.
    """
    return hashlib.sha256(json.dumps(weights.values).encode()).hexdigest()[:16]


def _counts(cases: Cases, data_set: str) -> dict[str, int]:
    counts = {kind: cases.count(data_set, kind) for kind in FITTED}
    return {kind: count for kind, count in counts.items() if count}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write the parameters")
    parser.add_argument(
        "--figure", type=Path, help="where to draw the ROC curves and the reliability, as PNG"
    )
    return parser.parse_args()


def parameters(cases: Cases, model: Adequacy, held_out: Mapping[str, Any]) -> dict[str, Any]:
    """Return what goes into the file."""
    return {
        "made_by": "benchmarks/fit_adequacy.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "score_weights": fingerprint(default_weights()),
        "fitted_on": {name: _counts(cases, name) for name in cases.sets},
        "held_out": held_out,
        "intercept": model.intercept,
        "weights": dict(zip(SIGNALS, astuple(model.weights), strict=True)),
        "threshold": model.threshold,
    }


def main() -> None:
    given = options()
    samples: list[Sample] = []
    for name, dialogues in load(given.data).items():
        samples += [sample(name, dialogue) for dialogue in dialogues]
    cases = ask_all(samples)
    judged = judge(cases)
    held_out = figures(cases, judged)
    show(cases, judged, held_out)
    model = fit(cases, cases.shipped, np.ones(len(cases.kind), np.bool_))
    content = parameters(cases, model, held_out)
    given.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    model_alone = {name: content[name] for name in ("intercept", "weights", "threshold")}
    print(json.dumps(model_alone, indent=2))
    if given.figure:
        draw(cases, judged, given.figure)


if __name__ == "__main__":
    main()
