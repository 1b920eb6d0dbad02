"""The rows of memories in sealed tables, as one transaction reads and writes them.

The id of a row tells its memory and its number in that. All else of it is sealed
(:mod:`~demem_agent.stores.sealing`), bound to its table and its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.stores.bodies import body_of, values_in
from demem_agent.stores.item_vectors import ItemVectors, Lost, Part
from demem_agent.stores.keys import Keys
from demem_agent.stores.numbering import MOST_NUMBERS, block_of, id_of, number_in, range_of
from demem_agent.stores.sealing import Broken

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = [
    "COLUMNS",
    "PACKED",
    "SNAPSHOT",
    "Block",
    "Row",
    "Tables",
    "key_of",
    "number_in_row",
]

#: What is sealed of the rows of each table, in this order; new columns come at the end.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "evidence": (
        *("slot", "text", "speaker", "at", "session", "source", "source_id", "trust", "metadata"),
        *("made_from", "spans", "vectors", "codes"),
    ),
    "slot": (
        *("parent", "revision", "total", "summary", "gate", "name", "pinned", "written", "cover"),
    ),
    "context": ("slot", "body", "vector"),
    "certificate": ("body",),
    "succession": ("body",),
    "situation": ("body", "vector"),
    "choice": ("body",),
    "mark": ("kept", "hidden"),
    "op": ("kind", "op_key", "request", "result"),
}
#: The table of rows that are packed in blocks (``snapshots``), and which rows these are; new tables
#: come at the end.
SNAPSHOT = "snapshot"
PACKED = ("evidence", "succession", "context", "op", "situation", "choice")
#: Blocks that a memory may have of one table.
_MOST_BLOCKS = 2**32
#: Rows that are read at a time where those of certain numbers are meant.
_AT_ONCE = 500

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a snapshot.

    Attributes:
        number: which one it is; block 0 is of the rows from 1 on.
        count: how many rows are in it; ``last`` is the number of the last.
        body: what is sealed.
        vectors: of its items, where those are to stand together from now on.
    """

    number: int
    count: int
    last: int
    body: bytes
    vectors: Part | None = None


