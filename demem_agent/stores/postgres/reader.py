"""What is read of one memory: all of it, what is new, how far it has come."""

from __future__ import annotations

from typing import Any

from demem_agent.errors import MemoryGone
from demem_agent.stores.base import Address, News, Rows
from demem_agent.stores.postgres.asking import Asking
from demem_agent.stores.postgres.memories import Memories
from demem_agent.stores.postgres.sessions import Connection
from demem_agent.stores.rows import naming_damage
from demem_agent.stores.touched import touched_since
from demem_agent.stores.whole_rows import rows_of

__all__ = ["Reader"]


class Reader:
    """The methods of a store by which a memory is loaded, and kept up to date.

    Args:
        asking: who asks the database.
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""

        def read(connection: Connection) -> Rows | None:
            memories = Memories(self._asking, connection)
            with self._asking.snapshot(connection, address.tenant):
                known = memories.known(address)
                if known is None:
                    return None
                found = memories.rows(known)
            return rows_of(found, known.row)

        return self._asking.run("load", read)

    def news(self, address: Address, seq: int) -> News | None:
        """Return what changed of a memory after an operation, or None where not all is known."""

        def read(connection: Connection) -> News | None:
            memories = Memories(self._asking, connection)
            with self._asking.snapshot(connection, address.tenant):
                known = memories.known(address)
                if known is None:
                    return None
                with naming_damage(f"memory {address.memory_id!r}"):
                    touched = touched_since(known.row.recent, seq)
                if touched is None:
                    return None
                places = [(table, one) for table, some in touched.items() for one in some]
                found = memories.some_rows(known, places)
            return News(rows_of(found, known.row, touched), touched, known.row.counts)

        return self._asking.run("load", read)

    def seq(self, address: Address, era: int = 0) -> int:
        """Return the number of the last operation."""
        say = self._asking.say
        found = self._asked("read", address.tenant, say.seq, tuple(address), lock=True)
        if not found or found[0][1] != era:
            raise MemoryGone(address.memory_id)
        return int(found[0][0])

    def _asked(
        self, doing: str, tenant: str, query: bytes, values: Any, *, lock: bool = False
    ) -> list[Any]:
        """Return the rows of one statement.

        Args:
            lock: whether they stay as they are until the end of ``writing``, inside of that.
        """
        asking = self._asking

        def read(connection: Connection) -> list[Any]:
            ask = query + asking.say.locked if lock and asking.is_alone else query
            return asking.asked(connection, tenant, ask, values)

        return asking.run(doing, read)
