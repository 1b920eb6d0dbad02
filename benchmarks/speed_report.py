"""Figures of speed as a table, a chart, a drawing and JSON, beside what they depend on."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from speed_systems import sqlite3

import demem_agent

__all__ = ["Figure", "Growth", "as_json", "as_text", "draw", "load", "machine"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity: a value a run, its target, and what plain full-text search needs for the same.

    Attributes:
        unit: what is counted; more is better if it ends in "/s", less otherwise.
    """

    what: str
    unit: str
    values: tuple[float, ...]
    plain: tuple[float, ...] = ()
    target: float | None = None
    note: str = ""

    @property
    def value(self) -> float:
        """The median over the runs."""
        return median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.unit.endswith("/s") else self.value <= self.target

    @property
    def ratio(self) -> float | None:
        """How many times as long as plain full-text search it takes.

        It is the median over runs that ran side by side.
        """
        if not self.plain:
            return None
        sides = zip(self.values, self.plain, strict=True)
        ratio = median(ours / plain for ours, plain in sides)
        return 1 / ratio if self.unit.endswith("/s") else ratio


@dataclass(frozen=True, slots=True)
class Growth:
    """Median cost in ms of one operation at each size."""

    name: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]

    @property
    def slope(self) -> float:
        """The exponent p of cost ~ size^p, by least squares on logarithms.

        0 is constant, 1 is proportional.
        """
        return float(np.polyfit(np.log(self.sizes), np.log(self.costs), 1)[0])


def machine() -> dict[str, str]:
    """Describe what the figures depend on."""
    system = f"{platform.system()} {platform.release()}"
    return {
        "machine": f"{_processor()}, {_cores()} cores, {_memory()} RAM, {system}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": f"{np.__version__}, BLAS threads: {_threads()}",
        "sqlite": f"{sqlite3.sqlite_version} ({sqlite3.__name__})",
        "demem-agent": demem_agent.__version__,
    }


def load() -> str:
    """Return how many processes wanted the processor during the last minute, ours included."""
    return f"{os.getloadavg()[0]:.1f}" if _posix() else "unknown"


def _memory() -> str:
    if not _posix():
        return "unknown"
    held = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{held / 2**30:.0f} GiB"


def _posix() -> bool:
    return os.name == "posix"


