"""What a process reads a file by while others of its threads write to it.

A connection sees what it has written itself before that is on the disk, and is busy for as long as
a sync takes. Another one sees what is on the disk, at any time. It is opened when it is first
needed: who is alone reads by the connection that writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from demem_agent.later import dataclass
from demem_agent.stores import connections
from demem_agent.stores.connections import Connection, file_at, must_be_alone, wait_for
from demem_agent.stores.groups import alone
from demem_agent.stores.waiting import remaining

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = ["Reader", "looking", "opened_to_read"]


@dataclass(slots=True)
class Reader:
    """A connection that cannot write.

    Attributes:
        wait: seconds that SQLite waits for other processes just now.
    """

    db: Database
    wait: float


@contextmanager
def looking(connection: Connection, path: str) -> Iterator[Database]:
    """Yield what to read a file by: what is on the disk, or what one is writing oneself.

    It waits for no other thread that writes, but where SQLite cannot share the file.
    """
    if connection.lock.is_had():
        try:
            if connection.group is None:
                wait_for(connection, remaining(connections.WAIT))
                yield connection.db
                return
        finally:
            connection.lock.leave()
    with connection.reading:
        reader = _reader(connection, path)
        if reader is not None:
            wait_for(reader, remaining(connections.WAIT))
            yield reader.db
            return
    with alone(connection):
        yield connection.db


def opened_to_read(path: str) -> Database:
    """Open a connection that cannot write."""
    url = f"file:{quote(os.path.abspath(path))}?mode=ro"
    found: Database = connections.sqlite3.connect(
        url, uri=True, timeout=connections.WAIT, isolation_level=None, check_same_thread=False
    )
    return found


def _reader(connection: Connection, path: str) -> Reader | None:
    """Return what a file can be read by beside its connection, opened at the first time.

    None where it is not shared, has no log, or is not at its path any more.
    """
    if connection.reader is None and connection.users and not must_be_alone():
        connection.reader = _opened(connection, path)
    return connection.reader


def _opened(connection: Connection, path: str) -> Reader | None:
    if not _is_there(connection, path):
        return None
    db = opened_to_read(path)
    (mode,) = db.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal" or not _is_there(connection, path):
        db.close()
        return None
    db.row_factory = connections.sqlite3.Row
    return Reader(db, connections.WAIT)


def _is_there(connection: Connection, path: str) -> bool:
    return connection.file is not None and file_at(path) == connection.file
