"""The vectors of items in codes, each of them in one place of the file.

An item that comes has its vectors beside its row, sealed with a key that is made of the row's own
secret. Once its block is packed they stand with those of the others of the block in one part, which
has a key of its own. When an item changes or goes, the part is written anew without it under
another key.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demem_agent.stores import numbering
from demem_agent.stores.keys import Keys
from demem_agent.stores.numbering import MOST_NUMBERS, id_of, number_in, part_of, range_of
from demem_agent.stores.sealing import VECTORS, Broken

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = ["BESIDE", "PARTS", "ItemVectors", "Lost", "Part"]

#: The table of vectors that stand beside their rows, and that of the parts of blocks.
BESIDE = "vector"
PARTS = "vector_part"
#: Bytes that say how long the squeezed beginning of a part is, and how its numbers are written.
_LENGTH = 4
_WHOLE = "<u4"
_SELECT = f"SELECT id, count, last, cell, sealed FROM {PARTS}"


class Lost(ValueError):
    """Report vectors that are not there, or cannot be opened."""


class Part(NamedTuple):
    """The vectors of the items of a block.

    Attributes:
        numbers: of the items, ascending, shape (n,); ``sizes``: how many codes each has.
        codes: of all of them one after the other.
    """

    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]
    codes: NDArray[np.int8]

    def without(self, numbers: Collection[int]) -> Part:
        """Return it without some items."""
        stays = ~np.isin(self.numbers, list(numbers))
        codes = self.codes[np.repeat(stays, self.sizes)]
        return Part(self.numbers[stays], self.sizes[stays], codes)

    def by_number(self) -> dict[int, bytes]:
        """Return the codes of each item."""
        ends = np.cumsum(self.sizes).tolist()
        starts = [0, *ends[:-1]]
        each = zip(self.numbers.tolist(), starts, ends, strict=True)
        return {number: self.codes[start:end].tobytes() for number, start, end in each}


class ItemVectors:
    """The vectors of items, as one transaction reads and writes them."""

    def __init__(self, db: Database, keys: Keys) -> None:
        self._db = db
        self._keys = keys
        self._read: dict[int, dict[int, bytes]] = {}

    def put_beside(self, coming: Mapping[int, tuple[int, bytes]]) -> None:
        """Write vectors beside rows that are written in this transaction.

        Args:
            coming: the cell of each row and its codes, by ids.
        """
        if not coming:
            return
        rows = [
            (id, self._keys.seal_vectors(codes, _place_beside(id), cell))
            for id, (cell, codes) in coming.items()
        ]
        self._db.executemany(f"INSERT OR REPLACE INTO {BESIDE} (id, sealed) VALUES (?, ?)", rows)

    def beside(self, id: int, cell: int) -> bytes | None:
        """Return the codes that stand beside a row; None where none do.

        Raises:
            Lost: if they cannot be opened.
        """
        row = self._db.execute(f"SELECT sealed FROM {BESIDE} WHERE id = ?", (id,)).fetchone()
        if row is None:
            return None
        try:
            return self._keys.unseal(row[0], _place_beside(id), cell, VECTORS)
        except Broken as error:
            raise Lost(str(error)) from error

    def of(self, id: int, cell: int) -> bytes:
        """Return the codes of an item, wherever they are.

        Raises:
            Lost: if they are nowhere, or cannot be opened.
        """
        beside = self.beside(id, cell)
        if beside is not None:
            return beside
        number = number_in(id)
        part = _id_of_part(id)
        if part not in self._read:
            self._read[part] = self._part(part).by_number()
        if number not in self._read[part]:
            raise Lost("it has no vectors")
        return self._read[part][number]

    def leave(self, ids: Iterable[int]) -> None:
        """Take the vectors of items out; where a part is damaged, all of it goes."""
        gone = sorted(ids)
        if not gone:
            return
        self._db.executemany(f"DELETE FROM {BESIDE} WHERE id = ?", [(id,) for id in gone])
        for id, of in groupby(gone, _id_of_part):
            numbers = list(map(number_in, of))
            row = self._row(id)
            if row is None:
                continue
            try:
                left = self._opened(row).without(numbers)
            except Lost:
                left = _NOTHING
            self._write(id, left, row["cell"])

    def together(self, memory: int, numbers: range) -> Part:
        """Return the vectors of all items of some numbers that are in parts.

        Raises:
            Lost: if one of these cannot be opened.
        """
        first, last = id_of(memory, part_of(numbers.start)), id_of(memory, part_of(numbers[-1]))
        rows = self._db.execute(f"{_SELECT} WHERE id BETWEEN ? AND ?", (first, last))
        parts = list(map(self._opened, rows))
        return Part(*map(np.concatenate, zip(*parts, strict=True))) if parts else _NOTHING

    def gather(self, memory: int, block: Part) -> list[int]:
        """Have the vectors of all items of a block in parts; return the numbers of those that had
        them neither there nor beside their rows.
        """
        # First, so that what is written below takes the pages that this leaves free.
        beside = self._take_beside(memory, block.numbers)
        own: set[int] = set()
        for id, part in _cut(memory, block):
            row = self._row(id)
            try:
                before = _NOTHING if row is None else self._opened(row)
            except Lost:
                before = _NOTHING
            if not np.array_equal(before.numbers, part.numbers):
                self._write(id, part, None if row is None else row["cell"])
            own |= {*part.numbers.tolist()} - {*before.numbers.tolist()}
        return sorted(own - beside)

    def _take_beside(self, memory: int, numbers: NDArray[np.int64]) -> set[int]:
        """Delete the vectors beside rows of some numbers; return of which rows there were any."""
        between = id_of(memory, int(numbers[0])), id_of(memory, int(numbers[-1]))
        where = f"FROM {BESIDE} WHERE id BETWEEN ? AND ?"
        found = {number_in(id) for (id,) in self._db.execute(f"SELECT id {where}", between)}
        self._db.execute(f"DELETE {where}", between)
        return found

    def clear(self, memory: int) -> None:
        """Delete all that there is of a memory, and the secrets."""
        between = range_of(memory)
        cells = self._db.execute(f"SELECT cell FROM {PARTS} WHERE id BETWEEN ? AND ?", between)
        self._keys.destroy([cell for (cell,) in cells if isinstance(cell, int)])
        for table in (BESIDE, PARTS):
            self._db.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", between)

    def _row(self, id: int) -> Any:
        return self._db.execute(f"{_SELECT} WHERE id = ?", (id,)).fetchone()

    def _part(self, id: int) -> Part:
        row = self._row(id)
        if row is None:
            raise Lost("it has no vectors")
        return self._opened(row)

    def _opened(self, row: Any) -> Part:
        id, count, last, cell, sealed = row
        try:
            return _part_from(self._keys.unseal(sealed, _place_of_part(id, count, last), cell), id)
        except ValueError as error:
            raise Lost(str(error)) from error

    def _write(self, id: int, part: Part, cell: int | None) -> None:
        """Write a part over the one before, if there is one, of which the key is where it says."""
        self._read.pop(id, None)
        if not len(part.numbers):
            if cell is not None:
                self._keys.destroy([cell])
            self._db.execute(f"DELETE FROM {PARTS} WHERE id = ?", (id,))
            return
        count, last = len(part.numbers), int(part.numbers[-1])
        place = _place_of_part(id, count, last)
        cell, sealed = self._keys.seal(_body_of(part, id), place, cell)
        columns = "(id, count, last, cell, sealed) VALUES (?, ?, ?, ?, ?)"
        values = (id, count, last, cell, sealed)
        self._db.execute(f"INSERT OR REPLACE INTO {PARTS} {columns}", values)


_NOTHING = Part(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8))


def _body_of(part: Part, id: int) -> bytes:
    """Return what is sealed of a part: the places of its items in it and their sizes, squeezed, and
    the codes.
    """
    places = part.numbers - _start_of(id)
    told = zlib.compress(np.stack([places, part.sizes]).astype(_WHOLE).tobytes())
    return b"".join((len(told).to_bytes(_LENGTH, "little"), told, part.codes.tobytes()))


def _part_from(body: bytes, id: int) -> Part:
    """Return a part from what :func:`_body_of` returned.

    Raises:
        ValueError: for anything else.
    """
    start = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    try:
        told = zlib.decompress(body[_LENGTH:start])
    except zlib.error as error:
        raise ValueError("it is not what was deflated") from error
    places, sizes = np.frombuffer(told, _WHOLE).reshape(2, -1).astype(np.int64)
    codes = np.frombuffer(body, np.int8, offset=start)
    if int(sizes.sum()) != len(codes):
        raise ValueError("it is longer or shorter than it says")
    return Part(places + _start_of(id), sizes, codes)


def _cut(memory: int, block: Part) -> Iterator[tuple[int, Part]]:
    """Yield the parts of a block with their ids."""
    for part, of in groupby(block.numbers.tolist(), part_of):
        numbers = list(of)
        start, end = np.searchsorted(block.numbers, (numbers[0], numbers[-1] + 1)).tolist()
        sizes = block.sizes[start:end]
        first = int(block.sizes[:start].sum())
        codes = block.codes[first : first + int(sizes.sum())]
        yield id_of(memory, part), Part(block.numbers[start:end], sizes, codes)


def _id_of_part(id: int) -> int:
    """Return the id of the part that the vectors of a row may be in."""
    return id_of(id // MOST_NUMBERS, part_of(number_in(id)))


def _start_of(id: int) -> int:
    """Return the number of the first item that a part may have."""
    return number_in(id) * numbering.PART + 1


def _place_beside(id: int) -> str:
    return f"{BESIDE} {id}"


def _place_of_part(id: int, count: int, last: int) -> str:
    return f"{PARTS} {id} {count} {last}"