class Tables:
    """The tables that have rows of memories; memories go by their own number in the file."""

    def __init__(self, db: Database, keys: Keys) -> None:
        self._db = db
        self.keys = keys
        self.vectors = ItemVectors(db, keys)

    @property
    def db(self) -> Database:
        """The connection that they are read and written by."""
        return self._db

    def put(self, table: str, memory: int, rows: Iterable[Row]) -> list[int]:
        """Write rows, each for one of its number if there is one; return which numbers are new.

        The first column of a row is its number.
        """
        coming = [(id_of(memory, number_in_row(row)), row) for row in rows]
        if not coming:
            return []
        cells = self._cells(table, [id for id, _ in coming])
        new = [number_in(id) for id, _ in coming if id not in cells]
        codes: dict[int, bytes] = {}
        if table == "evidence":
            codes, coming = self._apart(coming, cells)
        names = COLUMNS[table]
        written = []
        for id, row in coming:
            body = body_of(row, names)
            cell, sealed = self.keys.seal(body, _place(table, id), cells.get(id))
            written.append((id, cell, sealed))
        self._db.executemany(
            f"INSERT OR REPLACE INTO {table} (id, cell, sealed) VALUES (?, ?, ?)", written
        )
        self.vectors.put_beside({id: (cell, codes[id]) for id, cell, _ in written if id in codes})
        self._changed(table, memory, map(number_in, cells))
        return new

    def delete(self, table: str, memory: int, numbers: Iterable[int]) -> int:
        """Delete rows and their secrets; return how many there were."""
        cells = self._cells(table, [id_of(memory, number) for number in numbers])
        if not cells:
            return 0
        if table == "evidence":
            self.vectors.leave(cells)
        self._delete(table, cells)
        self._changed(table, memory, map(number_in, cells))
        return len(cells)

    def note(self, memory: int, operations: Iterable[tuple[int, str]]) -> None:
        """Write operations of which nothing is needed again: their numbers and kinds."""
        rows = [(id_of(memory, seq), kind) for seq, kind in operations]
        if rows:
            self._db.executemany("INSERT INTO op (id, kind) VALUES (?, ?)", rows)

    def put_block(self, memory: int, table: str, block: Block) -> None:
        """Write a block of a snapshot in the place of the one of its number."""
        id = _id_of_block(memory, table, block.number)
        cells = self._cells(SNAPSHOT, [id])
        # First, so that what is written below takes the pages that this leaves free.
        self._db.execute(f"DELETE FROM {SNAPSHOT} WHERE id = ?", (id,))
        if block.vectors is not None:
            own = self.vectors.gather(memory, block.vectors)
            self._without_vectors(memory, own)
        place = _place_of_block(id, block.count, block.last)
        cell, sealed = self.keys.seal(block.body, place, cells.get(id))
        columns = "(id, count, last, cell, sealed) VALUES (?, ?, ?, ?, ?)"
        values = (id, block.count, block.last, cell, sealed)
        self._db.execute(f"INSERT INTO {SNAPSHOT} {columns}", values)

    def _without_vectors(self, memory: int, numbers: Sequence[int]) -> None:
        """Write rows of items that have their vectors in themselves, as those of before, anew."""
        rows = self.opened("evidence", memory, numbers).values()
        having = [row for row in rows if row["codes"] is not None]
        self.put("evidence", memory, [{**row, "codes": None} for row in having])

    def drop_blocks(self, memory: int, table: str, blocks: Iterable[int]) -> None:
        """Delete blocks of a snapshot and their secrets."""
        ids = [_id_of_block(memory, table, block) for block in blocks]
        cells = self._cells(SNAPSHOT, ids)
        if cells:
            self._delete(SNAPSHOT, cells)

    def blocks(self, memory: int, table: str) -> Iterator[Block]:
        """Yield the blocks of a snapshot; without a body where one cannot be opened."""
        select = f"SELECT id, count, last, cell, sealed FROM {SNAPSHOT} WHERE id BETWEEN ? AND ?"
        found = self._db.execute(select, _range_of_blocks(memory, table)).fetchall()
        for id, rows, last, cell, sealed in found:
            try:
                body = self.keys.unseal(sealed, _place_of_block(id, rows, last), cell)
            except Broken:
                body = b""
            yield Block(_number_of_block(id), rows, last, body)

    def packed(self, memory: int, table: str) -> list[Block]:
        """Return what blocks of a snapshot there are, without their bodies."""
        select = f"SELECT id, count, last FROM {SNAPSHOT} WHERE id BETWEEN ? AND ?"
        found = self._db.execute(select, _range_of_blocks(memory, table))
        return [Block(_number_of_block(id), rows, last, b"") for id, rows, last in found]

    def numbers(self, table: str, memory: int) -> list[int]:
        """Return the numbers of the rows of a memory that are sealed, ascending."""
        where = f"WHERE id BETWEEN ? AND ? {_also(table)} ORDER BY id"
        found = self._db.execute(f"SELECT id FROM {table} {where}", range_of(memory))
        return [number_in(id) for (id,) in found]

    def clear(self, memory: int) -> None:
        """Delete all rows of a memory and their secrets."""
        for table in (*COLUMNS, SNAPSHOT):
            where = f"FROM {table} WHERE id BETWEEN ? AND ?"
            cells = self._db.execute(f"SELECT cell {where}", range_of(memory)).fetchall()
            self.keys.destroy(cell for (cell,) in cells if isinstance(cell, int))
            self._db.execute(f"DELETE {where}", range_of(memory))
        self.vectors.clear(memory)

    def read(
        self, table: str, memory: int, numbers: Iterable[int] | None = None
    ) -> Iterator[tuple[str, SealedRow]]:
        """Yield the sealed rows of a memory, or those of certain numbers, each with its name."""
        for row in self._found(table, memory, numbers):
            number = number_in(row["id"])
            yield f"{table} {number}", SealedRow(self, table, row)

    def opened(self, table: str, memory: int, numbers: Iterable[int]) -> dict[int, Row]:
        """Return rows of certain numbers, opened.

        Raises:
            StoreError: naming one that cannot be opened.
        """
        found: dict[int, Row] = {}
        for name, sealed in self.read(table, memory, numbers):
            try:
                row = sealed.opened()
            except ValueError as error:
                raise _damaged(name, error) from error
            found[row[key_of(table)]] = row
        return found

    def count(self, table: str, memory: int) -> int:
        """Return how many rows of a memory there are."""
        select = f"SELECT COUNT(*) FROM {table} WHERE id BETWEEN ? AND ?"
        return int(self._db.execute(select, range_of(memory)).fetchone()[0])

    def dates(self, memory: int) -> Iterator[Any]:
        """Yield the dates of the items of a memory that can be opened."""
        for _, sealed in self.read("evidence", memory):
            try:
                yield sealed.opened()["at"]
            except ValueError:
                continue

    def read_between(
        self, table: str, memory: int, stretches: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[str, SealedRow]]:
        """Yield the sealed rows of some stretches of numbers; one that ends with -1 has no end."""
        where = f"WHERE id BETWEEN ? AND ? {_also(table)} ORDER BY id"
        select = f"SELECT id, cell, sealed FROM {table} {where}"
        for first, last in stretches:
            end = MOST_NUMBERS - 1 if last < 0 else last
            found = self._db.execute(select, (id_of(memory, first), id_of(memory, end)))
            for row in found.fetchall():
                yield f"{table} {number_in(row['id'])}", SealedRow(self, table, row)

    def _apart(
        self, coming: Sequence[tuple[int, Row]], cells: Mapping[int, int]
    ) -> tuple[dict[int, bytes], list[tuple[int, Row]]]:
        """Return the codes that go beside rows of items, by ids, and the rows without them.

        What a row brings takes the place of what there was. One that brings no vectors keeps those
        that it has: where they stand beside it they are sealed anew with it.

        Raises:
            StoreError: if these cannot be opened.
        """
        codes = {id: row["codes"] for id, row in coming if row["codes"] is not None}
        brings = codes.keys() | {id for id, row in coming if row["vectors"] is not None}
        self.vectors.leave(brings & cells.keys())
        for id in cells.keys() - brings:
            try:
                beside = self.vectors.beside(id, cells[id])
            except Lost as error:
                raise _damaged(f"evidence {number_in(id)}", error) from error
            if beside is not None:
                codes[id] = beside
        return codes, [(id, {**row, "codes": None}) for id, row in coming]

    def _changed(self, table: str, memory: int, numbers: Iterable[int]) -> None:
        """Drop the blocks of the snapshot that have rows that have changed."""
        if table in PACKED:
            self.drop_blocks(memory, table, {block_of(number) for number in numbers})

    def _delete(self, table: str, cells: Mapping[int, int]) -> None:
        """Delete rows by their ids, and their secrets by their cells."""
        self.keys.destroy(cells.values())
        self._db.executemany(f"DELETE FROM {table} WHERE id = ?", [(id,) for id in cells])

    def _found(self, table: str, memory: int, numbers: Iterable[int] | None) -> Iterator[Any]:
        select = f"SELECT id, cell, sealed FROM {table} WHERE"
        also = _also(table)
        if numbers is None:
            yield from self._db.execute(
                f"{select} id BETWEEN ? AND ? {also} ORDER BY id", range_of(memory)
            ).fetchall()
            return
        for number in numbers:
            where = f"{select} id = ? {also}"
            yield from self._db.execute(where, (id_of(memory, number),)).fetchall()

    def _cells(self, table: str, ids: list[int]) -> dict[int, int]:
        """Return the cells of the rows that there are, by their ids."""
        found: dict[int, int] = {}
        for start in range(0, len(ids), _AT_ONCE):
            those = ids[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(those))
            select = f"SELECT id, cell FROM {table} WHERE id IN ({marks})"
            found |= {row[0]: row[1] for row in self._db.execute(select, those)}
        return found


