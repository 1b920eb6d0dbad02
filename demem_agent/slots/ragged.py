"""Rows of different lengths in one flat array, summed row by row."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column

__all__ = ["NOTHING", "Ragged"]

#: Stands in every row, so that none is empty; it must weigh nothing.
NOTHING = 0


class Ragged:
    """Rows of whole numbers, each of its own length, that can be blanked but not changed."""

    def __init__(self) -> None:
        self._flat = Column(np.int32)
        self._starts = Column(np.int64)
        self._lengths = Column(np.int64)

    def __len__(self) -> int:
        return len(self._starts)

    def append(self, numbers: Iterable[int]) -> int:
        """Append a row and return its number."""
        start = len(self._flat)
        self._starts.append(start)
        self._flat.append(NOTHING)
        for number in numbers:
            self._flat.append(number)
        self._lengths.append(len(self._flat) - start)
        return len(self._starts) - 1

    def row(self, number: int) -> NDArray[np.int32]:
        """Return a row without a copy, what stands in every row included."""
        start = self._starts.view()[number]
        end = start + self._lengths.view()[number]
        view: NDArray[np.int32] = self._flat.view()[start:end]
        return view

    def blank(self, number: int) -> None:
        """Leave nothing in a row."""
        self.row(number)[:] = NOTHING

    def numbers(self) -> set[int]:
        """Return the numbers that stand in some row."""
        return set(np.unique(self._flat.view()).tolist())

    def sums(
        self, weights: NDArray[np.float64], among: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        """Return the sum of each row's weights, shape (rows,).

        Args:
            weights: of each number that may stand in a row; of :data:`NOTHING` 0.
            among: the rows that are summed, in this order; all of them unless given.
        """
        flat = self._flat.view()
        starts = self._starts.view()
        if among is not None:
            flat, starts = self._part(among)
        if not len(starts):
            return np.zeros(0)
        summed: NDArray[np.float64] = np.add.reduceat(weights[flat], starts)
        return summed

    def _part(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of some rows one after the other, and where each row starts."""
        starts = self._starts.view()[rows]
        lengths = self._lengths.view()[rows]
        new_starts = np.cumsum(lengths) - lengths
        shift = np.repeat(starts - new_starts, lengths)
        numbers: NDArray[np.int32] = self._flat.view()[shift + np.arange(len(shift))]
        return numbers, new_starts
