"""Memories that are not used, put aside as objects: out of their store, and opened when asked for.

Each is a SQLite file of one memory, sealed with a key that is drawn for it and stays in the store,
in a record that says where the object is. Who opens the memory has its rows put back; the record
goes with its key, and the object is deleted, unreadable as it is from then on. So what is forgotten
or deleted is in no object that can be read.

**Never two truths.** An object is written first, and read back. In one transaction of the store the
record comes and the rows go, if nobody has written to the memory meanwhile; and in one the rows
come back and the record goes. A crash before either leaves an object that nobody names, which
:meth:`ColdStore.sweep` deletes. What fails within, and is no crash, may leave the record beside the
rows: then the rows hold, and the record goes with whatever looks at it next.

A store has such records only once it was told that it may (:func:`made_ready`): whoever opens it
from then on looks for them. Who has had it open since before does not, and would take a memory that
is put aside for one that is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores.aside import MARK, RECORDS, Cooled, is_aside, record_of
from demem_agent.stores.base import Address, DeletionReceipt, MemoryInfo, Rows, Store, receipt_of
from demem_agent.stores.shelves import shelf_at

__all__ = ["ColdStore", "made_ready", "shelf_at"]

_KEY = 32
#: Where the memory stands in its object: no id is told there.
_HERE = Address("default", "memory")
_KIND = "put aside"
#: Memories whose rows go in one transaction, after which a file may be written anew.
_TOGETHER = 50
_TIMES = ("first", "last", "made", "changed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is kept of a memory that is put aside.

    Attributes:
        shelf, path: where its object is.
        key: that the object is sealed with, in hexadecimal; ``digest`` is its SHA-256.
        info: how the memory stood.
    """

    shelf: str
    path: str
    key: str
    digest: str
    info: MemoryInfo


def made_ready(store: Store) -> bool:
    """Have a store be one whose memories may be put aside; return whether it was already.

    Raises:
        StoreError: for a store that cannot do two things in one transaction.
    """
    if not hasattr(store, "writing"):
        raise StoreError("memories of this store cannot be put aside: it lacks writing()")
    if store.holds(MARK):
        return True
    told = Operation(1, _KIND, result=json.dumps({"mark": uuid4().hex}))
    store.put(MARK, Rows(Settings(), Head(seq=1), receipts=[told]))
    return False


