"""The items of a memory by their ids; what comes in columns is made when it is asked for."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, MutableMapping, Sequence, ValuesView
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.metadata import NO_METADATA, Metadata, metadata_field
from demem_agent.scoring.packed import CODED, Packed, coded, joined
from demem_agent.scoring.texts import Texts
from demem_agent.turns import time_field
from demem_agent.types import Evidence, number_of

__all__ = ["Items"]


class Items(MutableMapping[str, Evidence]):
    """Evidence by its id, in order of ingestion; none that was loaded comes after one that was put.

    What was asked for once is kept as it was made.
    """

    def __init__(self) -> None:
        self._put: dict[str, Evidence] = {}
        self._made: dict[str, Evidence] = {}
        self._columns: _Columns | None = None

    def load(self, blocks: Sequence[Packed]) -> None:
        """Take over items that are packed, in order; nothing has been put yet."""
        self._columns = _Columns(blocks)

    def __getitem__(self, id: str) -> Evidence:
        item = self._put.get(id) or self._made.get(id)
        if item is None:
            item = self._made[id] = self._loaded(id)
        return item

    def __contains__(self, id: object) -> bool:
        return id in self._put or id in self._made or self._place(id) is not None

    def __setitem__(self, id: str, item: Evidence) -> None:
        if self._place(id) is None:
            self._put[id] = item
        else:
            self._made[id] = item

    def __delitem__(self, id: str) -> None:
        place = self._place(id)
        if self._columns is None or place is None:
            del self._put[id]
            return
        self._made.pop(id, None)
        self._columns.drop(place)

    def __len__(self) -> int:
        return len(self._put) + (0 if self._columns is None else self._columns.count)

    def __iter__(self) -> Iterator[str]:
        if self._columns is not None:
            yield from map("e{}".format, self._columns.alive())
        yield from self._put

    def __reversed__(self) -> Iterator[str]:
        yield from reversed(self._put)
        if self._columns is not None:
            for number in reversed(self._columns.alive()):
                yield f"e{number}"

    @property
    def made(self) -> int:
        """How many items there are as objects."""
        return len(self._put) + len(self._made)

    def values(self) -> _Values:
        """Return the items in order of ingestion; they can be gone through backwards as well."""
        return _Values(self)

    def items(self) -> _Pairs:
        """Return the items with their ids, likewise."""
        return _Pairs(self)

    def _place(self, id: object) -> int | None:
        return None if self._columns is None else self._columns.place(id)

    def _loaded(self, id: str) -> Evidence:
        place = self._place(id)
        if self._columns is None or place is None:
            raise KeyError(id)
        return self._columns.made(place)


class _Values(ValuesView[Evidence]):
    """The items themselves."""

    def __init__(self, items: Items) -> None:
        super().__init__(items)
        self._items = items

    def __reversed__(self) -> Iterator[Evidence]:
        return map(self._items.__getitem__, reversed(self._items))


class _Pairs(ItemsView[str, Evidence]):
    """The items with their ids."""

    def __init__(self, items: Items) -> None:
        super().__init__(items)
        self._items = items

    def __reversed__(self) -> Iterator[tuple[str, Evidence]]:
        for id in reversed(self._items):
            yield id, self._items[id]


class _Columns:
    """What is known of loaded items, by their places."""

    def __init__(self, blocks: Sequence[Packed]) -> None:
        self._numbers: NDArray[np.int32] = joined(blocks, "number", np.int32)
        self._trust: NDArray[np.float64] = joined(blocks, "trust", np.float64)
        lengths = joined(blocks, "text_bytes", np.int64)
        self._texts = Texts([block.text for block in blocks], [*map(len, blocks)], lengths)
        self._values: dict[str, list[str | None]] = {}
        self._codes: dict[str, NDArray[Any]] = {}
        for name in CODED:
            codes, column = coded(blocks, name)
            self._values[name] = list(codes)
            self._codes[name] = column.astype(np.min_scalar_type(len(codes)))
        self._sources: dict[int, tuple[str, ...]] = {}
        for block in blocks:
            self._sources.update((int(note), tuple(of)) for note, *of in block.lists["made_from"])
        self.count = len(self._numbers)
        #: By the number of an item, from 0 on; below 0 where there is none.
        self._places = np.full(int(self._numbers[-1]) + 1, -1, np.int32)
        self._places[self._numbers] = np.arange(self.count)

    def alive(self) -> list[int]:
        """Return the numbers of the items that are there, ascending."""
        numbers: list[int] = np.flatnonzero(self._places >= 0).tolist()
        return numbers

    def place(self, id: object) -> int | None:
        """Return where an item is; None where there is no such one."""
        if not isinstance(id, str) or id[:1] != "e" or not id[1:].isdecimal():
            return None
        number = number_of(id)
        if number >= len(self._places) or id != f"e{number}":
            return None
        place: int = self._places.item(number)
        return place if place >= 0 else None

    def drop(self, place: int) -> None:
        """Take an item out, and its text out of RAM."""
        self._places[self._numbers[place]] = -1
        self.count -= 1
        self._texts.drop(place)

    def made(self, place: int) -> Evidence:
        """Return an item."""
        value = {name: self._values[name][codes[place]] for name, codes in self._codes.items()}
        number = int(self._numbers[place])
        return Evidence(
            id=f"e{number}",
            text=self._texts[place],
            speaker=value["speaker"],
            at=time_field("at", value["at"]),
            session=value["session"],
            source=value["source"],
            source_id=value["source_id"],
            trust=float(self._trust[place]),
            metadata=_metadata(value["metadata"]),
            made_from=self._sources.get(number, ()),
        )


def _metadata(raw: str | None) -> Metadata:
    return NO_METADATA if raw is None else metadata_field("metadata", json.loads(raw))
