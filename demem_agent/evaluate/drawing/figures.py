"""Draw a report: recall against the budget, and what accuracy costs in characters and in time.

Lines are means over questions; bands, for this memory and the best of the others, are 95 %
intervals by dialogue. Needs matplotlib, from the extra ``lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from demem_agent.errors import MissingExtra
from demem_agent.evaluate.drawing.looks import (
    ORACLE,
    OURS,
    curve,
    label,
    legend,
    limits_below,
    names_at_the_end,
    new_figure,
    plain,
    trail,
)

__all__ = ["draw", "require_matplotlib"]

Report = Mapping[str, Any]

WORDS = {
    "recall": "gold-evidence recall",
    "contained": "reference in the text",
    "f1": "token F1 of the answer",
}
#: The best that any system reaches at no more than each cost.
STAIRS: Mapping[str, Any] = {
    "color": "#C8C8C8",
    "linewidth": 4,
    "alpha": 0.6,
    "zorder": 0,
    "solid_joinstyle": "round",
}
CEILING: Mapping[str, Any] = {"color": "#000000", "linewidth": 1.2, "linestyle": ":", "zorder": 1}
#: The most panels in a row of the figure by category.
ACROSS = 4
#: What is read faster is drawn here: a slice of a text would stretch the axis a thousandfold.
FASTEST_MS = 0.1


def require_matplotlib() -> None:
    """Raise MissingExtra, with the command that installs it, unless matplotlib is there."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("drawing figures", "lab")


def draw(
    report: Report, folder: str | Path, *, title: str = "", systems: Sequence[str] = ()
) -> list[Path]:
    """Draw every figure that a report has the measures for, as PNG files in a folder.

    ``recall.png``: recall against the limit. ``categories.png``: the same by category, where there
        are several.
    ``budget.png`` and ``latency.png``: answers against the characters given and against the time
        taken to read.

    Args:
        report: as :func:`demem_agent.evaluate.report` gives it.
        folder: made if it does not exist.
        title: what was measured, in the heading of each.
        systems: which to draw, all when empty.

    Returns the files written. Raises MissingExtra without matplotlib.
    """
    require_matplotlib()
    chosen = (name for name in report["systems"] if not systems or name in systems)
    names = sorted(chosen, key=lambda name: name != OURS)
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = []
    for name, (drawer, applies) in FIGURES.items():
        if applies(report):
            path = Path(folder) / f"{name}.png"
            drawer(report, names, title).savefig(path)
            written.append(path)
    return written


# -- recall
# ------------------------------------------------------------------------------------------------------


def _recall(report: Report, names: Sequence[str], title: str) -> Any:
    figure = new_figure(8.6, 5.4)
    axes = figure.subplots()
    limits = report["limits"]
    ends = {name: report["systems"][name][str(limits[-1])]["recall"]["mean"] for name in names}
    with_band = (
        OURS,
        max(
            (name for name in names if name not in (OURS, ORACLE)),
            key=ends.__getitem__,
            default=OURS,
        ),
    )
    for name in names:
        points = [report["systems"][name][str(limit)]["recall"] for limit in limits]
        curve(axes, limits, points, name, names, band=name in with_band)
    limits_below(axes, limits)
    bands = "; bands are 95 % intervals" if report["dialogues"] > 1 else ""
    heading = f"Evidence within the budget {_of(title)}{bands}"
    label(axes, "characters that the reading may have", WORDS["recall"], heading)
    axes.set_ylim(0, 1.02)
    axes.margins(x=0.02)  # the names begin right of the axes
    names_at_the_end(axes, limits[-1], ends, names)
    return figure


