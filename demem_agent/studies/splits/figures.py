"""Draw what the split audits found, ours beside the paper's.

Needs matplotlib, from the extra ``lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.evaluate.drawing.figures import require_matplotlib
from demem_agent.evaluate.drawing.looks import label, new_figure, plain
from demem_agent.evaluate.grouping import grouped
from demem_agent.studies.paper import DEGENERACY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_audit"]

Drawn = Mapping[str, Any]
Floats = NDArray[np.float64]
#: Of each term, the value of each dialogue.
Values = Sequence[Sequence[float]]

OURS, OTHER, PAPER, GREY = "#D55E00", "#0072B2", "#000000", "#999999"
#: What matplotlib leaves out of a legend.
UNNAMED = "_nolegend_"
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
    """Draw the figure of a report as :func:`demem_agent.studies.catalogue.audited` makes it.

    * ``splits.png``: precision against recall of the trigger at every threshold;
    * ``bridge.png``: the terms of the bridge;
    * ``noise.png``: precision of certificates against the noise;
    * ``graph.png``: degeneracy as feedback comes.

    Other audits have no figure.

    Returns:
        The files written.

    Raises:
        MissingExtra: without matplotlib.
    """
    require_matplotlib()
    kind = report["audit"]
    if kind not in DRAWERS:
        return []
    path = Path(folder) / f"{kind}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = DRAWERS[kind]
    figure = draw(report["drawn"], report["data"])
    figure.savefig(path)
    return [path]


@dataclass(frozen=True, slots=True)
class _Mark:
    """How a point is drawn; ``size`` in points."""

    marker: str
    colour: str
    size: int


def _splits(drawn: Drawn, title: str) -> Figure:
    figure: Figure = new_figure(7.5, 5.4)
    axes = figure.subplots()
    _draw_curve(axes, [one for one in drawn["curve"] if one["certified"]])
    shipped = drawn["shipped"]
    over = f"as it ships, over {shipped['threshold']:g}"
    _draw_point(axes, shipped, over, _Mark("o", OURS, 11))
    _draw_others(axes, drawn["others"].values())
    _draw_point(axes, drawn["paper"], "paper, by its definition", _Mark("*", PAPER, 14))
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    label(
        axes,
        "recall: conflicts by gold that are certified",
        "precision: certified pairs that are conflicts",
    )
    axes.legend(frameon=False, loc="lower left", fontsize=9)
    _entitle(figure, "Split trigger on recorded tests", title)
    return figure


def _draw_curve(axes: Axes, points: Sequence[Drawn]) -> None:
    """Draw precision against recall, and write the threshold at some eight points."""
    recalls = _column(points, "recall")
    precisions = _column(points, "precision")
    axes.plot(recalls, precisions, color=OURS, marker=".", linewidth=1.6, label="any threshold")
    step = max(len(points) // 8, 1)
    for one in points[::step]:
        threshold = f"{one['threshold']:g}"
        place = (one["recall"], one["precision"])
        axes.annotate(threshold, place, (3, 5), textcoords="offset points")


def _draw_others(axes: Axes, points: Iterable[Drawn]) -> None:
    """Draw a point a dialogue, and name them once."""
    name = "one dialogue, threshold of the others"
    for one in points:
        _draw_point(axes, one, name, _Mark("x", OTHER, 8))
        name = UNNAMED


def _draw_point(axes: Axes, one: Drawn, name: str, mark: _Mark) -> None:
    axes.plot(
        one["recall"],
        one["precision"],
        linestyle="none",
        label=name,
        marker=mark.marker,
        color=mark.colour,
        markersize=mark.size,
    )


def _bridge(drawn: Drawn, title: str) -> Figure:
    figure: Figure = new_figure(10.5, 5)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_terms(left, drawn, "gold share")
    _draw_terms(right, drawn, "contained")
    label(left, "", "loss, in units of the reward", "reward: gold share")
    label(right, "", "", "reward: contained")
    left.legend(frameon=False, fontsize=9)
    _entitle(figure, "Approximation bridge; dots are dialogues", title)
    return figure


def _draw_terms(axes: Axes, drawn: Drawn, reward: str) -> None:
    """Draw three bars a term: before feedback, after it, and the paper's."""
    papers = {name: value for name, value in drawn["paper"].items() if value is not None}
    places = np.arange(len(papers), dtype=np.float64)
    for shift, moment, colour in ((0.0, "before feedback", GREY), (0.27, "after", OURS)):
        by_dialogue = drawn["terms"][f"{reward}, {moment}"]
        values = _values_of_terms(by_dialogue, papers)
        _draw_means(axes, places + shift, values, colour, moment)
        _draw_dots(axes, places + shift, values)
    axes.bar(places + 0.54, list(papers.values()), 0.25, color=PAPER, label="paper")
    broken = [name.replace(" ", "\n", 1) for name in papers]
    axes.set_xticks(places + 0.27, broken)
    axes.tick_params(axis="x", labelsize=8)


