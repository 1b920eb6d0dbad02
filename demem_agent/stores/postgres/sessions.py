"""Connections to a PostgreSQL database: a bounded pool of them for each database and process.

No connection keeps anything from one transaction to the next, so that a pooler may stand between:
no prepared statements, no settings, no locks of a session.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout

from demem_agent.errors import StoreError
from demem_agent.stores.base import Address
from demem_agent.stores.postgres.rows import Known
from demem_agent.stores.postgres.schema import made_ready
from demem_agent.stores.postgres.urls import Place
from demem_agent.stores.sealing import Broken
from demem_agent.stores.waiting import remaining, spend
from demem_agent.stores.wrapping import KeyRefused, secret_in

__all__ = [
    "QUEUED_FOR",
    "WAIT",
    "Connection",
    "Sessions",
    "passes",
    "reported",
    "sessions_of",
    "taken_leave",
]

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

#: Seconds to wait for a connection, or for another transaction, before giving up.
WAIT = 5.0
#: What libpq is told unless the URL says otherwise: seconds that connecting may take, and after
#: which a server that says nothing at all is given up.
_PATIENT = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
#: Seconds between two tries to connect; a pool that cannot asks again only when it is asked.
_PATIENCE = 0.5
#: Seconds for which it is taken as known which kinds of work are queued.
QUEUED_FOR = 60.0
#: Memories whose rows are known.
_KNOWN = 2048
#: The transaction lost to another, and would have had to begin again.
_LOST_TO_ANOTHER = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)
#: The server stops, or has just been started.
_STOPPING = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)


class Sessions:
    """The connections of this process to one database, shared by all stores on it.

    Attributes:
        place: the database.
        secret: of the store, which every row needs.
        rls: whether each transaction has to say whose rows it may see.
        pid: the process; a fork must not use what its parent opened.
        users: how many stores there are on it.
    """

    def __init__(self, place: Place, key: bytes | None, *, make: bool) -> None:
        self.place = place
        self.pid = os.getpid()
        self.users = 0
        how: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}
        how |= {name: value for name, value in _PATIENT.items() if name not in place.conninfo}
        with reported("open", place), psycopg.connect(place.conninfo, **how) as db:
            self._standing = made_ready(db, place, key, make=make)
        self.secret = self._opened(key)
        self.rls = self._standing.rls
        self._known: OrderedDict[Address, Known] = OrderedDict()
        self._queued: frozenset[str] = frozenset()
        self._queued_until = 0.0
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            place.conninfo,
            kwargs=how,
            min_size=0,
            max_size=place.connections,
            reconnect_timeout=_PATIENCE,
            open=True,
        )

    @property
    def is_inherited(self) -> bool:
        """Whether another process opened it, of which this one is a fork."""
        return self.pid != os.getpid()

    def look_again(self, key: bytes | None) -> None:
        """Look at the store for another user of it, who has to have its key.

        Raises:
            StoreError: for who does not have it, and where the store is refused by now.
        """
        with reported("open", self.place), self.connection() as db:
            self._standing = made_ready(db, self.place, key, make=False)
        self._opened(key)
        self.rls = self._standing.rls

    def rewrapped(self, header: bytes) -> None:
        """Note that the secret is wrapped by another key from now on."""
        self._standing = replace(self._standing, header=header)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yield a connection, which nobody else has meanwhile.

        Raises:
            PoolTimeout: if none is to be had for as long as it may be waited.
        """
        taken = self._taken()
        try:
            yield taken
        finally:
            self._pool.putconn(taken)

    def known(self, address: Address) -> Known | None:
        """Return the row of a memory as it was last seen, if it was lately."""
        with self._lock:
            return self._known.get(address)

    def learn(self, address: Address, known: Known | None) -> None:
        """Keep the row of a memory as it is now; None where it is not known any more."""
        with self._lock:
            self._known.pop(address, None)
            if known is not None:
                self._known[address] = known
                if len(self._known) > _KNOWN:
                    self._known.popitem(last=False)

    def queued_kinds(self) -> frozenset[str] | None:
        """Return the kinds of background work that are queued; None where it is to be asked."""
        return self._queued if time.monotonic() < self._queued_until else None

    def learn_queued_kinds(self, kinds: frozenset[str]) -> None:
        """Keep which kinds of background work are queued, for a while."""
        self._queued = kinds
        self._queued_until = time.monotonic() + QUEUED_FOR

    def forget_queued_kinds(self) -> None:
        """Have it asked again which kinds of background work are queued."""
        self._queued_until = 0.0

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def _taken(self) -> Connection:
        began = time.monotonic()
        rest = remaining(WAIT)
        try:
            while True:
                waited = time.monotonic() - began
                try:
                    return self._pool.getconn(max(0.001, min(_PATIENCE, rest - waited)))
                except PoolTimeout:
                    # To open one more is not to wait for others.
                    stats = self._pool.get_stats()
                    may_grow = stats["pool_size"] < stats["pool_max"]
                    most = max(rest, _PATIENCE) if may_grow else rest
                    if time.monotonic() - began >= most:
                        raise
        finally:
            spend(time.monotonic() - began)

    def _opened(self, key: bytes | None) -> bytes:
        try:
            return secret_in([self._standing.header], key)
        except (Broken, KeyRefused) as error:
            raise StoreError(f"cannot open {self.place.shown}: {error}") from error


_SESSIONS: dict[Place, Sessions] = {}
_REGISTRY = threading.Lock()
#: Those of the parent of a fork: to close one would end it for the parent too.
_INHERITED: list[Sessions] = []


def _leave_to_parent() -> None:
    """Forget the connections of the parent in a process that was forked, without closing them."""
    global _REGISTRY
    _REGISTRY = threading.Lock()  # another thread may have held the parent's
    _INHERITED.extend(_SESSIONS.values())
    _SESSIONS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def sessions_of(place: Place, key: bytes | None, *, make: bool) -> Sessions:
    """Return this process's connections to a database, with one user more.

    Raises:
        StoreError: if it cannot be opened, or another key opens it.
    """
    with _REGISTRY:
        found = _SESSIONS.get(place)
        is_new = found is None
        if found is None:
            found = Sessions(place, key, make=make)
            _SESSIONS[place] = found
        found.users += 1
    if not is_new:
        try:
            found.look_again(key)
        except BaseException:
            taken_leave(found)
            raise
    return found


def taken_leave(sessions: Sessions) -> None:
    """Take a user away; close the connections when it was the last."""
    with _REGISTRY:
        sessions.users -= 1
        if sessions.users or sessions.is_inherited:
            return
        if _SESSIONS.get(sessions.place) is sessions:
            del _SESSIONS[sessions.place]
    sessions.close()


@contextmanager
def reported(doing: str, place: Place) -> Iterator[None]:
    """Turn what psycopg raises into a StoreError, here and nowhere else; no password is in it."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreError(
            f"cannot {doing} {place.shown}: all {place.connections} connections are in use, "
            "or the server cannot be reached"
        ) from error
    except psycopg.Error as error:
        raise StoreError(f"cannot {doing} {place.shown}: {place.clean(error)}") from error


def passes(error: psycopg.Error, connection: Connection) -> bool:
    """Whether the same may well succeed a moment later: the connection broke, or another won."""
    return connection.closed or isinstance(error, (*_STOPPING, *_LOST_TO_ANOTHER))
