"""Tables of figures as plain values, ours beside the paper's.

An audit reports, prints and writes them as JSON.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from demem_agent.evaluate.bootstrap import Interval

__all__ = ["Cell", "Found", "Sheet", "SheetRow", "Spread", "spread"]


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over dialogues and the standard deviation between them (of a population)."""

    mean: float
    deviation: float


#: A figure, with its interval or its spread where it has one; None for what there is not.
Cell = Interval | Spread | float | int | None
#: What a row is called, and its cells.
SheetRow = tuple[str, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table; a column headed "paper" holds the paper's figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What an audit found.

    Attributes:
        records: to write as JSON lines.
        drawn: what the audit's figure is drawn from.
    """

    records: Sequence[object]
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()
    drawn: Mapping[str, object] = field(default_factory=dict)


def spread(records: Sequence[object], name: str) -> Spread:
    """Return mean and standard deviation of a field of records, both to six digits."""
    values = list(map(attrgetter(name), records))
    return Spread(round(statistics.fmean(values), 6), round(statistics.pstdev(values), 6))
