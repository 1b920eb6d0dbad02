"""Writes of several threads of a process that reach the disk with one sync.

Who has written its part of a transaction leaves that open where others are about to write theirs,
and waits; the last of them commits for all, and each is told once that is done. Who writes while
nobody else does commits at once. A part that fails is taken back by itself.

An open group is nobody's to see: whoever takes the connection for anything else ends it first
(:func:`end`), and others read beside it (:mod:`~demem_agent.stores.readers`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from demem_agent.stores import connections
from demem_agent.stores.connections import begun, part, wait_for
from demem_agent.stores.waiting import remaining

if TYPE_CHECKING:
    from demem_agent.stores.connections import Connection

__all__ = ["Group", "alone", "end", "taking_part"]

#: Parts that a group takes in, and seconds that it does, so that other processes get their turn.
MOST = 64
LONG = 0.02
#: Seconds that no other one begins after a group that was full.
REST = 0.002
#: Seconds after which who waits looks whether those that it left the commit to have given up.
PATIENCE = 0.05


class Group:
    """Parts of one transaction.

    Attributes:
        parts: how many there are; those that were taken back count along.
        error: why none of them is on the disk, once that is so.
    """

    __slots__ = ("_done", "_until", "error", "parts")

    def __init__(self) -> None:
        self.parts = 0
        self.error: BaseException | None = None
        self._until = time.monotonic() + LONG
        self._done = threading.Event()

    @property
    def is_full(self) -> bool:
        """Whether it takes in no more."""
        return self.parts >= MOST or time.monotonic() >= self._until

    def tell(self) -> None:
        """Have all that wait go on."""
        self._done.set()

    def wait(self, connection: Connection) -> None:
        """Wait until it is known what became of it; end it where nobody else is there to do so."""
        while not self._done.wait(PATIENCE):
            if connection.lock.is_had():
                try:
                    if connection.group is self and _is_left(connection, self):
                        end(connection)
                finally:
                    connection.lock.leave()

    def require_written(self) -> None:
        """Raise what SQLite said where it is not on the disk.

        Raises:
            sqlite3.Error: then.
        """
        if self.error is not None:
            raise connections.sqlite3.OperationalError(str(self.error)) from self.error


@contextmanager
def alone(connection: Connection) -> Iterator[None]:
    """Take a connection for oneself."""
    with connection.lock:
        end(connection)  # what others have written is theirs
        wait_for(connection, remaining(connections.WAIT))
        yield


@contextmanager
def taking_part(connection: Connection, *, surely: bool) -> Iterator[bool]:
    """Yield whether one may write; what is written inside is on the disk once this ends.

    Also who is refused, as by what another part has written, is told so once that is on the disk.

    Args:
        surely: raise what SQLite says where another process is writing.

    Raises:
        sqlite3.Error: where it could not be brought to the disk.
    """
    group = None
    try:
        with _in_turn(connection):
            if connection.group is None and connection.db.in_transaction:  # one's own
                with part(connection.db):
                    yield True
                return
            group = _joined(connection, surely=surely)
            if group is None:
                yield False
                return
            with _part_of(connection, group):
                yield True
    except BaseException:
        if group is not None:
            group.wait(connection)
        raise
    group.wait(connection)
    group.require_written()


@contextmanager
def _in_turn(connection: Connection) -> Iterator[None]:
    """Take a connection, on which a group may be open."""
    with connection.line:
        connection.lock.__enter__()
    try:
        wait_for(connection, remaining(connections.WAIT))
        yield
    finally:
        connection.lock.leave()


def _joined(connection: Connection, *, surely: bool) -> Group | None:
    """Return the group that is open, or a new one; None where another process writes."""
    if connection.group is None:
        _rest(connection)
        if begun(connection, "BEGIN IMMEDIATE", surely=surely):
            connection.group = Group()
    return connection.group


def _rest(connection: Connection) -> None:
    """Leave other processes a moment in which to begin."""
    left = connection.rests_until - time.monotonic()
    if left > 0:
        time.sleep(left)


@contextmanager
def _part_of(connection: Connection, group: Group) -> Iterator[None]:
    """Have all that is done inside be a part of a group; end that unless others come."""
    db = connection.db
    try:
        # The first one is the whole transaction so far.
        with part(db) if group.parts else _begun_with(connection, group):
            yield
    except connections.sqlite3.Error as error:
        if not db.in_transaction:  # SQLite has given it up, with all parts
            group.error = error
        raise
    finally:
        group.parts += 1
        if _is_left(connection, group) or not db.in_transaction:
            end(connection)


def _is_left(connection: Connection, group: Group) -> bool:
    """Whether nobody else comes to a group, or it has room for nobody."""
    return not len(connection.line) or group.is_full


@contextmanager
def _begun_with(connection: Connection, group: Group) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.group = None
        if connection.db.in_transaction:
            connection.db.execute("ROLLBACK")
        group.tell()
        raise


def end(connection: Connection) -> None:
    """Bring an open group to the disk, and tell all that wait for it.

    What SQLite says is theirs to raise: who ends it may have no part in it.
    """
    group = connection.group
    if group is None:
        return
    try:
        connection.db.execute("COMMIT")
    except BaseException as error:
        is_of_sqlite = isinstance(error, connections.sqlite3.Error)
        if connection.db.in_transaction:
            group.error = group.error or error
            connection.db.execute("ROLLBACK")
        elif is_of_sqlite:  # else it was an interrupt that came when all was done
            group.error = group.error or error
        if not is_of_sqlite:
            raise
    finally:
        connection.group = None
        if group.parts > 1 and group.is_full:
            connection.rests_until = time.monotonic() + REST
        group.tell()