class ColdStore:
    """A store some of whose memories are put aside; what it cannot do itself the other one does.

    Args:
        store: that has the others, and the records of these.
    """

    def __init__(self, store: Store) -> None:
        self.store: Any = store
        self.schema = store.schema

    def __getattr__(self, name: str) -> Any:
        if name == "store":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self.store, name)

    def __reduce__(self) -> tuple[type[ColdStore], tuple[Store]]:
        return ColdStore, (self.store,)

    def create(self, address: Address, settings: Settings) -> None:
        """Write the row of a memory that does not exist yet."""
        self.bring_back(address)
        self.store.create(address, settings)

    def load(self, address: Address) -> Rows | None:
        """Return all rows of a memory, or None when there is none."""
        rows: Rows | None = self.store.load(address)
        if rows is None and self.bring_back(address):
            rows = self.store.load(address)
        return rows

    def load_packed(self, address: Address) -> Rows | None:
        """Return a memory as :meth:`load` does, with items packed where the store does that."""
        quickly = getattr(self.store, "load_packed", self.store.load)
        rows: Rows | None = quickly(address)
        if rows is None and self.bring_back(address):
            rows = quickly(address)
        return rows

    def put(self, address: Address, rows: Rows) -> None:
        """Write all rows of a memory that does not exist yet."""
        self.bring_back(address)
        self.store.put(address, rows)

    def seq(self, address: Address, era: int = 0) -> int:
        """Return the number of the last operation; what was put aside is gone for who holds it."""
        found: int = self.store.seq(address, era)
        return found

    def commit(self, address: Address, delta: Delta) -> None:
        """Write a delta durably, in one transaction."""
        self.store.commit(address, delta)

    def move(self, address: Address, to: Address) -> None:
        """Give a memory another address."""
        self.bring_back(address)
        if self.store.holds(record_of(to)):
            raise StoreError(f"there is a memory {to.memory_id!r} already")
        self.store.move(address, to)

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Delete a memory, or all memories of a tenant; of one that is aside the key goes, too."""
        records = self._records(tenant, memory_id)
        with self._in_one():
            if records:
                self.store.delete(record_of(Address(tenant, "")).tenant, memory_id)
            receipt: DeletionReceipt = self.store.delete(tenant, memory_id)
        self._drop(records)
        if not records:
            return receipt
        gone = receipt_of(tenant, [record.info for record in records])
        return replace(
            receipt,
            memories=tuple(sorted((*receipt.memories, *gone.memories))),
            items=receipt.items + gone.items,
            answers=receipt.answers + gone.answers,
            size=receipt.size + gone.size,
        )

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories of a tenant, or of all, those that are aside as they stood then."""
        found = [one for one in self.store.survey(tenant) if not is_aside(one.tenant)]
        return sorted([*found, *self.aside(tenant)], key=lambda one: (one.tenant, one.memory_id))

    def holds(self, address: Address) -> bool:
        """Whether there is such a memory, here or put aside."""
        return bool(self.store.holds(address) or self.store.holds(record_of(address)))

    def memories(self, tenant: str) -> list[str]:
        """List the ids of a tenant's memories, sorted."""
        aside = self.store.memories(record_of(Address(tenant, "")).tenant)
        return sorted({*self.store.memories(tenant), *aside})

    def close(self) -> None:
        """Release what is held; the store is not used again."""
        self.store.close()

    def aside(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Describe the memories that are put aside, as they stood then."""
        infos = [record.info for record in self._records(tenant)]
        return [one for one in infos if not self.store.holds(Address(one.tenant, one.memory_id))]

    def cool(self, addresses: Iterable[Address], to: str) -> Cooled:
        """Put memories aside. Who holds one open gets MemoryGone, and finds it when opened again.

        Args:
            to: the URL of a shelf.

        Raises:
            InvalidInput: for what is no such URL.
            StoreError: if an object cannot be written; what was put aside before stays so.
        """
        done, batch = Cooled(), []
        for address in addresses:
            made = self._written(address, to)
            if made is not None:
                batch.append((address, *made))
            if len(batch) == _TOGETHER:
                done, batch = self._settled(batch, done), []
        return self._settled(batch, done)

    def bring_back(self, address: Address) -> bool:
        """Put a memory back that is put aside; return whether there is such a memory now.

        Raises:
            StoreError: if its object cannot be read, or is not what was written.
        """
        record = self._record(address)
        while record is not None:
            rows = None if self.store.holds(address) else self._rows_of(record, address)
            with self._in_one():
                # Others may have put it back, and aside again, or have deleted it.
                is_same, is_here = self._record(address) == record, self.store.holds(address)
                if is_same and (is_here or rows is not None):
                    if rows is not None and not is_here:
                        self.store.put(address, rows)
                    self.store.delete(*record_of(address))
            if is_same and (is_here or rows is not None):
                self._drop([record])
            record = self._record(address)
        return bool(self.store.holds(address))

    def _rows_of(self, record: Record, address: Address) -> Rows | None:
        """Return the rows of a memory that is put aside; None where it is not so any more."""
        try:
            return _rows_in(record)
        except StoreError:
            if self._record(address) == record:
                raise
            return None

    def sweep(self, to: str) -> int:
        """Delete the objects that this store has left on a shelf and no record names, an hour old.

        Returns:
            How many there were.
        """
        named = [record.path for record in self._records() if record.shelf == to]
        return shelf_at(to).sweep(self._mark(), named)

    def _written(self, address: Address, to: str) -> tuple[Record, int, int] | None:
        """Write the object of a memory; return its record, the version that it is of, and bytes."""
        self.bring_back(address)
        rows: Rows | None = self.store.load(address)
        if rows is None:
            return None
        if rows.damaged:
            raise StoreError(f"damaged rows: {', '.join(rows.damaged)}; export the rest first")
        info = next(one for one in self.store.survey(address.tenant) if _is_of(one, address))
        key = os.urandom(_KEY)
        data = _object_of(rows, key)
        digest = hashlib.sha256(data).hexdigest()
        path = f"{self._mark()}/{uuid4().hex}"
        record = Record(shelf=to, path=path, key=key.hex(), digest=digest, info=info)
        shelf_at(to).put(path, data)
        _data_of(record)
        return record, rows.head.seq, len(data)

    def _settled(self, batch: list[tuple[Address, Record, int, int]], done: Cooled) -> Cooled:
        """Have records come and rows go, of those memories that nobody has written to meanwhile."""
        left: list[Record] = []
        with self._in_one():
            for address, record, seq, size in batch:
                if not self._is_at(address, seq):
                    left.append(record)
                    continue
                told = Operation(1, _KIND, result=_json_of(record))
                self.store.put(record_of(address), Rows(Settings(), Head(seq=1), receipts=[told]))
                self.store.delete(*address)
                done = replace(
                    done,
                    memories=done.memories + 1,
                    items=done.items + record.info.items,
                    size=done.size + size,
                )
        self._drop(left)
        return replace(done, busy=done.busy + len(left))

    def _is_at(self, address: Address, seq: int) -> bool:
        rows: Rows | None = self.store.load(address)
        return rows is not None and rows.head.seq == seq

    @contextmanager
    def _in_one(self) -> Iterator[None]:
        """Have all that is done inside be one transaction, with nobody writing beside."""
        with self.store.writing():
            yield

    def _record(self, address: Address) -> Record | None:
        rows: Rows | None = self.store.load(record_of(address))
        return None if rows is None else _record_in(rows)

    def _records(self, tenant: str | None = None, memory_id: str | None = None) -> list[Record]:
        if tenant is None:
            found = [one for one in self.store.survey() if one.tenant.startswith(RECORDS)]
            names = [Address(one.tenant.removeprefix(RECORDS), one.memory_id) for one in found]
        else:
            ids = self.store.memories(record_of(Address(tenant, "")).tenant)
            names = [Address(tenant, id) for id in ids if memory_id in (None, id)]
        records = map(self._record, names)
        return [record for record in records if record is not None]

    def _mark(self) -> str:
        """Return under which path the objects of this store are."""
        rows = self.store.load(MARK)
        if rows is None:
            raise StoreError("the store was not made ready for memories to be put aside")
        return str(json.loads(rows.receipts[0].result)["mark"])

    def _drop(self, records: Iterable[Record]) -> None:
        """Delete objects that no record names any more; what cannot be is for a sweep."""
        for record in records:
            with suppress(StoreError):
                shelf_at(record.shelf).delete(record.path)


def _is_of(info: MemoryInfo, address: Address) -> bool:
    return (info.tenant, info.memory_id) == address


def _object_of(rows: Rows, key: bytes) -> bytes:
    """Return the rows of a memory as a sealed file."""
    from demem_agent.stores.sqlite import SqliteStore

    with TemporaryDirectory(prefix="demem-") as folder:
        path = Path(folder) / "memory.db"
        made = SqliteStore(path, key)
        try:
            made.put(_HERE, rows)
        finally:
            made.close()
        return zlib.compress(path.read_bytes())


def _rows_in(record: Record) -> Rows:
    """Return the rows that the object of a memory holds.

    Raises:
        StoreError: if it cannot be read, or is not what was written.
    """
    from demem_agent.stores.sqlite import SqliteStore

    with TemporaryDirectory(prefix="demem-") as folder:
        path = Path(folder) / "memory.db"
        path.write_bytes(zlib.decompress(_data_of(record)))
        opened = SqliteStore(path, bytes.fromhex(record.key))
        try:
            rows = opened.load(_HERE)
        finally:
            opened.close()
    if rows is None or rows.damaged:
        raise _not_as_written(record)
    return rows


def _data_of(record: Record) -> bytes:
    data = shelf_at(record.shelf).get(record.path)
    if hashlib.sha256(data).hexdigest() != record.digest:
        raise _not_as_written(record)
    return data


def _not_as_written(record: Record) -> StoreError:
    return StoreError(f"what is put aside at {record.shelf} is not as it was written")


def _json_of(record: Record) -> str:
    info = asdict(record.info)
    for name in _TIMES:
        info[name] = None if info[name] is None else info[name].isoformat()
    return json.dumps({**asdict(record), "info": info})


def _record_in(rows: Rows) -> Record:
    try:
        told: Mapping[str, Any] = json.loads(rows.receipts[0].result)
        info = {**told["info"]}
        for name in _TIMES:
            info[name] = None if info[name] is None else datetime.fromisoformat(info[name])
        return Record(**{**told, "info": MemoryInfo(**info)})
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise StoreError("the record of a memory that is put aside cannot be read") from error
