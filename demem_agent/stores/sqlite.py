"""One SQLite file for any number of memories: current rows, append-only evidence, an op ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from demem_agent.errors import MemoryGone, StaleState, StoreError
from demem_agent.later import module
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head
from demem_agent.slots.state import State
from demem_agent.stores import connections, snapshots
from demem_agent.stores.base import (
    Address,
    DeletionReceipt,
    MemoryInfo,
    News,
    Rows,
    receipt_of,
    require_tenant_room,
)
from demem_agent.stores.connections import (
    OWE_LOG,
    OWE_REWRITING,
    Connection,
    begun,
    connect,
    disconnect,
    ended,
    erase_log,
    must_be_alone,
    part,
    reported,
    require_key,
    sqlite3,
    transaction,
    turn,
)
from demem_agent.stores.groups import alone, taking_part
from demem_agent.stores.keys import Keys, mismatched
from demem_agent.stores.memory_rows import (
    MemoryRow,
    found_memory,
    info_of,
    new_memory,
    write_memory,
)
from demem_agent.stores.readers import looking
from demem_agent.stores.register import read_register, require_all, write_register
from demem_agent.stores.rows import naming_damage
from demem_agent.stores.schema import VERSION
from demem_agent.stores.tables import PACKED, Block, Tables
from demem_agent.stores.touched import touched_since
from demem_agent.stores.waiting import tries, waiting_at_most
from demem_agent.stores.whole_rows import Useless, Writing, packed_rows_of, rows_of
from demem_agent.stores.wrapping import VARIABLE, EncryptionKey, given_key, write_file_secret

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

    from demem_agent.stores import backups
    from demem_agent.stores.backups import BackupReceipt, Progress
else:
    backups = module("demem_agent.stores.backups")

__all__ = ["SqliteStore", "from_url"]


#: Blocks of a snapshot that are written at once: a megabyte, about.
_AT_ONCE = 8


def from_url(
    rest: str, make: bool = True, encryption_key: EncryptionKey | None = None
) -> SqliteStore | None:
    """Open the file of a URL; ``rest`` is what follows ``sqlite://``, a slash and its path.

    Args:
        make: whether a file that is not there is made.
        encryption_key: as for :class:`SqliteStore`.

    Raises:
        StoreError: also for a file that is not there, where none is to be made.
    """
    path = rest.removeprefix("/")
    if not path or path == rest or "\0" in path:
        return None
    if not make and not os.path.exists(path):
        raise StoreError(f"there is no file {path}")
    return SqliteStore(path, encryption_key)


class SqliteStore:
    """A :class:`~demem_agent.stores.Store` in one file.

    All stores of a process on a file share one connection. After a fork the child opens one of its
    own with its next call.

    Args:
        path: of the file; made if it does not exist, its folder is not.
        encryption_key: that a new file is encrypted with, and an encrypted one was: 32 bytes, or a
            callable that returns them, which is called whenever a file is opened. Left out, it is
            that of the environment, ``DEMEM_ENCRYPTION_KEY`` (64 hexadecimal digits) or
            ``DEMEM_ENCRYPTION_KEY_FILE``; None where there is none either.

    Raises:
        InvalidInput: for a key that is none.
        StoreError: if the file cannot be opened, is no database, was written by a newer version, is
            encrypted with another key or not at all, or is in use by another process where this
            SQLite cannot share it.
    """

    schema: int | None = VERSION

    def __init__(self, path: str | Path, encryption_key: EncryptionKey | None = None) -> None:
        key = given_key(encryption_key)
        self.path = str(path)
        self.exclusive = must_be_alone()
        self._closed = False
        self._waiting: list[tuple[str, bool]] = []  # to be erased once no transaction is open
        self._useless: dict[Address, Useless] = {}  # blocks of snapshots, to be made anew
        self._given = encryption_key
        self._connection = connect(self.path, key)
        self._db = self._connection.db
        try:
            with self._using("open"):
                require_key(self._connection, self.path, key)
                self._erase_log(at_once=False)
        except BaseException:
            disconnect(self._connection)
            raise

    def __reduce__(self) -> tuple[type[SqliteStore], tuple[str, EncryptionKey | None]]:
        """Open the same file where this is unpickled or copied to.

        Raises:
            StoreError: where that would write the key into the pickle.
        """
        if isinstance(self._given, bytes):
            raise StoreError(
                f"{self.path} was opened with a key in bytes, which is not to be copied: give a "
                f"callable of a module as encryption_key, or set {VARIABLE}"
            )
        return SqliteStore, (self.path, self._given)

    def require_sharing(self) -> None:
        """Raise StoreError where other processes must not have the file open beside this one."""
        if self.exclusive or self._connection.file is None:
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} cannot share {self.path} with other processes "
                "safely; pip install 'demem-agent[sqlite]', or serve by one process"
            )

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        with self._writing("create") as tables:
            write_memory(self._db, tables.keys, self._begun(tables, address, settings, Head()))

    def put(self, address: Address, rows: Rows) -> None:
        """Write all rows of a memory that does not exist yet."""
        with self._writing("put") as tables:
            memory = self._begun(tables, address, rows.settings, rows.head)
            Writing(tables, memory).all(rows)
            write_memory(self._db, tables.keys, memory)

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""
        # In a transaction, so that no other process writes between two tables.
        with self._reading("load") as tables:
            memory = found_memory(tables.db, tables.keys, address)
            return None if memory is None else rows_of(tables, memory)

    def load_packed(self, address: Address) -> Rows | None:
        """Return all rows of a memory, items as they are packed; or None when there is none."""
        with self._reading("load") as tables:
            memory = found_memory(tables.db, tables.keys, address)
            if memory is None:
                return None
            rows, self._useless[address] = packed_rows_of(tables, memory)
            return rows

    def pack(self, address: Address, state: State) -> None:
        """Keep rows packed where they are not, and items as a state has them that is that of now.

        It goes on in small transactions until another writer has moved the memory on. It waits for
        nobody.

        Raises:
            StoreError: also where another process writes just now.
        """
        head = state.head
        with waiting_at_most(0.0):
            memory, unpacked = self._unpacked(address, head)
            for table, lasts in unpacked.items():
                if table == "evidence":
                    coming = snapshots.made(state, lasts)
                else:
                    coming = self._rows_packed(table, memory, lasts)
                if not all(self._put_packed(address, head, table, some) for some in _few(coming)):
                    return

    def broken_blocks(self, address: Address) -> list[str]:
        """Return the names of the packed blocks of a memory that cannot be opened."""
        with self._reading("look at") as tables:
            memory = found_memory(tables.db, tables.keys, address)
            if memory is None:
                return []
            return [
                f"snapshot of {table} {block.number}"
                for table in PACKED
                for block in tables.blocks(memory.id, table)
                if not block.body
            ]

    def _unpacked(self, address: Address, head: Head) -> tuple[int, dict[str, dict[int, int]]]:
        """Return the number of a memory, and the tables of which it has rows that are not packed.

        With each goes the number of the last row in every block that is there. There are none of a
        memory that has moved on.
        """
        found: dict[str, dict[int, int]] = {}
        useless = self._useless.get(address, {})
        using = self._writing if any(useless.values()) else self._reading
        with using("pack") as tables:
            memory = found_memory(tables.db, tables.keys, address)
            if memory is None or not _is_of_now(memory, head):
                return 0, found
            for table in PACKED:
                tables.drop_blocks(memory.id, table, useless.get(table, ()))
                known = tables.packed(memory.id, table)
                if sum(block.count for block in known) != memory.counts.get(table, 0):
                    found[table] = {block.number: block.last for block in known}
        self._useless.pop(address, None)
        return memory.id, found

    def _rows_packed(self, table: str, memory: int, lasts: Mapping[int, int]) -> Iterator[Block]:
        """Pack rows that are not, a block at a time, so that others can use the connection."""
        with self._reading("read") as tables:
            numbers = tables.numbers(table, memory)
        for some in snapshots.worth_packing(numbers, lasts):
            with self._reading("read") as tables:
                rows = tables.opened(table, memory, some)
            block = snapshots.rows_packed([row for _, row in sorted(rows.items())])
            if block is not None:
                yield block

    def _put_packed(
        self, address: Address, head: Head, table: str, blocks: Iterable[Block]
    ) -> bool:
        """Write blocks of a memory; return whether it has not moved on."""
        with self._writing("pack") as tables:
            memory = found_memory(tables.db, tables.keys, address)
            if memory is None or not _is_of_now(memory, head):
                return False
            for block in blocks:
                tables.put_block(memory.id, table, block)
            return True

    def news(self, address: Address, seq: int) -> News | None:
        """Return what changed of a memory after an operation, or None where not all is known."""
        with self._reading("load") as tables:
            memory = found_memory(tables.db, tables.keys, address)
            if memory is None:
                return None
            with naming_damage(f"memory {address.memory_id!r}"):
                touched = touched_since(memory.recent, seq)
            if touched is None:
                return None
            return News(rows_of(tables, memory, touched), touched, memory.counts)

    def seq(self, address: Address, era: int = 0) -> int:
        """Return the number of the last operation."""
        query = "SELECT seq, era FROM memory WHERE tenant = ? AND memory_id = ?"
        with self._looking("read") as db:
            memory = db.execute(query, tuple(address)).fetchone()
        if memory is None or memory["era"] != era:
            raise MemoryGone(address.memory_id)
        with naming_damage(f"memory {address.memory_id!r}"):
            return int(memory["seq"])

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta durably: whole, or nothing of it.

        Those of several threads may come to the disk with one sync.
        """
        # What erases empties the log after it, and is written alone.
        writing = self._writing if delta.erases else self._writing_along
        with writing("commit") as tables:
            memory = self._advanced(tables, address, delta)
            Writing(tables, memory).delta(delta)
            write_memory(self._db, tables.keys, memory, self._connection.written)
            if delta.tenant_items is not None:
                require_tenant_room(self._items_of(address.tenant), delta)
            if delta.erases:
                # Should the process end before the log is emptied, the next one knows.
                self._db.execute(OWE_LOG)
        self._connection.owes_erasure |= delta.erases
        if self._connection.owes_erasure:
            self._erase("forgotten", needed=delta.erases and not delta.for_room)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all others from writing, so that what is read stays so until it is written over.

        What is committed meanwhile is on the disk once this ends.

        Raises:
            StoreError: also where it is not, since the disk is full, say: then nothing of it is.
        """
        for at_last in tries(connections.WAIT):
            with self._using("write"):
                if begun(self._connection, "BEGIN IMMEDIATE", surely=at_last):
                    self._waiting.clear()
                    with turn(self._db):
                        yield
                    for what, needed in self._waiting:
                        self._erase(what, needed=needed)
                    return

    def move(self, address: Address, to: Address) -> None:
        """Give a memory another address; whoever holds it open finds it gone."""
        with self._writing("rename") as tables:
            memory = found_memory(self._db, tables.keys, address)
            if memory is None:
                raise MemoryGone(address.memory_id)
            memory.address = to
            memory.columns["era"] = self._new_era(tables, [address], [to])
            update = "UPDATE memory SET tenant = ?, memory_id = ? WHERE id = ?"
            self._db.execute(update, (*to, memory.id))
            write_memory(self._db, tables.keys, memory)
        self._owe_rewriting()  # an id may be somebody's name
        self._erase("renamed", needed=False)

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Delete a memory, or all memories of a tenant."""
        with self._writing("delete") as tables:
            gone = _numbers(self._db, tenant, memory_id)
            receipt = receipt_of(tenant, [self._info(tables, *one) for one in gone])
            if not gone:
                return receipt
            for id, _ in gone:
                tables.clear(id)
                self._db.execute("DELETE FROM memory WHERE id = ?", (id,))
            self._new_era(tables, [one for _, one in gone])
        self._owe_rewriting()
        self._erase("deleted", needed=True)
        return receipt

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories of a tenant, or of all."""
        with self._reading("list") as tables:
            return [self._info(tables, *one) for one in _numbers(tables.db, tenant)]

    @property
    def owes_erasure(self) -> bool:
        """Whether text that was forgotten may still be in the file."""
        return self._connection.owes_erasure

    def changed(self, address: Address) -> datetime | None:
        """Return when a memory was last written to, in UTC; None where that is not known."""
        with self._reading("read") as tables:
            memory = found_memory(tables.db, tables.keys, address)
        return None if memory is None else info_of(memory).changed

    def holds(self, address: Address) -> bool:
        """Whether there is such a memory."""
        query = "SELECT 1 FROM memory WHERE tenant = ? AND memory_id = ?"
        with self._looking("read") as db:
            return db.execute(query, tuple(address)).fetchone() is not None

    def memories(self, tenant: str) -> list[str]:
        """List the ids of a tenant's memories, sorted."""
        query = "SELECT memory_id FROM memory WHERE tenant = ? ORDER BY memory_id"
        with self._looking("read") as db:
            return [row["memory_id"] for row in db.execute(query, (tenant,))]

    def backup(self, path: str | Path, progress: Progress | None = None) -> BackupReceipt:
        """Copy the file as of one moment, whoever writes meanwhile.

        Args:
            path: of the copy; no such file may be there.
            progress: called with (done, in all), in pages.

        Raises:
            InvalidInput: if there is such a file, or no folder to make it in.
            StoreError: if the file cannot be read, or the copy not written.
        """
        return backups.backed_up(self, path, progress=progress)

    @property
    def encryption_key(self) -> bytes | None:
        """The key that the file is encrypted with, as far as this process knows; None without."""
        return self._connection.key

    def rotate_encryption_key(self, new: EncryptionKey | None) -> None:
        """Have the file need another key from now on; None: no key any more.

        One page is written in each copy of the keys, in one transaction; no row is. Who has the
        file open goes on. When this returns, what the key of before opens is in no file.

        Raises:
            InvalidInput: for a key that is none.
            StoreError: if it cannot be written, or what was before cannot leave the log yet since
                another process is reading.
        """
        key = None if new is None else given_key(new)
        with self._transaction("encrypt"):
            write_file_secret(self._db, self._connection.secret, key)
            self._db.execute(OWE_LOG)
        self._connection.key = key
        self._connection.owes_erasure = True
        self._erase("encrypted anew", needed=True, leaves="what the key of before opens")

    def faults(self) -> list[str]:
        """Return what is wrong with the file as a whole, beyond single rows; nothing if nothing."""
        with self._reading("look at") as tables:
            found = mismatched(tables.db)
            try:
                require_all(tables.db, read_register(tables.db, tables.keys))
            except StoreError as error:
                found.append(str(error))
        return found

    @contextmanager
    def alone(self, doing: str) -> Iterator[Database]:
        """Yield the connection to the file, while no other thread uses it."""
        with self._using(doing):
            yield self._db

    def close(self) -> None:
        """Release the file; the store is not used again."""
        if self._closed:
            return
        if self._connection.is_inherited:  # it is the parent's to close
            self._closed = True
            return
        with self._using("close"):
            self._closed = True
            try:
                self._erase_log()
            finally:
                disconnect(self._connection)

    def _info(self, tables: Tables, id: int, address: Address) -> MemoryInfo:
        """Describe a memory; of a damaged one, how many items it has."""
        try:
            memory = found_memory(tables.db, tables.keys, address)
        except StoreError:
            memory = None
        if memory is None:
            nothing = dict.fromkeys(("contexts", "made", "changed"))
            memory = MemoryRow(id, address, {**nothing})
            memory.counts = {table: tables.count(table, id) for table in ("evidence", "slot")}
        elif not memory.is_dated:
            memory.date_anew(tables.dates(id))
        return info_of(memory)

    def _begun(self, tables: Tables, address: Address, settings: Settings, head: Head) -> MemoryRow:
        """Return the row of a new memory, which is of the era that its store is in.

        Raises:
            StoreError: if there is such a memory.
        """
        if _numbers(self._db, *address):
            raise StoreError(f"the memory {address.memory_id!r} exists already")
        register = read_register(self._db, tables.keys)
        if not self._connection.is_looked_through:  # once: it takes as long as they are many
            require_all(self._db, register)
            self._connection.is_looked_through = True
        write_register(self._db, tables.keys, register.with_memory(address))
        (last,) = self._db.execute("SELECT MAX(id) FROM memory").fetchone()
        number = 1 if last is None else last + 1
        return new_memory(number, address, settings, replace(head, era=register.era))

    def _new_era(
        self, tables: Tables, gone: Iterable[Address], come: Iterable[Address] = ()
    ) -> int:
        """Begin another era without some addresses and with others; the file is to be written
        anew.
        """
        register = read_register(self._db, tables.keys)
        register = replace(register, era=register.era + 1)
        for address in gone:
            register = register.without_memory(address)
        for address in come:
            register = register.with_memory(address)
        write_register(self._db, tables.keys, register)
        self._db.execute(OWE_REWRITING)
        return register.era

    def _advanced(self, tables: Tables, address: Address, delta: Delta) -> MemoryRow:
        """Return the row of a memory as it is once a delta is written.

        Raises:
            MemoryGone, StaleState: as :meth:`commit` does.
        """
        memory = found_memory(self._db, tables.keys, address, self._connection.written)
        if memory is None or memory.columns["era"] != delta.head.era:
            raise MemoryGone(address.memory_id)
        if memory.columns["seq"] != delta.after:
            raise StaleState(f"the memory {address.memory_id!r} was changed by another writer")
        memory.advance(delta.head)
        return memory

    def _items_of(self, tenant: str) -> int:
        """Return how many items the memories of a tenant have, by their heads."""
        query = "SELECT SUM(items) AS items FROM memory WHERE tenant = ?"
        return int(self._db.execute(query, (tenant,)).fetchone()["items"])

    def _owe_rewriting(self) -> None:
        self._connection.owes_erasure = True
        self._connection.owes_rewriting = True

    def _erase(self, what: str, *, needed: bool, leaves: str = "the text") -> None:
        """Empty the log, or write the file anew, where something is to leave them; say so where
        that is needed and cannot be.
        """
        with self._using("erase"):
            if self._db.in_transaction:  # that of ``writing``, which sees to it when it ends
                self._waiting.append((what, needed))
                return
            hindered = self._erase_log(at_once=needed)
        if needed and hindered:
            raise StoreError(
                f"{what} in {self.path}, but {hindered}: "
                f"{leaves} leaves the file with a later write or close"
            )

    def _erase_log(self, *, at_once: bool = True) -> str | None:
        return erase_log(self._connection, at_once=at_once)

    @contextmanager
    def _writing(self, doing: str) -> Iterator[Tables]:
        with self._transaction(doing):
            tables = self._tables(self._db)
            yield tables
            tables.keys.write()

    @contextmanager
    def _writing_along(self, doing: str) -> Iterator[Tables]:
        """Write what may come to the disk together with what other threads write."""
        for at_last in tries(connections.WAIT):
            connection = self._own()
            with reported(doing, self.path), taking_part(connection, surely=at_last) as may_write:
                if may_write:
                    tables = self._tables(connection.db)
                    yield tables
                    tables.keys.write()
                    return

    @contextmanager
    def _reading(self, doing: str) -> Iterator[Tables]:
        with self._looking(doing) as db, _transaction_of(db):
            yield self._tables(db)

    @contextmanager
    def _looking(self, doing: str) -> Iterator[Database]:
        connection = self._own()
        with reported(doing, self.path), looking(connection, self.path) as db:
            yield db

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[None]:
        for at_last in tries(connections.WAIT):
            with self._using(doing):
                if self._db.in_transaction:  # that of ``writing``
                    with part(self._db):
                        yield
                    return
                if begun(self._connection, "BEGIN IMMEDIATE", surely=at_last):
                    with ended(self._db):
                        yield
                    return

    def _tables(self, db: Database) -> Tables:
        connection = self._connection
        return Tables(db, Keys(db, connection.secret, connection.room))

    @contextmanager
    def _using(self, doing: str) -> Iterator[None]:
        """Take the connection for oneself; what SQLite raises becomes a StoreError.

        Raises:
            StoreError: also where the store was closed.
        """
        connection = self._own()
        with reported(doing, self.path), alone(connection):
            yield

    def _own(self) -> Connection:
        """Return the connection of this process.

        Raises:
            StoreError: where the store was closed.
        """
        if self._closed:
            raise StoreError(f"{self.path} was closed")
        if self._connection.is_inherited:
            self._connection = connect(self.path, self._connection.key)
            self._db = self._connection.db
        return self._connection


def _numbers(
    db: Database, tenant: str | None, memory_id: str | None = None
) -> list[tuple[int, Address]]:
    """Return the numbers and addresses of memories: of one, of a tenant's, or of all."""
    which = {"tenant": tenant, "memory_id": memory_id}
    meant = {name: value for name, value in which.items() if value is not None}
    where = " AND ".join(f"{name} = ?" for name in meant) or "TRUE"
    query = f"SELECT id, tenant, memory_id FROM memory WHERE {where} ORDER BY 2, 3"
    found = db.execute(query, tuple(meant.values()))
    return [(row["id"], Address(row["tenant"], row["memory_id"])) for row in found]


def _transaction_of(db: Database) -> AbstractContextManager[None]:
    """Return one to read in: within that of ``writing``, where that is open, or by itself."""
    return part(db) if db.in_transaction else transaction(db, "BEGIN")


def _few(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield blocks as many at a time as are written at once."""
    coming = iter(blocks)
    while some := list(islice(coming, _AT_ONCE)):
        yield some


def _is_of_now(memory: MemoryRow, head: Head) -> bool:
    """Whether a memory stands where a head is of."""
    return (memory.columns["seq"], memory.columns["era"]) == (head.seq, head.era)
