"""Draw recall against the limit, over all questions and by category."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from demem_agent.evaluate.drawing.looks import (
    NO_RIVALS,
    OURS,
    curve,
    label,
    legend,
    limits_below,
    names_at_the_end,
    new_figure,
    plain,
)
from demem_agent.evaluate.drawing.shown import WORDS, Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["by_category", "over_all"]

#: The most panels in a row of the figure by category.
ACROSS = 4


def over_all(shown: Shown) -> Figure:
    """Draw recall over all questions; a band for this memory and for the best of the others."""
    figure = new_figure(8.6, 5.4)
    axes = figure.subplots()
    ends = _ends(shown)
    _curves(axes, shown, with_band=(OURS, _best_rival(ends)))
    limits_below(axes, shown.limits)
    label(axes, "characters that the reading may have", WORDS["recall"], _heading(shown))
    axes.set_ylim(0, 1.02)
    axes.margins(x=0.02)  # the names begin right of the axes
    names_at_the_end(axes, shown.limits[-1], ends, shown.names)
    return figure


def _curves(axes: Axes, shown: Shown, with_band: Collection[str]) -> None:
    for name in shown.names:
        points = [cell["recall"] for cell in shown.cells(name)]
        band = name in with_band
        curve(axes, shown.limits, points, name, shown.names, band=band)


def _heading(shown: Shown) -> str:
    bands = "; bands are 95 % intervals" if shown.report["dialogues"] > 1 else ""
    return shown.headed("Evidence within the budget") + bands


def _ends(shown: Shown) -> dict[str, float]:
    """Return what each system reaches at the largest limit."""
    ends = {}
    for name in shown.names:
        last = shown.cells(name)[-1]
        ends[name] = last["recall"]["mean"]
    return ends


def _best_rival(ends: Mapping[str, float]) -> str:
    rivals = [name for name in ends if name not in (OURS, *NO_RIVALS)]
    return max(rivals, key=ends.__getitem__, default=OURS)


def by_category(shown: Shown) -> Figure:
    """Draw recall a panel a category, the largest first."""
    scored = shown.scored()
    figure, panels = _panels(len(scored))
    remaining = iter(panels)
    for category, questions in scored.items():
        _category(next(remaining), shown, category, questions)
    for axes in remaining:
        axes.set_visible(False)
    heading = shown.headed("Evidence within the budget by kind of question")
    figure.suptitle(plain(heading), fontsize=12)
    figure.supylabel(WORDS["recall"], fontsize=10)
    legend(figure, shown.names)
    return figure


def _panels(count: int) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with at least that many panels, in rows of about the same length."""
    down = -(-count // ACROSS)
    across = -(-count // down)
    figure = new_figure(0.6 + 3.1 * across, 1.2 + 3.1 * down)
    panels = figure.subplots(down, across, sharey=True, squeeze=False)
    return figure, list(panels.flat)


def _category(axes: Axes, shown: Shown, category: str, questions: int) -> None:
    for name in shown.names:
        points = []
        for cell in shown.cells(name):
            measures = cell["categories"][category]
            points.append(measures["recall"])
        curve(axes, shown.limits, points, name, shown.names, band=name == OURS)
    limits_below(axes, shown.limits, ratio=1.6)
    several = "s" if questions > 1 else ""
    label(axes, "characters", "", f"{category} ({questions} question{several})")
    axes.set_ylim(0, 1.03)
