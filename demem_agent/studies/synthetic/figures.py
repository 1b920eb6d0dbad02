"""One figure for each experiment. Lines are means over seeds, bands reach from the 10th to the 90th
percentile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent.studies.synthetic.certificates import DELTAS
from demem_agent.studies.synthetic.experiments import Scale, column, floors, select
from demem_agent.studies.synthetic.methods import METHODS, RESTARTS

__all__ = ["draw"]

Row = dict[str, Any]

#: Colours that are told apart without colour vision (Okabe and Ito), greys for references; ours is
#: the thickest.
COLOURS: Mapping[str, str] = dict(
    zip(
        METHODS,
        (
            "#D55E00",
            "#E69F00",
            "#F0A07A",
            "#0072B2",
            "#56B4E9",
            "#004466",
            "#009E73",
            "#CC79A7",
            "#000000",
            "#999999",
        ),
        strict=True,
    )
)
DASHED = ("Oracle", "No budget", "DeMem, as written")


def draw(name: str, rows: Sequence[Row], scale: Scale, path: Path) -> None:
    """Draw the figure of an experiment into a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZES[name], dpi=120, layout="constrained")
    DRAWERS[name](figure, rows, scale)
    figure.savefig(path)


def _band(
    axes: Any, x: Any, runs: Any, name: str, colour: str, *, marker: str | None = None
) -> None:
    values = np.asarray(runs, dtype=np.float64)
    low, high = np.percentile(values, [10, 90], axis=0)
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(
        x,
        values.mean(axis=0),
        color=colour,
        label=name,
        marker=marker,
        markersize=4,
        linestyle="--" if name in DASHED else "-",
        linewidth=2.4 if "corrected" in name else 1.4,
    )


def _label(axes: Any, x: str, y: str, title: str = "") -> None:
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Any, axes: Any, columns: int = 5) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9
    )


