"""How a store asks its database: again where what hindered it passes, and of one tenant at a time
where it sees no other.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from demem_agent.errors import StoreError
from demem_agent.stores.postgres.sessions import (
    WAIT,
    Connection,
    passes,
    reported,
    sessions_of,
    taken_leave,
)
from demem_agent.stores.postgres.statements import Statements
from demem_agent.stores.postgres.urls import Place
from demem_agent.stores.waiting import remaining, tries
from demem_agent.stores.wrapping import EncryptionKey, given_key

__all__ = ["Asking", "Busy", "rows_of_statement"]

_Result = TypeVar("_Result")

_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED"
_COMMIT = b"COMMIT"
_ROLLBACK = b"ROLLBACK"
_TENANT = b"SELECT set_config('demem.tenant', %b, true)"
_PATIENCE = b"SELECT set_config('lock_timeout', %b, true)"
_ONE_BY_ONE = b"SELECT pg_advisory_xact_lock(%b::bigint)"


class Busy(Exception):
    """Report that another is writing to the memory just now."""


class Asking:
    """A user of the connections of this process to a database.

    Args:
        key: by which the secret of the store is wrapped, or what returns it.
        make: whether the tables are made where there are none.

    Attributes:
        sessions: the connections.
        say: the statements.
    """

    def __init__(self, place: Place, key: EncryptionKey | None, *, make: bool) -> None:
        self.place = place
        self.sessions = sessions_of(place, given_key(key), make=make)
        self.say = Statements(place.schema)
        self._key = key
        self._closed = False
        self._own = threading.local()

    @property
    def secret(self) -> bytes:
        """The secret of the store, which every row needs."""
        return self.sessions.secret

    @property
    def is_alone(self) -> bool:
        """Whether this thread is inside of :meth:`alone`."""
        return getattr(self._own, "connection", None) is not None

    def run(self, doing: str, work: Callable[[Connection], _Result]) -> _Result:
        """Return what is done by a connection; again, where what hindered it passes.

        Raises:
            StoreError: also for what psycopg raises.
        """
        own = getattr(self._own, "connection", None)
        if own is not None:
            with reported(doing, self.place):
                return work(own)
        for at_last in tries(WAIT):
            with reported(doing, self.place), self._taken() as connection:
                try:
                    return work(connection)
                except Busy as error:
                    if at_last:
                        raise StoreError(
                            f"another holds the memory in {self.place.shown}"
                        ) from error
                except psycopg.Error as error:
                    if at_last or not passes(error, connection):
                        raise
        raise AssertionError("the last try returns or raises")

    def asked(
        self,
        connection: Connection,
        tenant: str,
        query: bytes,
        values: Any,
        *,
        one_by_one: bool = False,
    ) -> list[Any]:
        """Return the rows of one statement, which is a transaction, or part of one that is open.

        Args:
            one_by_one: whether no other of the tenant may come between what it reads and writes.
        """
        if not self.sessions.rls and not one_by_one:
            return rows_of_statement(connection, query, values)
        if connection.info.transaction_status != TransactionStatus.IDLE:
            return self._told(connection, tenant, query, values, one_by_one).fetchall()
        with connection.pipeline():  # all in one go there and back
            connection.execute(_WRITE)
            self._be_patient(connection)
            cursor = self._told(connection, tenant, query, values, one_by_one)
            connection.execute(_COMMIT)
        return cursor.fetchall()

    def queued_kinds(self, connection: Connection) -> frozenset[str]:
        """Return the kinds of background work that are queued, as of a minute ago at most."""
        known = self.sessions.queued_kinds()
        if known is None:
            ((kinds,),) = rows_of_statement(connection, self.say.work)
            known = frozenset(kinds)
            self.sessions.learn_queued_kinds(known)
        return known

    def say_tenant(self, connection: Connection, tenant: str | None) -> None:
        """Have the rest of a transaction see one tenant's rows alone, where that is so."""
        if self.sessions.rls and tenant is not None:
            connection.execute(_TENANT, (tenant,))

    @contextmanager
    def snapshot(self, connection: Connection, tenant: str | None) -> Iterator[None]:
        """Have all that is read inside be as of one moment."""
        if self.is_alone:
            self.say_tenant(connection, tenant)
            yield
            return
        connection.execute(_READ)
        try:
            self.say_tenant(connection, tenant)
            yield
        finally:
            _end(connection)

    @contextmanager
    def transaction(self, connection: Connection, tenant: str) -> Iterator[None]:
        """Write all that is done inside, or nothing; within :meth:`alone`, as part of it."""
        if self.is_alone:
            with connection.transaction():
                self.say_tenant(connection, tenant)
                yield
            return
        connection.execute(_WRITE)
        try:
            self._be_patient(connection)
            self.say_tenant(connection, tenant)
            yield
        except BaseException:
            if not connection.closed:
                connection.execute(_ROLLBACK)
            raise
        connection.execute(_COMMIT)

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """Keep all others from writing to what is read here for update, until this ends.

        What is done by the connection that this yields is part of the same transaction.

        Raises:
            StoreError: also where what was written meanwhile is not on the disk.
        """
        if self.is_alone:
            yield self._own.connection
            return
        with reported("write", self.place), self._taken() as connection:
            connection.execute(_WRITE)
            self._be_patient(connection)
            self._own.connection = connection
            try:
                yield connection
            except BaseException:
                _end(connection)  # what was written whole before stays
                raise
            finally:
                self._own.connection = None
            if connection.info.transaction_status != TransactionStatus.INTRANS:
                raise StoreError(
                    f"nothing was written to {self.place.shown}: one of the writes failed"
                )
            connection.execute(_COMMIT)

    def close(self) -> None:
        """Release the connections."""
        if not self._closed:
            self._closed = True
            taken_leave(self.sessions)

    def _told(
        self, connection: Connection, tenant: str, query: bytes, values: Any, one_by_one: bool
    ) -> psycopg.Cursor[Any]:
        self.say_tenant(connection, tenant)
        if one_by_one:
            named = f"{self.place.schema} {tenant}".encode()
            digest = hashlib.blake2b(named, digest_size=8).digest()
            connection.execute(_ONE_BY_ONE, (int.from_bytes(digest, "big", signed=True),))
        return connection.execute(query, values, binary=True)

    def _be_patient(self, connection: Connection) -> None:
        """Have a transaction wait for others for as long as it may be waited."""
        wait = max(1, int(remaining(WAIT) * 1000))
        connection.execute(_PATIENCE, (str(wait),))

    @contextmanager
    def _taken(self) -> Iterator[Connection]:
        if self._closed:
            raise StoreError(f"{self.place.shown} was closed")
        if self.sessions.is_inherited:
            self.sessions = sessions_of(self.place, given_key(self._key), make=False)
        with self.sessions.connection() as connection:
            yield connection


def rows_of_statement(connection: Connection, query: bytes, values: Any = ()) -> list[Any]:
    """Return the rows that a statement gives."""
    return connection.execute(query, values, binary=True).fetchall()


def _end(connection: Connection) -> None:
    """End a transaction, if one is open: what was written stays, unless something in it failed."""
    status = connection.info.transaction_status
    if status == TransactionStatus.INERROR:
        connection.execute(_ROLLBACK)
    elif status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
        connection.execute(_COMMIT)
