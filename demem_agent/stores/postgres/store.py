"""A store in PostgreSQL: a memory's row says what version it is of, and a write names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from demem_agent.errors import MemoryGone, StoreError
from demem_agent.later import module
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head
from demem_agent.stores.base import (
    Address,
    DeletionReceipt,
    MemoryInfo,
    Rows,
    receipt_of,
)
from demem_agent.stores.memory_rows import info_of, new_memory
from demem_agent.stores.postgres.asking import Asking, rows_of_statement
from demem_agent.stores.postgres.commits import Commit
from demem_agent.stores.postgres.memories import Memories
from demem_agent.stores.postgres.reader import Reader
from demem_agent.stores.postgres.replica import Replica
from demem_agent.stores.postgres.rows import Changes, Known, Slip, drawn_number, drawn_token
from demem_agent.stores.postgres.schema import VERSION
from demem_agent.stores.postgres.sessions import Connection
from demem_agent.stores.postgres.urls import place_of
from demem_agent.stores.postgres.work import Work
from demem_agent.stores.whole_rows import Writing
from demem_agent.stores.wrapping import VARIABLE, EncryptionKey, given_key, wrapped

if TYPE_CHECKING:
    from demem_agent.stores import backups
    from demem_agent.stores.backups import BackupReceipt, Progress
else:
    backups = module("demem_agent.stores.backups")

__all__ = ["PostgresStore"]

_Result = TypeVar("_Result")


class PostgresStore(Reader):
    """A :class:`~demem_agent.stores.Store` in a PostgreSQL database.

    All stores of a process on a database share one pool of connections. After a fork the child
    opens one of its own with its next call.

    Args:
        url: ``postgresql://user@host/database``, with what libpq knows in its query, and with
            ``schema`` (``demem``), ``rls`` (0 or 1), ``connections`` (the most of this process,
            10), ``parts`` (of each table of a new store, 16) and ``replica`` (the host of a
            standby, and its port where it is another).
        encryption_key: that a new store is encrypted with, and an encrypted one was: 32 bytes, or
            a callable that returns them. Left out, it is that of the environment, as for a file.
        make: whether the tables are made where there are none.

    Attributes:
        work: the queue of background work.

    Raises:
        InvalidInput: for a URL or a key that is none.
        StoreError: if the database cannot be opened, the schema is another program's, was written
            by a newer version, or is encrypted with another key or not at all.
    """

    schema: int | None = VERSION

    def __init__(
        self, url: str, encryption_key: EncryptionKey | None = None, *, make: bool = True
    ) -> None:
        self._place = place_of(url)
        self._url = url
        self._given = encryption_key
        super().__init__(Asking(self._place, encryption_key, make=make))
        self.work = Work(self._asking)
        standby = self._place.replica
        self._replica = standby and Replica(self._asking, standby, encryption_key)

    def __repr__(self) -> str:
        return f"<PostgresStore {self._place.shown}>"

    def __reduce__(self) -> tuple[type[PostgresStore], tuple[str, EncryptionKey | None]]:
        """Open the same database where this is unpickled or copied to.

        Raises:
            StoreError: where that would write a password or the key into the pickle.
        """
        if self._place.secrets:
            raise StoreError(
                f"{self._place.shown} was opened with a password in its URL, which is not to be "
                "copied: set PGPASSFILE or PGPASSWORD"
            )
        if isinstance(self._given, bytes):
            raise StoreError(
                f"{self._place.shown} was opened with a key in bytes, which is not to be copied: "
                f"give a callable of a module as encryption_key, or set {VARIABLE}"
            )
        return PostgresStore, (self._url, self._given)

    def look_at_copy(
        self, address: Address, age: float, look: Callable[[Reader], _Result]
    ) -> _Result | None:
        """Return what comes of a look at the replica, or None where it is not to be asked.

        Args:
            age: seconds for which what was written to the memory may be missing there, but for what
                this process has written.

        Raises:
            StoreError: if the primary cannot be asked how far it is.
        """
        return self._replica.look(address, age, look) if self._replica else None

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        self.put(address, Rows(settings, Head()))

    def put(self, address: Address, rows: Rows) -> None:
        """Write all rows of a memory that does not exist yet."""
        asking = self._asking

        def write(connection: Connection) -> None:
            with asking.transaction(connection, address.tenant):
                # Whoever deletes or renames meanwhile waits: the era tells apart who had the id.
                ((era,),) = rows_of_statement(connection, asking.say.era)
                head = replace(rows.head, era=era)
                memory = new_memory(drawn_number(), address, rows.settings, head)
                changes = Changes({}, (), {}, asking.secret)
                Writing(changes, memory).all(rows)
                known = Known(memory, drawn_token(), frozenset(changes.slots))
                Memories(asking, connection).insert(known, changes.written(memory.id))
            asking.sessions.learn(address, known)

        with self._writes(address):
            asking.run("create", write)

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta durably: whole, or nothing of it, in one statement.

        Where the connection is lost meanwhile, it is found out whether it was written.
        """
        with self._writes(address):
            self._asking.run("commit", Commit(self._asking, address, delta).write)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all others from writing to a memory once it is read here, until this ends.

        What is committed meanwhile is on the disk once this ends.

        Raises:
            StoreError: also where it is not: then nothing of it is.
        """
        with self._writes(None), self._asking.alone():
            yield

    def move(self, address: Address, to: Address) -> None:
        """Give a memory another address; whoever holds it open finds it gone."""
        asking = self._asking

        def write(connection: Connection) -> None:
            memories = Memories(asking, connection)
            with asking.transaction(connection, address.tenant):
                ((era,),) = rows_of_statement(connection, asking.say.next_era)
                known = memories.known(address, locked=True)
                if known is None:
                    raise MemoryGone(address.memory_id)
                memory = known.copied()
                memory.address = to
                memory.columns["era"] = era
                memories.take(address)
                slips: list[Slip] = []
                if to.tenant != address.tenant:
                    which = (address.tenant, [known.id])
                    slips = rows_of_statement(connection, asking.say.take_rows, which)
                    asking.say_tenant(connection, to.tenant)
                memories.insert(replace(known, row=memory, token=drawn_token()), slips)

        with self._writes(None):
            asking.run("rename", write)

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Delete a memory, or all memories of a tenant."""
        asking = self._asking

        def write(connection: Connection) -> list[MemoryInfo]:
            memories = Memories(asking, connection)
            with asking.transaction(connection, tenant):
                if not memories.listed(tenant, memory_id):
                    return []
                connection.execute(asking.say.next_era)
                # Whoever wrote has written by now: from here on nobody does.
                found = memories.listed(tenant, memory_id, locked=True)
                gone = list(map(memories.info, found))
                numbers = [one.number for one in found]
                connection.execute(asking.say.drop_rows, (tenant, numbers), binary=True)
                for one in found:
                    memories.take(one.address)
            return gone

        with self._writes(None):
            return receipt_of(tenant, asking.run("delete", write))

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories of a tenant, or of all.

        Raises:
            StoreError: also for all, where each transaction sees one tenant's rows alone.
        """
        if tenant is None and self._asking.sessions.rls:
            raise StoreError(f"{self._place.shown} shows one tenant's memories alone: name it")

        def read(connection: Connection) -> list[MemoryInfo]:
            memories = Memories(self._asking, connection)
            with self._asking.snapshot(connection, tenant):
                return list(map(memories.info, memories.listed(tenant)))

        return self._asking.run("list", read)

    def changed(self, address: Address) -> datetime | None:
        """Return when a memory was last written to, in UTC; None where that is not known."""

        def read(connection: Connection) -> datetime | None:
            known = Memories(self._asking, connection).known(address)
            return None if known is None else info_of(known.row).changed

        return self._asking.run("read", read)

    def holds(self, address: Address) -> bool:
        """Whether there is such a memory."""
        return bool(self._asked("read", address.tenant, self._asking.say.seq, tuple(address)))

    def memories(self, tenant: str) -> list[str]:
        """List the ids of a tenant's memories, sorted."""
        found = self._asked("read", tenant, self._asking.say.names, (tenant,))
        return [name for (name,) in found]

    def backup(self, path: str | Path, progress: Progress | None = None) -> BackupReceipt:
        """Write all memories into a SQLite file, each as of one moment.

        Args:
            path: of the file; no such file may be there.
            progress: called with (done, in all), in memories.

        Raises:
            InvalidInput: if there is such a file, or no folder to make it in.
            StoreError: if it cannot be written.
        """
        return backups.backed_up(self, path, progress=progress)

    def rotate_encryption_key(self, new: EncryptionKey | None) -> None:
        """Have the store need another key from now on; None: no key any more. No row is written.

        What the key of before opens is in files of the server until they are vacuumed, in its log
        and in backups for as long as those are kept.

        Raises:
            InvalidInput: for a key that is none.
        """
        asking = self._asking
        header = wrapped(asking.secret, None if new is None else given_key(new))

        def write(connection: Connection) -> None:
            connection.execute(asking.say.new_secret, (header,))

        asking.run("encrypt", write)
        asking.sessions.rewrapped(header)

    def close(self) -> None:
        """Release the connections; the store is not used again."""
        if self._replica:
            self._replica.close()
        self._asking.close()

    @contextmanager
    def _writes(self, address: Address | None) -> Iterator[None]:
        """Have the replica not be asked without what is written meanwhile.

        Args:
            address: to which memory; None for any number of them.
        """
        try:
            yield
        finally:
            if self._replica:
                self._replica.wrote(address)
