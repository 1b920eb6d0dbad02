"""How methods are drawn, and the parts that several figures have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from demem_agent.studies.synthetic.environment import Floats
from demem_agent.studies.synthetic.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "band", "label", "legend"]

_COLOURS = (
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
)
#: Colours that are told apart without colour vision (Okabe and Ito), greys for references; ours is
#: the thickest.
COLOURS: Mapping[str, str] = dict(zip(METHODS, _COLOURS, strict=True))
DASHED = ("Oracle", "No budget", "DeMem, as written")


def band(
    axes: Axes,
    x: ArrayLike,
    runs: ArrayLike,
    name: str,
    colour: str,
    *,
    marker: str | None = None,
) -> None:
    """Draw the mean over runs, and a band from the 10th to the 90th percentile.

    Args:
        x: shape (n,).
        runs: shape (runs, n).
    """
    values: Floats = np.asarray(runs, dtype=np.float64)
    mean = values.mean(axis=0)
    low, high = np.percentile(values, [10, 90], axis=0)
    style = "--" if name in DASHED else "-"
    width = 2.4 if "corrected" in name else 1.4
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(
        x,
        mean,
        color=colour,
        label=name,
        marker=marker,
        markersize=4,
        linestyle=style,
        linewidth=width,
    )


def label(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Name the axes, and give them a light grid."""
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def legend(figure: Figure, axes: Axes, columns: int = 5) -> None:
    """Name below a figure what is drawn in one of its panels."""
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
    )
