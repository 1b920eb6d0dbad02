"""The rows of memories in the database, as a transaction finds and writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any
from uuid import UUID

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.stores.base import Address, MemoryInfo
from demem_agent.stores.memory_rows import MemoryRow, info_of
from demem_agent.stores.postgres.asking import Asking, rows_of_statement
from demem_agent.stores.postgres.rows import KINDS, Fetched, Known, Slip
from demem_agent.stores.postgres.sessions import Connection
from demem_agent.stores.rows import DAMAGE, naming_damage

__all__ = ["Found", "Memories"]

#: Rows of a new memory that are written with one statement.
_AT_ONCE = 500
_EVIDENCE = KINDS.index("evidence")


@dataclass(frozen=True, slots=True)
class Found:
    """The row of a memory, not opened.

    Attributes:
        values: its columns but for the address, the number first.
    """

    address: Address
    values: tuple[Any, ...]

    @property
    def number(self) -> UUID:
        """The number of the memory."""
        found: UUID = self.values[0]
        return found


class Memories:
    """Memories by their addresses, found and written with one connection.

    Args:
        asking: who asks, and knows what was seen last.
    """

    def __init__(self, asking: Asking, connection: Connection) -> None:
        self._asking = asking
        self._say = asking.say
        self._connection = connection

    def known(self, address: Address, *, locked: bool = False) -> Known | None:
        """Return the row of a memory, or None where there is none.

        Args:
            locked: whether nobody else may write to it until the transaction ends.

        Raises:
            StoreError: if it is damaged.
        """
        is_locked = locked or self._asking.is_alone
        query = self._say.memory_locked if is_locked else self._say.memory
        found = self._asking.asked(self._connection, address.tenant, query, tuple(address))
        if not found:
            return None
        with naming_damage(f"memory {address.memory_id!r}"):
            known = Known.of(found[0], address, self._asking.secret)
        self._asking.sessions.learn(address, known)
        return known

    def rows(self, known: Known) -> Fetched:
        """Return all rows of a memory."""
        return self._fetched(self._say.rows, (known.row.address.tenant, known.id))

    def some_rows(self, known: Known, places: Collection[tuple[str, int]]) -> Fetched:
        """Return the rows of some tables and numbers, as far as they are there."""
        if not places:
            return Fetched((), self._asking.secret)
        kinds = [KINDS.index(table) for table, _ in places]
        numbers = [number for _, number in places]
        tenant = known.row.address.tenant
        values = (kinds, numbers, tenant, known.id)
        found = self._asking.asked(self._connection, tenant, self._say.some_rows, values)
        return Fetched(found, self._asking.secret)

    def insert(self, known: Known, slips: Iterable[Slip]) -> None:
        """Write a memory that is new at its address, within a transaction.

        Raises:
            StoreError: if there is one.
        """
        address = known.row.address
        values = (*address, *known.values(self._asking.secret))
        if not rows_of_statement(self._connection, self._say.new_memory, values):
            raise StoreError(f"the memory {address.memory_id!r} exists already")
        coming = iter(slips)
        while some := list(islice(coming, _AT_ONCE)):
            kinds, numbers, bodies = map(list, zip(*some, strict=True))
            told = (address.tenant, known.id, kinds, numbers, bodies)
            self._connection.execute(self._say.new_rows, told, binary=True)

    def take(self, address: Address) -> None:
        """Take the row of a memory out."""
        self._connection.execute(self._say.drop_memory, tuple(address))
        self._asking.sessions.learn(address, None)

    def listed(
        self, tenant: str | None, memory_id: str | None = None, *, locked: bool = False
    ) -> list[Found]:
        """Return one memory of a tenant, all of them, or all that there are."""
        query = self._say.all_memories if tenant is None else self._say.memories
        values: tuple[Any, ...] = () if tenant is None else (tenant,)
        if memory_id is not None:
            query, values = self._say.one_memory, (tenant, memory_id)
        if locked:
            query += self._say.locked
        found = rows_of_statement(self._connection, query, values)
        return [Found(Address(whose, name), tuple(more)) for whose, name, *more in found]

    def info(self, found: Found) -> MemoryInfo:
        """Describe a memory; of a damaged one, how many rows it has."""
        which = (found.address.tenant, found.number)
        try:
            memory = Known.of(found.values, found.address, self._asking.secret).copied()
        except DAMAGE:
            nothing = dict.fromkeys(("contexts", "made", "changed"))
            memory = MemoryRow(found.number.int, found.address, {**nothing})
            for kind, _, _ in rows_of_statement(self._connection, self._say.rows, which):
                memory.count(KINDS[kind], 1)
        if not memory.is_dated:
            items = self._fetched(self._say.rows_of_kind, (*which, _EVIDENCE))
            memory.date_anew(_dates(items, memory.id))
        return info_of(memory)

    def _fetched(self, query: bytes, values: tuple[Any, ...]) -> Fetched:
        return Fetched(rows_of_statement(self._connection, query, values), self._asking.secret)


def _dates(found: Fetched, memory: int) -> Iterator[Any]:
    """Yield the dates of the items that can be opened."""
    for _, sealed in found.read("evidence", memory):
        try:
            yield sealed.opened()["at"]
        except ValueError:
            continue
