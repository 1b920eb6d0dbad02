"""Connections to SQLite files: one for each file and process, opened, migrated and erased here.

Write-ahead log, synchronous=FULL: what was acknowledged survives a crash. SQLite before 3.51.3
(except 3.50.7 and 3.44.6) can lose acknowledged commits of the log when two connections write and
checkpoint at once; on such a version the file is opened for this connection alone. The package
``pysqlite3`` carries a newer SQLite and is used where it is installed.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.stores.schema import APPLICATION, MIGRATIONS, VERSION

try:
    import pysqlite3 as sqlite3  # pyright: ignore[reportMissingImports]  # an extra
except ImportError:
    import sqlite3

if TYPE_CHECKING:
    from sqlite3 import Connection as Database  # that of pysqlite3 has the same methods

__all__ = [
    "Connection",
    "connect",
    "disconnect",
    "erase_log",
    "must_be_alone",
    "part",
    "reported",
    "shares_safely",
    "sqlite3",
    "transaction",
    "turn",
]

#: Seconds to wait for another process's transaction before giving up.
WAIT = 5.0

#: Tables that every file of ours has had since the first migration.
_TABLES = {"memory", "slot", "evidence", "context", "op", "cover"}

#: Seconds between two tries where SQLite does not wait itself.
_PAUSE = 0.01
#: Seconds, at least, between two writes that try in passing to write the file anew, and the share
#: of the time that may go to trying: it takes as long as the file is large.
PAUSE = 1.0
_TRYING = 0.05
#: Why it cannot be, by what SQLite says.
_HINDERED = {
    "locked": "another process is still reading",
    "full": "the disk has no room to write the file anew",
}
_LATER = "it could not be written anew a moment ago"

#: Process, device and number of a file.
_File = tuple[int, int, int]


@dataclass(slots=True)
class Connection:
    """One connection to a file: a second one would lock it out where SQLite cannot share.

    Attributes:
        file: None for ":memory:", which is nobody else's.
        users: how many stores of this process use it.
        owes_erasure: whether forgotten text may still be in the file or its log.
        tries_after: when it may next be tried to take it out, by the monotonic clock.
    """

    file: _File | None
    db: Database
    lock: threading.RLock = field(default_factory=threading.RLock)
    users: int = 0
    owes_erasure: bool = False
    tries_after: float = 0.0

    @property
    def is_inherited(self) -> bool:
        """Whether it was opened by another process, of which this one is a fork.

        SQLite must not be used through it here: both would think that they hold its locks, and what
        one is told was written the other overwrites.
        """
        return self.file is not None and self.file[0] != os.getpid()


_CONNECTIONS: dict[_File, Connection] = {}
_REGISTRY = threading.Lock()


def _leave_to_parent() -> None:
    """Forget the connections of the parent in a process that was forked, without closing them.

    Closing one would write its log into the file and delete it, under the parent's locks. They stay
    open here until the process ends, and nothing can free them: hence the reference that is never
    given back.
    """
    global _REGISTRY
    _REGISTRY = threading.Lock()  # another thread may have held the parent's
    for connection in _CONNECTIONS.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection.db))
    _CONNECTIONS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def shares_safely(version: tuple[int, ...]) -> bool:
    """Whether this SQLite keeps acknowledged log commits when several connections write."""
    if version >= (3, 51, 3):
        return True
    return (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)


def must_be_alone() -> bool:
    """Whether a file has to be opened for one connection alone."""
    return not shares_safely(sqlite3.sqlite_version_info)


def connect(path: str) -> Connection:
    """Return this process's connection to a file, with one user more; opened where there is none.

    Raises:
        StoreError: as :class:`~demem_agent.stores.sqlite.SqliteStore` says.
    """
    with reported("open", path), _REGISTRY:
        file = _file(path)
        connection = _CONNECTIONS.get(file) if file else None
        if connection is None:
            connection = _opened(path)
        connection.users += 1
    return connection


def disconnect(connection: Connection) -> None:
    """Take a user away; close the connection when it was the last."""
    with _REGISTRY:
        connection.users -= 1
        if connection.users:
            return
        if connection.file and _CONNECTIONS.get(connection.file) is connection:
            del _CONNECTIONS[connection.file]
        connection.db.close()


def erase_log(connection: Connection, *, at_once: bool = True) -> str | None:
    """Write the file anew and empty its log if forgotten text may be in them.

    secure_delete is not enough: where SQLite rebalances a table, a page can keep old bytes between
    its cells.

    Args:
        at_once: wait for other processes, and try whenever it was tried last. Without it a write
            that has nothing to erase itself is not held up: it tries without waiting, and seldom.

    Returns:
        What stands in the way, so that it has to be done later; None where nothing does.
    """
    if not connection.owes_erasure:
        return None
    if not at_once and time.monotonic() < connection.tries_after:
        return _LATER
    began = time.monotonic()
    hindered = _rewritten(connection, WAIT if at_once else 0.0)
    if hindered and not at_once:
        took = time.monotonic() - began
        connection.tries_after = began + max(PAUSE, took / _TRYING)
    if hindered:
        return hindered
    connection.owes_erasure = False
    connection.db.execute("UPDATE erasure SET owed = 0")
    return None


def _rewritten(connection: Connection, wait: float) -> str | None:
    """Try to write the file anew; return what hinders it."""
    db = connection.db
    db.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
    try:
        db.execute("VACUUM")
        busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        for says, hindered in _HINDERED.items():
            if says in str(error):
                return hindered
        raise
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(WAIT * 1000)}")
    return _HINDERED["locked"] if busy else None


@contextmanager
def reported(doing: str, path: str) -> Iterator[None]:
    """Turn what SQLite raises into a StoreError, here and nowhere else."""
    try:
        yield
    except sqlite3.Error as error:
        is_locked = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
        if is_locked and must_be_alone():
            raise StoreError(
                f"{path} is in use by another process, and SQLite {sqlite3.sqlite_version} "
                "cannot share it safely; close the other one, "
                "or pip install 'demem-agent[sqlite]' in both"
            ) from error
        raise StoreError(f"cannot {doing} {path}: {error}") from error


@contextmanager
def transaction(db: Database, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Write all that is done inside, or nothing; within :func:`turn`, as a part of that."""
    if db.in_transaction:
        with part(db):
            yield
        return
    db.execute(begin)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def part(db: Database) -> Iterator[None]:
    """Have all that is done inside be part of a transaction, or nothing of it."""
    db.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # else SQLite has given it up, and all of it
            db.execute("ROLLBACK TO part")
            db.execute("RELEASE part")
        raise
    db.execute("RELEASE part")


