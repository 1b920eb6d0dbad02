"""What every store must do, run over each of them: a store is one line of ``STORES``."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from stored import HERE, OPTIONS, Interrupted, driver, lived, opened

from demem_agent import SlotMemory
from demem_agent.errors import StaleState, StoreError
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import SCHEMES, Address, MemoryStore, Store, connections, open_store
from demem_agent.testing import BagEncoder


@dataclass(frozen=True, slots=True)
class Tried:
    """The URL of a store, in which {folder} stands for a new one, and a driver of SQLite or ""."""

    url: str
    driver: str = ""


STORES = {
    "memory": Tried("memory://"),
    "sqlite3": Tried("sqlite:///{folder}/a.db", "sqlite3"),
    "pysqlite3": Tried("sqlite:///{folder}/a.db", "pysqlite3"),
}


@pytest.fixture(params=STORES)
def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Store]:
    tested = STORES[request.param]
    if tested.driver:
        monkeypatch.setattr(connections, "sqlite3", driver(tested.driver))
    found = open_store(tested.url.format(folder=tmp_path))
    yield found
    found.close()


def test_every_store_that_a_url_can_name_is_tested() -> None:
    schemes = [tested.url.partition("://")[0] for tested in STORES.values()]
    assert set(schemes) == set(SCHEMES)


def number(seq: int) -> Delta:
    """Return the smallest delta there is: an operation that changes nothing."""
    return Delta(Head(seq=seq), (Operation(seq, "nothing"),))


@pytest.fixture(params=[name for name, tested in STORES.items() if "{folder}" in tested.url])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The URL of a store that keeps its memories in files of the folder."""
    tested = STORES[request.param]
    if tested.driver:
        monkeypatch.setattr(connections, "sqlite3", driver(tested.driver))
    return tested.url.format(folder=tmp_path)


class TestEveryStoreInFiles:
    def test_a_closed_memory_is_opened_again_as_it_was(self, url: str) -> None:
        with SlotMemory.open(url, **OPTIONS) as memory:
            known = lived(memory).fingerprint()
        with SlotMemory.open(url, **OPTIONS) as again:
            assert again.fingerprint() == known

    def test_what_is_forgotten_is_in_no_file(self, url: str, tmp_path: Path) -> None:
        with SlotMemory.open(url, **OPTIONS) as memory:
            memory.ingest("a plover nests behind the shed", speaker="Zacharias")
            memory.ingest("the boiler has a brass valve")
            memory.answer("What nests behind the shed?")
            memory.forget("e1")
            files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert any(b"brass" in content for content in files)
        assert not any(b"plover" in content for content in files)


