"""Tables of figures as plain values: what an audit reports, prints and writes as JSON, ours beside
the paper's.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from demem_agent.evaluate.bootstrap import Interval, bootstrap

__all__ = ["Cell", "Found", "Sheet", "Spread", "intervals", "spread"]


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over dialogues and the standard deviation between them (of a population)."""

    mean: float
    deviation: float


#: A figure, with its interval or its spread where it has one; None for what there is not.
Cell = Interval | Spread | float | int | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table; a column headed "paper" holds the paper's figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What an audit found: records to write as JSON lines, tables, and what its figure is drawn
    from.
    """

    records: Sequence[Any]
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()
    drawn: Mapping[str, Any] = field(default_factory=dict)


def spread(values: Sequence[float]) -> Spread:
    return Spread(round(statistics.fmean(values), 6), round(statistics.pstdev(values), 6))


def intervals(seed: int) -> Callable[[Sequence[float], Sequence[Hashable]], Interval | None]:
    """Give what makes an interval of values and their dialogues, with a seed; None of no values."""
    made = partial(bootstrap, seed=seed)
    return lambda values, dialogues: (
        made([float(value) for value in values], dialogues) if values else None
    )
