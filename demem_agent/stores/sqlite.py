"""One SQLite file for any number of memories: current rows, append-only evidence, an operation
ledger.

Write-ahead log, synchronous=FULL: what was acknowledged survives a crash. SQLite before 3.51.3
(except 3.50.7 and 3.44.6) can lose acknowledged commits of the log when two connections write and
checkpoint at once; on such a version the file is opened for this connection alone. The package
``pysqlite3`` carries a newer SQLite and is used where it is installed.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from demem_agent.errors import StaleState, StoreError
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head
from demem_agent.stores.base import Address, Rows
from demem_agent.stores.codec import (
    SlotRow,
    certified_to,
    dumps,
    rank_from,
    settings_from,
    settings_to,
    vectors_from_bytes,
    written_from,
)
from demem_agent.stores.rows import (
    certificate_from_row,
    context_from_row,
    context_row,
    cover_columns,
    each_row,
    evidence_from_row,
    evidence_row,
    head_from_row,
    head_row,
    one_row,
    operation_from_row,
    slot_columns,
    text_from,
    text_to,
)
from demem_agent.stores.schema import MIGRATIONS, VERSION
from demem_agent.types import number_of

try:
    import pysqlite3 as sqlite3  # pyright: ignore[reportMissingImports]  # an extra
except ImportError:
    import sqlite3

__all__ = ["SqliteStore", "shares_safely"]

#: Seconds to wait for another process's transaction before giving up.
WAIT = 5.0

_EVIDENCE = "number, slot, text, speaker, at, session, source, source_id, trust, spans, vectors"
_HEAD = "seq, evidence, forgotten, contexts, certificates, encoder, encoder_fingerprint, dimensions"
_CONTEXT = "number, body, vector"
_OPERATION = "seq, kind, op_key, request, result"
_BODY = "number, body"
_Row = TypeVar("_Row")


def shares_safely(version: tuple[int, ...]) -> bool:
    """Tell whether this SQLite keeps acknowledged log commits when several connections write."""
    return (
        version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)
    )


#: Process, device and number of a file.
_File = tuple[int, int, int]


@dataclass(slots=True)
class _Connection:
    """One connection per file and process: a second one would lock the first out where SQLite
    cannot share.
    """

    key: _File
    db: Any
    lock: threading.RLock = field(default_factory=threading.RLock)
    users: int = 0
    owes_erasure: bool = False


_CONNECTIONS: dict[_File, _Connection] = {}
_REGISTRY = threading.Lock()


def _file(path: str) -> _File | None:
    """Name a file for the registry: not the parent's after a fork, and not one that was deleted and
    made anew.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return os.getpid(), found.st_dev, found.st_ino


