"""Memories in PostgreSQL, for any number of processes and machines at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.errors import MissingExtra

try:
    import psycopg as _psycopg
    import psycopg_pool as _psycopg_pool
except ImportError as error:
    raise MissingExtra("a postgresql:// store", "postgres") from error

from demem_agent.stores.postgres.store import PostgresStore

if TYPE_CHECKING:
    from demem_agent.stores.wrapping import EncryptionKey

__all__ = ["PostgresStore", "from_url"]

del _psycopg, _psycopg_pool


def from_url(
    rest: str, make: bool = True, encryption_key: EncryptionKey | None = None
) -> PostgresStore:
    """Open the database of a URL; ``rest`` is what follows ``postgresql://``.

    Args:
        make: whether the tables are made where there are none.
        encryption_key: as for :class:`PostgresStore`.

    Raises:
        InvalidInput: for a URL that names no database; its password is not shown.
        StoreError: as for :class:`PostgresStore`.
    """
    return PostgresStore(f"postgresql://{rest}", encryption_key, make=make)
