"""What is said to queue background work, in the tables of Procrastinate.

They are in a schema of their own beside that of the store. A job is a kind of work on a memory; of
those that wait there is one at most of a kind and a memory (``queueing_lock``), and of a memory one
is done at a time (``lock``).
"""

from __future__ import annotations

__all__ = ["SWEEP", "jobs_schema", "queued_from", "queueing", "task_of"]

#: The queue of what looks for work of which nothing that is written tells.
SWEEP = "sweep"
_TASK = "demem."
#: What tells a memory from all others, whatever is in their names.
_LOCK = (
    "encode(sha256(convert_to(length(m.tenant) || ':' || m.tenant || m.memory_id, 'UTF8')), 'hex')"
)
_COLUMNS = "queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at"
#: A job that waits already is locked until this is committed. Else a worker could begin it before,
#: and find nothing of what is written here.
_ONE_OF_A_KIND = (
    "ON CONFLICT (queueing_lock) WHERE status = 'todo' "
    "DO UPDATE SET queueing_lock = excluded.queueing_lock WHERE false"
)


def jobs_schema(schema: str) -> str:
    """Return the schema of the jobs of a store."""
    return f"{schema}_jobs"


def task_of(kind: str) -> str:
    """Return what a kind of work is called as a task."""
    return f"{_TASK}{kind}"


def queueing(schema: str) -> str:
    """Return what queues work together with a commit.

    It is done where ``moved`` has a row. Values, by name: tenant, memory_id; work, the kinds.
    """
    named = "(SELECT %(tenant)b::text AS tenant, %(memory_id)b::text AS memory_id FROM moved) m"
    return queued_from(schema, f"{named}, unnest(%(work)b::text[]) AS k (kind)")


def queued_from(
    schema: str,
    source: str,
    *,
    since: str = "extract(epoch FROM now())",
    tries: str = "0",
    at: str = "NULL::timestamptz",
    conflict: str = _ONE_OF_A_KIND,
) -> str:
    """Return what queues a job for each row of a source.

    Args:
        source: with ``m``, which has a tenant and a memory_id, and ``k``, which has a kind.
        since: the moment from which on the work is due, in seconds since 1970.
        tries: how often it failed. What failed oftener comes later.
        at: the moment from which on it is done.
        conflict: what becomes of it where such a job waits already.
    """
    args = (
        "jsonb_build_object('tenant', m.tenant, 'memory_id', m.memory_id, "
        f"'since', {since}, 'tries', {tries})"
    )
    return (
        f'INSERT INTO "{jobs_schema(schema)}".procrastinate_jobs ({_COLUMNS}) '
        f"SELECT k.kind, '{_TASK}' || k.kind, -({tries}), {_LOCK}, k.kind || ' ' || {_LOCK}, "
        f"{args}, {at} FROM {source} {conflict}"
    )
