"""Rows of outcomes, a run each: choose among them, and take one measure of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from demem_agent.studies.synthetic.environment import Floats

__all__ = ["Row", "column", "columns_by", "mean_and_deviation", "methods_of", "select"]

#: What one run gave, or a row of a table, by name.
Row = dict[str, Any]


def select(rows: Iterable[Row], **fixed: object) -> list[Row]:
    """Return the rows that have these values."""
    wanted = fixed.items()
    return [row for row in rows if _has(row, wanted)]


def _has(row: Row, wanted: Iterable[tuple[str, object]]) -> bool:
    return all(row[name] == value for name, value in wanted)


def column(rows: Iterable[Row], name: str) -> Floats:
    """Return one measure of every row, shape (rows,)."""
    return np.array([row[name] for row in rows], dtype=np.float64)


def columns_by(rows: Sequence[Row], name: str, setting: str, values: Iterable[object]) -> Floats:
    """Return one measure by a setting, shape (runs, values): a line a run."""
    columns = []
    for value in values:
        at = select(rows, **{setting: value})
        columns.append(column(at, name))
    return np.array(columns).T


def methods_of(rows: Iterable[Row]) -> list[str]:
    """Return the methods of rows, in the order in which they first come."""
    return list(dict.fromkeys(row["method"] for row in rows))


def mean_and_deviation(values: Floats | Sequence[float], digits: int) -> str:
    """Write mean and standard deviation over seeds."""
    mean = np.mean(values)
    deviation = np.std(values)
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"
