"""Where the passages of an index stand in their items: three numbers each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.columns import Column
from demem_agent.scoring.query import Stretch

__all__ = ["Passage", "Passages"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch ``text[start:end]`` of an evidence item: what is scored and packed as one piece."""

    evidence_id: str
    start: int
    end: int

    @property
    def stretch(self) -> Stretch:
        return self.evidence_id, self.start, self.end


class Passages(Sequence[Passage]):
    """Passages by row; each is made when it is asked for.

    Args:
        item: the number of the item that each is part of, which its index keeps.
    """

    def __init__(self, item: Column) -> None:
        self._item = item
        self._starts = Column(np.int32)
        self._ends = Column(np.int32)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, row: int) -> Passage: ...

    @overload
    def __getitem__(self, row: slice) -> list[Passage]: ...

    def __getitem__(self, row: int | slice) -> Passage | list[Passage]:
        """Return the passage of a row, or those of several."""
        if isinstance(row, slice):
            return [self[n] for n in range(*row.indices(len(self)))]
        row = row if row >= 0 else row + len(self)
        return Passage(f"e{self._item.item(row)}", self._starts.item(row), self._ends.item(row))

    def items(self, rows: NDArray[np.integer[Any]] | list[int]) -> list[str]:
        """Return the ids of the items of some rows."""
        return [f"e{number}" for number in self._item.view()[rows].tolist()]

    def stretches(self, rows: NDArray[np.integer[Any]]) -> Iterator[Stretch]:
        """Yield where some rows stand in their items; much faster than one by one."""
        starts = self._starts.view()[rows].tolist()
        ends = self._ends.view()[rows].tolist()
        numbers = self._item.view()[rows].tolist()
        for number, start, end in zip(numbers, starts, ends, strict=True):
            yield f"e{number}", start, end

    def load(self, starts: NDArray[np.int32], ends: NDArray[np.int32]) -> None:
        """Begin with passages that stand there."""
        self._starts.load(starts)
        self._ends.load(ends)

    def bounds(self, rows: slice) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return where the passages of some rows start, and where they end."""
        return self._starts.view()[rows], self._ends.view()[rows]

    def append(self, start: int, end: int) -> None:
        """Append where a passage stands in its item."""
        self._starts.append(start)
        self._ends.append(end)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not marked."""
        self._starts.keep(kept)
        self._ends.keep(kept)
