"""What was decided before: whether it is known again, and what feedback said of lines."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from demem_agent import Evidence, Reading
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.figures import share
from demem_agent.types import Context, Verdict

__all__ = ["recognised_words", "verdict_text", "verdicts_table"]


def recognised_words(reading: Reading) -> str:
    """Say how probably the same was decided before, and in which answers; "" if nothing is known.

    It is as in ``.93, from a1, a4``, and where something sets another value than what proved right,
    ``.93, from a1; put behind: e5``.
    """
    if not reading.decisions:
        return ""
    said = f"{share(reading.recognised, 2)}, from {', '.join(reading.decisions)}"
    if reading.opposed:
        said += f"; put behind: {', '.join(reading.opposed)}"
    return said


def verdicts_table(context: Context, live: Mapping[str, Evidence]) -> Table:
    """Show what the feedback on an answer said of lines, in their order.

    Args:
        live: the evidence that is remembered, by its id.
    """
    shown = table("What its feedback said of lines: above 0 right for it, below 0 wrong")
    add_columns(shown, "id")
    add_figures(shown, "log-odds")
    shown.add_column("text", overflow="fold", ratio=1)
    for verdict in context.verdicts:
        shown.add_row(verdict[0], f"{verdict[3]:+.2f}", cell(verdict_text(verdict, live)))
    return shown


def verdict_text(verdict: Verdict, live: Mapping[str, Evidence]) -> str:
    """Return the line that a verdict is about; "" where it is forgotten."""
    id, start, end, _ = verdict
    return live[id].text[start:end] if id in live else ""
