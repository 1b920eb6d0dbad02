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
from demem_agent.stores.keys import Room
from demem_agent.stores.memory_rows import Written
from demem_agent.stores.migrating import migrate
from demem_agent.stores.schema import APPLICATION, EARLIER, VERSION
from demem_agent.stores.sealing import Broken
from demem_agent.stores.waiting import Line, Turnstile, remaining, tries
from demem_agent.stores.wrapping import KeyRefused, file_secret

try:
    import pysqlite3 as sqlite3  # pyright: ignore[reportMissingImports]  # an extra
except ImportError:
    import sqlite3

if TYPE_CHECKING:
    from sqlite3 import Connection as Database  # that of pysqlite3 has the same methods

    from demem_agent.stores.groups import Group
    from demem_agent.stores.readers import Reader

__all__ = [
    "OWE_LOG",
    "OWE_REWRITING",
    "Connection",
    "begun",
    "connect",
    "disconnect",
    "ended",
    "erase_log",
    "file_at",
    "must_be_alone",
    "part",
    "reported",
    "require_key",
    "shares_safely",
    "sqlite3",
    "transaction",
    "turn",
    "unreadable",
    "version_of",
    "wait_for",
]

#: Seconds to wait for another process's transaction before giving up.
WAIT = 5.0

#: Tables that every file of ours has had since the first migration.
_TABLES = {"memory", "slot", "evidence", "context", "op"}

#: Seconds, at least, between two writes that try in passing to write the file anew, and the share
#: of the time that may go to trying: it takes as long as the file is large.
PAUSE = 1.0
_TRYING = 0.05
#: Why it cannot be, by what SQLite says.
_HINDERED = {
    "locked": "another process is still reading",
    "full": "the disk has no room to write the file anew",
}
_READ_HERE = "another thread is still reading"
_LATER = "it could not be written anew a moment ago"

#: What is owed is a number that grows until nothing is: who pays what was owed knows whether more
#: has come since. It is odd where the file is to be written anew, and not the log emptied alone.
OWE_LOG = "UPDATE erasure SET owed = owed + 2"
OWE_REWRITING = "UPDATE erasure SET owed = (owed | 1) + 2"

#: Process, device and number of a file.
_File = tuple[int, int, int]


@dataclass(slots=True)
class Connection:
    """One connection to a file: a second one would lock it out where SQLite cannot share.

    Attributes:
        file: None for ":memory:", which is nobody else's.
        wait: seconds that SQLite waits for other processes just now.
        users: how many stores of this process use it.
        secret: of the file, which every key in it needs.
        key: that the caller gave, by which the secret is wrapped; None where it is not.
        room: where keys have room, as far as is known.
        owes_erasure: whether forgotten text, or a key to it, may still be in the file or its log.
        owes_rewriting: whether the file has to be written anew for that.
        is_looked_through: whether each memory that is there is found by its id, as far as known.
        tries_after: when it may next be tried to take it out, by the monotonic clock.
        group: the transaction that threads share just now; line: those that are about to.
        rests_until: when the next may begin, by the monotonic clock.
        written: the rows of memories as they were last written by it.
        reader: what is read by while others write; ``reading`` is the lock of that.
    """

    file: _File | None
    db: Database
    secret: bytes = field(repr=False)
    key: bytes | None = field(repr=False)
    wait: float
    room: Room = field(default_factory=Room)
    lock: Turnstile = field(default_factory=Turnstile)
    users: int = 0
    owes_erasure: bool = False
    owes_rewriting: bool = False
    is_looked_through: bool = False
    tries_after: float = 0.0
    group: Group | None = None
    line: Line = field(default_factory=Line)
    rests_until: float = 0.0
    written: Written = field(default_factory=Written)
    reader: Reader | None = None
    reading: Turnstile = field(default_factory=Turnstile)

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
        if connection.reader is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection.reader.db))
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


def connect(path: str, key: bytes | None = None) -> Connection:
    """Return this process's connection to a file, with one user more; opened where there is none.

    Args:
        key: that the file is encrypted with; of one that is open already, :func:`require_key` looks
            at it.

    Raises:
        StoreError: as :class:`~demem_agent.stores.sqlite.SqliteStore` says.
    """
    with reported("open", path), _REGISTRY:
        file = file_at(path)
        connection = _CONNECTIONS.get(file) if file else None
        if connection is None:
            connection = _opened(path, key)
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
        with connection.reading:
            if connection.reader is not None:
                connection.reader.db.close()
                connection.reader = None
        connection.db.close()


def require_key(connection: Connection, path: str, key: bytes | None) -> None:
    """Refuse who does not have the key of a file that this process has open.

    Raises:
        StoreError: then.
    """
    _secret(connection.db, path, key)
    connection.key = key


