"""What a store in PostgreSQL does beyond the contract: it refuses, retries, and keeps passwords."""

from __future__ import annotations

import copy
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from stored import HERE, OPTIONS, lived, opened

pytest.importorskip("psycopg")

import psycopg
from psycopg.conninfo import conninfo_to_dict

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import MemoryFull, MemoryGone, StoreError
from demem_agent.memories import copy_memory, list_memories, rename_memory
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import Address, MemoryStore, Store, open_store, waiting_at_most
from demem_agent.stores.postgres import PostgresStore, schema
from demem_agent.stores.postgres.schema import VERSION
from demem_agent.stores.postgres.urls import place_of

pytestmark = pytest.mark.postgres
KEY = bytes(range(32))


@pytest.fixture
def store(database: str) -> Iterator[PostgresStore]:
    found = PostgresStore(database)
    yield found
    found.close()


def told(url: str, statement: str, *values: object) -> list[Any]:
    """Return what the server says to a statement, in which {s} is the schema of the store."""
    place = place_of(url)
    with psycopg.connect(place.conninfo, autocommit=True) as db:
        cursor = db.execute(statement.replace("{s}", f'"{place.schema}"'), values or None)
        return cursor.fetchall() if cursor.description else []


def number(seq: int, **more: Any) -> Delta:
    return Delta(Head(seq=seq), (Operation(seq, "nothing"),), **more)


