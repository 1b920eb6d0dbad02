"""A delta as it is written to the database: where the memory is as it was known to be, or not at
all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psycopg import errors

from demem_agent.errors import MemoryGone, StaleState, StoreError
from demem_agent.later import dataclass
from demem_agent.slots.due import causes
from demem_agent.slots.records import Delta
from demem_agent.stores.base import Address, require_tenant_room
from demem_agent.stores.memory_rows import MemoryRow
from demem_agent.stores.postgres.asking import Asking, Busy
from demem_agent.stores.postgres.memories import Memories
from demem_agent.stores.postgres.rows import Changes, Known
from demem_agent.stores.postgres.sessions import Connection
from demem_agent.stores.rows import naming_damage
from demem_agent.stores.tables import Row
from demem_agent.stores.whole_rows import Writing
from demem_agent.types import number_of

__all__ = ["Commit"]


@dataclass(frozen=True, slots=True)
class _Change:
    """What a delta makes of the rows of a memory.

    Attributes:
        before, after: the memory's row before it and after it.
        values: of the statement that writes it.
    """

    before: Known
    after: Known
    values: dict[str, Any]


class Commit:
    """A delta that is being written, however often it has to be tried."""

    def __init__(self, asking: Asking, address: Address, delta: Delta) -> None:
        self._asking = asking
        self._address = address
        self._delta = delta
        self._made: _Change | None = None
        self._is_unsure = False  # whether it may have been written by a try that came to no end
        self._causes = causes(delta)

    def write(self, connection: Connection) -> None:
        """Write it, unless an earlier try has, of which the end was not known.

        Raises:
            MemoryGone, StaleState, MemoryFull: as the store's ``commit`` does.
            Busy: where another writes just now, or the memory is not as it was known to be.
            StoreError: where so many others have written since a try that nobody knows.
            psycopg.Error: if the database cannot be asked.
        """
        memories = Memories(self._asking, connection)
        change = self._made or self._change(memories)
        if self._is_unsure and self._was_written(memories, change):
            return
        self._made = change
        self._is_unsure = True
        is_done = self._is_done(connection, change)
        self._is_unsure = False
        if is_done:
            self._asking.sessions.learn(self._address, change.after)
            return
        known = self._required(memories)
        if known.token != change.before.token:
            self._made = None  # as a backup that was restored has it
        else:
            self._require_room(connection, change)
        raise Busy

    def _change(self, memories: Memories) -> _Change:
        known = self._asking.sessions.known(self._address)
        if known is None or not self._begins_at(known.row):
            known = self._required(memories)
        secret = self._asking.secret
        there = self._there(memories, known)
        memory = known.copied()
        changes = Changes(known.row.columns, known.slots, there, secret)
        memory.advance(self._delta.head)
        Writing(changes, memory).delta(self._delta)
        after = known.with_write(memory, self._delta.after, changes.slots)
        return _Change(known, after, self._values(known, after, changes))

    def _values(self, before: Known, after: Known, changes: Changes) -> dict[str, Any]:
        number, _, seq, items, token, sealed = after.values(self._asking.secret)
        written = changes.written(after.row.id)
        gone_kinds, gone_numbers = changes.gone()
        limit = self._delta.tenant_items
        return {
            "tenant": self._address.tenant,
            "memory_id": self._address.memory_id,
            "known": before.token,
            "memory": number,
            "seq": seq,
            "items": items,
            "token": token,
            "sealed": sealed,
            "kinds": [kind for kind, _, _ in written],
            "numbers": [one for _, one, _ in written],
            "bodies": [body for _, _, body in written],
            "gone_kinds": gone_kinds,
            "gone_numbers": gone_numbers,
            "most": None if limit is None else limit - items,
        }

    def _is_done(self, connection: Connection, change: _Change) -> bool:
        """Write a change; return whether the memory was as it was known to be."""
        kinds = self._queued(connection)
        query = self._asking.say.commit(
            deletes=bool(change.values["gone_kinds"]), queues=bool(kinds)
        )
        values = {**change.values, "work": kinds}
        limited = self._delta.tenant_items is not None
        tenant = self._address.tenant
        try:
            return bool(self._asking.asked(connection, tenant, query, values, one_by_one=limited))
        except errors.UndefinedTable as error:
            if not kinds or self._asking.is_alone:
                raise
            self._asking.sessions.forget_queued_kinds()  # somebody has dropped the queue
            raise Busy from error

    def _queued(self, connection: Connection) -> list[str]:
        """Return the kinds of work that the delta causes, of those that are queued."""
        if not self._causes:
            return []
        wanted = self._asking.queued_kinds(connection)
        return [kind for kind in self._causes if kind in wanted]

    def _required(self, memories: Memories) -> Known:
        """Return the row of the memory as it is now.

        Raises:
            MemoryGone: if there is none, or another that came after it.
            StaleState: if it is not where the delta begins.
        """
        known = memories.known(self._address)
        if known is None or known.row.columns["era"] != self._delta.head.era:
            raise MemoryGone(self._address.memory_id)
        if not self._begins_at(known.row):
            name = self._address.memory_id
            raise StaleState(f"the memory {name!r} was changed by another writer")
        return known

    def _begins_at(self, row: MemoryRow) -> bool:
        columns = row.columns
        return (columns["seq"], columns["era"]) == (self._delta.after, self._delta.head.era)

    def _require_room(self, connection: Connection, change: _Change) -> None:
        """Refuse a delta for which the tenant has no room."""
        if self._delta.tenant_items is None:
            return
        query = self._asking.say.items_of_others
        which = tuple(self._address)
        ((others,),) = self._asking.asked(connection, self._address.tenant, query, which)
        require_tenant_room(others + change.values["items"], self._delta)

    def _was_written(self, memories: Memories, change: _Change) -> bool:
        """Whether a change was written by a try of which the end is not known."""
        known = memories.known(self._address)
        if known is None or known.row.columns["era"] != self._delta.head.era:
            return False
        after = self._delta.after
        written = known.written_after(after)
        if written is None and known.row.columns["seq"] != after:
            raise StoreError(
                f"the connection was lost while the memory {self._address.memory_id!r} was "
                "written, and others have written since: whether this was is not known"
            )
        return written == change.after.token

    def _there(self, memories: Memories, known: Known) -> Mapping[tuple[str, int], Row]:
        """Return rows that the delta moves or deletes, or may delete, as far as they are there.

        Raises:
            StoreError: naming one that cannot be opened.
        """
        places = list(_asked_of(self._delta))
        found = memories.some_rows(known, places)
        there: dict[tuple[str, int], Row] = {}
        for table, number in places:
            for name, sealed in found.read(table, known.row.id, [number]):
                with naming_damage(name):
                    there[table, number] = sealed.opened()
        return there


def _asked_of(delta: Delta) -> Iterator[tuple[str, int]]:
    """Yield the rows that a delta needs to know of: those that it changes a part of, or deletes.

    Of all others it tells by itself whether they are there.
    """
    for item, _ in delta.moves:
        yield "evidence", number_of(item)
    for item in delta.forgotten:
        yield "evidence", number_of(item)
        yield "mark", number_of(item)
    for mark in delta.marks:
        yield "mark", number_of(mark.evidence_id)
    for id in delta.lapsed:
        yield "succession", number_of(id)
    for operation in delta.expired:
        yield "op", operation.seq
