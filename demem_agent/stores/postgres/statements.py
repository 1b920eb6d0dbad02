"""What is said to PostgreSQL, in the part of SQL that others who speak its protocol know too."""

from __future__ import annotations

from demem_agent.stores.postgres.queueing import queueing

__all__ = ["Statements"]

_MEMORY = "memory, era, seq, items, token, sealed"
_WHICH = "tenant = %b AND memory_id = %b"


class Statements:
    """The statements on the tables of a schema.

    Values are given in the order in which they stand; all are in binary.
    """

    def __init__(self, schema: str) -> None:
        memory, row, store = (f'"{schema}".{table}' for table in ("memory", "row", "store"))
        #: (tenant, memory_id): what tells whether a memory has moved on.
        self.seq = _said(f"SELECT seq, era FROM {memory} WHERE {_WHICH}")
        #: (tenant, memory_id)
        self.memory = _said(f"SELECT {_MEMORY} FROM {memory} WHERE {_WHICH}")
        #: After a statement that reads memories: until the transaction ends, nobody else writes.
        self.locked = b" FOR UPDATE"
        self.memory_locked = self.memory + self.locked
        #: (tenant, memory_id)
        self.one_memory = _said(f"SELECT tenant, memory_id, {_MEMORY} FROM {memory} WHERE {_WHICH}")
        #: (tenant)
        self.memories = _said(
            f"SELECT tenant, memory_id, {_MEMORY} FROM {memory} WHERE tenant = %b "
            "ORDER BY tenant, memory_id"
        )
        self.names = _said(f"SELECT memory_id FROM {memory} WHERE tenant = %b ORDER BY memory_id")
        self.all_memories = _said(
            f"SELECT tenant, memory_id, {_MEMORY} FROM {memory} ORDER BY tenant, memory_id"
        )
        #: (tenant, number of the memory)
        self.rows = _said(
            f"SELECT kind, number, sealed FROM {row} WHERE tenant = %b AND memory = %b"
        )
        #: (tenant, number of the memory, kind)
        self.rows_of_kind = self.rows + b" AND kind = %b::smallint"
        #: (kinds, numbers, tenant, number of the memory)
        self.some_rows = _said(
            f"SELECT r.kind, r.number, r.sealed FROM {row} r "
            "JOIN unnest(%b::smallint[], %b::bigint[]) AS w (kind, number) "
            "ON r.kind = w.kind AND r.number = w.number WHERE r.tenant = %b AND r.memory = %b"
        )
        #: (tenant, memory_id, number, era, seq, items, token, what is sealed): one row if it is new
        self.new_memory = _said(
            f"INSERT INTO {memory} (tenant, memory_id, {_MEMORY}) "
            "VALUES (%b, %b, %b, %b, %b, %b, %b, %b) ON CONFLICT (tenant, memory_id) DO NOTHING "
            "RETURNING 1"
        )
        #: (tenant, number of the memory, kinds, numbers, what is sealed)
        self.new_rows = _said(
            f"INSERT INTO {row} (tenant, memory, kind, number, sealed) SELECT %b, %b, n.* "
            "FROM unnest(%b::smallint[], %b::bigint[], %b::bytea[]) AS n (kind, number, sealed)"
        )
        #: (tenant, memory_id, token)
        self.drop_memory = _said(f"DELETE FROM {memory} WHERE {_WHICH}")
        #: (tenant, numbers of the memories)
        self.drop_rows = _said(f"DELETE FROM {row} WHERE tenant = %b AND memory = ANY(%b::uuid[])")
        self.take_rows = self.drop_rows + b" RETURNING kind, number, sealed"
        self.era = _said(f"SELECT era FROM {store} FOR SHARE")
        self.next_era = _said(f"UPDATE {store} SET era = era + 1 RETURNING era")
        self.new_secret = _said(f"UPDATE {store} SET secret = %b")
        #: (tenant, memory_id): items of all other memories
        self.items_of_others = _said(
            f"SELECT coalesce(sum(items), 0)::bigint FROM {memory} "
            "WHERE tenant = %b AND memory_id <> %b"
        )
        #: The kinds of background work that are queued.
        self.work = _said(f"SELECT work FROM {store}")
        self._commit = _commit_of(memory, row, queueing(schema))

    def commit(self, *, deletes: bool, queues: bool) -> bytes:
        """Return what writes a delta where the memory is as it was known to be, or nothing.

        It gives one row if it was. Nobody is waited for: another who writes just now is as good as
        one who has written. Its values, by name: tenant, memory_id and known, the token of before;
        memory, seq, items, token and sealed, of its row; kinds, numbers and bodies, what is
        written; most, how many items all other memories of the tenant may have.

        Args:
            deletes: whether rows go: gone_kinds and gone_numbers.
            queues: whether it causes background work: its kinds as work.
        """
        return self._commit[deletes, queues]


def _commit_of(memory: str, row: str, queued: str) -> dict[tuple[bool, bool], bytes]:
    own = (
        f"WITH own AS (SELECT tenant, memory_id FROM {memory} "
        "WHERE tenant = %(tenant)b AND memory_id = %(memory_id)b AND token = %(known)b::bigint "
        "AND (%(most)b::bigint IS NULL OR %(most)b::bigint >= (SELECT coalesce(sum(o.items), 0) "
        f"FROM {memory} o WHERE o.tenant = %(tenant)b AND o.memory_id <> %(memory_id)b)) "
        "FOR UPDATE SKIP LOCKED), "
    )
    written = (
        f"moved AS (UPDATE {memory} m SET seq = %(seq)b, items = %(items)b, token = %(token)b, "
        "sealed = %(sealed)b FROM own WHERE m.tenant = %(tenant)b "
        "AND m.memory_id = %(memory_id)b RETURNING 1), "
        f"put AS (INSERT INTO {row} (tenant, memory, kind, number, sealed) "
        "SELECT %(tenant)b, %(memory)b, n.* FROM moved, "
        "unnest(%(kinds)b::smallint[], %(numbers)b::bigint[], %(bodies)b::bytea[]) "
        "AS n (kind, number, sealed) "
        "ON CONFLICT (tenant, memory, kind, number) DO UPDATE SET sealed = excluded.sealed)"
    )
    gone = (
        f", gone AS (DELETE FROM {row} r USING moved, "
        "unnest(%(gone_kinds)b::smallint[], %(gone_numbers)b::bigint[]) AS g (kind, number) "
        "WHERE r.tenant = %(tenant)b AND r.memory = %(memory)b AND r.kind = g.kind "
        "AND r.number = g.number)"
    )
    queued = f", queued AS ({queued})"
    end = " SELECT 1 FROM moved"
    return {
        (deletes, queues): _said(own + written + gone * deletes + queued * queues + end)
        for deletes in (False, True)
        for queues in (False, True)
    }


def _said(statement: str) -> bytes:
    """Return a statement as psycopg takes one that is no literal."""
    return statement.encode("ascii")
