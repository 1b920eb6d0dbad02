"""A standby that is asked in the place of the primary, where what is read may be a little old.

How old it is nobody's clock has to tell. This process asks the primary now and then how far its log
goes: all that was acknowledged before it asked is in the log up to there. A standby that has
replayed the log up to there lacks nothing of that, so that what it shows is at most as old as the
question, however long nobody has written since.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from weakref import WeakKeyDictionary

from demem_agent.errors import MemoryGone, StoreError
from demem_agent.later import dataclass
from demem_agent.stores.base import Address
from demem_agent.stores.postgres.asking import Asking, rows_of_statement
from demem_agent.stores.postgres.reader import Reader
from demem_agent.stores.postgres.sessions import Connection
from demem_agent.stores.postgres.urls import Place
from demem_agent.stores.waiting import waiting_at_most
from demem_agent.stores.wrapping import EncryptionKey

__all__ = ["Replica"]

_Result = TypeVar("_Result")

#: Where a log is, as a number of bytes.
_NUMBER = "({} - '0/0'::pg_lsn)::bigint"
#: How far the log of the primary goes, and in which timeline: a promoted standby begins another.
_FLUSHED = "pg_current_wal_flush_lsn()"
_WRITTEN = (
    f"SELECT {_NUMBER.format(_FLUSHED)}, "
    f"('x' || left(pg_walfile_name({_FLUSHED}), 8))::bit(32)::bigint"
).encode("ascii")
#: The same of what a standby has replayed; nothing of a server that is none.
_REPLAYED = (
    f"SELECT {_NUMBER.format('pg_last_wal_replay_lsn()')}, "
    "greatest(c.timeline_id, r.min_recovery_end_timeline)::bigint "
    "FROM pg_control_checkpoint() c, pg_control_recovery() r WHERE pg_is_in_recovery()"
).encode("ascii")

#: The primary is asked so many times while what was told of it grows too old.
_TIMES = 4
#: Of what was asked of the primary so many answers are kept.
_ANSWERS = 64
#: Seconds that it is waited for a connection to the standby, and that it is left alone after an
#: error.
_PATIENCE, _REST = 0.5, 5.0
#: Memories of which it is known when this process has written to them.
_OWN = 4096

log = logging.getLogger("demem.stores")


class _TooOld(StoreError):
    """Report that a standby has not yet got what is to be there."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the log of the primary went: at ``at``, by the monotonic clock, no further."""

    at: float
    lsn: int
    timeline: int


class _Marks:
    """How far the log of the primary went, and when; safe between threads."""

    def __init__(self, primary: Asking) -> None:
        self._primary = primary
        self._marks: deque[_Mark] = deque(maxlen=_ANSWERS)
        self._asks = threading.Lock()

    def renew(self, every: float) -> None:
        """Ask the primary, unless somebody did in the last so many seconds, or does just now.

        Raises:
            StoreError: if it cannot be asked.
        """
        if self._marks and time.monotonic() - self._marks[-1].at < every:
            return
        if not self._asks.acquire(blocking=False):
            return
        try:
            at = time.monotonic()  # what is written after this may be missing
            ((lsn, timeline),) = self._primary.run(
                "read", lambda connection: rows_of_statement(connection, _WRITTEN)
            )
            self._marks.append(_Mark(at, lsn, timeline))
        finally:
            self._asks.release()

    def reached(self, lsn: int, timeline: int) -> float:
        """Return up to when a standby has all that was acknowledged, by the monotonic clock.

        Args:
            lsn, timeline: up to where it has replayed the log.
        """
        marks = list(self._marks)
        return max(
            (mark.at for mark in marks if mark.lsn <= lsn and mark.timeline == timeline),
            default=float("-inf"),
        )


