"""Draw what the split audits found, ours beside the paper's. Needs matplotlib, from the extra
``lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from demem_agent.evaluate.drawing.figures import require_matplotlib
from demem_agent.evaluate.drawing.looks import label, new_figure, plain
from demem_agent.studies.paper import DEGENERACY

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


def draw_audit(report: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Draw the figure of a report as :func:`demem_agent.studies.splits.catalogue.audited` gives it.

    ``splits.png``: precision against recall of the trigger at every threshold; ``bridge.png``: the
        terms of the bridge;
    ``noise.png``: precision of certificates against the noise; ``graph.png``: degeneracy as
        feedback comes.

    Returns the files written. Raises MissingExtra without matplotlib.
    """
    require_matplotlib()
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{report['audit']}.png"
    DRAWERS[report["audit"]](report["drawn"], report["data"]).savefig(path)
    return [path]


def _splits(drawn: Drawn, title: str) -> Any:
    figure = new_figure(7.5, 5.4)
    axes = figure.subplots()
    points = [one for one in drawn["curve"] if one["certified"]]
    recalls, precisions = ([one[name] for one in points] for name in ("recall", "precision"))
    axes.plot(recalls, precisions, color=OURS, marker=".", linewidth=1.6, label="any threshold")
    for one in points[:: max(len(points) // 8, 1)]:
        axes.annotate(
            f"{one['threshold']:g}",
            (one["recall"], one["precision"]),
            (3, 5),
            textcoords="offset points",
        )
    shipped = drawn["shipped"]
    words = f"as it ships, over {shipped['threshold']:g}"
    axes.plot(shipped["recall"], shipped["precision"], "o", color=OURS, markersize=11, label=words)
    for n, one in enumerate(drawn["others"].values()):
        known = {"label": "one dialogue, threshold of the others"} if not n else {}
        axes.plot(one["recall"], one["precision"], "x", color=OTHER, markersize=8, **known)
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


def _bridge(drawn: Drawn, title: str) -> Any:
    figure = new_figure(10.5, 5)
    panels = figure.subplots(1, 2, sharey=True)
    names = [name for name, paper in drawn["paper"].items() if paper is not None]
    for axes, reward in zip(panels, ("gold share", "contained"), strict=True):
        for n, (moment, colour) in enumerate((("before feedback", GREY), ("after", OURS))):
            found = drawn["terms"][f"{reward}, {moment}"].values()
            means = [sum(own[name] for own in found) / len(found) for name in names]
            places = [place + 0.27 * n for place in range(len(names))]
            axes.bar(places, means, 0.25, color=colour, label=moment)
            for place, name in zip(places, names, strict=True):
                axes.plot(
                    [place] * len(found),
                    [own[name] for own in found],
                    ".",
                    color="#333333",
                    markersize=4,
                )
        papers = [drawn["paper"][name] for name in names]
        axes.bar(
            [place + 0.54 for place in range(len(names))], papers, 0.25, color=PAPER, label="paper"
        )
        axes.set_xticks(
            [place + 0.27 for place in range(len(names))],
            [name.replace(" ", "\n", 1) for name in names],
        )
        axes.tick_params(axis="x", labelsize=8)
        label(
            axes,
            "",
            "loss, in units of the reward" if axes is panels[0] else "",
            f"reward: {reward}",
        )
    panels[0].legend(frameon=False, fontsize=9)
    figure.suptitle(plain(f"Approximation bridge; dots are dialogues {_of(title)}"), fontsize=12)
    return figure


def _noise(drawn: Drawn, title: str) -> Any:
    figure = new_figure(7, 4.8)
    axes = figure.subplots()
    lines = (
        ("reward", OURS, "-"),
        ("thumbs", OTHER, "--"),
        ("scorers", "#009E73", "-."),
        ("paper", PAPER, ":"),
    )
    for channel, colour, line in lines:
        found = [one for one in drawn["precision"] if one["channel"] == channel]
        if found:
            x, y = [one["p"] for one in found], [one["precision"] for one in found]
            axes.plot(x, y, marker="o", color=colour, linestyle=line, label=channel)
    axes.set_ylim(0, 1)
    axes.set_xticks([one["p"] for one in drawn["precision"] if one["channel"] == "paper"])
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
    known = [one for one in drawn["epochs"] if one["level"] == drawn["level"]]
    for n, name in enumerate(dict.fromkeys(one["dialogue"] for one in known)):
        own = [one for one in known if one["dialogue"] == name]
        x, y = [one["feedbacks"] for one in own], [one["degeneracy"] for one in own]
        axes.plot(x, y, marker=".", color=COLOURS[n % len(COLOURS)], label=name)
    axes.axhline(
        drawn["slots"] - 1,
        color=GREY,
        linestyle="--",
        label="K - 1: K colours are always enough below",
    )
    axes.axhline(DEGENERACY.mean, color=PAPER, linestyle=":", label="paper, mean")
    axes.set_xscale("log", base=2)
    axes.set_ylim(-0.2, drawn["slots"])
    label(axes, "feedbacks given (log)", f"degeneracy at level {drawn['level']:g}")
    axes.legend(frameon=False, fontsize=8, ncols=2, loc=(0.02, 0.55))
    figure.suptitle(plain(f"Cannot-link graph of tested pairs {_of(title)}"), fontsize=12)
    return figure


def _of(title: str) -> str:
    return f"({title})" if title else ""


DRAWERS: Mapping[str, Callable[[Drawn, str], Any]] = {
    "splits": _splits,
    "bridge": _bridge,
    "noise": _noise,
    "graph": _graph,
}
