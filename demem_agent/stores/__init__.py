"""Stores, opened by URL: ``memory://``, ``sqlite:///path/to/file.db`` or ``postgresql://host/name``.

To add one, which ``shelf://`` URLs may open:

1. Write ``stores/shelf.py``: a class with the methods of :class:`Store`, whose docstrings say what
   each must keep, and a function ``from_url(rest, make)`` that opens it from what follows ``://``
   and returns None where that names no store; ``make`` says whether one may be made.
   A key to encrypt with is given to it as ``encryption_key``, if there is one.
   :class:`MemoryStore` is the shortest example; ``stores/codec.py`` turns most records into JSON
   values and back.
2. Add its line to ``SCHEMES`` below. Its module is imported when such a URL is opened, so that it
   may need an extra; it says so by raising :class:`~demem_agent.errors.MissingExtra`.

Then add its line to ``STORES`` in ``tests/stores/test_contract.py``, which runs every test of the
contract on it. A store is written inside the package: the rows that it keeps
(``demem_agent.slots.records``) are not public. A store that outlives its process can be pickled, as
another handle on the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from demem_agent.errors import InvalidInput
from demem_agent.later import pattern
from demem_agent.stores.ages import at_most_old
from demem_agent.stores.aside import may_have_any
from demem_agent.stores.base import Address, DeletionReceipt, MemoryInfo, Rows, Store
from demem_agent.stores.memory import MemoryStore
from demem_agent.stores.waiting import remaining, spend, waiting_at_most

if TYPE_CHECKING:
    from demem_agent.stores.wrapping import EncryptionKey

__all__ = [
    "SCHEMES",
    "Address",
    "DeletionReceipt",
    "MemoryInfo",
    "MemoryStore",
    "Rows",
    "Store",
    "at_most_old",
    "open_store",
    "opened_store",
    "remaining",
    "require_no_key",
    "shown_url",
    "spend",
    "waiting_at_most",
]


class Scheme(NamedTuple):
    """A kind of URL: an example of one, and the module whose ``from_url`` opens it."""

    example: str
    module: str


#: By what stands before ``://``.
SCHEMES = {
    "memory": Scheme("memory://", "demem_agent.stores.memory"),
    "sqlite": Scheme("sqlite:///path/to/file.db", "demem_agent.stores.sqlite"),
    "postgresql": Scheme("postgresql://user@host/database", "demem_agent.stores.postgres"),
}


#: Between the name of a user and the last @, or in the query.
_PASSWORD = pattern(r"(://[^/?@:]*:).+(?=@)|([?&](?:ssl)?password=)[^&]*")


def open_store(
    url: str, *, make: bool = True, encryption_key: EncryptionKey | None = None
) -> Store:
    """Open the store that a URL names.

    ``sqlite:///bot.db`` is relative to the working directory, ``sqlite:////var/bot.db`` absolute;
    ``memory://`` is a new store in RAM.

    Args:
        make: whether a file that is not there is made.
        encryption_key: that the file is encrypted with, and a new one is to be: 32 bytes, or a
            callable that returns them; left out, that of the environment, if there is one
            (``docs/howto/encrypt.md``).

    Raises:
        InvalidInput: for another scheme, SQLite without a path, or a key that is none.
        StoreError: if the file cannot be opened, or another key opens it.
    """
    store = _opened(url, make, encryption_key) if isinstance(url, str) else None
    if store is None:
        known = " or ".join(repr(scheme.example) for scheme in SCHEMES.values())
        raise InvalidInput("url", shown_url(url) if isinstance(url, str) else url, known)
    return _with_those_aside(store)


def _with_those_aside(store: Store) -> Store:
    """Return a store that finds what is put aside of it, where anything may be."""
    try:
        if not may_have_any(store):
            return store
        made: Store = import_module("demem_agent.stores.cold").ColdStore(store)
    except BaseException:
        store.close()
        raise
    return made


def shown_url(url: str) -> str:
    """Return a URL, or the path of a file, as it may be shown: without a password."""
    return _PASSWORD.sub(r"\1\2***", url)


@contextmanager
def opened_store(
    url: str | Store, *, make: bool = False, encryption_key: EncryptionKey | None = None
) -> Iterator[Store]:
    """Open a store, and close it again where it was opened here.

    Args:
        make: whether a file that is not there is made.
        encryption_key: as for :func:`open_store`.

    Raises:
        InvalidInput: for what is neither a URL nor a store, and a key with a store.
        StoreError: if the file cannot be opened.
    """
    if not isinstance(url, str | Store):
        known = ", ".join(repr(scheme.example) for scheme in SCHEMES.values())
        raise InvalidInput("url", url, f"{known} or a store")
    if not isinstance(url, str):
        require_no_key(encryption_key)
        yield url
        return
    store = open_store(url, make=make, encryption_key=encryption_key)
    try:
        yield store
    finally:
        store.close()


def require_no_key(encryption_key: EncryptionKey | None) -> None:
    """Raise InvalidInput for a key where a store is given that is open already."""
    if encryption_key is not None:
        raise InvalidInput("encryption_key", "a key", "left out: the store is open already")


def _opened(url: str, make: bool, key: EncryptionKey | None) -> Store | None:
    name, separator, rest = url.partition("://")
    if not separator or name not in SCHEMES:
        return None
    module = import_module(SCHEMES[name].module)
    given = {} if key is None else {"encryption_key": key}
    store: Store | None = module.from_url(rest, make, **given)
    return store
