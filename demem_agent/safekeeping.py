"""Keep memories safe: copy a store while it is used, look at a file as a whole, mend it in a copy.

``docs/howto/keep-it-safe.md`` says how these go together.
"""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

from demem_agent import flows
from demem_agent.drivers import drive
from demem_agent.errors import InvalidInput
from demem_agent.options import collaborators
from demem_agent.stores import Address, Rows, Store, opened_store
from demem_agent.stores.aside import Cooled, itself
from demem_agent.stores.backups import BackupReceipt, Progress, backed_up
from demem_agent.stores.examining import (
    Examined,
    ExaminedMemory,
    Repaired,
    examined,
    repaired,
)
from demem_agent.stores.receipts import Verified, receipt_in, verified
from demem_agent.stores.wrapping import EncryptionKey
from demem_agent.text.units import Measure
from demem_agent.types import Encoder, Receipt

__all__ = [
    "BackupReceipt",
    "Cooled",
    "EncryptionKey",
    "Examined",
    "ExaminedMemory",
    "Repaired",
    "Verified",
    "backup",
    "examine",
    "put_aside",
    "receipt_in",
    "repair",
    "rotate_encryption_key",
    "verify_receipt",
]


def backup(
    url: str | Store,
    path: str | Path,
    *,
    progress: Progress | None = None,
    encryption_key: EncryptionKey | None = None,
) -> BackupReceipt:
    """Copy all memories of a store into a SQLite file, as of one moment, while others use it.

    The file is there whole or not at all, and its owner alone may read it. What is forgotten
    later stays in it: it is yours.

    Args:
        path: of the copy; no such file may be there.
        progress: called with (done, in all): pages of a file, or memories of another store.
        encryption_key: of an encrypted file; the copy has the same.

    Raises:
        InvalidInput: if there is such a file, or no folder to make it in.
        StoreError: if the store cannot be read or the copy not written; also where another process
            has the file open, and this SQLite cannot share it.

    Examples:
        >>> import tempfile
        >>> from demem_agent import SlotMemory
        >>> from demem_agent.stores import MemoryStore
        >>> store = MemoryStore()
        >>> told = SlotMemory.open(store, memory_id="ana").ingest("I moved to Lisbon.")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     backup(store, f"{folder}/backup.db").memories
        1
    """
    with opened_store(url, encryption_key=encryption_key) as store:
        return backed_up(store, path, progress=progress)


def examine(
    path: str | Path,
    *,
    counter: Measure | None = None,
    progress: Progress | None = None,
    encryption_key: EncryptionKey | None = None,
) -> Examined:
    """Read everything that is in a SQLite file of memories, and check it. Nothing is written to it.

    A private copy is made of it first, and looked at: every page, every row, every invariant.

    Args:
        counter: what measures texts, of memories that count in tokens and were made with one.
        progress: called with (done, in all), in memories.
        encryption_key: of an encrypted file.

    Raises:
        StoreError: if there is no such file, nothing of it can be read, another key opens it, it is
            of another program or of a newer version, or in use by another process where this SQLite
            cannot share it.

    Examples:
        >>> import tempfile
        >>> from demem_agent import SlotMemory
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with SlotMemory.open(f"sqlite:///{folder}/bot.db") as memory:
        ...         told = memory.ingest("I moved to Lisbon.")
        ...     found = examine(f"{folder}/bot.db")
        >>> found.is_sound, [(one.memory_id, one.items) for one in found.memories]
        (True, [('default', 1)])
    """
    return examined(path, counter=counter, progress=progress, encryption_key=encryption_key)


def repair(
    path: str | Path,
    out: str | Path,
    *,
    counter: Measure | None = None,
    progress: Progress | None = None,
    encryption_key: EncryptionKey | None = None,
    encoder: Encoder | None = None,
) -> Repaired:
    """Write all that can be read of a damaged file into another, in which every memory is whole.

    The damaged file is left as it is.

    Args:
        out: the mended copy; no such file may be there.
        counter, progress, encryption_key: as for :func:`examine`; the copy has the same key.
        encoder: what vectors that are lost are made anew with, where a memory was built with it;
            the one that ships with DeMem unless given. The texts of other memories are there as
            well: open these with ``reembed=True``.

    Returns:
        What was lost, by name and number.

    Raises:
        InvalidInput: if ``out`` is there, or has no folder.
        StoreError: as for :func:`examine`.
    """
    team = collaborators({} if encoder is None else {"encoder": encoder}, None)

    def encode(rows: Rows) -> Rows:
        return drive(flows.encode.lost_vectors(rows, team.encoder_info), nullcontext(), team)

    return repaired(
        path,
        out,
        counter=counter,
        progress=progress,
        encryption_key=encryption_key,
        encode=encode,
    )


