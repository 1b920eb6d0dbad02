"""How a system is drawn, and the parts that several figures have; nothing here knows a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = [
    "NO_RIVALS",
    "ORACLE",
    "OURS",
    "curve",
    "label",
    "legend",
    "limits_below",
    "names_at_the_end",
    "new_figure",
    "plain",
    "trail",
]

#: The system whose line is the thickest.
OURS = "demem"
#: One that is a ceiling and no rival: it is told where the evidence is.
ORACLE = "oracle"
#: Those that are no rivals at a limit: the ceiling, and what no limit binds.
NO_RIVALS = (ORACLE, "full")


@dataclass(frozen=True, slots=True)
class Look:
    """How a system is drawn."""

    colour: str
    marker: str
    line: Literal["-", "--", "-.", ":"] = "-"


#: Colours that are told apart without colour vision (Okabe and Ito); greys for what does not look
#: at the question.
LOOKS: Mapping[str, Look] = {
    "demem": Look("#D55E00", "o"),
    "demem-core": Look("#E69F00", "s", "--"),
    "cosine": Look("#0072B2", "^"),
    "bm25": Look("#009E73", "v"),
    "hybrid": Look("#332288", "D"),
    "rrf": Look("#CC79A7", "P"),
    "full": Look("#444444", "X", "-."),
    "recency": Look("#888888", "<", "--"),
    "random": Look("#AAAAAA", ">", ":"),
    "oracle": Look("#000000", "*", ":"),
}
#: For systems that are not built in, in their order.
OTHERS = (
    Look("#56B4E9", "h"),
    Look("#882255", "p"),
    Look("#999933", "d"),
    Look("#44AA99", "8", "--"),
    Look("#AA4499", "H", "--"),
    Look("#661100", "p", "--"),
    Look("#6699CC", "d", ":"),
    Look("#117733", "8", ":"),
)

#: The line from a name to the line that it names.
LEADER: Mapping[str, Any] = {
    "arrowstyle": "-",
    "color": "#CCCCCC",
    "linewidth": 0.7,
    "shrinkA": 0,
    "relpos": (0, 0.5),
}
#: The least distance between two names at the end of lines, as a share of the height.
APART = 0.042

#: An :class:`~demem_agent.evaluate.Interval` as a dict.
Mean = Mapping[str, Any]


def new_figure(width: float, height: float) -> Figure:
    """Make a figure of a size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=130, layout="constrained")


def _look(name: str, names: Sequence[str]) -> Look:
    if name in LOOKS:
        return LOOKS[name]
    others = [other for other in names if other not in LOOKS]
    return OTHERS[others.index(name) % len(OTHERS)]


def _width(name: str) -> float:
    return 2.8 if name == OURS else 1.3


def _above(name: str) -> int:
    return 4 if name == OURS else 3


def curve(
    axes: Axes,
    limits: Sequence[int],
    points: Sequence[Mean],
    name: str,
    names: Sequence[str],
    *,
    band: bool,
) -> None:
    """Draw what a system reaches at each limit.

    Args:
        points: one a limit, an :class:`~demem_agent.evaluate.Interval` as a dict.
        names: all that are drawn, which tell the looks of those that are not built in.
        band: draw the intervals too, where all have ends.
    """
    look = _look(name, names)
    if band:
        _intervals(axes, limits, points, name, look)
    heights = [point["mean"] for point in points]
    axes.plot(
        limits,
        heights,
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        markersize=6 if name == OURS else 4.5,
        linewidth=_width(name),
        zorder=_above(name),
    )


def _intervals(
    axes: Axes, limits: Sequence[int], points: Sequence[Mean], name: str, look: Look
) -> None:
    lows = [point["low"] for point in points]
    highs = [point["high"] for point in points]
    if None in lows:
        return
    alpha = 0.22 if name == OURS else 0.14
    axes.fill_between(limits, lows, highs, color=look.colour, alpha=alpha, linewidth=0)


