"""Which slot each item is in: of items that were loaded, in a column by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

import numpy as np
from numpy.typing import NDArray

from demem_agent.types import number_of

__all__ = ["Placed"]


class Placed(MutableMapping[str, int]):
    """The number of an item's slot by its id, in order of ingestion."""

    def __init__(self) -> None:
        self._column = np.full(0, -1, np.int32)  # below 0 where there is no item
        self._loaded = 0
        self._put: dict[str, int] = {}

    def load(self, numbers: NDArray[np.int32], slots: NDArray[np.int32]) -> None:
        """Begin with the items of some numbers, ascending; nothing has been put yet."""
        self._column = np.full(int(numbers[-1]) + 1, -1, np.int32)
        self._column[numbers] = slots
        self._loaded = len(numbers)

    def __getitem__(self, id: str) -> int:
        slot = self._put.get(id)
        if slot is not None:
            return slot
        number = self._place(id)
        if number is None:
            raise KeyError(id)
        return self._column.item(number)

    def __contains__(self, id: object) -> bool:
        return id in self._put or self._place(id) is not None

    def __setitem__(self, id: str, slot: int) -> None:
        number = self._place(id)
        if number is None:
            self._put[id] = slot
        else:
            self._column[number] = slot

    def __delitem__(self, id: str) -> None:
        number = self._place(id)
        if number is None:
            del self._put[id]
        else:
            self._column[number] = -1
            self._loaded -= 1

    def __len__(self) -> int:
        return self._loaded + len(self._put)

    def __iter__(self) -> Iterator[str]:
        yield from map("e{}".format, self._numbers())
        yield from self._put

    def __reversed__(self) -> Iterator[str]:
        yield from reversed(self._put)
        yield from map("e{}".format, reversed(self._numbers()))

    def _numbers(self) -> list[int]:
        numbers: list[int] = np.flatnonzero(self._column >= 0).tolist()
        return numbers

    def _place(self, id: object) -> int | None:
        """Return the number of an item that was loaded and is there; None for any other."""
        if not isinstance(id, str) or id[:1] != "e" or not id[1:].isdecimal():
            return None
        number = number_of(id)
        if number >= len(self._column) or id != f"e{number}" or self._column.item(number) < 0:
            return None
        return number