def _threads() -> str:
    said = os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")
    return said or "as many as cores"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def table(figures: Sequence[Figure]) -> str:
    """List figures beside their targets, and the notes below them."""
    header = ("what", "median", "lowest", "highest", "", "target", "met", "plain", "x plain")
    rows = [header, *(_row(figure) for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_aligned(row, widths) for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    notes = [f"{figure.what}: {figure.note}." for figure in figures if figure.note]
    return "\n".join([*lines, "", *notes])


def _row(figure: Figure) -> tuple[str, ...]:
    met = {None: "", True: "yes", False: "NO"}[figure.met]
    target = "" if figure.target is None else _short(figure.target)
    plain = _short(median(figure.plain)) if figure.plain else ""
    spread = (_short(figure.value), _short(min(figure.values)), _short(max(figure.values)))
    return (figure.what, *spread, figure.unit, target, met, plain, _times(figure.ratio))


def _times(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for n, (cell, width) in enumerate(zip(row, widths, strict=True)):
        is_text = n in (0, 4)
        cells.append(cell.ljust(width) if is_text else cell.rjust(width))
    return "  ".join(cells)


def _short(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


_MARKS = "irIM"
_STYLES = ("o-", "s-", "o--", "s--")
_COLOURS = ("tab:blue", "tab:orange", "tab:gray", "tab:gray")


def growth_table(curves: Sequence[Growth]) -> str:
    """List the median cost of one operation at each size, with the slope under it."""
    header = "".join(f"{curve.name:>14}" for curve in curves)
    lines = [f"    items{header}   (ms, median)"]
    for n, size in enumerate(curves[0].sizes):
        costs = "".join(f"{curve.costs[n]:>14.3f}" for curve in curves)
        lines.append(f"{size:>9,}{costs}")
    slopes = "".join(f"{curve.slope:>14.2f}" for curve in curves)
    lines.append(f"    slope{slopes}   (log cost over log size)")
    return "\n".join(lines)


def chart(curves: Sequence[Growth], width: int = 66) -> str:
    """Draw the same on log scales with characters.

    Size goes down, cost goes right; * is where marks meet.
    """
    costs = np.array([curve.costs for curve in curves])
    scale = _Scale.over(costs, width)
    labels = {scale.column(cost): f"{cost:g} ms" for cost in scale.decades()}
    lines = [f"{'items':>9} {_line(labels)}"]
    for size, costs_there in zip(curves[0].sizes, costs.T, strict=True):
        cells = dict.fromkeys(labels, "|")
        cells |= _marked([*map(scale.column, costs_there)])
        lines.append(f"{size:>9,} {_line(cells)}")
    marked = zip(_MARKS, curves, strict=True)
    legend = ", ".join(f"{mark} {curve.name}" for mark, curve in marked)
    return "\n".join([*lines, f"{'':10}{legend}"])


@dataclass(frozen=True, slots=True)
class _Scale:
    """Columns of a chart for costs, from one power of ten to another."""

    low: int
    high: int
    width: int

    @classmethod
    def over(cls, costs: NDArray[np.float64], width: int) -> _Scale:
        """Return the scale that has room for costs."""
        low = math.floor(math.log10(costs.min()))
        high = math.ceil(math.log10(costs.max()))
        return cls(low, high, width)

    def decades(self) -> list[float]:
        """Return the powers of ten on it."""
        return [10.0**power for power in range(self.low, self.high + 1)]

    def column(self, cost: float) -> int:
        """Return where a cost stands."""
        share = (math.log10(cost) - self.low) / (self.high - self.low)
        return round(share * self.width)


def _marked(places: Sequence[int]) -> dict[int, str]:
    """Return the mark of each curve at its place, * where several meet."""
    cells: dict[int, str] = {}
    for mark, place in zip(_MARKS, places, strict=True):
        cells[place] = "*" if place in cells else mark
    return cells


def _line(cells: dict[int, str]) -> str:
    """Put texts at their columns."""
    line = ""
    for column, text in sorted(cells.items()):
        line = line.ljust(column) + text
    return line


def draw(curves: Sequence[Growth], path: Path) -> None:
    """Draw how costs grow into a PNG."""
    import matplotlib  # type: ignore[import-not-found, unused-ignore]  # optional

    matplotlib.use("Agg")  # no screen is needed
    import matplotlib.pyplot as plt  # type: ignore[import-not-found, unused-ignore]

    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    for curve, style, colour in zip(curves, _STYLES, _COLOURS, strict=True):
        label = f"{curve.name} (slope {curve.slope:.2f})"
        axes.loglog(curve.sizes, curve.costs, style, color=colour, label=label)
    axes.set_xlabel("items in one memory")
    axes.set_ylabel("median ms for one")
    axes.set_title("Cost of one ingest and one read as a memory grows")
    sizes = curves[0].sizes
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2)
    figure.savefig(path, dpi=150)


def as_text(about: dict[str, str], figures: Sequence[Figure], curves: Sequence[Growth]) -> str:
    """Put everything in tables and a chart."""
    head = "\n".join(f"{name + ':':13} {value}" for name, value in about.items())
    return "\n\n".join([head, table(figures), growth_table(curves), chart(curves)])


def as_json(about: dict[str, str], figures: Sequence[Figure], curves: Sequence[Growth]) -> str:
    """Put everything in JSON."""
    rows = []
    for figure in figures:
        found = {"value": figure.value, "met": figure.met, "ratio": figure.ratio}
        rows.append(asdict(figure) | found)
    growth = [asdict(curve) | {"slope": curve.slope} for curve in curves]
    return json.dumps({"about": about, "rows": rows, "growth": growth}, indent=1)
