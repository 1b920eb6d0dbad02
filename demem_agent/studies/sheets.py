"""Tables of figures as plain values, and the intervals and spreads that stand in them.

An audit reports, prints and writes them as JSON, ours beside the paper's.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from demem_agent.evaluate.bootstrap import Interval, bootstrap

__all__ = ["Cell", "Found", "Intervals", "Sheet", "SheetRow", "Spread", "flags", "spread"]


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

    records: Sequence[Any]
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()
    drawn: Mapping[str, Any] = field(default_factory=dict)


class OfDialogue(Protocol):
    """A record of one dialogue."""

    @property
    def dialogue(self) -> str: ...


R = TypeVar("R", bound=OfDialogue)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of means, drawn by dialogue and all with one seed."""

    seed: int

    def of(self, values: Sequence[float], dialogues: Sequence[Hashable]) -> Interval | None:
        """Return the interval of values and their dialogues; None of no values."""
        if not values:
            return None
        return bootstrap(list(map(float, values)), dialogues, seed=self.seed)

    def over(self, records: Sequence[R], value: Callable[[R], float]) -> Interval | None:
        """Return the interval of a value that each record has."""
        return self.pooled(records, lambda record: (value(record),))

    def pooled(
        self, records: Sequence[R], values: Callable[[R], Iterable[float]]
    ) -> Interval | None:
        """Return the interval of all values of all records, however many each has."""
        found: list[float] = []
        dialogues: list[str] = []
        for record in records:
            own = list(values(record))
            found += own
            dialogues += [record.dialogue] * len(own)
        return self.of(found, dialogues)


def flags(count: int, total: int) -> list[bool]:
    """Return ``total`` truth values of which the first ``count`` are true."""
    return [number < count for number in range(total)]


def spread(values: Sequence[float]) -> Spread:
    """Return mean and standard deviation, both to six digits."""
    return Spread(round(statistics.fmean(values), 6), round(statistics.pstdev(values), 6))