class SealedRow:
    """A row as it was read, until it is opened."""

    def __init__(self, tables: Tables, table: str, row: Any) -> None:
        self._tables = tables
        self._table = table
        self._row = row

    def opened(self) -> Row:
        """Return its columns.

        Raises:
            Broken: if it is not what was written there.
        """
        values = values_in(self.body(), COLUMNS[self._table])
        return {key_of(self._table): number_in(self._row["id"]), **values}

    def with_vectors(self) -> Row:
        """Return the columns of an item with its vectors, wherever these stand.

        It has none where they are lost.

        Raises:
            Broken: if the row is not what was written there.
        """
        values = self.opened()
        if values["vectors"] is None and values["codes"] is None:
            with suppress(Lost):
                values["codes"] = self._tables.vectors.of(self._row["id"], self._row["cell"])
        return values

    def body(self) -> bytes:
        """Return what was sealed.

        Raises:
            Broken: if it is not what was written there.
        """
        id, cell, sealed = self._row
        return self._tables.keys.unseal(sealed, _place(self._table, id), cell)


def _damaged(name: str, error: ValueError) -> StoreError:
    return StoreError(f"the row {name} is damaged: {error}")


def _place(table: str, id: int) -> str:
    return f"{table} {id}"


def _id_of_block(memory: int, table: str, block: int) -> int:
    return id_of(memory, PACKED.index(table) * _MOST_BLOCKS + block)


def _number_of_block(id: int) -> int:
    return number_in(id) % _MOST_BLOCKS


def _range_of_blocks(memory: int, table: str) -> tuple[int, int]:
    return _id_of_block(memory, table, 0), _id_of_block(memory, table, _MOST_BLOCKS - 1)


def _place_of_block(id: int, count: int, last: int) -> str:
    return f"{SNAPSHOT} {id} {count} {last}"


def _also(table: str) -> str:
    """Return what leaves out rows that are not sealed, of which nothing is needed again."""
    return "AND sealed IS NOT NULL" if table == "op" else ""


def key_of(table: str) -> str:
    """Return what the number of a row of a table is called."""
    return "seq" if table == "op" else "number"


def number_in_row(row: Row) -> int:
    """Return the number of a row that is to be written: its first column."""
    return int(next(iter(row.values())))
