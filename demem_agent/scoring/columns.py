"""Arrays that grow at the end in amortised constant time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["Column"]

#: Rows of one kind of number; of which, the column knows.
Rows = NDArray[Any]

_SPARE = 16  # rows of room in a new column
_PENDING = 256  # rows that wait to be put into the array together: as objects they take more room


class Column:
    """A numpy array of rows with room to grow; a row is a number or a vector of fixed width.

    Rows that are appended one by one are put into the array together, when it is looked at.
    """

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._shape: tuple[int, ...] = () if width is None else (width,)
        self._data: Rows = np.zeros((_SPARE, *self._shape), dtype)
        self._length = 0
        self._coming: list[ArrayLike] = []

    @property
    def dtype(self) -> np.dtype[Any]:
        """The kind of its numbers."""
        return self._data.dtype

    def load(self, rows: Rows) -> None:
        """Begin with rows that nobody else uses."""
        self._data = rows
        self._length = len(rows)
        self._coming = []

    def __len__(self) -> int:
        return self._length + len(self._coming)

    def append(self, row: ArrayLike) -> None:
        """Append one row: a number, or a vector that has the width of the column."""
        self._coming.append(row)
        if len(self._coming) >= _PENDING:
            self._settle()

    def extend(self, rows: Rows) -> None:
        """Append several rows at once."""
        self._settle()
        self._put(rows)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not marked."""
        rows = self.view()[kept]
        spare = np.zeros((_SPARE, *self._shape), self._data.dtype)
        self._data = np.concatenate([rows, spare])
        self._length = len(rows)

    def view(self) -> Rows:
        """Return the rows without a copy; valid until the next append."""
        self._settle()
        return self._data[: self._length]

    def item(self, row: int) -> Any:
        """Return the number of a row from the first on; much faster than by a view.

        Raises:
            IndexError: for a row that there is not.
        """
        if self._coming:
            self._settle()
        if not 0 <= row < self._length:
            raise IndexError(f"row {row} of {self._length}")
        return self._data.item(row)

    def _settle(self) -> None:
        if self._coming:
            coming, self._coming = self._coming, []
            self._put(coming)

    def _put(self, rows: Rows | list[ArrayLike]) -> None:
        needed = self._length + len(rows)
        if needed > len(self._data):
            self._grow(max(needed, 2 * self._length))
        self._data[self._length : needed] = rows
        self._length = needed

    def _grow(self, capacity: int) -> None:
        grown = np.zeros((capacity, *self._shape), self._data.dtype)
        grown[: self._length] = self._data[: self._length]
        self._data = grown
