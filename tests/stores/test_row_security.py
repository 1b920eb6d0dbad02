"""A store of which each transaction sees one tenant's rows, as one who does not own the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from stored import HERE, OPTIONS, lived, opened

pytest.importorskip("psycopg")

import psycopg

from demem_agent import SlotMemory
from demem_agent.errors import MemoryFull, MemoryGone, StoreError
from demem_agent.memories import delete_memory, list_memories, rename_memory
from demem_agent.stores import Address
from demem_agent.stores.postgres import PostgresStore
from demem_agent.stores.postgres.urls import place_of

pytestmark = pytest.mark.postgres
ROLE = "demem_guest"
#: What docs/howto/postgresql.md has a role granted.
GRANTS = (
    "GRANT USAGE ON SCHEMA {s} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON {s}.memory, {s}.row TO {role}",
    "GRANT SELECT, UPDATE (era) ON {s}.store TO {role}",
)
OTHER = Address("other", "memory")


@pytest.fixture
def guest(database: str) -> str:
    """The URL of a store that a role uses which owns nothing of it."""
    PostgresStore(f"{database}&rls=1").close()
    place = place_of(database)
    with psycopg.connect(place.conninfo, autocommit=True) as db:
        if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone():
            db.execute(f"CREATE ROLE {ROLE} LOGIN")
        for grant in GRANTS:
            db.execute(grant.format(s=place.schema, role=ROLE))
    if "user=postgres" not in database:
        pytest.skip("the server is one on which nobody knows who may log in")
    return database.replace("user=postgres", f"user={ROLE}")


@pytest.fixture
def store(guest: str) -> Iterator[PostgresStore]:
    """The store of that role, with a memory of two tenants."""
    found = PostgresStore(guest)
    lived(opened(found))
    SlotMemory.open(found, tenant=OTHER.tenant, memory_id=OTHER.memory_id, **OPTIONS).ingest("mine")
    yield found
    found.close()


def asked(url: str, tenant: str | None, *statements: str) -> list[Any]:
    """Return what a transaction of a tenant sees, as one would write it by hand."""
    place = place_of(url)
    with psycopg.connect(place.conninfo) as db:
        if tenant is not None:
            db.execute("SELECT set_config('demem.tenant', %s, true)", (tenant,))
        for statement in statements:
            cursor = db.execute(statement.format(s=f'"{place.schema}"'))
        return cursor.fetchall()


def test_a_memory_lives_as_anywhere_else(store: PostgresStore, guest: str) -> None:
    memory, other = opened(store), opened(PostgresStore(guest))
    other.ingest("the ferry has a new bell")
    assert memory.fingerprint() == opened(store).fingerprint() == other.fingerprint()
    memory.check()
    assert [one.memory_id for one in list_memories(store, HERE.tenant)] == ["memory"]
    assert rename_memory(store, "memory", to="eve", tenant="tenant", to_tenant="acme").items == 3
    with pytest.raises(MemoryGone):
        memory.ingest("a late plover")
    again = SlotMemory.open(store, tenant="acme", memory_id="eve", **OPTIONS)
    again.check()
    delete_memory(store, "eve", tenant="acme")
    assert store.memories("acme") == []
    assert store.memories(OTHER.tenant) == ["memory"]


def test_a_bound_on_the_items_of_a_tenant_holds(store: PostgresStore) -> None:
    memory = opened(store, tenant_items=2)
    with pytest.raises(MemoryFull):
        memory.ingest("the ferry has a new bell")


def test_memories_of_all_tenants_are_not_listed(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="name it"):
        list_memories(store)


@pytest.mark.parametrize("table", ["memory", "row"])
@pytest.mark.parametrize(
    "where", ["", "WHERE true", "WHERE tenant = 'tenant' OR 1 = 1 --", "WHERE tenant = 'other'"]
)
def test_who_forgets_the_filter_or_has_another_in_it_sees_no_other_tenant(
    store: PostgresStore, guest: str, table: str, where: str
) -> None:
    seen = asked(guest, "tenant", f"SELECT DISTINCT tenant FROM {{s}}.{table} {where}")
    assert seen == ([] if "other" in where else [("tenant",)])


@pytest.mark.parametrize("table", ["memory", "row"])
def test_who_says_no_tenant_sees_nothing(store: PostgresStore, guest: str, table: str) -> None:
    count = f"SELECT count(*) FROM {{s}}.{table}"
    assert asked(guest, None, count) == asked(guest, "", count) == [(0,)]


def test_a_tenant_does_not_last_longer_than_a_transaction(store: PostgresStore, guest: str) -> None:
    count = "SELECT count(*) FROM {s}.memory"
    assert asked(guest, "tenant", count, "COMMIT", count) == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO {s}.row VALUES ('other', gen_random_uuid(), 0, 1, '')",
        "UPDATE {s}.row SET tenant = 'other'",
        "INSERT INTO {s}.memory VALUES ('other', 'new', gen_random_uuid(), 0, 0, 0, 0, '')",
    ],
)
def test_nothing_is_written_for_another_tenant(
    store: PostgresStore, guest: str, change: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        asked(guest, "tenant", change)


def test_nothing_of_another_tenant_is_changed_or_deleted(store: PostgresStore, guest: str) -> None:
    for change in ("UPDATE {s}.row SET sealed = ''", "DELETE FROM {s}.memory"):
        whole = f"{change} WHERE tenant = 'other' OR tenant <> 'tenant'"
        assert asked(guest, "tenant", f"{whole} RETURNING 1") == []


def test_a_part_of_a_table_is_nobody_elses_to_read(store: PostgresStore, guest: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"):
        asked(guest, "tenant", "SELECT * FROM {s}.row_0")


def test_a_store_of_before_can_be_made_such_a_one(database: str) -> None:
    PostgresStore(database).close()
    assert not PostgresStore(database)._asking.sessions.rls
    PostgresStore(f"{database}&rls=1").close()
    assert PostgresStore(f"{database}&connections=2")._asking.sessions.rls
