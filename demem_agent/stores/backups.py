"""Copies of whole stores, each in one file that is there whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from demem_agent.errors import InvalidInput, MemoryGone, StoreError
from demem_agent.later import dataclass
from demem_agent.stores import connections
from demem_agent.stores.aside import itself
from demem_agent.stores.base import Address, Rows, Store, time_now
from demem_agent.stores.readers import opened_to_read
from demem_agent.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = ["BackupReceipt", "Progress", "backed_up", "copied", "only_read", "written_beside"]

#: Called with (done, in all): pages of a file, or memories.
Progress = Callable[[int, int], object]
#: Pages that are copied at a time: a megabyte.
_PAGES = 256


@dataclass(frozen=True, slots=True)
class BackupReceipt:
    """What was copied, and where to.

    Attributes:
        path: of the copy, as it was given.
        memories: how many are in it.
        size: of the file in bytes; digest: SHA-256 of it, 64 hex digits.
        at: when it was finished, by the clock of the machine, in UTC.
    """

    path: str
    memories: int
    size: int
    digest: str
    at: datetime


def backed_up(
    store: Store,
    path: str | Path,
    *,
    only: Address | None = None,
    progress: Progress | None = None,
) -> BackupReceipt:
    """Copy a store, or one memory of it, into a SQLite file that is not there yet.

    It is as of one moment, whoever writes meanwhile. The file is written beside its place and given
    its name once it is whole and on the disk; nobody but its owner may read it.

    Args:
        only: the memory that is meant, alone.
        progress: called with (done, in all).

    Raises:
        InvalidInput: if there is such a file, or no folder to make it in.
        StoreError: for a memory that holds damaged rows, or that cannot be read or written.
    """
    if not isinstance(path, str | Path):
        raise InvalidInput("path", path, "the path of a file")
    target = Path(path)
    store = itself(store)
    with written_beside(target) as partial:
        if only is None and isinstance(store, SqliteStore) and store.path != ":memory:":
            copied(store, partial, progress)
        else:
            _put(store, partial, only, progress)
        with only_read(str(partial)) as db:
            memories = int(db.execute("SELECT COUNT(*) FROM memory").fetchone()[0])
        receipt = BackupReceipt(
            path=str(path),
            memories=memories,
            size=partial.stat().st_size,
            digest=_digest(partial),
            at=time_now(),
        )
    return receipt


def copied(store: SqliteStore, to: Path, progress: Progress | None = None) -> None:
    """Copy the pages of a store's file as of one moment.

    Where this SQLite shares files, a connection of its own reads, and nobody waits. Where it does
    not, the store's own one is taken, and the other threads of this process wait.
    """
    if store.exclusive:
        with store.alone("back up") as db:
            _copy(db, to, progress)
        return
    with connections.reported("back up", store.path), only_read(store.path) as db:
        db.execute("BEGIN")
        db.execute("SELECT COUNT(*) FROM memory").fetchone()  # the moment that is read
        _copy(db, to, progress)


@contextmanager
def only_read(path: str) -> Iterator[Database]:
    """Open a connection that cannot write, and close it again."""
    db = opened_to_read(path)
    try:
        yield db
    finally:
        db.close()


@contextmanager
def written_beside(target: Path) -> Iterator[Path]:
    """Yield a file to write, its owner's alone; give it the target's name once it is whole.

    Raises:
        InvalidInput: if the target is there, or there is no folder for it.
        StoreError: if the file cannot be made.
    """
    _require_free(target)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}") from error
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        try:
            _settle(partial, target)
        except FileExistsError:
            _require_free(target)
        except OSError as error:
            raise StoreError(f"cannot write {target}: {error.strerror}") from error
    finally:
        for left in target.parent.glob(f"{partial.name}*"):
            left.unlink(missing_ok=True)


def _require_free(target: Path) -> None:
    try:
        is_path = b"\0" not in os.fsencode(target)
    except UnicodeEncodeError:  # half of a surrogate pair
        is_path = False
    if not is_path:
        raise InvalidInput("path", str(target), "the path of a file")
    try:
        has_folder = target.parent.is_dir()
        is_taken = target.exists() or target.is_symlink()
    except OSError as error:
        raise InvalidInput("path", str(target), f"the path of a file: {error.strerror}") from error
    if not has_folder:
        raise InvalidInput("path", str(target), "in a folder that is there")
    if is_taken:
        raise InvalidInput("path", str(target), "the name of no file that is there")


def _settle(partial: Path, target: Path) -> None:
    """Have a file on the disk, and then under its name, unless another has taken that by now."""
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    os.link(partial, target)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _copy(db: Database, to: Path, progress: Progress | None) -> None:
    target = connections.sqlite3.connect(str(to), isolation_level=None)

    def told(_: int, remaining: int, pages: int) -> None:
        if progress is not None:
            progress(pages - remaining, pages)

    try:
        db.backup(target, pages=_PAGES, progress=told, sleep=0.01)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    finally:
        target.close()


def _put(store: Store, to: Path, only: Address | None, progress: Progress | None) -> None:
    """Write memories row by row into a file."""
    addresses = [only] if only is not None else _addresses(store)
    to.unlink()  # SQLite makes it, private as this one was
    key = store.encryption_key if isinstance(store, SqliteStore) else None
    target = SqliteStore(to, key)
    try:
        for done, address in enumerate(addresses, 1):
            target.put(address, _whole(store, address))
            if progress is not None:
                progress(done, len(addresses))
    finally:
        target.close()


def _addresses(store: Store) -> list[Address]:
    return [Address(one.tenant, one.memory_id) for one in store.survey()]


def _whole(store: Store, address: Address) -> Rows:
    rows = store.load(address)
    if rows is None:
        raise MemoryGone(address.memory_id)
    if rows.damaged:
        named = ", ".join(rows.damaged)
        raise StoreError(f"damaged rows: {named}; demem doctor --repair writes a mended copy")
    return rows


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