def _categories(report: Report, names: Sequence[str], title: str) -> Any:
    scored = _scored(report)
    down = -(-len(scored) // ACROSS)
    across = -(-len(scored) // down)
    figure = new_figure(0.6 + 3.1 * across, 1.2 + 3.1 * down)
    panels = figure.subplots(down, across, sharey=True, squeeze=False).flat
    limits = report["limits"]
    for (category, questions), axes in zip(scored.items(), panels, strict=False):
        for name in names:
            cells = [
                report["systems"][name][str(limit)]["categories"][category] for limit in limits
            ]
            curve(axes, limits, [cell["recall"] for cell in cells], name, names, band=name == OURS)
        limits_below(axes, limits, ratio=1.6)
        label(
            axes,
            "characters",
            "",
            f"{category} ({questions} question{'s' if questions > 1 else ''})",
        )
        axes.set_ylim(0, 1.03)
    for axes in list(panels):  # those that are left over
        axes.set_visible(False)
    figure.suptitle(
        plain(f"Evidence within the budget by kind of question {_of(title)}"), fontsize=12
    )
    figure.supylabel(WORDS["recall"], fontsize=10)
    legend(figure, names)
    return figure


def _scored(report: Report) -> dict[str, int]:
    """Give the categories that recall is measured of, with their questions, the largest first."""
    cell = next(iter(next(iter(report["systems"].values())).values()))
    found = {
        name: of["recall"]["questions"] for name, of in cell["categories"].items() if of["recall"]
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


# -- frontiers
# ---------------------------------------------------------------------------------------------------


def _budget(report: Report, names: Sequence[str], title: str) -> Any:
    figure, panels = _frontier(report, names, lambda cell: max(cell["size"], 1))
    for axes in panels:
        limits_below(axes, report["limits"])
        axes.set_xlabel("characters given, mean over questions (log)")
    figure.suptitle(plain(f"Answers against the characters given {_of(title)}"), fontsize=12)
    return figure


def _latency(report: Report, names: Sequence[str], title: str) -> Any:
    figure, panels = _frontier(
        report, names, lambda cell: max(cell["seconds"]["median"] * 1000, FASTEST_MS)
    )
    for axes in panels:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_thousands)
        axes.xaxis.set_minor_formatter(
            lambda value, _: _thousands(value, _) if f"{value:e}"[0] in "25" else ""
        )
        axes.set_xlabel(
            f"milliseconds of a read, median (log; {FASTEST_MS:g} also where it is less)"
        )
    figure.suptitle(plain(f"Answers against the time of a read {_of(title)}"), fontsize=12)
    return figure


def _frontier(
    report: Report, names: Sequence[str], cost: Callable[[Any], float]
) -> tuple[Any, Sequence[Any]]:
    """Draw both measures of answers against a cost, with the best that is had at no more than each
    cost.
    """
    figure = new_figure(11, 5.4)
    panels = figure.subplots(1, 2)
    rivals = [name for name in names if name != ORACLE] or list(names)
    for axes, measure in zip(panels, ("contained", "f1"), strict=True):
        every = []
        for name in rivals:
            points = [
                (cost(cell), cell[measure]["mean"]) for cell in report["systems"][name].values()
            ]
            trail(axes, points, name, names)
            every += points
        _staircase(axes, every)
        highest = max(height for _, height in every)
        if ORACLE in names:
            ceiling = max(cell[measure]["mean"] for cell in report["systems"][ORACLE].values())
            axes.axhline(ceiling, **CEILING)
            highest = max(highest, ceiling)
        label(axes, "", WORDS[measure], _marks(report["limits"]) if axes is panels[0] else "")
        axes.set_ylim(0, 1.06 * highest or 1)
    legend(
        figure,
        rivals,
        {"best at no more cost": STAIRS, **({ORACLE: CEILING} if ORACLE in names else {})},
    )
    return figure, panels


def _marks(limits: Sequence[int]) -> str:
    return (
        f"a larger mark is a larger limit: {limits[0]:,} to {limits[-1]:,} characters"
        if len(limits) > 1
        else ""
    )


def _thousands(value: float, _: object) -> str:
    return f"{value:,.10g}"


def _staircase(axes: Any, points: Sequence[tuple[float, float]]) -> None:
    best: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not best or y > best[-1][1]:
            best.append((x, y))
    axes.step(*zip(*best, strict=True), where="post", **STAIRS)


def _of(title: str) -> str:
    return f"({title})" if title else ""


def _has(measure: str) -> Callable[[Report], bool]:
    """Give what tells whether a measure is known of every system."""
    return lambda report: all(
        cell[measure] for cells in report["systems"].values() for cell in cells.values()
    )


FIGURES: Mapping[
    str, tuple[Callable[[Report, Sequence[str], str], Any], Callable[[Report], bool]]
] = {
    "recall": (_recall, _has("recall")),
    "categories": (_categories, lambda report: _has("recall")(report) and len(_scored(report)) > 1),
    "budget": (_budget, _has("contained")),
    "latency": (_latency, _has("contained")),
}
