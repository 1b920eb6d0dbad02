"""Keep memories safe: copy a store while it is used, look at a file as a whole, mend it in a copy.

``docs/howto/keep-it-safe.md`` says how these go together.
"""

from __future__ import annotations

from pathlib import Path

from demem_agent.stores import Store, opened_store
from demem_agent.stores.backups import BackupReceipt, Progress, backed_up
from demem_agent.stores.examining import (
    Examined,
    ExaminedMemory,
    Repaired,
    examined,
    repaired,
)
from demem_agent.text.units import Measure

__all__ = [
    "BackupReceipt",
    "Examined",
    "ExaminedMemory",
    "Repaired",
    "backup",
    "examine",
    "repair",
]


def backup(
    url: str | Store, path: str | Path, *, progress: Progress | None = None
) -> BackupReceipt:
    """Copy all memories of a store into a SQLite file, as of one moment, while others use it.

    The file is there whole or not at all, and its owner alone may read it. What is forgotten
    later stays in it: it is yours.

    Args:
        path: of the copy; no such file may be there.
        progress: called with (done, in all): pages of a file, or memories of another store.

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
    with opened_store(url) as store:
        return backed_up(store, path, progress=progress)


def examine(
    path: str | Path, *, counter: Measure | None = None, progress: Progress | None = None
) -> Examined:
    """Read everything that is in a SQLite file of memories, and check it. Nothing is written to it.

    A private copy is made of it first, and looked at: every page, every row, every invariant.

    Args:
        counter: what measures texts, of memories that count in tokens and were made with one.
        progress: called with (done, in all), in memories.

    Raises:
        StoreError: if there is no such file, nothing of it can be read, it is of another program or
            of a newer version, or in use by another process where this SQLite cannot share it.

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
    return examined(path, counter=counter, progress=progress)


def repair(
    path: str | Path,
    out: str | Path,
    *,
    counter: Measure | None = None,
    progress: Progress | None = None,
) -> Repaired:
    """Write all that can be read of a damaged file into another, in which every memory is whole.

    The damaged file is left as it is.

    Args:
        out: the mended copy; no such file may be there.
        counter, progress: as for :func:`examine`.

    Returns:
        What was lost, by name and number.

    Raises:
        InvalidInput: if ``out`` is there, or has no folder.
        StoreError: as for :func:`examine`.
    """
    return repaired(path, out, counter=counter, progress=progress)