class TestEveryStore:
    def test_what_was_committed_is_loaded(self, store: Store) -> None:
        memory = lived(opened(store))
        again = opened(store)
        again.check()
        assert again.fingerprint() == memory.fingerprint()
        assert again.export() == memory.export()

    def test_an_undone_split_is_loaded_undone(self, store: Store) -> None:
        memory = lived(opened(store))
        memory.undo("c1")
        again = opened(store)
        assert again.fingerprint() == memory.fingerprint()
        assert [(c.id, c.undone) for c in again.certificates()] == [("c1", True)]
        assert len(again.slots) == 1

    def test_a_reembedded_memory_is_loaded_with_its_new_vectors(self, store: Store) -> None:
        memory = lived(opened(store))
        memory.reembed(BagEncoder(8))
        assert opened(store, encoder=BagEncoder(8)).fingerprint() == memory.fingerprint()

    def test_what_comes_after_reopening_is_as_if_it_had_never_been_closed(
        self, store: Store
    ) -> None:
        memory, other = lived(opened(store)), lived(opened(MemoryStore()))
        again = opened(store)
        for one in (again, other):
            one.ingest("the boiler has a new valve", session="s")
            one.feedback(one.answer("What does the boiler have?"), reward=1.0)
        assert again.fingerprint() == other.fingerprint() == memory.fingerprint()

    def test_a_key_is_known_after_reopening(self, store: Store) -> None:
        lived(opened(store))
        request: dict[str, Any] = {
            "speaker": "Ana",
            "at": "2023-05-08T10:00+02:00",
            "source_id": "x1",
        }
        assert (
            opened(store).ingest("the boiler has a brass valve", key="k", **request).evidence_id
            == "e1"
        )

    def test_it_holds_what_was_created_in_a_tenant_and_nothing_else(self, store: Store) -> None:
        store.create(HERE, Settings())
        elsewhere = (HERE._replace(tenant="other"), HERE._replace(memory_id="other"))
        assert store.holds(HERE)
        assert not any(store.holds(address) for address in elsewhere)

    def test_a_memory_that_does_not_exist_is_not_loaded(self, store: Store) -> None:
        assert store.load(HERE) is None

    def test_a_new_memory_is_empty_and_has_its_settings(self, store: Store) -> None:
        store.create(HERE, Settings(slots=3, slot_limit=50, initial_slots=2))
        rows = store.load(HERE)
        assert rows is not None
        assert (rows.settings, rows.head) == (
            Settings(slots=3, slot_limit=50, initial_slots=2),
            Head(),
        )
        assert not any(
            (rows.evidence, rows.slots, rows.contexts, rows.certificates, rows.keyed, rows.damaged)
        )

    def test_a_memory_that_another_makes_in_the_meantime_is_opened(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load, times = store.load, iter([None])  # as if it had not been there yet at the first look
        monkeypatch.setattr(store, "load", lambda address: next(times, load(address)))
        store.create(Address("default", "m"), Settings())
        assert len(SlotMemory.open(store, memory_id="m", encoder=BagEncoder())) == 0

    def test_a_memory_is_not_created_twice(self, store: Store) -> None:
        store.create(HERE, Settings(slots=3, initial_slots=1))
        with pytest.raises(StoreError):
            store.create(HERE, Settings())
        rows = store.load(HERE)
        assert rows is not None
        assert rows.settings.slots == 3

    def test_seq_is_the_number_of_the_last_operation(self, store: Store) -> None:
        store.create(HERE, Settings())
        seen = [store.seq(HERE)]
        for seq in (1, 2):
            store.commit(HERE, number(seq))
            seen.append(store.seq(HERE))
        assert seen == [0, 1, 2]

    @pytest.mark.parametrize("seq", [1, 3])
    def test_a_delta_from_another_state_is_refused(self, store: Store, seq: int) -> None:
        store.create(HERE, Settings())
        store.commit(HERE, number(1))
        with pytest.raises(StaleState, match="'memory'"):
            store.commit(HERE, number(seq))

    def test_a_refused_delta_leaves_nothing_behind(self, store: Store) -> None:
        memory = lived(opened(store))
        rows = store.load(HERE)
        assert rows is not None
        late = Delta(
            rows.head,
            (Operation(2, "ingest", "new", "", "{}"),),
            evidence=tuple(rows.evidence[:1]),
            forgotten=("e2",),
        )
        with pytest.raises(StaleState):
            store.commit(HERE, late)
        again = opened(store)
        assert again.fingerprint() == memory.fingerprint()
        assert again.export() == memory.export()

    def test_an_operation_on_a_memory_that_does_not_exist_says_so(self, store: Store) -> None:
        with pytest.raises(StoreError, match="'memory'"):
            store.seq(HERE)
        with pytest.raises(StoreError, match="'memory'"):
            store.commit(HERE, number(1))

    def test_the_memories_of_a_tenant_are_listed_in_order(self, store: Store) -> None:
        for tenant, memory_id in [("t", "b"), ("t", "a"), ("u", "c"), ("t", "ü"), ("t", "B")]:
            store.create(Address(tenant, memory_id), Settings())
        assert (store.memories("t"), store.memories("u"), store.memories("v")) == (
            ["B", "a", "b", "ü"],
            ["c"],
            [],
        )

    def test_one_memory_never_sees_the_rows_of_another(self, store: Store) -> None:
        homes = [("t", "m"), ("t", "n"), ("u", "m")]
        held = [SlotMemory.open(store, tenant=t, memory_id=m, **OPTIONS) for t, m in homes]
        for n, memory in enumerate(held):
            memory.ingest(f"number {n} of three", key="k")
            memory.feedback(memory.answer("number"), reward=1.0)
        held[0].forget("e1")
        again = [SlotMemory.open(store, tenant=t, memory_id=m, **OPTIONS) for t, m in homes]
        assert [[item.text for item in memory.evidence()] for memory in again] == [
            [], ["number 1 of three"], ["number 2 of three"],
        ]  # fmt: skip
        assert [len(memory.contexts()) for memory in again] == [1, 1, 1]

    def test_an_operation_on_a_stale_memory_loads_what_came_and_goes_on(self, store: Store) -> None:
        first, second = opened(store), opened(store)
        first.ingest("the boiler has a brass valve")
        assert second.ingest("the violin has a broken bow").evidence_id == "e2"
        assert "broken bow" in first.read("violin").text
        assert first.fingerprint() == second.fingerprint()

    def test_an_inspection_never_shows_what_another_memory_object_has_forgotten(
        self, store: Store
    ) -> None:
        first, second = opened(store), opened(store)
        first.ingest("the password is plover")
        second.forget("e1")
        assert (first.evidence(), len(first)) == ((), 0)
        assert "plover" not in repr((first.export(), first.slots, first.contexts()))
        assert first.fingerprint() == second.fingerprint()

    def test_an_operation_that_is_overtaken_is_run_again(self, store: Store) -> None:
        other = opened(store)
        overtaken = Interrupted(lambda: other.ingest("the violin has a broken bow"))
        memory = opened(store, answerer=overtaken)
        memory.ingest("the boiler has a brass valve")
        answer = memory.answer("What is broken?")
        assert (overtaken.calls, answer.id, "broken bow" in answer.text) == (2, "a1", True)
        assert len(memory.contexts()) == 1
        memory.check()

    def test_an_operation_that_is_overtaken_every_time_gives_up(self, store: Store) -> None:
        other = opened(store)
        memory = opened(
            store, answerer=Interrupted(lambda: other.ingest("again and again"), times=99)
        )
        with pytest.raises(StaleState):
            memory.answer("What now?")
        assert memory.contexts() == ()

    def test_a_store_that_the_caller_made_outlives_the_memories_in_it(self, store: Store) -> None:
        with opened(store) as memory:
            memory.ingest("the boiler has a brass valve")
        assert len(opened(store)) == 1

    def test_memories_of_one_store_may_be_used_from_many_threads(self, store: Store) -> None:
        held = [SlotMemory.open(store, memory_id=str(n), **OPTIONS) for n in range(4)]
        failed: list[BaseException] = []

        def work(memory: SlotMemory) -> None:
            try:
                for n in range(15):
                    memory.ingest(f"item number {n}")
            except StoreError as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(memory,)) for memory in held]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        again = [SlotMemory.open(store, memory_id=str(n), **OPTIONS) for n in range(4)]
        assert [len(memory) for memory in again] == [15] * 4