def verify_receipt(
    url: str | Store,
    receipt: Receipt,
    *,
    memory_id: str = "default",
    tenant: str = "default",
    counter: Measure | None = None,
    encryption_key: EncryptionKey | None = None,
) -> Verified:
    """Look whether what a receipt of ``forget`` says still is so; nothing is written.

    It holds where the items were once in the memory and are not, nothing in it names them, answers
    and situations that were blanked are blank, no digest of a keyed call that told them is kept,
    and the file owes no erasure. So it tells where an older file was put back.

    Args:
        receipt: as ``forget`` gave it, or from JSON by :func:`receipt_in`.
        memory_id, tenant: of which memory it is.
        counter: what measures texts, of a memory that counts in tokens and was made with one.
        encryption_key: of an encrypted file.

    Raises:
        MemoryGone: where there is no such memory any more.
        StoreError: if it cannot be read, or not whole.

    Examples:
        >>> import tempfile
        >>> from demem_agent import SlotMemory
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     url = f"sqlite:///{folder}/bot.db"
        ...     with SlotMemory.open(url) as memory:
        ...         told = memory.ingest("I moved to Lisbon.")
        ...         receipt = memory.forget("e1")
        ...     verify_receipt(url, receipt).holds
        True
    """
    with opened_store(url, encryption_key=encryption_key) as store:
        return verified(store, Address(tenant, memory_id), receipt, counter)


def rotate_encryption_key(
    url: str | Store, new: EncryptionKey | None, *, encryption_key: EncryptionKey | None = None
) -> None:
    """Have a file or a database need another key from now on: one transaction, no row is written.

    Also to encrypt a file that was not, and to take that back. Who has the file open goes on.

    Args:
        new: 32 bytes, or a callable that returns them; None for no key any more.
        encryption_key: of the file until now; left out where it has none, or the environment has
            it.

    Raises:
        InvalidInput: for a key that is none, or a store without a file.
        StoreError: if another key opens the file, it cannot be written, or, since another process
            is reading just now, what the key of before opens leaves the log later.

    Examples:
        >>> import secrets, tempfile
        >>> from demem_agent import SlotMemory
        >>> key = secrets.token_bytes(32)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     url = f"sqlite:///{folder}/bot.db"
        ...     SlotMemory.open(url).close()
        ...     rotate_encryption_key(url, key)
        ...     with SlotMemory.open(url, encryption_key=key) as memory:
        ...         len(memory)
        0
    """
    with opened_store(url, encryption_key=encryption_key) as store:
        rotate = getattr(itself(store), "rotate_encryption_key", None)
        if rotate is None:
            raise InvalidInput("url", url, "of a SQLite file, or of a PostgreSQL database")
        rotate(new)


def put_aside(
    url: str | Store,
    *,
    to: str,
    days: float,
    tenant: str | None = None,
    encryption_key: EncryptionKey | None = None,
) -> Cooled:
    """Put memories aside that were not written to for some days: as objects, out of their store.

    Each is sealed with a key of its own, which stays in the store. Whoever opens such a memory has
    it put back, and nothing else of how it is used changes; forgetting and deleting reach it.

    The first time the store is only made ready, and nothing is put aside: whoever has it open since
    before would not find what is. Start those anew, and then call this again.

    Args:
        to: where the objects go: ``file:///var/cold``, ``s3://bucket/prefix``, or what else obstore
            knows.
        days: that it was not written to, at least. That it was read is not known.
        tenant: whose memories; those of all unless given.
        encryption_key: of an encrypted file.

    Returns:
        How many were put aside, and whether the store was ready for it.

    Raises:
        InvalidInput: for what is no such place, or no number of days.
        StoreError: if something cannot be written; what was put aside before stays so.
        MissingExtra: without ``demem-agent[cold]``.
    """
    if isinstance(days, bool) or not 0 <= days <= 36_500:
        raise InvalidInput("days", days, "a number from 0 to 36,500")
    cold = import_module("demem_agent.stores.cold")
    cold.shelf_at(to)
    before = datetime.now(UTC) - timedelta(days=days)
    with opened_store(url, encryption_key=encryption_key) as store:
        if not cold.made_ready(itself(store)):
            return Cooled(was_ready=False)
        wrapped = cold.ColdStore(itself(store))
        aside = {(one.tenant, one.memory_id) for one in wrapped.aside(tenant)}
        meant = [
            Address(one.tenant, one.memory_id)
            for one in wrapped.survey(tenant)
            if one.changed is not None and one.changed <= before
        ]
        done: Cooled = wrapped.cool([each for each in meant if each not in aside], to)
        wrapped.sweep(to)
        return done
