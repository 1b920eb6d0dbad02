"""The secrets of all rows of a file, in cells of blocks that never move.

A block fills a page. It is only ever overwritten in its place, and new ones come at the end, so
that SQLite copies no secret anywhere: once a cell is overwritten and the log is emptied, what it
held is in no file. Every secret is kept twice, the second time half a block further on, so that
what one lost page held is still there in two others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import count
from typing import TYPE_CHECKING

from demem_agent.later import dataclass
from demem_agent.stores import sealing
from demem_agent.stores.sealing import SECRET, Broken

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = [
    "BLOCK",
    "REGISTER",
    "TABLES",
    "Keys",
    "Room",
    "mismatched",
    "read_block",
    "write_block",
]

#: Cells of a block: 3,840 bytes, which leaves a page no room for another.
BLOCK = 240
#: The tables of the two copies, and by how many cells each is ahead.
TABLES = {"key": 0, "spare_key": BLOCK // 2}
#: The first cells hold the secret of the file (``wrapping``), and the next one that of its own row.
REGISTER = 4
_RESERVED = 5
_EMPTY = bytes(SECRET)


@dataclass(slots=True)
class Room:
    """Where cells are free, as far as is known: it is looked at before one is taken.

    Attributes:
        next: the cell after the last one that was taken of the last block.
        freed: blocks in which secrets were overwritten.
    """

    next: int = 0
    freed: set[int] = field(default_factory=set)


class Keys:
    """The secrets of rows, as one transaction reads and writes them.

    Args:
        file: the secret of the file.
        room: where cells are free, as far as the connection knows.
    """

    def __init__(self, db: Database, file: bytes, room: Room) -> None:
        self._db = db
        self._file = file
        self._room = room
        self._blocks: dict[tuple[str, int], bytes | None] = {}
        self._changed: dict[int, bytes] = {}
        self._free: Iterator[int] | None = None

    def seal(self, body: bytes, place: str, cell: int | None = None) -> tuple[int, bytes]:
        """Seal a row with a new secret; return the cell of that, and the sealed row.

        Args:
            cell: where the secret of the version before is, which is lost by this.
        """
        if cell is None:
            cell = self._take()
        secret = sealing.drawn()
        self._changed[cell] = secret
        return cell, sealing.seal(body, secret, self._file, place)

    def seal_vectors(self, body: bytes, place: str, cell: int) -> bytes:
        """Seal the vectors of a row that was sealed in this transaction, with its secret."""
        return sealing.seal(body, self._changed[cell], self._file, place, sealing.VECTORS)

    def unseal(self, sealed: bytes, place: str, cell: int, use: bytes = b"") -> bytes:
        """Open a row, or its vectors.

        Raises:
            Broken: if it is not what was written there, or its secret was lost twice.
        """
        if cell in self._changed:
            return sealing.unseal(sealed, self._changed[cell], self._file, place, use)
        tried = None
        for table in TABLES:
            secret = self._secret(table, cell)
            if secret not in (tried, _EMPTY):
                tried = secret
                try:
                    return sealing.unseal(sealed, secret, self._file, place, use)
                except Broken:
                    continue
        raise Broken("it is not what was written here, or its key is lost")

    def destroy(self, cells: Iterable[int]) -> None:
        """Overwrite secrets: what they seal opens never again."""
        for cell in cells:
            self._changed[cell] = _EMPTY
            self._room.freed.add(cell // BLOCK)

    def write(self) -> None:
        """Write what has changed, as the last thing in a transaction."""
        for table in TABLES:
            for number, cells in _by_block(table, self._changed):
                known = self._block(table, number)
                block = bytearray(known or bytes(BLOCK * SECRET))
                for cell in cells:
                    at = _offset(table, cell)
                    block[at : at + SECRET] = self._changed[cell]
                write_block(self._db, table, number, bytes(block), is_new=known is None)
                self._blocks[table, number] = bytes(block)
        self._changed.clear()

    def _take(self) -> int:
        """Return a free cell: of a block known to have one, of the last one, or of a new one."""
        if self._free is None:
            self._free = self._free_cells()
        return next(self._free)

    def _free_cells(self) -> Iterator[int]:
        """Yield cells that hold nothing; they are taken in turn."""
        for number in sorted(self._room.freed):
            yield from self._free_in(number * BLOCK, number)
            self._room.freed.discard(number)
        last = self._last()
        started = self._room.next if self._room.next // BLOCK == last else last * BLOCK
        for cell in self._free_in(started, last):
            self._room.next = cell + 1
            yield cell
        for number in count(last + 1):
            yield from range(max(number * BLOCK, _RESERVED), (number + 1) * BLOCK)

    def _last(self) -> int:
        (number,) = self._db.execute("SELECT MAX(id) FROM key").fetchone()
        return -1 if number is None else int(number)

    def _free_in(self, first: int, number: int) -> Iterator[int]:
        for cell in range(max(first, _RESERVED), (number + 1) * BLOCK):
            is_free = all(self._secret(table, cell) == _EMPTY for table in TABLES)
            if is_free and cell not in self._changed:
                yield cell

    def _secret(self, table: str, cell: int) -> bytes:
        if not isinstance(cell, int):
            return _EMPTY
        block = self._block(table, _number(table, cell))
        at = _offset(table, cell)
        return _EMPTY if block is None else block[at : at + SECRET]

    def _block(self, table: str, number: int) -> bytes | None:
        if (table, number) not in self._blocks:
            self._blocks[table, number] = read_block(self._db, table, number)
        return self._blocks[table, number]


def mismatched(db: Database) -> list[str]:
    """Return in words how many secrets of a file are not the same in both copies."""
    held = {
        table: b"".join(_all_of(db, table))[ahead * SECRET :] for table, ahead in TABLES.items()
    }
    first, second = held.values()
    length = min(len(first), len(second))
    differ = sum(
        first[at : at + SECRET] != second[at : at + SECRET] for at in range(0, length, SECRET)
    )
    return [f"of {differ} keys one copy is damaged"] if differ else []


def _all_of(db: Database, table: str) -> Iterator[bytes]:
    """Yield all blocks of a copy, empty ones in the place of those that are lost."""
    (last,) = db.execute(f"SELECT MAX(id) FROM {table}").fetchone()
    for number in range(0 if last is None else last + 1):
        yield read_block(db, table, number) or bytes(BLOCK * SECRET)


def _number(table: str, cell: int) -> int:
    return (cell + TABLES[table]) // BLOCK


def _offset(table: str, cell: int) -> int:
    return (cell + TABLES[table]) % BLOCK * SECRET


def _by_block(table: str, cells: Iterable[int]) -> Iterable[tuple[int, list[int]]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for cell in cells:
        found[_number(table, cell)].append(cell)
    return sorted(found.items())


def read_block(db: Database, table: str, number: int) -> bytes | None:
    """Return a block of one copy; None where it is not there, or damaged."""
    row = db.execute(f"SELECT secrets FROM {table} WHERE id = ?", (number,)).fetchone()
    if row is None or not isinstance(row[0], bytes) or len(row[0]) != BLOCK * SECRET:
        return None
    return row[0]


def write_block(db: Database, table: str, number: int, block: bytes, *, is_new: bool) -> None:
    """Write a block of one copy, over the one before unless it is new."""
    if is_new:
        db.execute(f"INSERT OR REPLACE INTO {table} (id, secrets) VALUES (?, ?)", (number, block))
    else:
        db.execute(f"UPDATE {table} SET secrets = ? WHERE id = ?", (block, number))
