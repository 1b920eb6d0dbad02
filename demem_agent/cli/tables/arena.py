"""MemoryArena's figures: tasks that succeed, and how far they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.figures import share

__all__ = ["arena_table"]


def arena_table(title: str, found: Mapping[str, Mapping[str, Any]]) -> Table:
    """Show SR, PS and sPS by subset, and the mean of SR over subsets.

    Args:
        found: what :func:`demem_agent.evaluate.arena.arena_scores` gave, by name.
    """
    shown = table(title, tight=True)
    add_columns(shown, "system", "subset")
    add_figures(shown, "tasks", "SR", "PS", "sPS")
    for name, scores in found.items():
        for subset, one in scores["subsets"].items():
            figures = [share(one[measure]) for measure in ("SR", "PS", "sPS")]
            shown.add_row(cell(name), cell(subset), str(one["tasks"]), *figures)
        if scores["SR"] is not None:
            shown.add_row(cell(name), "mean of subsets", "", share(scores["SR"]), "", "")
    return shown
