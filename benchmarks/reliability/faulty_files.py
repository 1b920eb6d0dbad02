"""Files that fail when they are told to, under SQLite: a file system in Python, by way of apsw.

:class:`Disk` stands between SQLite and the files. It keeps a record of every write, sync,
truncation and deletion, and lets the one that is named fail. :func:`driver` is what
``demem_agent.stores.connections`` takes for the module ``sqlite3``: the product runs on it as it
is, but on the SQLite that apsw carries. The shared-memory index of the log is not part of it:
SQLite makes that anew after a crash.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import apsw

__all__ = ["Disk", "Event", "driver", "version"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done to a file.

    Attributes:
        kind: ``write``, ``sync``, ``truncate``, ``delete``, or ``mark``, by who uses the disk.
        path: which file.
        offset: where was written, or to how many bytes it was cut.
        data: what was written, or what a mark says.
    """

    kind: str
    path: str = ""
    offset: int = 0
    data: bytes = b""


class Disk(apsw.VFS):
    """The file system; one at a time of a name.

    Attributes:
        events: all that was done so far, in order; kept only where ``records``.
        seen: how many events there were since ``fail`` was called.
        fired: whether one was made to fail since then.
    """

    def __init__(self, *, records: bool = False) -> None:
        self.name = f"faulty{next(_NUMBERS)}"
        self.records = records
        self.events: list[Event] = []
        self.heal()
        super().__init__(self.name, "")

    def fail(self, at: int, *, full: bool) -> None:
        """Have the event of a number fail, counted from here.

        Args:
            full: as on a full disk, half of a write is made and every later write fails as well.
                Otherwise that event alone fails, whatever it is.
        """
        self.seen, self.fired = 0, False
        self._at, self._full = at, full

    def heal(self) -> None:
        """Have nothing fail from here on."""
        self.seen, self.fired = 0, False
        self._at, self._full = None, False

    def mark(self, text: str) -> None:
        """Put a line of one's own into the record."""
        if self.records:
            self.events.append(Event("mark", data=text.encode()))

    def note(self, event: Event, done: Callable[[bytes], None]) -> None:
        """Do what an event says, or fail."""
        self.seen += 1
        if self._fails(event):
            self.fired = True
            if event.kind == "write" and self._full:
                done(event.data[: len(event.data) // 2])
            raise apsw.FullError("no room") if self._full else apsw.IOError("made to fail")
        done(event.data)
        if self.records:
            self.events.append(event)

    def _fails(self, event: Event) -> bool:
        if self._at is None:
            return False
        if self._full:
            return event.kind == "write" and self.seen >= self._at
        return self.seen == self._at

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        """Open a file."""
        return _File(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        """Delete a file."""
        self.note(Event("delete", name), lambda _: super(Disk, self).xDelete(name, syncdir))


_NUMBERS = itertools.count()


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        """Write."""
        event = Event("write", self._path, offset, bytes(data))
        self._disk.note(event, lambda part: super(_File, self).xWrite(part, offset))

    def xSync(self, flags: int) -> None:
        """Bring to the disk what was written."""
        event = Event("sync", self._path)
        self._disk.note(event, lambda _: super(_File, self).xSync(flags))

    def xTruncate(self, size: int) -> None:
        """Cut off what is behind."""
        event = Event("truncate", self._path, size)
        self._disk.note(event, lambda _: super(_File, self).xTruncate(size))


# -- what the product takes for the module sqlite3


class Error(Exception):
    """What SQLite says."""


class DatabaseError(Error):
    """A file that is no database, or a damaged one."""


class OperationalError(DatabaseError):
    """A database that cannot be used now."""


class IntegrityError(DatabaseError):
    """A row that may not be."""


_KINDS: dict[type[Exception], type[Error]] = {
    apsw.CorruptError: DatabaseError,
    apsw.NotADBError: DatabaseError,
    apsw.ConstraintError: IntegrityError,
}


class Row(tuple[Any, ...]):
    """A row whose values can be had by the names of their columns."""

    names: tuple[str, ...] = ()

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.names)

    def __getitem__(self, key: Any) -> Any:
        """Return a value by its place or its name."""
        return super().__getitem__(self.names.index(key) if isinstance(key, str) else key)


class _Rows:
    """What a statement gave, all of it."""

    def __init__(self, rows: Iterable[Any], rowcount: int) -> None:
        self._rows = iter(list(rows))
        self.rowcount = rowcount

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


class _Connection:
    """A connection with the methods of one of ``sqlite3`` that the product uses."""

    def __init__(self, path: str, disk: Disk, timeout: float = 5.0) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        self.row_factory: Any = None
        self._db = _translated(lambda: apsw.Connection(path, flags=flags, vfs=disk.name))
        self._db.set_busy_timeout(int(timeout * 1000))

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def execute(self, statement: str, values: Any = ()) -> _Rows:
        return _translated(lambda: self._executed(statement, values))

    def executemany(self, statement: str, many: Iterable[Sequence[Any]]) -> _Rows:
        def run() -> _Rows:
            for values in many:
                self._executed(statement, values)
            return _Rows((), -1)

        return _translated(run)

    def executescript(self, script: str) -> None:
        _translated(lambda: list(self._db.execute(script)))

    def backup(self, target: _Connection, *, pages: int, progress: Any = None, **_: Any) -> None:
        def run() -> None:
            with target._db.backup("main", self._db, "main") as copying:
                while not copying.done:
                    copying.step(pages)
                    if progress is not None:
                        progress(0, copying.remaining, copying.page_count)

        _translated(run)

    def close(self) -> None:
        _translated(self._db.close)

    def _executed(self, statement: str, values: Any) -> _Rows:
        cursor = self._db.cursor()
        before = self._db.total_changes()
        rows = [self._row(cursor, row) for row in cursor.execute(statement, values)]
        return _Rows(rows, self._db.total_changes() - before)

    def _row(self, cursor: Any, values: Any) -> Any:
        if self.row_factory is None:
            return values
        row = Row(values)
        row.names = tuple(name for name, *_ in cursor.get_description())
        return row


def _translated(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except apsw.Error as error:
        raise _KINDS.get(type(error), OperationalError)(str(error)) from error


def version() -> str:
    """Return the version of the SQLite that apsw carries."""
    return str(apsw.sqlite_lib_version())


def driver(disk: Disk) -> Any:
    """Return what stands in for the module ``sqlite3``, over the files of a disk."""

    def connect(path: str, *, timeout: float = 5.0, **_: Any) -> _Connection:
        return _Connection(path, disk, timeout)

    return SimpleNamespace(
        connect=connect,
        Row=Row,
        Error=Error,
        DatabaseError=DatabaseError,
        OperationalError=OperationalError,
        IntegrityError=IntegrityError,
        sqlite_version=version(),
        sqlite_version_info=tuple(map(int, version().split("."))),
    )
