"""The queue of background work of a store, in tables of Procrastinate.

Work is queued in the statement that writes what causes it (``queueing.py``), and here: all of a
kind, what failed, and what workers left that were killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from demem_agent.errors import StoreError
from demem_agent.stores.aside import MARK
from demem_agent.stores.backlog import Backlog
from demem_agent.stores.base import Address
from demem_agent.stores.postgres.asking import Asking, rows_of_statement
from demem_agent.stores.postgres.queueing import SWEEP, jobs_schema, queued_from, task_of
from demem_agent.stores.postgres.schema import LOCK
from demem_agent.stores.postgres.sessions import Connection

__all__ = ["Work"]

_DAY = 86_400
#: What is waited until all who have the store open know of a kind that is queued from now on.
_KNOWN_AFTER = 130.0
#: What a sweep is told: kinds of work, whether what was given up is tried again, and whose.
_SWEEPING = "jsonb_build_object('kinds', %b::text[], 'revive', %b::boolean, 'tenant', %b::text)"


class Work:
    """Background work of a store that waits in its database.

    Args:
        asking: the store.

    Attributes:
        schema: of the tables.
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._store = asking.place.schema
        self.schema = jobs_schema(self._store)
        self._jobs = f'"{self.schema}".procrastinate_jobs'
        self._workers = f'"{self.schema}".procrastinate_workers'

    @property
    def conninfo(self) -> str:
        """What libpq is given to reach the database."""
        return self._asking.place.conninfo

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of work that are queued by who writes."""
        ((kinds,),) = self._asked("read", self._asking.say.work)
        return tuple(kinds)

    def begin(
        self, kinds: Sequence[str], script: str, migrations: Mapping[str, str], tenant: str
    ) -> None:
        """Have kinds of work queued from now on; what is due already is queued as well.

        The tables are made where there are none, and brought up to date, one process at a time.

        Args:
            script: of the tables as they are today.
            migrations: by name, in order: what brought earlier ones up to date.
            tenant: whose memories, where the store shows no others.

        Raises:
            StoreError: where the tables are newer.
        """
        new: list[str] = []

        def make(connection: Connection) -> None:
            with self._asking.transaction(connection, tenant):
                connection.execute(_said("SELECT pg_advisory_xact_lock(%s)"), (LOCK,))
                self._make_tables(connection, script, migrations)
                (had,) = rows_of_statement(connection, self._asking.say.work)
                new[:] = [kind for kind in kinds if kind not in had[0]]
                if new:
                    query = f'UPDATE "{self._store}".store SET work = work || %b::text[]'
                    connection.execute(_said(query), (new,), binary=True)

        self._asking.run("set up work in", make)
        self._asking.sessions.forget_queued_kinds()
        rls = self._asking.sessions.rls
        if new or rls:
            self.queue_all(kinds if rls else new, tenant)
        if new:
            self._queue_sweep(new, tenant)

    def drop(self) -> None:
        """Have nothing queued any more, and drop the tables with what waits in them.

        What is due follows from the memories, and is queued again by :meth:`begin`.
        """
        statements = (
            f'UPDATE "{self._store}".store SET work = ARRAY[]::text[]',
            f'DROP SCHEMA IF EXISTS "{self.schema}" CASCADE',
        )

        def write(connection: Connection) -> None:
            with connection.transaction():
                connection.execute("SET LOCAL client_min_messages TO warning")
                for statement in statements:
                    connection.execute(_said(statement))

        self._asking.run("drop the queue of", write)
        self._asking.sessions.forget_queued_kinds()

    def queue_all(self, kinds: Sequence[str], tenant: str) -> None:
        """Queue work on all memories: whoever does it finds out whether any is due.

        Args:
            tenant: whose memories, where the store shows no others.
        """
        memories = f'(SELECT * FROM "{self._store}".memory WHERE NOT starts_with(tenant, %b)) m'
        source = f"{memories}, unnest(%b::text[]) AS k (kind)"
        query = queued_from(self._store, source)

        def write(connection: Connection) -> None:
            with self._asking.transaction(connection, tenant):
                connection.execute(_said(query), (MARK.tenant, list(kinds)), binary=True)

        self._asking.run("queue work in", write)

    def queue_again(
        self, kind: str, address: Address, *, since: float, tries: int, wait: float
    ) -> None:
        """Queue work that failed, for later.

        Where the same waits already it waits as long, so that a memory that is written to all the
        time does not have it tried as often.

        Args:
            since: when it was first due, in seconds since 1970.
            tries: how often it failed.
            wait: seconds until it is tried again.
        """
        source = "(SELECT %b::text AS tenant, %b::text AS memory_id) m, (SELECT %b::text AS kind) k"
        query = queued_from(
            self._store,
            source,
            since="%b::float8",
            tries="%b::int",
            at="now() + %b::float8 * interval '1 second'",
            conflict=(
                "ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET "
                "args = excluded.args, priority = excluded.priority, "
                "scheduled_at = excluded.scheduled_at"
            ),
        )
        values = (tries, since, tries, wait, *address, kind)
        self._asked("queue work in", _said(f"{query} RETURNING 1"), values)

    def queue_daily(self, kinds: Sequence[str], tenant: str) -> None:
        """Have all memories looked at for these kinds of work, once a day whoever asks for it.

        Args:
            tenant: whose memories, where the store shows no others.
        """
        which = tenant if self._asking.sessions.rls else ""
        function = f'"{self.schema}".procrastinate_defer_periodic_job_v2'
        query = (
            f"SELECT {function}('{SWEEP}', NULL, NULL, '{task_of(SWEEP)}', 0, md5(%b::text), "
            f"floor(extract(epoch FROM now()) / {_DAY})::bigint * {_DAY}, {_SWEEPING})"
        )
        self._asked("queue work in", _said(query), (which, list(kinds), True, tenant))

    def take_over(self, seconds: float, most_tries: int) -> int:
        """Queue anew what workers were doing that were not heard of for so long; return how much.

        Each is a new job: who did it, and is alive after all, cannot end it for who does it next.

        Args:
            most_tries: work that ended so many workers is given up.
        """
        stalled = (
            f"DELETE FROM {self._jobs} j WHERE j.status = 'doing' AND NOT EXISTS "
            f"(SELECT 1 FROM {self._workers} w WHERE w.id = j.worker_id "
            "AND w.last_heartbeat >= now() - %(seconds)b::float8 * interval '1 second') "
            "RETURNING j.*"
        )
        return self._anew(stalled, {"seconds": seconds}, tries="tries + 1", most_tries=most_tries)

    def revive(self) -> int:
        """Queue anew what was given up; return how much."""
        failed = f"DELETE FROM {self._jobs} j WHERE j.status = 'failed' RETURNING j.*"
        return self._anew(failed, {}, tries="0", most_tries=1)

    def backlog(self) -> Backlog:
        """Return what waits; nothing where no work is queued."""
        kinds = self.kinds()
        if not kinds:
            return Backlog()
        query = (
            "SELECT queue_name, status::text, count(*), "
            "(extract(epoch FROM now()) - min((args->>'since')::float8))::float8 "
            f"FROM {self._jobs} WHERE status IN ('todo', 'doing', 'failed') "
            f"AND queue_name <> '{SWEEP}' GROUP BY queue_name, status"
        )
        waiting = dict.fromkeys(kinds, 0)
        oldest, given_up = 0.0, 0
        for kind, status, count, age in self._asked("read", _said(query)):
            if status == "failed":
                given_up += count
            else:
                waiting[kind] = waiting.get(kind, 0) + count
                oldest = max(oldest, age)
        return Backlog(waiting, oldest, given_up)

    def _queue_sweep(self, kinds: Sequence[str], tenant: str) -> None:
        """Have all memories looked at once everybody knows that these kinds are queued."""
        query = (
            f"INSERT INTO {self._jobs} (queue_name, task_name, args, scheduled_at) "
            f"VALUES ('{SWEEP}', '{task_of(SWEEP)}', {_SWEEPING}, "
            f"now() + interval '{_KNOWN_AFTER} seconds') RETURNING 1"
        )
        self._asked("queue work in", _said(query), (list(kinds), False, tenant))

    def _anew(self, taken: str, values: dict[str, Any], *, tries: str, most_tries: int) -> int:
        """Put new jobs in the place of those that a statement takes out; return how many."""
        columns = "queue_name, task_name, priority, lock, queueing_lock"
        status = f'"{self.schema}".procrastinate_job_status'
        query = (
            f"WITH taken AS ({taken}), counted AS (SELECT t.*, {tries} AS now_tries FROM "
            "(SELECT *, coalesce((args->>'tries')::int, 0) AS tries FROM taken) t) "
            f"INSERT INTO {self._jobs} ({columns}, args, status) SELECT {columns}, "
            "CASE WHEN args ? 'tries' THEN args || jsonb_build_object('tries', now_tries) "
            "ELSE args END, "
            f"(CASE WHEN now_tries >= %(most)b::int THEN 'failed' ELSE 'todo' END)::{status} "
            "FROM counted ON CONFLICT (queueing_lock) WHERE status = 'todo' "
            "DO UPDATE SET queueing_lock = excluded.queueing_lock WHERE false RETURNING 1"
        )
        return len(self._asked("queue work in", _said(query), {**values, "most": most_tries}))

    def _make_tables(
        self, connection: Connection, script: str, migrations: Mapping[str, str]
    ) -> None:
        """Make the tables, or bring them up to date."""
        names = list(migrations)
        found = connection.execute(
            _said(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
            ),
            (self.schema,),
        ).fetchone()
        if found is not None and found[0] == names[-1]:
            return
        if found is None:
            connection.execute(_said(f'CREATE SCHEMA "{self.schema}"'))
            scripts = [script]
        elif found[0] in names:
            scripts = [migrations[name] for name in names[names.index(found[0]) + 1 :]]
        else:
            raise StoreError(
                f"the schema {self.schema} is another program's, or a newer version's of "
                "procrastinate: upgrade it"
            )
        connection.execute(_said(f'SET LOCAL search_path TO "{self.schema}"'))
        connection.execute("SET LOCAL client_min_messages TO warning")
        for one in scripts:
            connection.execute(one.encode())
        connection.execute(_said(_ADJUSTED.format(schema=self.schema)))
        connection.execute(_said(f"COMMENT ON SCHEMA \"{self.schema}\" IS '{names[-1]}'"))
        connection.execute(_said("SET LOCAL search_path TO DEFAULT"))

    def _asked(self, doing: str, query: bytes, values: Any = ()) -> list[Any]:
        """Return the rows of one statement."""

        def ask(connection: Connection) -> list[Any]:
            return rows_of_statement(connection, query, values)

        return self._asking.run(doing, ask)


#: Whoever calls the functions, or writes to a table that does, says no search path: a pooler would
#: lose it. Nobody listens to notifications, for which writers would wait for each other.
_ADJUSTED = """
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT oid::regprocedure AS name FROM pg_proc
        WHERE pronamespace = '"{schema}"'::regnamespace
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path TO "{schema}"', one.name);
    END LOOP;
END
$$;
ALTER TABLE "{schema}".procrastinate_jobs
    DISABLE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1;
ALTER TABLE "{schema}".procrastinate_jobs
    DISABLE TRIGGER procrastinate_jobs_notify_queue_job_aborted_v1;
"""


def _said(statement: str) -> bytes:
    """Return a statement as psycopg takes one that is no literal."""
    return statement.encode("ascii")
