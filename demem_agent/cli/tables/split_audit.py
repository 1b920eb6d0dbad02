"""What a split audit found: its tables, ours beside the paper's, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.json_values import Document
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.evaluation import brackets
from demem_agent.cli.tables.figures import figure

__all__ = ["audit_parts"]


def audit_parts(report: Document) -> Iterator[RenderableType]:
    """Yield the tables of a report.

    Args:
        report: as :func:`demem_agent.studies.catalogue.audited` makes it.
    """
    yield cell(_heading(report))
    yield cell(report["stand_ins"])
    for note in report["notes"]:
        yield cell(note)
    for sheet in report["sheets"]:
        yield _table(sheet)


def _heading(report: Document) -> str:
    dialogues = report["dialogues"]
    counted = f"{dialogues} dialogue{'s' if dialogues > 1 else ''}"
    left_out = report["left_out"]
    without = f" ({left_out} left out: fewer than two questions with evidence)" if left_out else ""
    return f"{report['data']}, {report['audit']}: {counted}{without}; {brackets(dialogues)}."


def _table(sheet: Document) -> Table:
    shown = table(sheet["title"], tight=True)
    add_columns(shown, "", no_wrap=True)
    add_figures(shown, *map(cell, sheet["columns"]))
    for name, cells in sheet["rows"]:
        shown.add_row(cell(name), *map(figure, cells))
    return shown