def limits_below(axes: Axes, limits: Sequence[int], ratio: float = 1.2) -> None:
    """Mark the limits on a log axis, leaving out what is nearer than ``ratio`` to the next."""
    shown: list[int] = []
    for limit in reversed(limits):
        if not shown or shown[-1] / limit >= ratio:
            shown.append(limit)
    axes.set_xscale("log")
    axes.set_xticks(shown, [f"{limit:,}" for limit in shown])
    axes.minorticks_off()


def names_at_the_end(axes: Axes, x: float, ends: Mapping[str, float], names: Sequence[str]) -> None:
    """Write each name beside the end of its line, pushed apart where they would overlap."""
    order = sorted(ends, key=lambda name: (ends[name], -names.index(name)))
    ascending = [ends[name] for name in order]
    heights = _spread(ascending, APART)
    for name, end, height in zip(order, ascending, heights, strict=True):
        axes.annotate(
            plain(f"{name} {end:.2f}"),
            xy=(x, end),
            xytext=(14, height),
            textcoords=("offset points", "data"),
            color=_look(name, names).colour,
            fontsize=9.5,
            fontweight="bold" if name == OURS else "normal",
            verticalalignment="center",
            arrowprops=dict(LEADER),
            annotation_clip=False,
        )


def _spread(values: Sequence[float], apart: float) -> list[float]:
    """Move ascending values as little as needed to be ``apart`` from each other, within [0, 1]."""
    groups: list[list[float]] = []
    for value in values:
        groups.append([value])
        while _overlap(groups, apart):
            last = groups.pop()
            groups[-1] += last
    places: list[float] = []
    for group in groups:
        places += _places(group, apart)
    return places


def _overlap(groups: Sequence[Sequence[float]], apart: float) -> bool:
    """Whether the last two groups come closer than ``apart``."""
    if len(groups) < 2:
        return False
    before = _places(groups[-2], apart)
    last = _places(groups[-1], apart)
    return before[-1] + apart > last[0]


def _places(group: Sequence[float], apart: float) -> list[float]:
    """Put a group around its mean, ``apart`` from each other and within [0, 1]."""
    height = apart * (len(group) - 1)
    middle = sum(group) / len(group)
    lowest = min(max(middle - height / 2, 0.0), 1.0 - height)
    return [lowest + n * apart for n in range(len(group))]


def plain(text: str) -> str:
    """Return a text that is drawn as it is: between dollar signs it would be mathematics."""
    return text.replace("$", r"\$")


def label(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Name the axes, and give them a light grid."""
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(plain(title), fontsize=10.5, loc="left")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def legend(
    figure: Figure,
    names: Sequence[str],
    lines: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    """Name the systems below a figure, and other lines by how they are drawn."""
    from matplotlib.lines import Line2D

    handles = [_handle(name, names) for name in names]
    for words, drawn in lines.items():
        handles.append(Line2D([], [], label=words, **drawn))
    in_two_rows = -(-len(handles) // 2)
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(in_two_rows, 6),
        frameon=False,
        fontsize=9.5,
    )


def _handle(name: str, names: Sequence[str]) -> Line2D:
    """Make what stands before a name in a legend."""
    from matplotlib.lines import Line2D

    look = _look(name, names)
    return Line2D(
        [],
        [],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        linewidth=_width(name),
        label=plain(name),
    )


def trail(
    axes: Axes, points: Sequence[tuple[float, float]], name: str, names: Sequence[str]
) -> None:
    """Draw the operating points of a system, the smallest limit with the smallest mark."""
    look = _look(name, names)
    above = _above(name)
    x, y = zip(*points, strict=True)
    axes.plot(x, y, color=look.colour, linestyle=look.line, linewidth=_width(name), zorder=above)
    sizes = _sizes(len(points))
    axes.scatter(x, y, sizes, color=look.colour, marker=look.marker, linewidths=0, zorder=above)


def _sizes(count: int) -> list[float]:
    """Return the areas of marks, in points squared, from the smallest to the largest."""
    sizes: list[float] = []
    for place in range(1, count + 1):
        width = 3 + 5 * place / count
        sizes.append(width**2)
    return sizes
