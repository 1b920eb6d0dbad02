"""What a split audit found: its tables, ours beside the paper's, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.tables.cells import cell, table
from demem_agent.cli.tables.evaluation import share

__all__ = ["audit_parts", "figure"]


def audit_parts(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Give the tables of a report as :func:`demem_agent.studies.splits.catalogue.audited` makes it."""
    dialogues, left_out = report["dialogues"], report["left_out"]
    counted = f"{dialogues} dialogue{'s' if dialogues > 1 else ''}"
    without = f" ({left_out} left out: fewer than two questions with evidence)" if left_out else ""
    brackets = (
        "in brackets: 95 % intervals, drawn by dialogue"
        if dialogues > 1
        else "no intervals from one dialogue"
    )
    yield cell(f"{report['data']}, {report['audit']}: {counted}{without}; {brackets}.")
    yield cell(report["stand_ins"])
    for note in report["notes"]:
        yield cell(note)
    for sheet in report["sheets"]:
        yield _table(sheet)


def _table(sheet: Mapping[str, Any]) -> Table:
    shown = table(sheet["title"], tight=True)
    shown.add_column("", no_wrap=True)
    for name in sheet["columns"]:
        shown.add_column(cell(name), justify="right")
    for name, cells in sheet["rows"]:
        shown.add_row(cell(name), *map(figure, cells))
    return shown


def figure(found: Mapping[str, Any] | float | int | None) -> str:
    """Give a figure as it is printed: ``.879 [.75, .94]``, ``8.4 ± 1.5``, ``1,323``, or a dash."""
    if found is None:
        return "-"
    if isinstance(found, Mapping):
        if "deviation" in found:
            return f"{found['mean']:.1f} ± {found['deviation']:.1f}"
        ends = [end for end in (found["low"], found["high"]) if end is not None]
        large = max(abs(value) for value in (found["mean"], *ends)) > 1
        words = [_number(found["mean"], large, 3), *(_number(end, large, 2) for end in ends)]
        return f"{words[0]} [{', '.join(words[1:])}]" if ends else words[0]
    return f"{found:,}" if isinstance(found, int) else _number(found, abs(found) > 1, 3)


def _number(value: float, large: bool, digits: int) -> str:
    return f"{value:,.1f}" if large else share(value, digits)