class SqliteStore:
    """A :class:`~demem_agent.stores.Store` in one file; all stores of a process on a file share one
    connection.

    Args:
        path: of the file; made if it does not exist, its folder is not.

    Raises:
        StoreError: if the file cannot be opened, is no database, was written by a newer version, or
            is in use by another process where this SQLite cannot share it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.exclusive = not shares_safely(sqlite3.sqlite_version_info)
        self._lock = threading.RLock()
        self._closed = False
        with self._errors("open"), _REGISTRY:
            known = _file(self.path)
            self._connection = (_CONNECTIONS.get(known) if known else None) or self._connected()
            self._connection.users += 1
        self._lock = self._connection.lock
        self._db = self._connection.db
        with self._errors("erase"):
            self._erase_log()

    def __reduce__(self) -> tuple[type[SqliteStore], tuple[str]]:
        """Open the same file where this is unpickled or copied to."""
        return SqliteStore, (self.path,)

    def create(self, address: Address, settings: Settings) -> None:
        head = Head()
        with self._transaction("create"):
            self._insert(
                "memory",
                address,
                ("settings", _HEAD),
                [(dumps(settings_to(settings)), *head_row(head))],
            )

    def load(self, address: Address) -> Rows | None:
        with self._transaction(
            "load", "BEGIN"
        ):  # so that no other process writes between two tables
            found = self._select(f"settings, {_HEAD}", "memory", address)
            if not found:
                return None
            damaged: list[str] = []
            settings, *head = found[0]
            rows = Rows(
                settings=one_row(
                    "memory", address.memory_id, lambda: settings_from(json.loads(settings))
                ),
                head=one_row("memory", address.memory_id, lambda: head_from_row(*head)),
                evidence=each_row(
                    "evidence",
                    self._select(_EVIDENCE, "evidence", address),
                    evidence_from_row,
                    damaged,
                ),
                slots=self._slots(address, damaged),
                contexts=each_row(
                    "context", self._select(_CONTEXT, "context", address), context_from_row, damaged
                ),
                certificates=each_row(
                    "certificate",
                    self._select(_BODY, "certificate", address),
                    certificate_from_row,
                    damaged,
                ),
                keyed=each_row("op", self._keyed(address), operation_from_row, damaged),
                damaged=damaged,
            )
        return rows

    def seq(self, address: Address) -> int:
        with self._errors("read"):
            found = self._select("seq", "memory", address)
        if not found:
            raise StoreError(f"there is no memory {address.memory_id!r} in {self.path}")
        return int(found[0][0])

    def commit(self, address: Address, delta: Delta) -> None:
        with self._transaction("commit"):
            self._advance(address, delta)
            if (
                delta.forgotten
            ):  # should the process end before the file is written anew, the next one knows
                self._db.execute("PRAGMA user_version = 1")
            self._write_evidence(address, delta)
            self._write_slots(address, delta)
            self._replace(
                "context",
                address,
                ("number", "slot", "body", "vector"),
                map(context_row, delta.contexts),
            )
            self._replace(
                "certificate",
                address,
                ("number", "body"),
                [(number_of(c.certificate.id), dumps(certified_to(c))) for c in delta.certificates],
            )
            self._insert(
                "op",
                address,
                ("seq", "kind", "op_key", "request", "result"),
                [
                    (op.seq, op.kind, text_to(op.key), op.request, op.result)
                    for op in delta.operations
                ],
            )
        self._connection.owes_erasure |= bool(delta.forgotten)
        with self._errors("erase"):
            erased = self._erase_log()
        if delta.forgotten and not erased:
            raise StoreError(
                f"forgotten in {self.path}, but another process is still reading: "
                "the text leaves the file with the first write or close after that"
            )

    def holds(self, address: Address) -> bool:
        with self._errors("read"):
            return bool(self._select("seq", "memory", address))

    def memories(self, tenant: str) -> list[str]:
        with self._errors("read"):
            found = self._db.execute(
                "SELECT memory_id FROM memory WHERE tenant = ? ORDER BY memory_id", (tenant,)
            )
            return [memory_id for (memory_id,) in found]

    def close(self) -> None:
        if self._closed:
            return
        with self._errors("close"), _REGISTRY:
            self._closed = True
            self._connection.users -= 1
            self._erase_log()
            if not self._connection.users:
                if _CONNECTIONS.get(self._connection.key) is self._connection:
                    del _CONNECTIONS[self._connection.key]
                self._db.close()

    # -- opening
    # -----------------------------------------------------------------------------------------------------

    def _connected(self) -> _Connection:
        if self.path != ":memory:" and not os.path.exists(self.path):
            self._make_private()
        self._db = sqlite3.connect(
            self.path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise
        made = _file(self.path)
        if made is None:
            return _Connection((0, 0, 0), self._db)  # ":memory:" is nobody else's
        owing = bool(self._db.execute("PRAGMA user_version").fetchone()[0])
        _CONNECTIONS[made] = connection = _Connection(made, self._db, owes_erasure=owing)
        return connection

    def _make_private(self) -> None:
        """Make the file readable by its owner alone; the log that SQLite puts beside it takes after
        it.
        """
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as error:
            raise StoreError(f"cannot open {self.path}: {error.strerror}") from error

    def _prepare(self) -> None:
        if self.exclusive:
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA secure_delete=ON")  # what is forgotten is overwritten in the file
        self._db.execute("PRAGMA temp_store=MEMORY")  # and is never copied to another
        with self._transaction("open"):
            self._migrate()

    def _migrate(self) -> None:
        self._db.execute("CREATE TABLE IF NOT EXISTS demem_schema (version INTEGER NOT NULL)")
        version = self._db.execute("SELECT MAX(version) FROM demem_schema").fetchone()[0] or 0
        if version > VERSION:
            raise StoreError(
                f"{self.path} was written by a newer version of demem-agent (schema {version}, known here: {VERSION})"
            )
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            for statement in script.split(";"):
                if statement.strip():
                    self._db.execute(statement)
            self._db.execute("INSERT INTO demem_schema (version) VALUES (?)", (number,))

    # -- writing
    # -----------------------------------------------------------------------------------------------------

    def _advance(self, address: Address, delta: Delta) -> None:
        names = [name.strip() for name in _HEAD.split(",")]
        assignments = ", ".join(f"{name} = ?" for name in names)
        done = self._db.execute(
            f"UPDATE memory SET {assignments} WHERE tenant = ? AND memory_id = ? AND seq = ?",
            (*head_row(delta.head), *address, delta.after),
        )
        if done.rowcount != 1:
            raise StaleState(f"the memory {address.memory_id!r} was changed by another writer")

    def _write_evidence(self, address: Address, delta: Delta) -> None:
        columns = tuple(name.strip() for name in _EVIDENCE.split(","))
        self._replace("evidence", address, columns, map(evidence_row, delta.evidence))
        where = "WHERE tenant = ? AND memory_id = ? AND number = ?"
        self._db.executemany(
            f"UPDATE evidence SET slot = ? {where}",
            [(slot, *address, number_of(item)) for item, slot in delta.moves],
        )
        self._db.executemany(
            f"DELETE FROM evidence {where}",
            [(*address, number_of(item)) for item in delta.forgotten],
        )

    def _write_slots(self, address: Address, delta: Delta) -> None:
        gone = [*delta.closed, *(slot.number for slot in delta.slots)]
        self._db.executemany(
            "DELETE FROM cover WHERE tenant = ? AND memory_id = ? AND slot = ?",
            [(*address, number) for number in gone],
        )
        self._db.executemany(
            "DELETE FROM slot WHERE tenant = ? AND memory_id = ? AND number = ?",
            [(*address, number) for number in delta.closed],
        )
        columns = (
            "number",
            "parent",
            "revision",
            "total",
            "summary",
            "gate",
            "name",
            "pinned",
            "written",
        )
        self._replace("slot", address, columns, map(slot_columns, delta.slots))
        self._insert(
            "cover",
            address,
            ("slot", "place", "evidence", "first", "last"),
            (row for slot in delta.slots for row in cover_columns(slot)),
        )

    def _erase_log(self) -> bool:
        """Write the file anew and empty its log if forgotten text may be in them; False while
        another reads.

        secure_delete is not enough: where SQLite rebalances a table, a page can keep old bytes
        between its cells.
        """
        if self._connection.owes_erasure:
            try:
                self._db.execute("VACUUM")
                busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                busy = True
            self._connection.owes_erasure = bool(busy)
            if not busy:
                self._db.execute("PRAGMA user_version = 0")
        return not self._connection.owes_erasure

    def _insert(
        self, table: str, address: Address, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        self._write("INSERT", table, address, columns, rows)

    def _replace(
        self, table: str, address: Address, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        self._write("INSERT OR REPLACE", table, address, columns, rows)

    def _write(
        self,
        verb: str,
        table: str,
        address: Address,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
    ) -> None:
        names = ", ".join(columns)
        marks = ", ".join("?" * (2 + names.count(",") + 1))
        self._db.executemany(
            f"{verb} INTO {table} (tenant, memory_id, {names}) VALUES ({marks})",
            ((*address, *row) for row in rows),
        )

    # -- reading
    # -----------------------------------------------------------------------------------------------------

    def _select(
        self, columns: str, table: str, address: Address, also: str = ""
    ) -> list[tuple[Any, ...]]:
        order = "" if table == "memory" else "ORDER BY 1, 2"
        query = f"SELECT {columns} FROM {table} WHERE tenant = ? AND memory_id = ? {also} {order}"
        return list(self._db.execute(query, tuple(address)))

    def _keyed(self, address: Address) -> list[tuple[Any, ...]]:
        return self._select(_OPERATION, "op", address, "AND op_key IS NOT NULL")

    def _slots(self, address: Address, damaged: list[str]) -> list[SlotRow]:
        covers: dict[int, list[tuple[str, int, int]]] = {}
        for slot, _, evidence, first, last in self._select(
            "slot, place, evidence, first, last", "cover", address
        ):
            covers.setdefault(slot, []).append((f"e{evidence}", first, last))
        columns = "number, parent, revision, total, summary, gate, name, pinned, written"

        def build(number: int, parent: int | None, revision: int, *blobs: Any) -> SlotRow:
            total, summary, gate, name, pinned, written = blobs
            about = (number, parent, revision, vectors_from_bytes(total))
            cover, text = tuple(covers.get(number, ())), text_from(summary) or ""
            rank = rank_from(json.loads(gate)) if gate else None
            by_model = written_from(json.loads(written)) if written else None
            return SlotRow(*about, text, cover, rank, text_from(name), bool(pinned), by_model)

        return each_row("slot", self._select(columns, "slot", address), build, damaged)

    # -- boundaries
    # --------------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, doing: str, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        with self._errors(doing):
            self._db.execute(begin)
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Take the connection for oneself; turn what SQLite raises into a StoreError, here and
        nowhere else.
        """
        if self._closed:
            raise StoreError(f"{self.path} was closed")
        try:
            with self._lock:
                yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) and self.exclusive:
                raise StoreError(
                    f"{self.path} is in use by another process, and SQLite {sqlite3.sqlite_version} cannot share it "
                    "safely; close the other one, or pip install 'demem-agent[sqlite]' in both"
                ) from error
            raise StoreError(f"cannot {doing} {self.path}: {error}") from error
        except sqlite3.Error as error:
            raise StoreError(f"cannot {doing} {self.path}: {error}") from error
