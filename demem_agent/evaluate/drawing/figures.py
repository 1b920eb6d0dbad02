"""Draw a report: recall against the budget, and what accuracy costs in characters and in time.

Lines are means over questions; bands, for this memory and the best of the others, are 95 %
intervals by dialogue. Needs matplotlib, from the extra ``lab``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from demem_agent.errors import MissingExtra
from demem_agent.evaluate.drawing.frontiers import against_characters, against_time
from demem_agent.evaluate.drawing.looks import OURS
from demem_agent.evaluate.drawing.recalls import by_category, over_all
from demem_agent.evaluate.drawing.shown import Report, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "require_matplotlib"]

#: Makes a figure.
Drawer = Callable[[Shown], "Figure"]


def require_matplotlib() -> None:
    """Raise MissingExtra, with the command that installs it, unless matplotlib is there."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("drawing figures", "lab")


def draw(
    report: Report, folder: str | Path, *, title: str = "", systems: Sequence[str] = ()
) -> list[Path]:
    """Draw every figure that a report has the measures for, as PNG files in a folder.

    * ``recall.png``: recall against the limit.
    * ``categories.png``: the same by category, where there are several.
    * ``budget.png`` and ``latency.png``: answers against the characters given and against the time
      taken to read.

    Args:
        report: as :func:`demem_agent.evaluate.report` gives it.
        folder: made if it does not exist.
        title: what was measured, in the heading of each.
        systems: which to draw, all when empty.

    Returns:
        the files written.

    Raises:
        MissingExtra: without matplotlib.
    """
    require_matplotlib()
    shown = Shown(report, _chosen(report, systems), title)
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = []
    for name, drawer in _figures(shown):
        path = Path(folder) / f"{name}.png"
        figure = drawer(shown)
        figure.savefig(path)
        written.append(path)
    return written


def _chosen(report: Report, systems: Sequence[str]) -> list[str]:
    """Return the names of the systems to draw, this memory first."""
    chosen = [name for name in report["systems"] if not systems or name in systems]
    return sorted(chosen, key=lambda name: name != OURS)


def _figures(shown: Shown) -> Iterator[tuple[str, Drawer]]:
    """Yield the figures that a report has the measures for, by name."""
    if shown.has("recall"):
        yield "recall", over_all
        if len(shown.scored()) > 1:
            yield "categories", by_category
    if shown.has("contained"):
        yield "budget", against_characters
        yield "latency", against_time
