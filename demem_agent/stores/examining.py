"""A file of memories looked at as a whole, and mended in a copy; the file itself is never written
to.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demem_agent.errors import DeMemError, InvariantBroken, StoreError
from demem_agent.later import dataclass
from demem_agent.slots.invariants import check
from demem_agent.slots.state import State
from demem_agent.stores import connections
from demem_agent.stores.backups import Progress, only_read, written_beside
from demem_agent.stores.base import Address, Rows
from demem_agent.stores.item_vectors import BESIDE, PARTS
from demem_agent.stores.loading import load_state
from demem_agent.stores.manifest import digest_of
from demem_agent.stores.migrating import make_empty
from demem_agent.stores.portable import export, sound
from demem_agent.stores.schema import VERSION
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.stores.tables import SNAPSHOT
from demem_agent.stores.unencoded import without_encoding
from demem_agent.stores.wrapping import EncryptionKey, given_key
from demem_agent.text.units import Measure, measure

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = ["Examined", "ExaminedMemory", "Repaired", "examined", "repaired"]

#: What SQLite tells of one file at most.
_MOST_TOLD = 20
#: The table that has one row, of the file itself.
_ABOUT_FILE = "erasure"
#: Tables that some files with sealed rows did not have yet.
_LATER = (SNAPSHOT, BESIDE, PARTS)
#: The largest number that a row can have, and how often reading a table may stop.
_FARTHEST = 2**63 - 1
_MOST_STOPS = 10_000
#: Bytes of a file that is filled up where it was cut off; the disk gives no room for what is empty.
_LARGEST_FILLED = 2**40


@dataclass(frozen=True, slots=True)
class ExaminedMemory:
    """How one memory in a file was found.

    Attributes:
        memory_id, tenant: which one it is.
        items, answers, slots: how many could be read.
        missing: how many items more it should have, by what it says of itself.
        damaged: names of the rows that cannot be read or do not fit, such as ``evidence 12``.
        broken: the first invariant that does not hold of what could be read; "" where all do.
        digest: of its export, 64 hex digits; "" where it is damaged.
    """

    memory_id: str
    tenant: str
    items: int = 0
    answers: int = 0
    slots: int = 0
    missing: int = 0
    damaged: tuple[str, ...] = ()
    broken: str = ""
    digest: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether every row was read and every invariant holds."""
        return not (self.damaged or self.broken)


