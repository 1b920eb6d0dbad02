"""The rows of memories as they are in PostgreSQL: sealed, each with its secret beside it.

A row that was changed, or put in another's place, does not open. Who has rows, but not the key that
the secret of the store is wrapped by, opens none.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from demem_agent.later import dataclass
from demem_agent.stores import sealing
from demem_agent.stores.base import Address
from demem_agent.stores.bodies import body_of, values_in
from demem_agent.stores.codec import dumps
from demem_agent.stores.memory_rows import (
    MemoryRow,
    Plain,
    body_of_memory,
    memory_in,
    place_of_memory,
    plain_of,
)
from demem_agent.stores.rows import DAMAGE, Columns
from demem_agent.stores.sealing import SECRET, Broken, packed, unpacked
from demem_agent.stores.tables import COLUMNS, Row, key_of, number_in_row

__all__ = ["KINDS", "Changes", "Fetched", "Known", "Slip", "drawn_number", "drawn_token"]

#: The tables by the number that they have in the database; new ones come at the end.
KINDS = tuple(COLUMNS)
#: The column of the head that counts the numbers given in a table: what is beyond it is new.
_GIVEN = {
    "evidence": "evidence",
    "context": "contexts",
    "certificate": "certificates",
    "succession": "successions",
    "situation": "situations",
    "choice": "choices",
    "op": "seq",
}
#: Writes whose tokens the row of a memory keeps.
_WRITES = 16
#: How hard it is deflated.
_QUICKLY = 1
#: A row of the database: (table, number, what is sealed).
Slip = tuple[int, int, bytes]


def drawn_number() -> int:
    """Draw the number of a new memory."""
    return UUID(bytes=os.urandom(16), version=4).int


def drawn_token() -> int:
    """Draw what tells one version of a memory's row from all others."""
    return int.from_bytes(os.urandom(8), "big", signed=True)


@dataclass(frozen=True, slots=True)
class Known:
    """The row of a memory, as it is in the database at some time.

    Attributes:
        token: of this version of it.
        slots: the numbers of the slots that there are.
        writes: the last writes, as (number of the operation before, token).
    """

    row: MemoryRow
    token: int
    slots: frozenset[int] = frozenset()
    writes: tuple[tuple[int, int], ...] = ()

    @property
    def id(self) -> UUID:
        """The number of the memory, as the database has it."""
        return UUID(int=self.row.id)

    def copied(self) -> MemoryRow:
        """Return its row, to be changed."""
        row = self.row
        columns, counts = dict(row.columns), dict(row.counts)
        return replace(row, columns=columns, counts=counts, touched={})

    def written_after(self, seq: int) -> int | None:
        """Return the token of the write that came after an operation; None if that is not known."""
        return dict(self.writes).get(seq)

    def with_write(self, row: MemoryRow, after: int, slots: Collection[int]) -> Known:
        """Return what is known once a changed row is written."""
        token = drawn_token()
        writes = (*self.writes, (after, token))[-_WRITES:]
        return Known(row, token, frozenset(slots), writes)

    def values(self, file: bytes) -> tuple[UUID, int, int, int, int, bytes]:
        """Return its columns but for the address: number, era, seq, items, token, what is sealed.

        Args:
            file: the secret of the store.
        """
        plain = plain_of(self.row)
        more = dumps([sorted(self.slots), self.writes])
        # It is written with every operation: quickly rather than small.
        body = zlib.compress(packed([body_of_memory(self.row), more]), _QUICKLY)
        place = place_of_memory(self.row.id, self.row.address, plain)
        sealed = _sealed(body, file, place)
        return self.id, plain.era, plain.seq, plain.items, self.token, sealed

    @classmethod
    def of(cls, values: Any, address: Address, file: bytes) -> Known:
        """Return what :meth:`values` gave.

        Raises:
            Broken, ValueError: for anything else.
        """
        memory, era, seq, items, token, sealed = values
        place = place_of_memory(memory.int, address, Plain(seq, era, items))
        told = unpacked(zlib.decompress(_unsealed(sealed, file, place)), ("body", "more"))
        slots, writes = json.loads(told["more"])
        row = memory_in(told["body"], memory.int, address)
        return cls(row, token, frozenset(slots), tuple((after, one) for after, one in writes))


