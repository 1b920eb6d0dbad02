"""Fit the small network that Score_theta may be, and compare it with the linear score.

    pip install demem-agent scipy
    python benchmarks/fit_mlp.py --data FOLDER [--out mlp.json] [--no-judging]

FOLDER is that of ``fit_weights.py``, and so are the features, the loss and the folds. A network is
fitted in two steps. First the linear score, as ``fit_weights.py`` fits it; for what ships it is the
one that ships. Then, of people and of a user with a model apart, a hidden layer is put beside it
and both are fitted, from where the linear score is: the units are drawn by a seed and add nothing
at first, and a ridge draws the linear part to where it was and the layer to nothing. Both steps
look, of each question, at the passages that z(cosine) + 0.6 z(BM25) ranks first, at those that hold
gold, and at a draw of the others, which stands for all of these: to look at all takes most of the
time. Without the draw, what is far behind would be gold alone, and a network learns that.

What is set by hand goes into the linear part alone, since no data here varies it.

Figures are for dialogues left out of both steps (five folds of dialogues), through
``SlotMemory.read`` with the prior that ships: recall, as in ``fit_weights.py``, by which both forms
of the score are judged, on the same questions. They come out in Markdown.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from fit_weights import (
    BASELINES,
    BY_HAND,
    FITTED,
    FOLDS,
    LEAST,
    LIMITS,
    RIDGE,
    STEPS,
    Case,
    Floats,
    Sample,
    folds,
    in_use,
    load,
    one_hot,
    options,
    recalls,
    sample,
    threshold,
    weighted,
)
from fit_weights import fit as fit_weights
from scipy.optimize import minimize
from scipy.special import expit

from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.reading.composing import SLOT_PRIOR
from demem_agent.scoring import FEATURES, Mlp, PassageScore, Weights, default_weights
from demem_agent.scoring.mlp import Hidden

SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "mlp.json"
UNITS = 8
#: What ships is fitted from the first; the others tell how much the draw matters.
SEEDS = (0, 1)
NAMES = [FEATURES[n] for n in FITTED]
#: Of the layer. With that of the linear part, .02, the layer would be drawn to nothing.
LAYER_RIDGE = 0.006
#: Places after the point of what ships.
PLACES = 4
#: Passages of a question that are looked at: those that rank first, by what, and of the others.
FIRST = 200
OTHERS = 200
BASELINE = np.array(BASELINES["z(cosine) + 0.6 z(BM25)"].values)[FITTED]


@dataclass(frozen=True, slots=True)
class Stack:
    """The cases of one kind of memory under each other.

    Attributes:
        table: features, standardised, shape (rows, features).
        mean, deviation: that they were standardised by.
        fixed: what is set by hand adds, shape (rows,).
        cases: with the rows of each and what it counts for.
    """

    table: Floats
    mean: Floats
    deviation: Floats
    fixed: Floats
    cases: Sequence[tuple[Case, slice, float]]

    @classmethod
    def of(cls, cases: Sequence[tuple[Case, float]]) -> Stack:
        """Stack cases, each with what it counts for."""
        table = np.concatenate([case.table for case, _ in cases])
        mean, deviation = table.mean(axis=0), table.std(axis=0) + 1e-6
        placed: list[tuple[Case, slice, float]] = []
        start = 0
        for case, weight in cases:
            end = start + len(case.table)
            placed.append((case, slice(start, end), weight))
            start = end
        fixed = np.concatenate([case.fixed for case, _ in cases])
        return cls((table - mean) / deviation, mean, deviation, fixed, placed)


@dataclass(frozen=True, slots=True)
class Net:
    """What is fitted, of standardised features: a linear part and a hidden layer of h units.

    Attributes:
        linear: shape (features,).
        inner: shape (features, h); offset, outer: shape (h,).
    """

    linear: Floats
    inner: Floats
    offset: Floats
    outer: Floats

    @property
    def numbers(self) -> Floats:
        """All of them in a row."""
        return np.concatenate([self.linear, self.inner.ravel(), self.offset, self.outer])

    @classmethod
    def of(cls, numbers: Floats) -> Net:
        """Take apart what ``numbers`` put in a row."""
        features = len(FITTED)
        units = (len(numbers) - features) // (features + 2)
        linear, inner, offset, outer = np.split(
            numbers, np.cumsum([features, features * units, units])
        )
        return cls(linear, inner.reshape(features, units), offset, outer)


def shortened(case: Case) -> Case:
    """Leave of a question the passages that a baseline ranks first, those that hold gold, and a
    draw of the others, which take the room of all of these.
    """
    ranked = np.argsort(-(case.table @ BASELINE), kind="stable")
    golden = np.concatenate([rows for rows, _ in case.gold]) if case.gold else ranked[:0]
    others = np.setdiff1d(ranked[FIRST:], golden)
    drawn = np.random.default_rng(0).permutation(others)[:OTHERS]
    cost = case.cost.copy()
    cost[drawn] *= cost[others].sum() / max(cost[drawn].sum(), 1.0)
    kept = np.unique(np.concatenate([ranked[:FIRST], golden, drawn]))
    gold = tuple((np.searchsorted(kept, rows), held) for rows, held in case.gold)
    return replace(case, table=case.table[kept], fixed=case.fixed[kept], cost=cost[kept], gold=gold)


# Fitting


def fit(samples: Sequence[Sample], start: Weights, units: int, seed: int) -> Mlp:
    """Fit a network for each kind of memory, from the linear score that was fitted to the same."""
    cases = weighted(samples)
    linear: dict[bool, Weights] = {}
    hidden: dict[bool, Hidden] = {}
    for chat in (False, True):
        stack = Stack.of([(case, weight) for case, weight in cases if case.chat == chat])
        before = np.array(start.of(chat))[FITTED] * stack.deviation
        net = _minimum(stack, _drawn(before, units, seed))
        linear[chat], hidden[chat] = _of_raw_features(net, stack)
    return Mlp(Weights(linear[False].values, linear[True].values), hidden[False], hidden[True])


def _drawn(linear: Floats, units: int, seed: int) -> Net:
    """Put units beside a linear score that add nothing yet."""
    features = len(linear)
    drawn = np.random.default_rng(seed).standard_normal((features, units)) / np.sqrt(features)
    return Net(linear, drawn, np.zeros(units), np.zeros(units))


def _minimum(stack: Stack, start: Net) -> Net:
    """Return the network of the least loss, from a start."""
    thresholds: dict[tuple[int, int], float] = {}

    def loss(numbers: Floats) -> tuple[float, Floats]:
        return _loss(Net.of(numbers), stack, start.linear, thresholds)

    found = minimize(loss, start.numbers, method="L-BFGS-B", jac=True, options={"maxiter": STEPS})
    return Net.of(found.x)


def _of_raw_features(net: Net, stack: Stack) -> tuple[Weights, Hidden]:
    """Return a network in terms of the features as they are, rounded as it ships."""
    linear = dict(zip(NAMES, (net.linear / stack.deviation).round(PLACES), strict=True))
    inner = net.inner / stack.deviation[:, None]
    every = np.zeros((len(FEATURES), inner.shape[1]))
    every[FITTED] = inner.round(PLACES)
    offset = (net.offset - stack.mean @ inner).round(PLACES)
    return one_hot(**linear, **BY_HAND), Hidden(every, offset, net.outer.round(PLACES))


def _loss(
    net: Net, stack: Stack, towards: Floats, thresholds: dict[tuple[int, int], float]
) -> tuple[float, Floats]:
    """Return the loss and its gradient.

    It starts to look at the ``thresholds`` of the last call.
    """
    units = np.tanh(stack.table @ net.inner + net.offset)
    scores = stack.table @ net.linear + units @ net.outer + stack.fixed
    away = net.linear - towards
    loss = RIDGE * float(away @ away)
    loss += LAYER_RIDGE * float((net.inner**2).sum() + net.outer @ net.outer)
    slopes = np.zeros(len(scores))  # how the loss follows each score
    for n, (case, rows, weight) in enumerate(stack.cases):
        added, slopes[rows] = _of_case(n, case, scores[rows], thresholds)
        loss += weight * added
        slopes[rows] *= weight
    within = slopes[:, None] * net.outer * (1.0 - units**2)
    gradient = Net(
        linear=slopes @ stack.table + 2 * RIDGE * away,
        inner=stack.table.T @ within + 2 * LAYER_RIDGE * net.inner,
        offset=within.sum(axis=0),
        outer=slopes @ units + 2 * LAYER_RIDGE * net.outer,
    )
    return loss, gradient.numbers


def _of_case(
    n: int, case: Case, scores: Floats, thresholds: dict[tuple[int, int], float]
) -> tuple[float, Floats]:
    """Return the loss of one question, and how it follows each score."""
    loss = 0.0
    slopes = np.zeros(len(scores))
    for limit in LIMITS:
        before = thresholds.get((n, limit), float(np.sort(scores)[-8:][0]))
        t = thresholds[n, limit] = threshold(scores, case.cost, limit, before)
        inside = expit(scores - t)
        steep = inside * (1 - inside)
        moved = case.cost * steep / (case.cost @ steep)  # how t follows the scores
        for rows, held in case.gold:
            expected = float(held @ inside[rows]) + LEAST
            pull = held * steep[rows] / expected
            loss -= float(np.log(expected))
            slopes[rows] -= pull
            slopes += pull.sum() * moved
    return loss / len(case.gold), slopes / len(case.gold)


# Judging


#: Of each question by data set: its dialogue, and recall at each of LIMITS.
Recalled = Mapping[str, Sequence[tuple[str, Sequence[float]]]]
Form = Callable[[Sample], PassageScore]


def held_out(
    samples: Sequence[Sample], units: int, seeds: Sequence[int]
) -> tuple[Form, list[Form]]:
    """Return the linear score and a network a seed, for each dialogue fitted without it."""
    fold = folds(samples)
    linear: dict[int, Weights] = {}
    nets: dict[tuple[int, int], Mlp] = {}
    for n in range(FOLDS):
        left_in = [s for s in samples if fold[s.data_set, s.dialogue.name] != n]
        linear[n] = fit_weights(left_in)
        for seed in seeds:
            nets[n, seed] = fit(left_in, linear[n], units, seed)
        print(f"fold {n + 1} of {FOLDS}", end="\r", file=sys.stderr)

    def number(s: Sample) -> int:
        return fold[s.data_set, s.dialogue.name]

    def network(seed: int) -> Form:
        return lambda s: nets[number(s), seed]

    return lambda s: linear[number(s)], [network(seed) for seed in seeds]


def recalled(samples: Sequence[Sample], form: Form) -> Recalled:
    """Read for every question, each dialogue by its form of the score."""
    found: dict[str, list[tuple[str, Sequence[float]]]] = {}
    for s in samples:
        with in_use(s.memory, form(s), SLOT_PRIOR):
            at_limits = zip(*[recalls(s, limit) for limit in LIMITS], strict=True)
            found.setdefault(s.data_set, []).extend((s.dialogue.name, each) for each in at_limits)
    return found


def tables(linear: Recalled, nets: Sequence[Recalled], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table of recall, and of one of what the networks have more."""
    heading = f"| | {' | '.join(linear)} |"
    rule = f"|---|{'---|' * len(linear)}"
    yield from (heading, rule, _row("linear", linear))
    for name, net in zip(names, nets, strict=True):
        yield _row(name, net)
    yield ""
    yield from (heading, rule)
    for name, net in zip(names, nets, strict=True):
        cells = [_more(net[data_set], linear[data_set]) for data_set in linear]
        yield f"| {name} | {' | '.join(cells)} |"


