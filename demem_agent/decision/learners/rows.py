"""Arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows"]


class Rows:
    """An array whose rows become more; its room for them doubles, so that growth is cheap."""

    def __init__(self, shape: tuple[int, ...], dtype: type, fill: Any = 0) -> None:
        self.fill = fill
        self._room: NDArray[Any] = np.full(shape, fill, dtype=dtype)
        self._shape = (0,) * len(shape)

    def resized(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the array in a shape that is nowhere smaller than before; what is new is fill.

        What was returned before shows the same numbers only until there is no more room.
        """
        room = self._room.shape
        if shape[0] > room[0] or shape[1:] != room[1:]:
            rows = room[0] if shape[0] <= room[0] else 2 * shape[0]
            fresh = np.full((rows, *shape[1:]), self.fill, dtype=self._room.dtype)
            corner = tuple(map(slice, self._shape))
            fresh[corner] = self._room[corner]
            self._room = fresh
        self._shape = shape
        return self._room[: shape[0]]