class _Writes:
    """When this process has written to which memory last; safe between threads."""

    def __init__(self) -> None:
        self._at: OrderedDict[Address, float] = OrderedDict()
        #: Of all memories that are not named: no later than this.
        self._others = float("-inf")
        self._lock = threading.Lock()

    def note(self, address: Address | None) -> None:
        """Note that it has now; None for any number of memories."""
        with self._lock:
            if address is None:
                self._others = time.monotonic()
                self._at.clear()
                return
            self._at[address] = time.monotonic()
            self._at.move_to_end(address)
            if len(self._at) > _OWN:
                _, at = self._at.popitem(last=False)
                self._others = max(self._others, at)

    def last(self, address: Address) -> float:
        """Return when it has, by the monotonic clock, or a later moment."""
        with self._lock:
            return max(self._others, self._at.get(address, self._others))


class _Standby(Asking):
    """Who asks a standby, by a connection whose server has what was written up to a moment."""

    def __init__(self, place: Place, key: EncryptionKey | None, marks: _Marks) -> None:
        super().__init__(place, key, make=False)
        self._marks = marks
        #: Up to when the server of a connection is known to have what was written.
        self._has: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()

    @contextmanager
    def up_to(self, moment: float) -> Iterator[None]:
        """Have what is asked inside, by this thread, be asked of no server that lacks more."""
        self._own.moment = moment
        with waiting_at_most(_PATIENCE):
            yield

    @contextmanager
    def _taken(self) -> Iterator[Connection]:
        with super()._taken() as connection:
            moment = self._own.moment
            if self._has.get(connection, float("-inf")) < moment:
                # Before the snapshot of what is read, which lacks what is replayed afterwards.
                for lsn, timeline in rows_of_statement(connection, _REPLAYED):
                    self._has[connection] = self._marks.reached(lsn, timeline)
            if self._has.get(connection, float("-inf")) < moment:
                raise _TooOld(f"{self.place.shown} is too old")
            yield connection


class Replica:
    """A standby of a store, for whoever allows what is read to be a little old.

    Args:
        primary: who asks the store itself.
        place: the standby.
        key: of the store.
    """

    def __init__(self, primary: Asking, place: Place, key: EncryptionKey | None) -> None:
        self._primary = primary
        self._place = place
        self._key = key
        self._marks = _Marks(primary)
        self._writes = _Writes()
        self._standby: _Standby | None = None
        self._rests_until = float("-inf")
        self._opens = threading.Lock()

    def wrote(self, address: Address | None) -> None:
        """Note that this process has written to a memory; None for any number of them."""
        self._writes.note(address)

    def look(
        self, address: Address, age: float, look: Callable[[Reader], _Result]
    ) -> _Result | None:
        """Return what comes of a look at a standby; None where none is young enough.

        Args:
            age: seconds for which what was written may be missing, but for what this process wrote.

        Raises:
            StoreError: if the primary cannot be asked how far it is.
        """
        if self._primary.is_alone:
            return None
        moment = max(time.monotonic() - age, self._writes.last(address))
        self._marks.renew(age / _TIMES)
        standby = self._opened()
        if standby is None:
            return None
        try:
            with standby.up_to(moment):
                return look(Reader(standby))
        except (_TooOld, MemoryGone):
            return None
        except StoreError as error:
            self._rest(error)
            return None

    def close(self) -> None:
        """Release the connections."""
        if self._standby is not None:
            self._standby.close()

    def _opened(self) -> _Standby | None:
        """Return who asks the standby; None while it is left alone, or another opens it."""
        if time.monotonic() < self._rests_until:
            return None
        if self._standby is None and self._opens.acquire(blocking=False):
            try:
                self._standby = self._standby or _Standby(self._place, self._key, self._marks)
            except StoreError as error:
                self._rest(error)
            finally:
                self._opens.release()
        return self._standby

    def _rest(self, error: StoreError) -> None:
        self._rests_until = time.monotonic() + _REST
        log.warning("reads go to the primary for %.0f s: %s", _REST, error)
