"""One figure for each experiment.

Lines are means over seeds, bands reach from the 10th to the 90th percentile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent.studies.synthetic.certificates import DELTAS
from demem_agent.studies.synthetic.methods import DESCRIPTION, RESTARTS, THIRD
from demem_agent.studies.synthetic.partitions import BUDGETS
from demem_agent.studies.synthetic.plots import COLOURS, band, label, legend
from demem_agent.studies.synthetic.rows import Row, column, columns_by, select
from demem_agent.studies.synthetic.scale import Scale
from demem_agent.studies.synthetic.tables import floors

__all__ = ["draw"]


def draw(name: str, rows: Sequence[Row], scale: Scale, path: Path) -> None:
    """Draw the figure of an experiment into a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZES[name], dpi=120, layout="constrained")
    DRAWERS[name](figure, rows, scale)
    figure.savefig(path)


def _regret(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    panels = figure.subplots(1, len(scale.alphas), sharey=True)
    for axes, alpha in zip(panels, scale.alphas, strict=True):
        at = select(rows, alpha=alpha)
        for name, colour in COLOURS.items():
            _regret_curve(axes, select(at, method=name), scale, name, colour)
        _log_regret(axes)
        y = "cumulative regret (log)" if axes is panels[0] else ""
        label(axes, "round / 1000", y, f"mismatch α = {alpha:g}")
    legend(figure, panels[0])


def _regret_curve(axes: Any, rows: Sequence[Row], scale: Scale, name: str, colour: str) -> None:
    runs = [row["curve"] for row in rows]
    ends = np.linspace(0, scale.rounds, len(runs[0]) + 1)[1:]
    band(axes, ends / 1000, runs, name, colour)


def _log_regret(axes: Any) -> None:
    axes.set_yscale("log")
    axes.set_ylim(10, None)


def _by_alpha(axes: Any, rows: Sequence[Row], scale: Scale, measured: str) -> None:
    for name, colour in COLOURS.items():
        own = select(rows, method=name)
        runs = columns_by(own, measured, "alpha", scale.alphas)
        band(axes, scale.alphas, runs, name, colour, marker="o")


def _mismatch(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _by_alpha(left, rows, scale, "regret")
    left.set_yscale("log")
    label(left, "mismatch α", f"regret after {scale.rounds} rounds (log)")
    ours = columns_by(select(rows, method=THIRD), "regret", "alpha", scale.alphas)
    for name in DESCRIPTION:
        theirs = columns_by(select(rows, method=name), "regret", "alpha", scale.alphas)
        band(right, scale.alphas, theirs - ours, name, COLOURS[name], marker="o")
    right.axhline(0, color="black", linewidth=0.8)
    title = "advantage over description"
    label(right, "mismatch α", "regret more than the corrected prior", title)
    legend(figure, left)


def _distortion(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    average, worst, beside = figure.subplots(1, 3)
    _by_alpha(average, rows, scale, "d_star")
    label(average, "mismatch α", "D*: average distortion of the partition")
    _by_alpha(worst, rows, scale, "d_star_worst")
    label(worst, "mismatch α", "D*∞: worst-case distortion")
    for name, colour in COLOURS.items():
        at = select(rows, method=name)
        lost = column(at, "d_star")
        beside.scatter(lost, column(at, "regret"), s=12, color=colour, alpha=0.6, linewidths=0)
    beside.set_yscale("log")
    label(beside, "D* of the last partition", "regret (log)", "one dot a run")
    legend(figure, average)


def _budget(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _by_budget(left, rows, scale, "loss")
    _by_budget(right, rows, scale, "wrong")
    exact = [float(np.mean(floors(slots, scale))) for slots in scale.budgets]
    dotted = {"color": "black", "linestyle": ":", "linewidth": 2}
    left.plot(scale.budgets, exact, label="exact frontier", **dotted)
    label(left, "states K", "value lost per round, D_val", "α = 0.5")
    label(right, "states K", "share of contexts shown a wrong action, D", "α = 0.5")
    legend(figure, left)


def _by_budget(axes: Any, rows: Sequence[Row], scale: Scale, measured: str) -> None:
    for name in dict.fromkeys(row["method"] for row in rows):
        own = select(rows, method=name)
        runs = columns_by(own, measured, "slots", scale.budgets)
        band(axes, scale.budgets, runs, name, COLOURS[name], marker="o")


def _partitions(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _excess(left, rows, -0.12, "greedy", "Greedy-Partition (colouring)", colour="#0072B2")
    _excess(left, rows, 0.12, "cover", "action cover", colour="#D55E00")
    left.set_xticks(range(len(BUDGETS)), list(map(str, BUDGETS)))
    left.axhline(0, color="grey", linewidth=0.8)
    label(left, "states K", "realised radius less exact ε*", "known rewards; bar: mean")
    left.legend(frameon=False, fontsize=9)
    _radii(right, rows)


def _excess(
    axes: Any, rows: Sequence[Row], shift: float, key: str, name: str, *, colour: str
) -> None:
    """Draw a dot a run and a bar at the mean, beside each number of states."""
    for place, k in enumerate(BUDGETS):
        at = select(rows, k=k)
        excess = column(at, key) - column(at, "exact")
        jitter = np.linspace(-0.07, 0.07, len(excess))
        middle = place + shift
        named = name if place == 0 else None
        axes.scatter(middle + jitter, excess, s=14, color=colour, alpha=0.7, label=named)
        mean = excess.mean()
        axes.hlines(mean, middle - 0.1, middle + 0.1, color="black", linewidth=1.6)


def _radii(axes: Any, rows: Sequence[Row]) -> None:
    drawn = (
        ("exact", "exact ε*", "black"),
        ("level", "α_e, level of the graph", "#999999"),
        ("greedy_certified", "colouring, certified", "#56B4E9"),
        ("greedy_realised", "colouring, realised", "#0072B2"),
        ("cover_certified", "cover, certified", "#E69F00"),
        ("cover_realised", "cover, realised", "#D55E00"),
    )
    for key, name, colour in drawn:
        runs = columns_by(rows, key, "k", BUDGETS)
        band(axes, BUDGETS, runs, name, colour, marker="o")
    label(axes, "states K", "radius", "from 400 samples a pair")
    axes.legend(frameon=False, fontsize=8)


def _changes(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    axes = figure.subplots()
    for name, colour in zip(RESTARTS, _RESTART_COLOURS, strict=True):
        _regret_curve(axes, select(rows, method=name), scale, name, colour)
    for quarter in (1, 2, 3):
        change = scale.rounds * quarter / 4000
        axes.axvline(change, color="grey", linestyle=":", linewidth=1)
    _log_regret(axes)
    title = "rewards change at the dotted lines, α = 0.25"
    label(axes, "round / 1000", "cumulative regret (log)", title)
    legend(figure, axes, columns=2)


def _certificates(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    axes = figure.subplots()
    drawn = (
        ("hoeffding", "Hoeffding (paper)", "#0072B2", "s"),
        ("all counts", "all counts, noise known", "#D55E00", "o"),
        ("one at a time", "one pair at one time (contrast)", "#999999", "^"),
    )
    for kind, name, colour, marker in drawn:
        rates = [_wrong_rate(rows, delta, kind) for delta in DELTAS]
        axes.plot(DELTAS, rates, color=colour, marker=marker, label=name)
    axes.plot([0, 0.5], [0, 0.5], color="black", linestyle=":", label="δ")
    label(axes, "δ", "share of runs with any wrong certificate", f"{len(rows)} runs")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False)


def _wrong_rate(rows: Sequence[Row], delta: float, kind: str) -> float:
    wrong = [row["wrong"][f"{delta:g}"] for row in rows]
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
DRAWERS: Mapping[str, Callable[[Any, Sequence[Row], Scale], None]] = {
    "regret": _regret,
    "mismatch": _mismatch,
    "distortion": _distortion,
    "budget": _budget,
    "partitions": _partitions,
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
    "changes": (8, 5.6),
    "certificates": (7, 4.6),
}