@contextmanager
def turn(db: Database) -> Iterator[None]:
    """Have a transaction that has begun take in several, so that nobody else writes in between.

    Each is whole by itself and stays, whatever comes after it; all are on the disk once this ends.

    Raises:
        sqlite3.Error: if they are not, as where the disk is full.
    """
    try:
        yield
    finally:
        if db.in_transaction:  # else SQLite has given it up, and said why
            _commit(db)


def _commit(db: Database) -> None:
    try:
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _file(path: str) -> _File | None:
    """Name a file for the registry, or return None where there is none.

    It is not one that was deleted and made anew.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return os.getpid(), found.st_dev, found.st_ino


def _opened(path: str) -> Connection:
    if path != ":memory:" and not os.path.exists(path):
        _make_private(path)
    db = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        db.row_factory = sqlite3.Row
        _prepare(db, path)
        owed = _number(db, "SELECT owed FROM erasure")
    except BaseException:
        db.close()
        raise
    connection = Connection(_file(path), db, owes_erasure=bool(owed))
    if connection.file:
        _CONNECTIONS[connection.file] = connection
    return connection


def _make_private(path: str) -> None:
    """Make the file readable by its owner alone.

    The log that SQLite puts beside it takes after it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"cannot open {path}: {error.strerror}") from error


def _prepare(db: Database, path: str) -> None:
    if must_be_alone():
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
    with transaction(db, "BEGIN"):  # of one moment, should another process make the file just now
        _require_ours(db, path)  # before anything is written: a file that is refused stays as it is
    _use_log(db)
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA secure_delete=ON")  # what is forgotten is overwritten in the file
    db.execute("PRAGMA temp_store=MEMORY")  # and is never copied to another
    with transaction(db):
        _require_ours(db, path)  # once more, now that nobody else can write
        _migrate(db)


def _use_log(db: Database) -> None:
    """Have the file use a log, waiting as long as for any lock.

    SQLite itself does not wait here, and of several processes that open a new file at once each
    finds it locked by another.
    """
    until = time.monotonic() + WAIT
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def _require_ours(db: Database, path: str) -> None:
    """Refuse a file of another program, and one of a newer version."""
    application = _number(db, "PRAGMA application_id")
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    version = _version(db)
    is_new = not tables and not version and not application
    is_ours = application in (0, APPLICATION) and tables >= _TABLES
    if not is_new and not is_ours:
        raise StoreError(f"{path} is a database of another program; name another file")
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer version of demem-agent "
            f"(schema {version}, known here: {VERSION})"
        )


def _migrate(db: Database) -> None:
    version = _version(db)
    if version == VERSION:
        return
    for script in MIGRATIONS[version:]:
        _execute_all(db, script)
    db.execute(f"PRAGMA user_version = {VERSION}")


def _execute_all(db: Database, script: str) -> None:
    # Not executescript, which would commit the transaction that this is part of.
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)


def _version(db: Database) -> int:
    """Return the number of the last migration that a file has had, 0 for a new one.

    Before the third one it was in a table, and ``user_version`` meant something else.
    """
    earlier = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'demem_schema'"
    if _number(db, earlier):
        return _number(db, "SELECT COALESCE(MAX(version), 0) FROM demem_schema")
    return _number(db, "PRAGMA user_version")


def _number(db: Database, question: str) -> int:
    return int(db.execute(question).fetchone()[0])
