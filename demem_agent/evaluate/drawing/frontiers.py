"""Draw answers against what they cost, in characters and in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from demem_agent.evaluate.drawing.looks import (
    ORACLE,
    label,
    legend,
    limits_below,
    new_figure,
    plain,
    trail,
)
from demem_agent.evaluate.drawing.shown import WORDS, Cell, Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["against_characters", "against_time"]

Point = tuple[float, float]
#: What the reading of a cell of a report costs.
Cost = Callable[[Cell], float]

#: The best that any system reaches at no more than each cost.
STAIRS: Mapping[str, Any] = {
    "color": "#C8C8C8",
    "linewidth": 4,
    "alpha": 0.6,
    "zorder": 0,
    "solid_joinstyle": "round",
}
CEILING: Mapping[str, Any] = {"color": "#000000", "linewidth": 1.2, "linestyle": ":", "zorder": 1}
#: What is read faster is drawn here: a slice of a text would stretch the axis a thousandfold.
FASTEST_MS = 0.1


def against_characters(shown: Shown) -> Figure:
    """Draw answers against the characters given."""
    figure, panels = _frontier(shown, _characters)
    for axes in panels:
        limits_below(axes, shown.limits)
        axes.set_xlabel("characters given, mean over questions (log)")
    heading = shown.headed("Answers against the characters given")
    figure.suptitle(plain(heading), fontsize=12)
    return figure


def against_time(shown: Shown) -> Figure:
    """Draw answers against the time that a read takes."""
    figure, panels = _frontier(shown, _milliseconds)
    for axes in panels:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_thousands)
        axes.xaxis.set_minor_formatter(_some_thousands)
        least = f"{FASTEST_MS:g} also where it is less"
        axes.set_xlabel(f"milliseconds of a read, median (log; {least})")
    heading = shown.headed("Answers against the time of a read")
    figure.suptitle(plain(heading), fontsize=12)
    return figure


def _characters(cell: Cell) -> float:
    return max(float(cell["size"]), 1.0)


def _milliseconds(cell: Cell) -> float:
    median: float = cell["seconds"]["median"]
    return max(median * 1000, FASTEST_MS)


def _frontier(shown: Shown, cost: Cost) -> tuple[Figure, tuple[Axes, Axes]]:
    """Draw both measures of answers against a cost, and the best that is had at no more."""
    figure = new_figure(11, 5.4)
    left, right = figure.subplots(1, 2)
    _panel(left, shown, cost, "contained")
    _panel(right, shown, cost, "f1")
    label(left, "", WORDS["contained"], _marks(shown.limits))
    label(right, "", WORDS["f1"])
    lines = {"best at no more cost": STAIRS}
    if ORACLE in shown.names:
        lines[ORACLE] = CEILING
    legend(figure, _rivals(shown), lines)
    return figure, (left, right)


def _panel(axes: Axes, shown: Shown, cost: Cost, measure: str) -> None:
    every: list[Point] = []
    for name in _rivals(shown):
        points = _points(shown, name, cost, measure)
        trail(axes, points, name, shown.names)
        every += points
    _staircase(axes, every)
    highest = _highest(every)
    if ORACLE in shown.names:
        of_oracle = _points(shown, ORACLE, cost, measure)
        ceiling = _highest(of_oracle)
        axes.axhline(ceiling, **CEILING)
        highest = max(highest, ceiling)
    axes.set_ylim(0, 1.06 * highest or 1)


def _points(shown: Shown, name: str, cost: Cost, measure: str) -> list[Point]:
    """Return what a system costs at each limit, with what it reaches."""
    cells = shown.report["systems"][name].values()
    return [(cost(cell), cell[measure]["mean"]) for cell in cells]


def _highest(points: Sequence[Point]) -> float:
    return max(height for _, height in points)


def _rivals(shown: Shown) -> list[str]:
    """Return all but the oracle, or the oracle where there is nothing else."""
    rivals = [name for name in shown.names if name != ORACLE]
    return rivals or list(shown.names)


def _marks(limits: Sequence[int]) -> str:
    if len(limits) < 2:
        return ""
    return f"a larger mark is a larger limit: {limits[0]:,} to {limits[-1]:,} characters"


def _thousands(value: float, _: object) -> str:
    return f"{value:,.10g}"


def _some_thousands(value: float, place: object) -> str:
    """Write the values between powers of ten that begin with 2 or 5, and no others."""
    begins = f"{value:e}"[0]
    return _thousands(value, place) if begins in "25" else ""


def _staircase(axes: Axes, points: Sequence[Point]) -> None:
    best: list[Point] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not best or y > best[-1][1]:
            best.append((x, y))
    axes.step(*zip(*best, strict=True), where="post", **STAIRS)