class Fetched:
    """Rows of one memory that were read."""

    def __init__(self, slips: Iterable[Slip], file: bytes) -> None:
        self._file = file
        self._rows: dict[str, dict[int, bytes]] = {table: {} for table in KINDS}
        for kind, number, sealed in sorted(slips):
            self._rows[KINDS[kind]][number] = sealed

    def read(
        self, table: str, memory: int, numbers: Iterable[int] | None = None
    ) -> Iterator[tuple[str, SealedRow]]:
        """Yield the sealed rows of a table, or those of certain numbers, each with its name."""
        rows = self._rows[table]
        for number in rows if numbers is None else numbers:
            if number in rows:
                yield (
                    f"{table} {number}",
                    SealedRow(self._file, memory, table, number, rows[number]),
                )


class SealedRow:
    """A row as it was read, until it is opened."""

    def __init__(self, file: bytes, memory: int, table: str, number: int, sealed: bytes) -> None:
        self._file = file
        self._memory = memory
        self._table = table
        self._number = number
        self._sealed = sealed

    def opened(self) -> Row:
        """Return its columns.

        Raises:
            Broken: if it is not what was written there.
        """
        place = _place(self._memory, self._table, self._number)
        try:
            values = values_in(_unsealed(self._sealed, self._file, place), COLUMNS[self._table])
        except DAMAGE as error:
            raise Broken(str(error)) from error
        return {key_of(self._table): self._number, **values}

    def with_vectors(self) -> Row:
        """Return the columns of an item: its vectors are among them.

        Raises:
            Broken: if it is not what was written there.
        """
        return self.opened()


class Changes:
    """What one write changes of the rows of a memory, gathered to be written at once.

    Args:
        before: the columns of the memory's row before it.
        slots: the slots that there are.
        there: the rows that are moved, deleted or marked, as far as they are there.
        file: the secret of the store.
    """

    def __init__(
        self,
        before: Columns,
        slots: Collection[int],
        there: Mapping[tuple[str, int], Row],
        file: bytes,
    ) -> None:
        self.slots = set(slots)
        self._before = before
        self._there = there
        self._file = file
        self._changed: dict[tuple[str, int], Row | None] = {}

    def put(self, table: str, memory: int, rows: Iterable[Row]) -> list[int]:
        """Write rows, each for one of its number if there is one; return which are new."""
        new = []
        for row in rows:
            number = number_in_row(row)
            if not self._is_there(table, number) and not self._was_given(table, number):
                new.append(number)
            self._changed[table, number] = row
            if table == "slot":
                self.slots.add(number)
        return new

    def delete(self, table: str, memory: int, numbers: Iterable[int]) -> int:
        """Delete rows; return how many there were."""
        gone = [number for number in numbers if self._is_there(table, number)]
        for number in gone:
            self._changed[table, number] = None
            if table == "slot":
                self.slots.discard(number)
        return len(gone)

    def opened(self, table: str, memory: int, numbers: Iterable[int]) -> dict[int, Row]:
        """Return rows of certain numbers, opened."""
        found: dict[int, Row] = {}
        for number in numbers:
            place = table, number
            row = self._changed[place] if place in self._changed else self._there.get(place)
            if row is not None:
                found[number] = row
        return found

    def note(self, memory: int, operations: Iterable[tuple[int, str]]) -> None:
        """Leave out operations of which nothing is needed again."""

    def gone(self) -> tuple[list[int], list[int]]:
        """Return the tables and the numbers of rows to be deleted."""
        gone = [place for place, row in self._changed.items() if row is None]
        return [KINDS.index(table) for table, _ in gone], [number for _, number in gone]

    def written(self, memory: int) -> list[Slip]:
        """Return the rows to be written, sealed."""
        slips = []
        for (table, number), row in self._changed.items():
            if row is not None:
                body = body_of(row, COLUMNS[table])
                sealed = _sealed(body, self._file, _place(memory, table, number))
                slips.append((KINDS.index(table), number, sealed))
        return slips

    def _is_there(self, table: str, number: int) -> bool:
        place = table, number
        if place in self._changed:
            return self._changed[place] is not None
        if table == "slot":
            return number in self.slots
        return place in self._there

    def _was_given(self, table: str, number: int) -> bool:
        """Whether a number is one of before: what is written over is there."""
        given = self._before.get(_GIVEN.get(table, ""), 0)
        return isinstance(given, int) and 0 < number <= given


def _place(memory: int, table: str, number: int) -> str:
    return f"{memory} {table} {number}"


def _sealed(body: bytes, file: bytes, place: str) -> bytes:
    secret = sealing.drawn()
    return secret + sealing.seal(body, secret, file, place)


def _unsealed(sealed: bytes, file: bytes, place: str) -> bytes:
    return sealing.unseal(sealed[SECRET:], sealed[:SECRET], file, place)
