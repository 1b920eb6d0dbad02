"""Draw what the split audits found, ours beside the paper's.

Needs matplotlib, from the extra ``lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent.evaluate.drawing.figures import require_matplotlib
from demem_agent.evaluate.drawing.looks import label, new_figure, plain

__all__ = ["draw_audit"]

Drawn = Mapping[str, Any]

OURS, OTHER, PAPER, GREY = "#D55E00", "#0072B2", "#000000", "#999999"
#: One a dialogue, in turn; told apart without colour vision.
COLOURS = (
    "#D55E00",
    "#0072B2",
    "#009E73",
    "#CC79A7",
    "#332288",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#999933",
    "#444444",
)


@dataclass(frozen=True, slots=True)
class _Line:
    """How a channel of noise is drawn."""

    channel: str
    colour: str
    style: str


NOISE_LINES = (
    _Line("reward", OURS, "-"),
    _Line("thumbs", OTHER, "--"),
    _Line("scorers", "#009E73", "-."),
    _Line("paper", PAPER, ":"),
)


def draw_audit(report: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Draw the figure of a report as :func:`demem_agent.studies.splits.catalogue.audited` makes it.

    * ``splits.png``: precision against recall of the trigger at every threshold;
    * ``bridge.png``: the terms of the bridge;
    * ``noise.png``: precision of certificates against the noise;
    * ``graph.png``: degeneracy as feedback comes.

    Returns:
        The files written.

    Raises:
        MissingExtra: without matplotlib.
    """
    require_matplotlib()
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{report['audit']}.png"
    draw = DRAWERS[report["audit"]]
    draw(report["drawn"], report["data"]).savefig(path)
    return [path]


def _splits(drawn: Drawn, title: str) -> Any:
    figure = new_figure(7.5, 5.4)
    axes = figure.subplots()
    _draw_curve(axes, [one for one in drawn["curve"] if one["certified"]])
    shipped = drawn["shipped"]
    axes.plot(
        shipped["recall"],
        shipped["precision"],
        "o",
        color=OURS,
        markersize=11,
        label=f"as it ships, over {shipped['threshold']:g}",
    )
    name = "one dialogue, threshold of the others"
    for one in drawn["others"].values():
        axes.plot(one["recall"], one["precision"], "x", color=OTHER, markersize=8, label=name)
        name = "_nolegend_"
    paper = drawn["paper"]
    axes.plot(
        paper["recall"],
        paper["precision"],
        "*",
        color=PAPER,
        markersize=14,
        label="paper, by its definition",
    )
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    label(
        axes,
        "recall: conflicts by gold that are certified",
        "precision: certified pairs that are conflicts",
    )
    axes.legend(frameon=False, loc="lower left", fontsize=9)
    figure.suptitle(plain(f"Split trigger on recorded tests {_of(title)}"), fontsize=12)
    return figure


def _draw_curve(axes: Any, points: Sequence[Drawn]) -> None:
    """Draw precision against recall, and write the threshold at some eight points."""
    recalls = _column(points, "recall")
    precisions = _column(points, "precision")
    axes.plot(recalls, precisions, color=OURS, marker=".", linewidth=1.6, label="any threshold")
    step = max(len(points) // 8, 1)
    for one in points[::step]:
        place = (one["recall"], one["precision"])
        axes.annotate(f"{one['threshold']:g}", place, (3, 5), textcoords="offset points")


def _bridge(drawn: Drawn, title: str) -> Any:
    figure = new_figure(10.5, 5)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_terms(left, drawn, "gold share")
    _draw_terms(right, drawn, "contained")
    label(left, "", "loss, in units of the reward", "reward: gold share")
    label(right, "", "", "reward: contained")
    left.legend(frameon=False, fontsize=9)
    figure.suptitle(plain(f"Approximation bridge; dots are dialogues {_of(title)}"), fontsize=12)
    return figure


def _draw_terms(axes: Any, drawn: Drawn, reward: str) -> None:
    """Draw a bar a term: before feedback, after it, and the paper's; a dot is a dialogue."""
    names = [name for name, paper in drawn["paper"].items() if paper is not None]
    papers = [drawn["paper"][name] for name in names]
    places = np.arange(len(names))
    for shift, moment, colour in ((0.0, "before feedback", GREY), (0.27, "after", OURS)):
        found = list(drawn["terms"][f"{reward}, {moment}"].values())
        values = [_column(found, name) for name in names]
        means = [sum(own) / len(own) for own in values]
        axes.bar(places + shift, means, 0.25, color=colour, label=moment)
        for place, own in zip(places + shift, values, strict=True):
            axes.plot([place] * len(own), own, ".", color="#333333", markersize=4)
    axes.bar(places + 0.54, papers, 0.25, color=PAPER, label="paper")
    axes.set_xticks(places + 0.27, [name.replace(" ", "\n", 1) for name in names])
    axes.tick_params(axis="x", labelsize=8)


def _noise(drawn: Drawn, title: str) -> Any:
    figure = new_figure(7, 4.8)
    axes = figure.subplots()
    for line in NOISE_LINES:
        found = _with(drawn["precision"], "channel", line.channel)
        if found:
            axes.plot(
                _column(found, "p"),
                _column(found, "precision"),
                marker="o",
                color=line.colour,
                linestyle=line.style,
                label=line.channel,
            )
    axes.set_ylim(0, 1)
    axes.set_xticks(_column(_with(drawn["precision"], "channel", "paper"), "p"))
    label(
        axes,
        "probability that a reward is the wrong way round",
        "certificates whose claim holds by gold",
    )
    axes.legend(frameon=False)
    figure.suptitle(plain(f"Corrupted rewards {_of(title)}"), fontsize=12)
    return figure


def _graph(drawn: Drawn, title: str) -> Any:
    figure = new_figure(7, 4.8)
    axes = figure.subplots()
    known = _with(drawn["epochs"], "level", drawn["level"])
    colours = cycle(COLOURS)
    for name in dict.fromkeys(_column(known, "dialogue")):
        own = _with(known, "dialogue", name)
        feedbacks = _column(own, "feedbacks")
        degeneracy = _column(own, "degeneracy")
        axes.plot(feedbacks, degeneracy, marker=".", color=next(colours), label=name)
    axes.axhline(
        drawn["slots"] - 1,
        color=GREY,
        linestyle="--",
        label="K - 1: K colours are always enough below",
    )
    axes.axhline(4.1, color=PAPER, linestyle=":", label="paper, mean")
    axes.set_xscale("log", base=2)
    axes.set_ylim(-0.2, drawn["slots"])
    label(axes, "feedbacks given (log)", f"degeneracy at level {drawn['level']:g}")
    axes.legend(frameon=False, fontsize=8, ncols=2, loc=(0.02, 0.55))
    figure.suptitle(plain(f"Cannot-link graph of tested pairs {_of(title)}"), fontsize=12)
    return figure


def _with(records: Sequence[Drawn], name: str, value: object) -> list[Drawn]:
    """Return the records whose field of this name has a value."""
    return [one for one in records if one[name] == value]


def _column(records: Sequence[Drawn], name: str) -> list[Any]:
    """Return one field of all records."""
    return [one[name] for one in records]


def _of(title: str) -> str:
    return f"({title})" if title else ""


DRAWERS: Mapping[str, Callable[[Drawn, str], Any]] = {
    "splits": _splits,
    "bridge": _bridge,
    "noise": _noise,
    "graph": _graph,
}