@dataclass(frozen=True, slots=True)
class Examined:
    """How a file was found.

    Attributes:
        path: of the file; size: its bytes, with those of its log.
        schema: the version of its tables; None where it cannot be told.
        faults: what SQLite says of its pages, and which rows could not be read at all.
        owes_erasure: whether text that was forgotten may still be in the file.
        memories: what is in it, by tenant and id.
    """

    path: str
    size: int
    schema: int | None = None
    faults: tuple[str, ...] = ()
    owes_erasure: bool = False
    memories: tuple[ExaminedMemory, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong with the file, nor with any memory in it."""
        return not self.faults and all(one.is_sound for one in self.memories)


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a mended copy holds of a file.

    Attributes:
        path: of the copy.
        found: how the file was found.
        items: how many are in the copy; lost: how many were in the file, by what its memories say
            of themselves, and are not.
        rows: names of the rows that were left out, each with its memory.
        memories: ids of the memories that could not be mended at all, each with its tenant and why.
    """

    path: str
    found: Examined
    items: int
    lost: int
    rows: tuple[str, ...]
    memories: tuple[tuple[str, str, str], ...]


def examined(
    path: str | Path,
    *,
    counter: Measure | None = None,
    progress: Progress | None = None,
    encryption_key: EncryptionKey | None = None,
) -> Examined:
    """Read everything that is in a file, and check it.

    Args:
        counter: what measures texts where a memory counts in tokens and was made with a counter.
        progress: called with (done, in all), in memories.
        encryption_key: of the file, if it is encrypted.

    Raises:
        StoreError: if there is no such file, another key opens it, it is of another program, of a
            newer version, or in use by another process where this SQLite cannot share it.
    """
    with _copy_of(Path(path)) as copy:
        found = _Examination(copy, counter, given_key(encryption_key))
        return replace(found.told(progress), path=str(path), size=_size(Path(path)))


def repaired(
    path: str | Path,
    out: str | Path,
    *,
    counter: Measure | None = None,
    progress: Progress | None = None,
    encryption_key: EncryptionKey | None = None,
    encode: Callable[[Rows], Rows] | None = None,
) -> Repaired:
    """Write what can be read of a file into another, in which every memory is whole again.

    Args:
        out: the mended copy; no such file may be there.
        encode: returns the rows of a memory with vectors for items that have lost theirs, as far as
            it can. A memory with others is to be encoded anew before anything else.
        counter, progress, encryption_key: as for :func:`examined`.

    Raises:
        InvalidInput: if ``out`` is there, or has no folder.
        StoreError: as for :func:`examined`.
    """
    with written_beside(Path(out)) as partial, _copy_of(Path(path)) as copy:
        key = given_key(encryption_key)
        examination = _Examination(copy, counter, key)
        found = replace(examination.told(progress), path=str(path), size=_size(Path(path)))
        partial.unlink()
        target = SqliteStore(partial, key)
        try:
            items, lost = examination.mended_into(target, encode)
        finally:
            target.close()
    whole = {(one.tenant, one.memory_id) for one in found.memories} - {one[:2] for one in lost}
    rows: list[str] = list(found.faults)
    missing = 0
    for one in found.memories:
        rows += [f"{one.memory_id}: {name}" for name in one.damaged]
        is_there = (one.tenant, one.memory_id) in whole
        missing += one.missing if is_there else one.missing + one.items
    return Repaired(str(out), found, items, missing, tuple(rows), tuple(lost))


class _Examination:
    """A copy of a file, opened and salvaged where its pages cannot all be read.

    Args:
        copy: which is nobody else's.
        key: that it is encrypted with; None without.
    """

    def __init__(self, copy: Path, counter: Measure | None, key: bytes | None) -> None:
        self.copy = copy
        self.counter = counter
        self._key = key
        self.faults: list[str] = []

    def told(self, progress: Progress | None) -> Examined:
        """Return how everything was found."""
        self._require_ours()
        self.faults += self._faults()
        if self.faults:
            self.copy = self._salvaged()
            self._require_readable()
        with self._opened() as store:
            addresses = _survey(store)
            if self.faults and not addresses:
                raise StoreError(f"no memory in the file can be read: {self.faults[0]}")
            memories: list[ExaminedMemory] = []
            for done, address in enumerate(addresses, 1):
                memories.append(self._memory(store, address))
                if progress is not None:
                    progress(done, len(addresses))
            with store.alone("look at") as db:
                owed = bool(db.execute("SELECT owed FROM erasure").fetchone()[0])
            self.faults += store.faults()
        return Examined(
            path=str(self.copy),
            size=0,
            schema=VERSION,
            faults=tuple(self.faults),
            owes_erasure=owed,
            memories=tuple(memories),
        )

    def mended_into(
        self, target: SqliteStore, encode: Callable[[Rows], Rows] | None
    ) -> tuple[int, list[tuple[str, str, str]]]:
        """Write every memory that can be mended; return how many items these are, and which
        memories cannot.
        """
        items = 0
        lost: list[tuple[str, str, str]] = []
        with self._opened() as store:
            for address in _survey(store):
                try:
                    rows = self._mended(store, address, encode)
                except DeMemError as error:
                    lost.append((address.tenant, address.memory_id, str(error)))
                else:
                    target.put(address, rows)
                    items += len(rows.evidence)
        return items, lost

    @contextmanager
    def _opened(self) -> Iterator[SqliteStore]:
        store = SqliteStore(self.copy, self._key)
        try:
            yield store
        finally:
            store.close()

    def _require_ours(self) -> None:
        """Refuse a file of another program or a newer version, where that can be told."""
        with self._reading(), self._opened():
            pass

    def _require_readable(self) -> None:
        """Refuse a file of which so much is lost that nothing of it can be opened."""
        try:
            with self._opened():
                pass
        except StoreError as error:
            raise StoreError(f"no memory in the file can be read: {self.faults[0]}") from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Note what SQLite cannot read, and go on; what the file is not is raised."""
        try:
            yield
        except StoreError as error:
            if not isinstance(error.__cause__, (connections.sqlite3.Error, TypeError, ValueError)):
                raise
            self.faults.append(str(error.__cause__))

    def _faults(self) -> list[str]:
        """Return what SQLite says of the pages; nothing where they are sound."""
        try:
            with only_read(str(self.copy)) as db:
                told = db.execute(f"PRAGMA integrity_check({_MOST_TOLD})").fetchall()
        except connections.unreadable() as error:
            return [str(error)]
        return [one for (one,) in told if one != "ok"]

    def _salvaged(self) -> Path:
        """Write every row that can be read into a file whose pages are sound."""
        _fill(self.copy)
        salvaged = self.copy.with_name("salvaged.db")
        with only_read(str(self.copy)) as source, _written(salvaged) as db:
            make_empty(db, _version(source))
            for table in _tables(db):
                lost = _salvage(source, db, table)
                if lost:
                    self.faults.append(f"{table}: {lost}")
        return salvaged

    def _memory(self, store: SqliteStore, address: Address) -> ExaminedMemory:
        one = ExaminedMemory(address.memory_id, address.tenant)
        try:
            rows = _rows(store, address)
            measured = measure(rows.settings.unit, self._counter_of(rows))
            damaged = (*_damage(rows, measured), *store.broken_blocks(address))
            state = load_state(without_encoding(rows), measured, skip_damaged=True)
        except DeMemError as error:
            return replace(one, broken=str(error))
        head = rows.head
        one = replace(
            one,
            items=len(rows.evidence),
            answers=len(rows.contexts),
            slots=len(rows.slots),
            missing=max(0, head.evidence - head.forgotten - len(state.evidence)),
            damaged=damaged,
        )
        try:
            check(state)
        except InvariantBroken as error:
            return replace(one, broken=str(error))
        if damaged:
            return one
        digest = digest_of(export(state))
        if digest_of(export(_state_as_packed(store, address, measured))) != digest:
            return replace(one, broken="what is packed is not what the rows say")
        return replace(one, digest=digest)

    def _mended(
        self, store: SqliteStore, address: Address, encode: Callable[[Rows], Rows] | None
    ) -> Rows:
        """Return the rows of a memory as they are once damaged ones are left out."""
        rows = _rows(store, address)
        rows = without_encoding(rows if encode is None else encode(rows))
        counter = self._counter_of(rows)
        state: State = load_state(rows, measure(rows.settings.unit, counter), skip_damaged=True)
        return sound(export(state), counter)

    def _counter_of(self, rows: Rows) -> Measure | None:
        return self.counter if rows.settings.unit == "tokens" else None


def _fill(copy: Path) -> None:
    """Make a file that was cut off as long as it says it is: SQLite reads nothing of it else."""
    with copy.open("rb+") as file:
        head = file.read(32)
        pages = int.from_bytes(head[28:32])
        whole = pages * int.from_bytes(head[16:18])
        is_cut_off = file.seek(0, 2) < whole <= _LARGEST_FILLED
        if is_cut_off:
            file.truncate(whole)


def _rows(store: SqliteStore, address: Address) -> Rows:
    rows = store.load(address)
    if rows is None:
        raise StoreError(f"the row of the memory {address.memory_id!r} cannot be read")
    return rows


def _state_as_packed(store: SqliteStore, address: Address, measured: Measure) -> State:
    """Return a memory as it is opened, with the rows that are packed as they are."""
    rows = store.load_packed(address)
    if rows is None:
        raise StoreError(f"the row of the memory {address.memory_id!r} cannot be read")
    return load_state(rows, measured)


def _damage(rows: Rows, measured: Measure) -> tuple[str, ...]:
    """Return the names of the rows that cannot be read or do not fit each other."""
    try:
        load_state(rows, measured)
    except StoreError as error:
        named = str(error).removeprefix("damaged rows: ").partition(";")[0]
        return tuple(named.split(", "))
    return ()


def _survey(store: SqliteStore) -> list[Address]:
    with store.alone("list") as db:
        found = db.execute("SELECT tenant, memory_id FROM memory ORDER BY tenant, memory_id")
        return [Address(row["tenant"], row["memory_id"]) for row in found]


def _tables(db: Database) -> list[str]:
    return [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith("sqlite_")
    ]


def _salvage(source: Database, target: Database, table: str) -> str:
    """Copy the rows of a table that can be read; return in words what could not be, or ""."""
    wanted = _columns(target, table)
    try:
        known = _columns(source, table)
    except connections.unreadable() as error:
        return str(error)
    names = [name for name in wanted if name in known]
    if not names:
        return "" if table in _LATER else "it is not there"
    columns = ", ".join(names)
    marks = ", ".join("?" * len(names))
    insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"
    stopped = 0
    with connections.transaction(target):
        for row in _readable(source, f"SELECT rowid, {columns} FROM {table}"):
            if row is None:
                stopped += 1
            elif table != _ABOUT_FILE:
                target.execute(insert, tuple(row)[1:])
            elif isinstance(row[1], int):  # what the file owes
                target.execute(f"DELETE FROM {table}")  # what a new file has
                target.execute(insert, tuple(row)[1:])
    return f"reading stopped at {stopped} places" if stopped else ""


def _version(source: Database) -> int:
    """Return the version of a damaged file; where that cannot be told, that of this program."""
    try:
        return connections.version_of(source)
    except connections.unreadable():
        return VERSION


@contextmanager
def _written(path: Path) -> Iterator[Database]:
    """Open a connection to a new file, which is its owner's alone, and close it again."""
    path.touch(0o600)
    db = connections.sqlite3.connect(str(path), isolation_level=None)
    try:
        yield db
    finally:
        db.close()


def _columns(db: Database, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def _readable(source: Database, select: str) -> Iterator[Any]:
    """Yield the rows that can be read, and None for each stretch in which some cannot.

    Where reading stops, a place behind it is looked for in steps that double; from there it goes
    back as far as it can, and on.
    """
    last = -_FARTHEST
    for _ in range(_MOST_STOPS):
        try:
            for row in source.execute(f"{select} WHERE rowid > ? ORDER BY rowid", (last,)):
                if row[0] <= last:
                    raise connections.sqlite3.DatabaseError("rows out of order")
                last = row[0]
                yield row
        except connections.unreadable():
            yield None
            behind = _behind(source, select, last)
            yield from _back_to(source, select, last, behind)
            last = behind
        else:
            return


def _behind(source: Database, select: str, last: int) -> int:
    """Return the number of a row behind which one can be read again, or the largest there is."""
    step = 1
    while last + step < _FARTHEST:
        try:
            source.execute(
                f"{select} WHERE rowid > ? ORDER BY rowid LIMIT 1", (last + step,)
            ).fetchone()
        except connections.unreadable():
            step *= 2
        else:
            return last + step
    return _FARTHEST


def _back_to(source: Database, select: str, last: int, behind: int) -> Iterator[Any]:
    """Yield the rows between two numbers, the later ones first, as far as they can be read."""
    between = f"{select} WHERE rowid > ? AND rowid <= ? ORDER BY rowid DESC"
    before = behind + 1
    try:
        for row in source.execute(between, (last, behind)):
            if not last < row[0] < before:
                return
            before = row[0]
            yield row
    except connections.unreadable():
        return


@contextmanager
def _copy_of(path: Path) -> Iterator[Path]:
    """Yield a private copy of a file with what its log has, as of one moment where that can be."""
    if not path.is_file():
        raise StoreError(f"there is no file {path}")
    with tempfile.TemporaryDirectory(prefix="demem-") as folder:
        copy = Path(folder) / "examined.db"
        _copy(path, copy)
        copy.chmod(0o600)
        try:
            yield copy
        except StoreError as error:
            told = str(error)
            if str(copy) in told:  # whoever asked knows nothing of a copy
                raise StoreError(told.replace(str(copy), str(path))) from error
            raise


def _copy(path: Path, copy: Path) -> None:
    with connections.reported("read", str(path)):
        try:
            with only_read(str(path)) as db:
                db.execute("BEGIN")
                # Whoever holds the file alone is met here: the copying itself would wait for ever.
                db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
                target = connections.sqlite3.connect(str(copy))
                try:
                    db.backup(target, pages=-1)
                finally:
                    target.close()
        except connections.unreadable() as error:
            if "locked" in str(error):
                raise
            _copy_bytes(path, copy)


def _copy_bytes(path: Path, copy: Path) -> None:
    """Copy a file that SQLite cannot open, and its log."""
    shutil.copyfile(path, copy)
    log = path.with_name(f"{path.name}-wal")
    if log.is_file():
        shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))


def _size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return path.stat().st_size + (log.stat().st_size if log.is_file() else 0)
