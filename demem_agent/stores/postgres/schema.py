"""The tables, as numbered migrations that are never edited once released.

All are in a schema of their own. ``store`` has one row, which says whose the schema is, which
migration it had last, and the secret that every row needs. ``memory`` has a row for each memory;
what else there is of a memory is in ``row``, by the table that it would be in
(:data:`~demem_agent.stores.tables.COLUMNS`) and its number there. Both are divided by hashes, and
their keys begin with the tenant.
"""

from __future__ import annotations

import psycopg
from psycopg import errors

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.stores.postgres.urls import Place
from demem_agent.stores.wrapping import drawn_secret, wrapped

__all__ = ["LOCK", "VERSION", "Standing", "made_ready"]

_APPLICATION = "demem"
#: What migrations of any schema of a database are held apart by: "DeMe" in ASCII.
LOCK = 0x44654D65

_FIRST = """
CREATE TABLE "{schema}".store (
    id smallint PRIMARY KEY CHECK (id = 1), application text NOT NULL, version integer NOT NULL,
    era bigint NOT NULL, rls boolean NOT NULL, secret bytea NOT NULL);
CREATE TABLE "{schema}".memory (
    tenant text COLLATE "C" NOT NULL, memory_id text COLLATE "C" NOT NULL, memory uuid NOT NULL,
    era bigint NOT NULL, seq bigint NOT NULL, items bigint NOT NULL, token bigint NOT NULL,
    sealed bytea NOT NULL, PRIMARY KEY (tenant, memory_id)) PARTITION BY HASH (tenant, memory_id);
CREATE TABLE "{schema}".row (
    tenant text COLLATE "C" NOT NULL, memory uuid NOT NULL, kind smallint NOT NULL,
    number bigint NOT NULL, sealed bytea NOT NULL,
    PRIMARY KEY (tenant, memory, kind, number)) PARTITION BY HASH (memory);
"""
#: A row of ``memory`` is written with every operation, mostly into the room that this leaves.
_PART = """
CREATE TABLE "{schema}".memory_{part} PARTITION OF "{schema}".memory
    FOR VALUES WITH (MODULUS {parts}, REMAINDER {part}) WITH (fillfactor = 70);
CREATE TABLE "{schema}".row_{part} PARTITION OF "{schema}".row
    FOR VALUES WITH (MODULUS {parts}, REMAINDER {part});
"""
#: Who says no tenant sees nothing: the setting is then empty, or not there at all.
_POLICY = """
ALTER TABLE "{schema}".{table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE "{schema}".{table} FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON "{schema}".{table}
    USING (tenant = current_setting('demem.tenant', true))
    WITH CHECK (tenant = current_setting('demem.tenant', true));
"""
#: The kinds of background work that are queued by who writes (``work.py``).
_WORK = """
ALTER TABLE "{schema}".store ADD COLUMN work text[] NOT NULL DEFAULT ARRAY[]::text[];
"""
_MIGRATIONS = (_FIRST, _WORK)
VERSION = len(_MIGRATIONS)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the row of a store says.

    Attributes:
        rls: whether a transaction sees one tenant's rows alone.
        header: the secret of the store, wrapped by a key where there is one.
    """

    version: int
    rls: bool
    header: bytes


def made_ready(db: psycopg.Connection, place: Place, key: bytes | None, *, make: bool) -> Standing:
    """Make the tables what this version writes, and return what their store says.

    Nothing is changed of what is another's or a newer version's.

    Args:
        key: that a new store is encrypted with.
        make: whether the tables are made where there are none.

    Raises:
        StoreError: where there are none, or it is refused.
        psycopg.Error: if they cannot be made or read.
    """
    found = _standing(db, place)
    if found is None and not make:
        raise StoreError(f"there is no store in {place.shown}")
    if found is not None and found.version == VERSION and found.rls >= place.rls:
        return found
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        found = _standing(db, place)  # another may have been faster
        if found is None:
            found = _made(db, place, key)
        for migration in _MIGRATIONS[found.version :]:
            _execute_all(db, migration, schema=place.schema)
            db.execute(_bytes(f'UPDATE "{place.schema}".store SET version = {VERSION}'))
        if place.rls and not found.rls:
            for table in ("memory", "row"):
                _execute_all(db, _POLICY, schema=place.schema, table=table)
            db.execute(_bytes(f'UPDATE "{place.schema}".store SET rls = true'))
    found = _standing(db, place)
    if found is None:
        raise StoreError(f"the store in {place.shown} is gone again")
    return found


def _standing(db: psycopg.Connection, place: Place) -> Standing | None:
    """Return what the row of a store says; None where the schema is not there, or empty.

    Raises:
        StoreError: where the schema is another's, or a newer version's.
    """
    join = "pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    query = f"SELECT c.relname FROM {join} WHERE n.nspname = %s"
    names = {name for (name,) in db.execute(_bytes(query), (place.schema,))}
    if not names:
        return None
    foreign = StoreError(
        f"{place.shown} has tables of another program: give another schema, as in ?schema=memories"
    )
    if not {"store", "memory", "row"} <= names:
        raise foreign
    select = f'SELECT application, version, rls, secret FROM "{place.schema}".store'
    try:
        row = db.execute(_bytes(select), binary=True).fetchone()
    except (errors.UndefinedColumn, errors.WrongObjectType) as error:
        raise foreign from error
    if row is None or row[0] != _APPLICATION:
        raise foreign
    if row[1] > VERSION:
        raise StoreError(
            f"{place.shown} was written by a newer version (schema {row[1]}, this one knows "
            f"{VERSION}): upgrade demem-agent"
        )
    return Standing(version=row[1], rls=row[2], header=bytes(row[3]))


def _made(db: psycopg.Connection, place: Place, key: bytes | None) -> Standing:
    """Make the tables of a new store."""
    there = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
    if db.execute(there, (place.schema,)).fetchone() is None:
        db.execute(_bytes(f'CREATE SCHEMA "{place.schema}"'))
    _execute_all(db, _FIRST, schema=place.schema)
    for part in range(place.parts):
        _execute_all(db, _PART, schema=place.schema, part=part, parts=place.parts)
    header = wrapped(drawn_secret(), key)
    insert = f'INSERT INTO "{place.schema}".store VALUES (1, %s, 1, 0, false, %s)'
    db.execute(_bytes(insert), (_APPLICATION, header))
    return Standing(version=1, rls=False, header=header)


def _execute_all(db: psycopg.Connection, script: str, **names: object) -> None:
    """Execute statements, which have no semicolon in them but at their ends."""
    for statement in script.format(**names).split(";"):
        if statement.strip():
            db.execute(_bytes(statement))


def _bytes(statement: str) -> bytes:
    """Return a statement of ours as psycopg takes one that is no literal."""
    return statement.encode("ascii")
