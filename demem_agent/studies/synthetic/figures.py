"""One figure for each experiment.

Lines are means over seeds, bands reach from the 10th to the 90th percentile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demem_agent.studies.synthetic.certificates import DELTAS
from demem_agent.studies.synthetic.environment import Floats
from demem_agent.studies.synthetic.methods import DESCRIPTION, RESTARTS, THIRD
from demem_agent.studies.synthetic.partitions import BUDGETS
from demem_agent.studies.synthetic.plots import COLOURS, band, label, legend
from demem_agent.studies.synthetic.rows import Row, column, columns_by, methods_of, select
from demem_agent.studies.synthetic.scale import Scale
from demem_agent.studies.synthetic.tables import floors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(name: str, rows: Sequence[Row], scale: Scale, path: Path) -> None:
    """Draw the figure of an experiment into a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZES[name], dpi=120, layout="constrained")
    DRAWERS[name](figure, rows, scale)
    figure.savefig(path)


def _regret(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    panels = figure.subplots(1, len(scale.alphas), sharey=True)
    for axes, alpha in zip(panels, scale.alphas, strict=True):
        _regret_curves(axes, select(rows, alpha=alpha), scale)
        y = "cumulative regret (log)" if axes is panels[0] else ""
        label(axes, "round / 1000", y, f"mismatch α = {alpha:g}")
    legend(figure, panels[0])


def _regret_curves(axes: Axes, rows: Sequence[Row], scale: Scale) -> None:
    for name, colour in COLOURS.items():
        own = select(rows, method=name)
        _regret_curve(axes, own, scale, name, colour)
    _log_regret(axes)


def _regret_curve(axes: Axes, rows: Sequence[Row], scale: Scale, name: str, colour: str) -> None:
    runs = [row["curve"] for row in rows]
    rounds = np.linspace(0, scale.rounds, len(runs[0]) + 1)
    ends = rounds[1:]
    band(axes, ends / 1000, runs, name, colour)


def _log_regret(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.set_ylim(10, None)


def _by_alpha(axes: Axes, rows: Sequence[Row], scale: Scale, measured: str) -> None:
    for name, colour in COLOURS.items():
        own = select(rows, method=name)
        runs = columns_by(own, measured, "alpha", scale.alphas)
        band(axes, scale.alphas, runs, name, colour, marker="o")


def _mismatch(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _by_alpha(left, rows, scale, "regret")
    left.set_yscale("log")
    label(left, "mismatch α", f"regret after {scale.rounds} rounds (log)")
    _advantage(right, rows, scale)
    legend(figure, left)


def _advantage(axes: Axes, rows: Sequence[Row], scale: Scale) -> None:
    """Draw what learners by description regret more than the corrected prior."""
    ours = _regret_by_alpha(rows, THIRD, scale)
    for name in DESCRIPTION:
        theirs = _regret_by_alpha(rows, name, scale)
        band(axes, scale.alphas, theirs - ours, name, COLOURS[name], marker="o")
    axes.axhline(0, color="black", linewidth=0.8)
    title = "advantage over description"
    label(axes, "mismatch α", "regret more than the corrected prior", title)


def _regret_by_alpha(rows: Sequence[Row], method: str, scale: Scale) -> Floats:
    """Return a method's regret at every mismatch, shape (runs, mismatches)."""
    own = select(rows, method=method)
    return columns_by(own, "regret", "alpha", scale.alphas)


def _distortion(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    average, worst, beside = figure.subplots(1, 3)
    _by_alpha(average, rows, scale, "d_star")
    label(average, "mismatch α", "D*: average distortion of the partition")
    _by_alpha(worst, rows, scale, "d_star_worst")
    label(worst, "mismatch α", "D*∞: worst-case distortion")
    _distortion_and_regret(beside, rows)
    legend(figure, average)


def _distortion_and_regret(axes: Axes, rows: Sequence[Row]) -> None:
    for name, colour in COLOURS.items():
        own = select(rows, method=name)
        lost = column(own, "d_star")
        regret = column(own, "regret")
        axes.scatter(lost, regret, s=12, color=colour, alpha=0.6, linewidths=0)
    axes.set_yscale("log")
    label(axes, "D* of the last partition", "regret (log)", "one dot a run")


def _budget(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _by_budget(left, rows, scale, "loss")
    _by_budget(right, rows, scale, "wrong")
    _exact_frontier(left, scale)
    label(left, "states K", "value lost per round, D_val", "α = 0.5")
    label(right, "states K", "share of contexts shown a wrong action, D", "α = 0.5")
    legend(figure, left)


def _exact_frontier(axes: Axes, scale: Scale) -> None:
    of_seeds = [floors(slots, scale) for slots in scale.budgets]
    means = np.mean(of_seeds, axis=1)
    axes.plot(
        scale.budgets, means, label="exact frontier", color="black", linestyle=":", linewidth=2
    )


def _by_budget(axes: Axes, rows: Sequence[Row], scale: Scale, measured: str) -> None:
    for name in methods_of(rows):
        own = select(rows, method=name)
        runs = columns_by(own, measured, "slots", scale.budgets)
        band(axes, scale.budgets, runs, name, COLOURS[name], marker="o")


def _partitions(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _excess(left, rows, -0.12, "greedy", "Greedy-Partition (colouring)", colour="#0072B2")
    _excess(left, rows, 0.12, "cover", "action cover", colour="#D55E00")
    left.set_xticks(range(len(BUDGETS)), list(map(str, BUDGETS)))
    left.axhline(0, color="grey", linewidth=0.8)
    label(left, "states K", "realised radius less exact ε*", "known rewards; bar: mean")
    left.legend(frameon=False, fontsize=9)
    _radii(right, rows)


def _excess(
    axes: Axes, rows: Sequence[Row], shift: float, key: str, name: str, *, colour: str
) -> None:
    """Draw a dot a run and a bar at the mean, beside each number of states."""
    named: str | None = name
    for place, k in enumerate(BUDGETS):
        at = select(rows, k=k)
        excess = column(at, key) - column(at, "exact")
        middle = place + shift
        across = middle + np.linspace(-0.07, 0.07, len(excess))
        axes.scatter(across, excess, s=14, color=colour, alpha=0.7, label=named)
        mean = excess.mean()
        axes.hlines(mean, middle - 0.1, middle + 0.1, color="black", linewidth=1.6)
        named = None


#: What is measured of samples: its name in a row and in the legend, and its colour.
_RADII = (
    ("exact", "exact ε*", "black"),
    ("level", "α_e, level of the graph", "#999999"),
    ("greedy_certified", "colouring, certified", "#56B4E9"),
    ("greedy_realised", "colouring, realised", "#0072B2"),
    ("cover_certified", "cover, certified", "#E69F00"),
    ("cover_realised", "cover, realised", "#D55E00"),
)


def _radii(axes: Axes, rows: Sequence[Row]) -> None:
    for key, name, colour in _RADII:
        runs = columns_by(rows, key, "k", BUDGETS)
        band(axes, BUDGETS, runs, name, colour, marker="o")
    label(axes, "states K", "radius", "from 400 samples a pair")
    axes.legend(frameon=False, fontsize=8)


def _epochs(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    panels = figure.subplots(1, len(BUDGETS), sharey=True)
    for axes, k in zip(panels, BUDGETS, strict=True):
        at = select(rows, k=k)
        for key, name, colour in _OF_EPOCHS:
            runs = [[epoch[key] for epoch in row["epochs"]] for row in at]
            numbers = np.arange(2, len(runs[0]) + 2)
            band(axes, numbers, runs, name, colour, marker="o")
        label(axes, "epoch", "radius" if k == BUDGETS[0] else "", f"K = {k}")
    legend(figure, panels[0])


#: What is measured at every epoch: its name in a record and in the legend, and its colour.
_OF_EPOCHS = (
    ("exact", "exact ε* of the contexts met", "black"),
    ("known", "colouring by the rewards themselves", "#0072B2"),
    ("sampled", "colouring by certificates, realised", "#D55E00"),
    ("certified", "colouring by certificates, certified", "#E69F00"),
)


def _changes(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    axes = figure.subplots()
    for name, colour in zip(RESTARTS, _RESTART_COLOURS, strict=True):
        own = select(rows, method=name)
        _regret_curve(axes, own, scale, name, colour)
    for quarter in (1, 2, 3):
        change = scale.rounds * quarter / 4000
        axes.axvline(change, color="grey", linestyle=":", linewidth=1)
    _log_regret(axes)
    title = "rewards change at the dotted lines, α = 0.25"
    label(axes, "round / 1000", "cumulative regret (log)", title)
    legend(figure, axes, columns=2)


#: Kinds of envelopes: name in a row and in the legend, colour and marker.
_KINDS = (
    ("hoeffding", "Hoeffding (paper)", "#0072B2", "s"),
    ("all counts", "all counts, noise known", "#D55E00", "o"),
    ("one at a time", "one pair at one time (contrast)", "#999999", "^"),
)


def _certificates(figure: Figure, rows: Sequence[Row], scale: Scale) -> None:
    axes = figure.subplots()
    for kind, name, colour, marker in _KINDS:
        rates = [_wrong_rate(rows, delta, kind) for delta in DELTAS]
        axes.plot(DELTAS, rates, color=colour, marker=marker, label=name)
    axes.plot([0, 0.5], [0, 0.5], color="black", linestyle=":", label="δ")
    label(axes, "δ", "share of runs with any wrong certificate", f"{len(rows)} runs")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False)


def _wrong_rate(rows: Sequence[Row], delta: float, kind: str) -> float:
    name = f"{delta:g}"
    wrong = [row["wrong"][name] for row in rows]
    return float(column(wrong, kind).mean())


_RESTART_COLOURS = (
    "#999999",
    "#56B4E9",
    "#0072B2",
    "#009E73",
    "#D55E00",
    "#E69F00",
    "#CC79A7",
    "#000000",
)
DRAWERS: Mapping[str, Callable[[Figure, Sequence[Row], Scale], None]] = {
    "regret": _regret,
    "mismatch": _mismatch,
    "distortion": _distortion,
    "budget": _budget,
    "partitions": _partitions,
    "epochs": _epochs,
    "changes": _changes,
    "certificates": _certificates,
}
#: In inches.
SIZES: Mapping[str, tuple[float, float]] = {
    "regret": (15, 4.6),
    "mismatch": (11, 5),
    "distortion": (14, 5),
    "budget": (11, 5),
    "partitions": (11, 4.6),
    "epochs": (14, 4.4),
    "changes": (8, 5.6),
    "certificates": (7, 4.6),
}