def _values_of_terms(by_dialogue: Drawn, names: Iterable[str]) -> Values:
    found = list(by_dialogue.values())
    return [_column(found, name) for name in names]


def _draw_means(axes: Axes, places: Floats, values: Values, colour: str, name: str) -> None:
    """Draw a bar for each mean."""
    means = [sum(own) / len(own) for own in values]
    axes.bar(places, means, 0.25, color=colour, label=name)


def _draw_dots(axes: Axes, places: Floats, values: Values) -> None:
    """Draw a dot for each value."""
    for place, own in zip(places, values, strict=True):
        axes.plot([place] * len(own), own, ".", color="#333333", markersize=4)


def _noise(drawn: Drawn, title: str) -> Figure:
    figure: Figure = new_figure(7, 4.8)
    axes = figure.subplots()
    points = drawn["precision"]
    for line in NOISE_LINES:
        _draw_channel(axes, line, _with(points, "channel", line.channel))
    axes.set_ylim(0, 1)
    paper = _with(points, "channel", "paper")
    axes.set_xticks(_column(paper, "p"))
    label(
        axes,
        "probability that a reward is the wrong way round",
        "certificates whose claim holds by gold",
    )
    axes.legend(frameon=False)
    _entitle(figure, "Corrupted rewards", title)
    return figure


def _draw_channel(axes: Axes, line: _Line, points: Sequence[Drawn]) -> None:
    """Draw a channel's precision by noise; nothing where there are no points."""
    if not points:
        return
    axes.plot(
        _column(points, "p"),
        _column(points, "precision"),
        marker="o",
        color=line.colour,
        linestyle=line.style,
        label=line.channel,
    )


def _graph(drawn: Drawn, title: str) -> Figure:
    figure: Figure = new_figure(7, 4.8)
    axes = figure.subplots()
    level = drawn["level"]
    slots = drawn["slots"]
    _draw_degeneracy(axes, _with(drawn["epochs"], "level", level))
    _draw_bounds(axes, slots)
    axes.set_xscale("log", base=2)
    axes.set_ylim(-0.2, slots)
    label(axes, "feedbacks given (log)", f"degeneracy at level {level:g}")
    axes.legend(frameon=False, fontsize=8, ncols=2, loc=(0.02, 0.55))
    _entitle(figure, "Cannot-link graph of tested pairs", title)
    return figure


def _draw_bounds(axes: Axes, slots: int) -> None:
    """Draw where K colours stop to be enough for certain, and the paper's mean degeneracy."""
    enough = "K - 1: K colours are always enough below"
    axes.axhline(slots - 1, color=GREY, linestyle="--", label=enough)
    axes.axhline(DEGENERACY.mean, color=PAPER, linestyle=":", label="paper, mean")


def _draw_degeneracy(axes: Axes, epochs: Sequence[Drawn]) -> None:
    """Draw a line a dialogue."""
    by_dialogue = grouped(epochs, itemgetter("dialogue"))
    colours = cycle(COLOURS)
    for name, own in by_dialogue.items():
        feedbacks = _column(own, "feedbacks")
        degeneracy = _column(own, "degeneracy")
        axes.plot(feedbacks, degeneracy, marker=".", color=next(colours), label=name)


def _with(records: Sequence[Drawn], name: str, value: object) -> list[Drawn]:
    """Return the records whose field of this name has a value."""
    return [one for one in records if one[name] == value]


def _column(records: Sequence[Drawn], name: str) -> list[Any]:
    """Return one field of all records."""
    return [one[name] for one in records]


def _entitle(figure: Figure, what: str, data: str) -> None:
    """Write above a figure what it shows, and of what data."""
    of_data = f"({data})" if data else ""
    figure.suptitle(plain(f"{what} {of_data}"), fontsize=12)


DRAWERS: Mapping[str, Callable[[Drawn, str], Figure]] = {
    "splits": _splits,
    "bridge": _bridge,
    "noise": _noise,
    "graph": _graph,
}