def erase_log(connection: Connection, *, at_once: bool = True) -> str | None:
    """Empty the log if keys that were destroyed may be in it; write the file anew where it has to.

    It has to where a memory was deleted or renamed, whose id is not sealed, and where the file was
    one of rows that are not. There secure_delete is not enough: where SQLite rebalances a table, a
    page can keep old bytes between its cells.

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
    owed = _number(connection.db, "SELECT owed FROM erasure")
    hindered = _emptied(connection, remaining(WAIT) if at_once else 0.0)
    if hindered and not at_once:
        took = time.monotonic() - began
        connection.tries_after = began + max(PAUSE, took / _TRYING)
    if hindered:
        return hindered
    connection.owes_erasure = connection.owes_rewriting = False
    _note_paid(connection.db, owed)
    return None


def _note_paid(db: Database, owed: int) -> None:
    """Note that nothing is owed, unless more has come since.

    Should the power fail before this is on the disk, the log is emptied once more.
    """
    db.execute("PRAGMA synchronous=NORMAL")
    try:
        db.execute("UPDATE erasure SET owed = 0 WHERE owed = ?", (owed,))
    finally:
        db.execute("PRAGMA synchronous=FULL")


def _emptied(connection: Connection, wait: float) -> str | None:
    """Try to empty the log, and to write the file anew if need be; return what hinders it."""
    db = connection.db
    before = connection.wait
    wait_for(connection, wait)
    try:
        if connection.owes_rewriting:
            db.execute("VACUUM")
        with connection.reading:  # nobody here reads by another connection
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except StoreError:
        return _READ_HERE
    except sqlite3.OperationalError as error:
        for says, hindered in _HINDERED.items():
            if says in str(error):
                return hindered
        raise
    finally:
        wait_for(connection, before)
    return _HINDERED["locked"] if busy else None


def wait_for(connection: Connection | Reader, seconds: float) -> None:
    """Have SQLite wait so long for other processes."""
    if connection.wait != seconds:
        connection.db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        connection.wait = seconds


def begun(connection: Connection, begin: str, *, surely: bool) -> bool:
    """Begin a transaction without waiting for another process, and tell whether it could be.

    Who waits does so without the connection: meanwhile others of this process read through it.

    Args:
        surely: raise what SQLite says where it cannot be.
    """
    before = connection.wait
    wait_for(connection, 0.0)
    try:
        connection.db.execute(begin)
    except sqlite3.OperationalError as error:
        if surely or "locked" not in str(error):
            raise
        return False
    finally:
        wait_for(connection, before)
    return True


def unreadable() -> tuple[type[Exception], ...]:
    """Return what is raised for a file that SQLite cannot read.

    It quotes names of tables and columns as they stand in the file, and those may be damaged too.
    """
    return sqlite3.Error, UnicodeDecodeError


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
    except UnicodeDecodeError as error:  # it quotes names of tables and columns as they stand
        raise StoreError(f"cannot {doing} {path}: a name of a table is damaged") from error


@contextmanager
def transaction(db: Database, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Write all that is done inside, or nothing."""
    db.execute(begin)
    with ended(db):
        yield


@contextmanager
def ended(db: Database) -> Iterator[None]:
    """Write all that is done inside a transaction that has begun, or nothing."""
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    _commit(db)


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


def file_at(path: str) -> _File | None:
    """Name a file for the registry, or return None where there is none.

    It is not one that was deleted and made anew.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return os.getpid(), found.st_dev, found.st_ino


def _opened(path: str, key: bytes | None) -> Connection:
    if path != ":memory:" and not os.path.exists(path):
        _make_private(path)
    wait = remaining(WAIT)
    db = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        db.row_factory = sqlite3.Row
        _prepare(db, path, key)
        owed, secret = _owed(db, path), _secret(db, path, key)
    except BaseException:
        db.close()
        raise
    connection = Connection(
        file_at(path), db, secret, key, wait, owes_erasure=bool(owed), owes_rewriting=bool(owed % 2)
    )
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


def _prepare(db: Database, path: str, key: bytes | None) -> None:
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
        version = version_of(db)
        if key is not None and 0 < version <= EARLIER:
            raise StoreError(
                f"{path} was made before files could be encrypted: open it without a key, "
                "which carries it over, and encrypt it with demem rotate-key"
            )
        if version < VERSION:
            migrate(db, version, key)


def _use_log(db: Database) -> None:
    """Have the file use a log, waiting as long as for any lock.

    SQLite itself does not wait here, and of several processes that open a new file at once each
    finds it locked by another.
    """
    for at_last in tries(WAIT):
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if at_last or "locked" not in str(error):
                raise


def _require_ours(db: Database, path: str) -> None:
    """Refuse a file of another program, and one of a newer version."""
    application = _number(db, "PRAGMA application_id")
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    version = version_of(db)
    is_new = not tables and not version and not application
    is_ours = application in (0, APPLICATION) and tables >= _TABLES
    if not is_new and not is_ours:
        raise StoreError(f"{path} is a database of another program; name another file")
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer version of demem-agent "
            f"(schema {version}, known here: {VERSION})"
        )


def _owed(db: Database, path: str) -> int:
    """Return what a file owes."""
    try:
        return _number(db, "SELECT owed FROM erasure")
    except (TypeError, ValueError) as error:
        raise StoreError(f"cannot open {path}: the row of the file is damaged") from error


def _secret(db: Database, path: str, key: bytes | None) -> bytes:
    """Return the secret of a file.

    Raises:
        StoreError: if it is lost, or the key is not the right one.
    """
    try:
        return file_secret(db, key)
    except KeyRefused as error:
        raise StoreError(f"cannot open {path}: {error}") from None
    except Broken as error:
        raise StoreError(f"cannot open {path}: {error}") from error


def version_of(db: Database) -> int:
    """Return the number of the last migration that a file has had, 0 for a new one.

    Before the third one it was in a table, and ``user_version`` meant something else.
    """
    earlier = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'demem_schema'"
    if _number(db, earlier):
        return _number(db, "SELECT COALESCE(MAX(version), 0) FROM demem_schema")
    return _number(db, "PRAGMA user_version")


def _number(db: Database, question: str) -> int:
    return int(db.execute(question).fetchone()[0])