class TestOpening:
    def test_a_closed_memory_is_opened_again_as_it_was(self, database: str) -> None:
        with SlotMemory.open(database, **OPTIONS) as memory:
            known = lived(memory).fingerprint()
        with SlotMemory.open(database, **OPTIONS) as again:
            assert again.fingerprint() == known

    def test_a_store_that_is_not_there_is_not_made(self, database: str) -> None:
        with pytest.raises(StoreError, match="no store"):
            list_memories(database)
        schema = place_of(database).schema
        assert told(database, "SELECT 1 FROM pg_namespace WHERE nspname = %s", schema) == []

    def test_a_schema_of_another_program_is_refused_untouched(self, database: str) -> None:
        told(database, "CREATE SCHEMA {s}")
        told(database, "CREATE TABLE {s}.store (id int)")
        with pytest.raises(StoreError, match="another program"):
            open_store(database)
        found = "SELECT count(*) FROM pg_tables WHERE schemaname = %s"
        assert told(database, found, place_of(database).schema) == [(1,)]

    def test_an_empty_schema_that_somebody_made_for_it_is_taken(self, database: str) -> None:
        told(database, "CREATE SCHEMA {s}")
        open_store(database).close()
        assert told(database, "SELECT version FROM {s}.store") == [(VERSION,)]

    def test_a_newer_version_is_refused(self, database: str) -> None:
        open_store(database).close()
        told(database, "UPDATE {s}.store SET version = version + 1")
        with pytest.raises(StoreError, match="newer version"):
            open_store(database)

    def test_what_an_earlier_version_made_is_brought_up_to_date_once(
        self, database: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with SlotMemory.open(database, **OPTIONS) as memory:
            lines = lived(memory).export()
        later = 'ALTER TABLE "{schema}".memory ADD COLUMN used text;'
        monkeypatch.setattr(schema, "_MIGRATIONS", (*schema._MIGRATIONS, later))
        monkeypatch.setattr(schema, "VERSION", VERSION + 1)
        for _ in range(2):
            with SlotMemory.open(database, **OPTIONS) as again:
                assert again.export() == lines
        assert told(database, "SELECT version FROM {s}.store") == [(VERSION + 1,)]

    def test_several_that_open_a_new_store_at_once_make_it_once(self, database: str) -> None:
        script = "import sys; from demem_agent.stores import open_store; open_store(sys.argv[1])"
        command = [sys.executable, "-c", script, database]
        opening = [subprocess.Popen(command) for _ in range(3)]
        assert [one.wait() for one in opening] == [0, 0, 0]
        assert told(database, "SELECT count(*) FROM {s}.store") == [(1,)]

    @pytest.mark.parametrize(
        "option",
        [
            "schema=A",
            "schema=a;b",
            "rls=2",
            "connections=0",
            "parts=x",
            "connections=9999",
            "replica=",
            "replica=b,c",
            "replica=b:x",
        ],
    )
    def test_an_option_out_of_its_range_is_named(self, option: str) -> None:
        name = option.partition("=")[0]
        with pytest.raises(InvalidInput, match=f"^{name} must be"):
            open_store(f"postgresql://127.0.0.1/nowhere?{option}")


class TestPasswords:
    URL = "postgresql://ana:plover@127.0.0.1:1/nowhere?connect_timeout=1"

    def test_no_error_and_no_line_of_a_log_has_the_password(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        unreadable = self.URL.replace("plover", "plo%ver")
        other = self.URL.replace("postgresql", "postgres")
        for url in (self.URL, unreadable, other):
            with pytest.raises((StoreError, InvalidInput)) as refused:
                open_store(url)
            assert "plo" not in str(refused.value)
        assert "plover" not in caplog.text

    def test_what_a_driver_says_is_shown_without_it(self) -> None:
        place = place_of("postgresql://ana:pl%40ver@host/db")
        assert "ver" not in place.shown
        assert place.clean("no password pl@ver here") == "no password *** here"

    def test_what_is_libpqs_in_a_url_stays_as_it_was_written(self) -> None:
        place = place_of("postgresql://host/db?rls=1&password=a+b%25&schema=s&options=-c%20x%3D1")
        assert place.conninfo == "postgresql://host/db?password=a+b%25&options=-c%20x%3D1"
        assert (place.rls, place.schema) == (True, "s")
        assert "a+b%" in place.secrets
        of_two = "postgresql://ana@a:1,b:2/db?target_session_attrs=read-write"
        assert place_of(f"{of_two}&parts=2").conninfo == of_two

    def test_a_replica_is_reached_as_its_primary_is_but_for_where(self) -> None:
        url = "postgresql://ana:plover@a:1,b:2/db?target_session_attrs=read-write&sslmode=require"
        for named, where in {
            "c.example:5433": {"host": "c.example", "port": "5433"},
            "c": {"host": "c", "port": "1"},
            "%5B::1%5D:6": {"host": "::1", "port": "6"},
            "/run/pg": {"host": "/run/pg", "port": "1"},
        }.items():
            replica = place_of(f"{url}&replica={named}").replica
            assert replica is not None
            said = conninfo_to_dict(replica.conninfo)
            assert {name: said[name] for name in where} == where
            assert (said["user"], said["dbname"], said["sslmode"]) == ("ana", "db", "require")
            assert "target_session_attrs" not in said
            assert "plover" not in replica.shown

    def test_a_store_with_a_password_in_its_url_is_not_pickled(self, database: str) -> None:
        store = PostgresStore(database)
        copy.copy(store).close()
        store._place = place_of(self.URL)
        with pytest.raises(StoreError, match="PGPASSFILE"):
            copy.copy(store)
        store.close()


class TestCommits:
    def test_a_write_of_which_the_end_was_lost_is_not_done_twice(
        self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory = opened(store)
        asking, lost = store._asking, []
        asked = asking.asked

        def cut(connection: Any, tenant: str, query: bytes, values: Any, **more: Any) -> Any:
            found = asked(connection, tenant, query, values, **more)
            if isinstance(values, dict) and not lost:
                lost.append(True)
                connection.close()
                raise psycopg.OperationalError("the connection was cut")
            return found

        monkeypatch.setattr(asking, "asked", cut)
        assert memory.ingest("the boiler has a brass valve", key="k").evidence_id == "e1"
        assert lost == [True]
        again = opened(store)
        assert [item.text for item in again.evidence()] == ["the boiler has a brass valve"]
        again.check()

    def test_a_write_that_was_lost_on_its_way_is_done(
        self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory = opened(store)
        asking, lost = store._asking, []
        asked = asking.asked

        def cut(connection: Any, tenant: str, query: bytes, values: Any, **more: Any) -> Any:
            if isinstance(values, dict) and not lost:
                lost.append(True)
                connection.close()
                raise psycopg.OperationalError("the connection was cut")
            return asked(connection, tenant, query, values, **more)

        monkeypatch.setattr(asking, "asked", cut)
        memory.ingest("the boiler has a brass valve")
        assert lost == [True]
        assert len(opened(store)) == 1

    def test_a_write_of_which_nobody_knows_any_more_says_so(
        self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.create(HERE, Settings())
        asking, lost = store._asking, []
        asked = asking.asked

        def cut(connection: Any, tenant: str, query: bytes, values: Any, **more: Any) -> Any:
            if isinstance(values, dict) and not lost:
                lost.append(True)
                for seq in range(1, 40):  # others write meanwhile
                    store.commit(HERE, number(seq))
                connection.close()
                raise psycopg.OperationalError("the connection was cut")
            return asked(connection, tenant, query, values, **more)

        monkeypatch.setattr(asking, "asked", cut)
        with pytest.raises(StoreError, match="whether this was is not known"):
            store.commit(HERE, number(1))
        assert store.seq(HERE) == 39

    @pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
    def test_a_database_that_isolates_by_itself_loses_no_write(
        self, database: str, isolation: str
    ) -> None:
        option = quote(f"-c default_transaction_isolation={isolation.replace(' ', chr(92) + ' ')}")
        url = f"{database}&options={option}"
        memories = [SlotMemory.open(url, memory_id="m", **OPTIONS) for _ in range(3)]

        def write(memory: SlotMemory) -> None:
            for n in range(5):
                memory.ingest(f"turn {n} of {id(memory)}")

        threads = [threading.Thread(target=write, args=(memory,)) for memory in memories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [len(memory) for memory in memories] == [15, 15, 15]
        memories[0].check()
        for memory in memories:
            memory.close()

    def test_connections_that_the_server_ended_are_not_noticed(
        self, store: PostgresStore, database: str
    ) -> None:
        memory = opened(store)
        for n in range(3):
            memory.ingest(f"item number {n}")
            told(
                database,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
            )
        assert len(opened(store)) == 3

    def test_one_who_holds_a_memory_is_waited_for_no_longer_than_one_may(
        self, store: PostgresStore
    ) -> None:
        store.create(HERE, Settings())
        held, free = threading.Event(), threading.Event()

        def hold() -> None:
            with store.writing():
                store.seq(HERE)
                held.set()
                free.wait()

        holding = threading.Thread(target=hold)
        holding.start()
        try:
            assert held.wait(10)
            with waiting_at_most(0.05), pytest.raises(StoreError, match="another holds"):
                store.commit(HERE, number(1))
            with waiting_at_most(0.05), pytest.raises(StoreError, match="lock timeout"):
                self._look_alone(store)
        finally:
            free.set()
            holding.join()
        store.commit(HERE, number(1))
        assert store.seq(HERE) == 1

    @staticmethod
    def _look_alone(store: PostgresStore) -> None:
        with store.writing():
            store.seq(HERE)

    def test_all_connections_in_use_are_waited_for_no_longer_than_one_may(
        self, database: str
    ) -> None:
        store = PostgresStore(f"{database}&connections=1")
        with store.writing():
            failed: list[str] = []

            def ask() -> None:
                with waiting_at_most(0.05):
                    try:
                        store.memories("t")
                    except StoreError as error:
                        failed.append(str(error))

            asking = threading.Thread(target=ask)
            asking.start()
            asking.join()
        assert "all 1 connections are in use" in failed[0]
        assert store.memories("t") == []
        store.close()

    def test_a_tenant_has_no_more_items_than_it_may_whoever_writes_at_once(
        self, store: PostgresStore
    ) -> None:
        places = [Address("t", str(n)) for n in range(6)]
        for place in places:
            store.create(place, Settings())
        full: list[str] = []

        def write(place: Address) -> None:
            head = Head(seq=1, evidence=1)
            try:
                store.commit(place, Delta(head, (Operation(1, "nothing"),), tenant_items=3))
            except MemoryFull:
                full.append(place.memory_id)

        threads = [threading.Thread(target=write, args=(place,)) for place in places]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(store.seq(place) for place in places) == 3
        assert len(full) == 3

    def test_what_another_process_writes_is_taken_in_row_by_row(
        self, store: PostgresStore, database: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = opened(store), opened(PostgresStore(database))
        first.ingest("the boiler has a brass valve")
        second.ingest("the violin has a broken bow")
        monkeypatch.setattr(store, "load", None)
        assert len(first) == 2
        assert first.fingerprint() == second.fingerprint()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_fork_opens_connections_of_its_own(self, store: PostgresStore) -> None:
        memory = opened(store)
        memory.ingest("the boiler has a brass valve")
        pid = os.fork()
        if pid == 0:
            try:
                memory.ingest("the violin has a broken bow")
            finally:
                os._exit(len(memory.evidence()))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
        memory.ingest("the ferry has a new bell")
        assert len(memory) == 3
        memory.check()


class TestDamage:
    def test_a_row_that_was_changed_is_named(self, store: PostgresStore, database: str) -> None:
        lived(opened(store))
        told(
            database, "UPDATE {s}.row SET sealed = sealed || '\\x00' WHERE kind = 0 AND number = 1"
        )
        with pytest.raises(StoreError, match="evidence 1"):
            opened(PostgresStore(database))

    def test_a_row_in_the_place_of_another_is_named(
        self, store: PostgresStore, database: str
    ) -> None:
        lived(opened(store))
        told(database, "UPDATE {s}.row SET number = 3 WHERE kind = 0 AND number = 2")
        with pytest.raises(StoreError, match="evidence 3"):
            opened(PostgresStore(database))

    def test_a_row_that_is_missing_is_missed(self, store: PostgresStore, database: str) -> None:
        lived(opened(store))
        told(database, "DELETE FROM {s}.row WHERE kind = 0 AND number = 1")
        with pytest.raises(StoreError, match="evidence: 1 missing"):
            opened(PostgresStore(database))

    def test_a_memory_whose_own_row_is_damaged_is_listed_and_deleted(
        self, store: PostgresStore, database: str
    ) -> None:
        lived(opened(store))
        told(database, "UPDATE {s}.memory SET sealed = '\\x00'")
        assert [(one.memory_id, one.items) for one in store.survey()] == [("memory", 2)]
        with pytest.raises(StoreError, match="memory 'memory'"):
            store.load(HERE)
        assert store.delete(*HERE).memories == ("memory",)
        assert told(database, "SELECT count(*) FROM {s}.row") == [(0,)]


class TestEncryption:
    def test_with_a_key_no_text_is_in_the_tables(self, database: str) -> None:
        store = PostgresStore(database, KEY)
        opened(store).ingest("the boiler has a brass valve", speaker="Zacharias")
        tables = ("memory", "row", "store")
        rows = repr([told(database, f"SELECT * FROM {{s}}.{table}") for table in tables])
        assert "brass" not in rows
        store.close()

    def test_another_key_or_none_does_not_open_it(self, database: str) -> None:
        PostgresStore(database, KEY).close()
        with pytest.raises(StoreError, match="it is encrypted"):
            PostgresStore(database)
        with pytest.raises(StoreError, match="not the key"):
            PostgresStore(database, bytes(32))

    def test_a_new_key_opens_it_and_the_old_one_does_not(self, database: str) -> None:
        store = PostgresStore(database, KEY)
        known = lived(opened(store)).fingerprint()
        store.rotate_encryption_key(bytes(32))
        store.close()
        with pytest.raises(StoreError, match="not the key"):
            PostgresStore(database, KEY)
        again = PostgresStore(database, bytes(32))
        assert opened(again).fingerprint() == known
        again.close()

    def test_a_key_that_another_process_changed_is_asked_of_the_next_user_here(
        self, database: str
    ) -> None:
        store = PostgresStore(database, KEY)
        other = PostgresStore(f"{database}&connections=2", KEY)  # as another process has it
        other.rotate_encryption_key(bytes(32))
        other.close()
        with pytest.raises(StoreError, match="not the key"):
            PostgresStore(database, KEY)
        PostgresStore(database, bytes(32)).close()
        assert store.memories("t") == []
        store.close()


def test_a_memory_goes_to_a_file_and_back_as_it_is(database: str, tmp_path: Path) -> None:
    file = f"sqlite:///{tmp_path / 'a.db'}"
    with SlotMemory.open(file, **OPTIONS) as memory:
        lines = lived(memory).export()
    copy_memory(file, "default", to="there", to_url=database)
    copy_memory(database, "there", to="back", to_url=file)
    for url, name in ((database, "there"), (file, "back")):
        with SlotMemory.open(url, memory_id=name, **OPTIONS) as again:
            assert again.export() == lines


def test_a_memory_that_was_renamed_by_another_process_is_gone(
    store: PostgresStore, database: str
) -> None:
    memory = lived(opened(store))
    rename_memory(database, "memory", to="eve", tenant="tenant", to_tenant="acme")
    with pytest.raises(MemoryGone):
        memory.ingest("a late plover")
    again: Store = PostgresStore(database)
    assert len(SlotMemory.open(again, tenant="acme", memory_id="eve", **OPTIONS)) == 2


def test_a_store_in_ram_is_backed_up_from_a_server_as_well(
    store: PostgresStore, tmp_path: Path
) -> None:
    lines = lived(opened(store)).export()
    assert store.backup(tmp_path / "a.db").memories == 1
    with SlotMemory.open(
        f"sqlite:///{tmp_path / 'a.db'}", tenant="tenant", memory_id="memory", **OPTIONS
    ) as again:
        assert again.export() == lines
    assert MemoryStore().memories("tenant") == []
