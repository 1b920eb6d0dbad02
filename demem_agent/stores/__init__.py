"""Stores, opened by URL: ``memory://`` or ``sqlite:///path/to/file.db``."""

from __future__ import annotations

from demem_agent.errors import InvalidInput
from demem_agent.stores.base import Address, Rows, Store
from demem_agent.stores.memory import MemoryStore

__all__ = ["Address", "MemoryStore", "Rows", "Store", "open_store"]


def open_store(url: str) -> Store:
    """Open the store that a URL names.

    ``sqlite:///bot.db`` is relative to the working directory, ``sqlite:////var/bot.db`` absolute;
    ``memory://`` is a new store in RAM.

    Raises:
        InvalidInput: for another scheme, or SQLite without a path.
        StoreError: if the file cannot be opened.
    """
    scheme, separator, path = url.partition("://") if isinstance(url, str) else ("", "", "")
    if scheme == "memory" and separator:
        return MemoryStore()
    if scheme == "sqlite" and path.startswith("/") and len(path) > 1 and "\0" not in path:
        from demem_agent.stores.sqlite import SqliteStore

        return SqliteStore(path[1:])
    raise InvalidInput("url", url, "'memory://' or 'sqlite:///path/to/file.db'")
