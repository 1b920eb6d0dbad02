"""Rows of outcomes, a run each: choose among them, and take one measure of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from demem_agent.studies.synthetic.environment import Floats

__all__ = ["Row", "column", "columns_by", "mean_and_deviation", "select"]

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
    columns = [column(select(rows, **{setting: value}), name) for value in values]
    return np.array(columns).T


def mean_and_deviation(values: Floats | Sequence[float], digits: int) -> str:
    """Write mean and standard deviation over seeds."""
    mean = np.mean(values)
    deviation = np.std(values)
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"