def _row(name: str, figures: Recalled) -> str:
    cells = [" / ".join(map(_share, means_of(of))) for of in figures.values()]
    return f"| {name} | {' | '.join(cells)} |"


def means_of(questions: Sequence[tuple[str, Sequence[float]]]) -> list[float]:
    """Return the mean recall at each limit."""
    shares = np.array([shares for _, shares in questions])
    return [float(mean) for mean in shares.mean(axis=0)]


def _more(
    one: Sequence[tuple[str, Sequence[float]]], other: Sequence[tuple[str, Sequence[float]]]
) -> str:
    """Say how much more is recalled, with the interval over dialogues."""
    dialogues = [dialogue for dialogue, _ in one]
    cells = []
    for n in range(len(LIMITS)):
        more = [a[n] - b[n] for (_, a), (_, b) in zip(one, other, strict=True)]
        found = bootstrap(more, dialogues, seed=0, resamples=1000)
        assert found.low is not None  # of more than one dialogue
        assert found.high is not None
        cells.append(f"{_signed(found.mean)} ({_signed(found.low)} to {_signed(found.high)})")
    return " / ".join(cells)


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


# All of it


def written(net: Mlp, chat: bool) -> dict[str, Any]:
    """Return what a file has of a network for one kind of memory."""
    layer = net.layer(chat)
    inner = dict(zip(FEATURES, layer.inner.tolist(), strict=True))
    return {
        "weights": dict(zip(FEATURES, net.linear.of(chat), strict=True)),
        "inner": inner,
        "offset": layer.offset.tolist(),
        "outer": layer.outer.tolist(),
    }


def main() -> None:
    given = options("the network of the score", SHIPPED)
    samples: list[Sample] = []
    for name, dialogues in load(given.data).items():
        for dialogue in dialogues:
            whole = sample(name, dialogue)
            samples.append(replace(whole, cases=tuple(map(shortened, whole.cases))))
    figures: dict[str, list[float]] = {}
    if not given.no_judging:
        linear, nets = held_out(samples, UNITS, SEEDS)
        of_nets = [recalled(samples, net) for net in nets]
        names = [f"network, seed {seed}" for seed in SEEDS]
        print("\n".join(tables(recalled(samples, linear), of_nets, names)))
        figures = {name: means_of(of) for name, of in of_nets[0].items()}
    net = fit(samples, default_weights(), UNITS, SEEDS[0])
    content = {
        "made_by": "benchmarks/fit_mlp.py",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "fitted_on": Counter(s.data_set for s in samples),
        "limits": LIMITS,
        "units": UNITS,
        "seed": SEEDS[0],
        "held_out_recall": figures,
        "people": written(net, chat=False),
        "chat": written(net, chat=True),
    }
    given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