def _regret(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    panels = figure.subplots(1, len(scale.alphas), sharey=True)
    for axes, alpha in zip(panels, scale.alphas, strict=True):
        for name, colour in COLOURS.items():
            runs = [row["curve"] for row in select(rows, method=name, alpha=alpha)]
            x = np.linspace(0, scale.rounds, len(runs[0]) + 1)[1:]
            _band(axes, x / 1000, runs, name, colour)
        axes.set_yscale("log")
        axes.set_ylim(10, None)
        _label(
            axes,
            "round / 1000",
            "cumulative regret (log)" if axes is panels[0] else "",
            f"mismatch α = {alpha:g}",
        )
    _legend(figure, panels[0])


def _by_alpha(axes: Any, rows: Sequence[Row], scale: Scale, measured: str) -> None:
    for name, colour in COLOURS.items():
        runs = np.array(
            [column(select(rows, method=name, alpha=a), measured) for a in scale.alphas]
        ).T
        _band(axes, scale.alphas, runs, name, colour, marker="o")


def _mismatch(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    _by_alpha(left, rows, scale, "regret")
    left.set_yscale("log")
    _label(left, "mismatch α", f"regret after {scale.rounds} rounds (log)")
    regret = {
        m: np.array([column(select(rows, method=m, alpha=a), "regret") for a in scale.alphas]).T
        for m in METHODS
    }
    ours = regret["DeMem, corrected prior"]
    for name in ("Feature-KMeans", "Feature-RAG", "eps-greedy features"):
        _band(right, scale.alphas, regret[name] - ours, name, COLOURS[name], marker="o")
    right.axhline(0, color="black", linewidth=0.8)
    _label(
        right, "mismatch α", "regret more than the corrected prior", "advantage over description"
    )
    _legend(figure, left)


def _distortion(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    panels = figure.subplots(1, 3)
    _by_alpha(panels[0], rows, scale, "d_star")
    _label(panels[0], "mismatch α", "D*: average distortion of the partition")
    _by_alpha(panels[1], rows, scale, "d_star_worst")
    _label(panels[1], "mismatch α", "D*∞: worst-case distortion")
    for name, colour in COLOURS.items():
        at = select(rows, method=name)
        panels[2].scatter(
            column(at, "d_star"), column(at, "regret"), s=12, color=colour, alpha=0.6, linewidths=0
        )
    panels[2].set_yscale("log")
    _label(panels[2], "D* of the last partition", "regret (log)", "one dot a run")
    _legend(figure, panels[0])


def _budget(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    names = list(dict.fromkeys(row["method"] for row in rows))
    for axes, measured in ((left, "loss"), (right, "wrong")):
        for name in names:
            runs = np.array(
                [column(select(rows, method=name, slots=k), measured) for k in scale.budgets]
            ).T
            _band(axes, scale.budgets, runs, name, COLOURS[name], marker="o")
    exact = [float(np.mean(floors(k, scale))) for k in scale.budgets]
    left.plot(
        scale.budgets, exact, color="black", linestyle=":", linewidth=2, label="exact frontier"
    )
    _label(left, "states K", "value lost per round, D_val", "α = 0.5")
    _label(right, "states K", "share of contexts shown a wrong action, D", "α = 0.5")
    _legend(figure, left)


def _partitions(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    left, right = figure.subplots(1, 2)
    budgets = (3, 5, 8, 10)
    drawn = (
        ("greedy", "Greedy-Partition (colouring)", "#0072B2"),
        ("cover", "action cover", "#D55E00"),
    )
    for shift, (key, name, colour) in zip((-0.12, 0.12), drawn, strict=True):
        for i, k in enumerate(budgets):
            at = select(rows, k=k)
            excess = column(at, key) - column(at, "exact")
            jitter = np.linspace(-0.07, 0.07, len(excess))
            left.scatter(
                i + shift + jitter,
                excess,
                s=14,
                color=colour,
                alpha=0.7,
                label=name if i == 0 else None,
            )
            left.hlines(
                excess.mean(), i + shift - 0.1, i + shift + 0.1, color="black", linewidth=1.6
            )
    left.set_xticks(range(len(budgets)), [str(k) for k in budgets])
    left.axhline(0, color="grey", linewidth=0.8)
    _label(left, "states K", "realised radius less exact ε*", "known rewards; bar: mean")
    left.legend(frameon=False, fontsize=9)
    _radii(right, rows, budgets)


def _radii(axes: Any, rows: Sequence[Row], budgets: Sequence[int]) -> None:
    drawn = (
        ("exact", "exact ε*", "black"),
        ("level", "α_e, level of the graph", "#999999"),
        ("greedy_certified", "colouring, certified", "#56B4E9"),
        ("greedy_realised", "colouring, realised", "#0072B2"),
        ("cover_certified", "cover, certified", "#E69F00"),
        ("cover_realised", "cover, realised", "#D55E00"),
    )
    for key, name, colour in drawn:
        _band(
            axes,
            budgets,
            np.array([column(select(rows, k=k), key) for k in budgets]).T,
            name,
            colour,
            marker="o",
        )
    _label(axes, "states K", "radius", "from 400 samples a pair")
    axes.legend(frameon=False, fontsize=8)


def _changes(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    axes = figure.subplots()
    colours = (
        "#999999",
        "#56B4E9",
        "#0072B2",
        "#009E73",
        "#D55E00",
        "#E69F00",
        "#CC79A7",
        "#000000",
    )
    for name, colour in zip(RESTARTS, colours, strict=True):
        runs = [row["curve"] for row in select(rows, method=name)]
        _band(axes, np.linspace(0, scale.rounds, len(runs[0]) + 1)[1:] / 1000, runs, name, colour)
    for i in (1, 2, 3):
        axes.axvline(scale.rounds * i / 4000, color="grey", linestyle=":", linewidth=1)
    axes.set_yscale("log")
    axes.set_ylim(10, None)
    _label(
        axes,
        "round / 1000",
        "cumulative regret (log)",
        "rewards change at the dotted lines, α = 0.25",
    )
    _legend(figure, axes, columns=2)


def _certificates(figure: Any, rows: Sequence[Row], scale: Scale) -> None:
    axes = figure.subplots()
    drawn = (
        ("hoeffding", "Hoeffding (paper)", "#0072B2", "s"),
        ("all counts", "all counts, noise known", "#D55E00", "o"),
        ("one at a time", "one pair at one time (contrast)", "#999999", "^"),
    )
    for kind, name, colour, marker in drawn:
        rates = [np.mean([row["wrong"][f"{delta:g}"][kind] for row in rows]) for delta in DELTAS]
        axes.plot(DELTAS, rates, color=colour, marker=marker, label=name)
    axes.plot([0, 0.5], [0, 0.5], color="black", linestyle=":", label="δ")
    _label(axes, "δ", "share of runs with any wrong certificate", f"{len(rows)} runs")
    axes.set_ylim(-0.02, 1.02)
    axes.legend(frameon=False)


DRAWERS: Mapping[str, Callable[[Any, Sequence[Row], Scale], None]] = {
    "regret": _regret,
    "mismatch": _mismatch,
    "distortion": _distortion,
    "budget": _budget,
    "partitions": _partitions,
    "changes": _changes,
    "certificates": _certificates,
}
SIZES: Mapping[str, tuple[float, float]] = {
    "regret": (15, 4.6),
    "mismatch": (11, 5),
    "distortion": (14, 5),
    "budget": (11, 5),
    "partitions": (11, 4.6),
    "changes": (8, 5.6),
    "certificates": (7, 4.6),
}
