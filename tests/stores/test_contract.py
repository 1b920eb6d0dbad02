"""What every store must do, run over each of them: a store is one line of ``STORES``."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sealed_files import legible
from stored import HERE, OPTIONS, Interrupted, driver, lived, opened

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory, async_memories
from demem_agent.errors import MemoryGone, NotFound, StaleState, StoreError
from demem_agent.memories import (
    copy_memories,
    copy_memory,
    delete_memory,
    list_memories,
    rename_memory,
)
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import SCHEMES, Address, MemoryStore, Rows, Store, connections, open_store
from demem_agent.testing import BagEncoder


@dataclass(frozen=True, slots=True)
class Tried:
    """The URL of a store, and a driver of SQLite or "".

    In it {folder} stands for a new folder, and {database} for a new database of a server.
    """

    url: str
    driver: str = ""


STORES = {
    "memory": Tried("memory://"),
    "sqlite3": Tried("sqlite:///{folder}/a.db", "sqlite3"),
    "pysqlite3": Tried("sqlite:///{folder}/a.db", "pysqlite3"),
    "postgresql": Tried("{database}"),
}
SERVED = {"{database}": "postgresql"}


#: A store some of whose memories may be put aside.
ASIDE = "aside"


@pytest.fixture(
    params=[
        *(
            pytest.param(name, marks=pytest.mark.postgres if tested.url in SERVED else ())
            for name, tested in STORES.items()
        ),
        ASIDE,
    ]
)
def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Store]:
    tested = STORES["pysqlite3" if request.param == ASIDE else request.param]
    if tested.driver:
        monkeypatch.setattr(connections, "sqlite3", driver(tested.driver))
    url = tested.url.format(
        folder=tmp_path,
        database=request.getfixturevalue("database") if tested.url in SERVED else "",
    )
    found = open_store(url)
    if request.param == ASIDE:
        pytest.importorskip("obstore")
        cold = importlib.import_module("demem_agent.stores.cold")
        cold.made_ready(found)
        found = cold.ColdStore(found)
    yield found
    found.close()


def test_every_store_that_a_url_can_name_is_tested() -> None:
    schemes = [tested.url.partition("://")[0] for tested in STORES.values()]
    schemes = [SERVED.get(scheme, scheme) for scheme in schemes]
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


def _noted(enter: Callable[[], Any], inside: list[bool]) -> Callable[[], Any]:
    """Return what enters the same, and says in a list while that lasts."""

    @contextmanager
    def entered() -> Iterator[None]:
        with enter():
            inside.append(True)
            yield
            inside.clear()

    return entered


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
            left = legible(tmp_path)
        assert b"brass" in left
        assert b"plover" not in left

    def test_what_is_deleted_is_in_no_file(self, url: str, tmp_path: Path) -> None:
        other = SlotMemory.open(url, memory_id="other", **OPTIONS)
        other.ingest("the boiler has a brass valve")
        memory = SlotMemory.open(url, memory_id="plover@nest", **OPTIONS)
        for n in range(80):
            memory.ingest(f"plover {n} nests behind the shed", speaker="Plover", key=f"plover {n}")
        memory.answer("Which plover nests behind the shed?", asker="plover")
        assert b"plover" in legible(tmp_path)
        memory.delete()
        assert b"plover" not in legible(tmp_path)
        assert b"brass" in legible(tmp_path)
        memory.close()
        other.check()
        other.close()
        assert b"plover" not in legible(tmp_path)

    def test_an_id_that_was_changed_is_in_no_file(self, url: str, tmp_path: Path) -> None:
        with SlotMemory.open(url, memory_id="plover@nest", **OPTIONS) as memory:
            memory.ingest("the boiler has a brass valve")
        rename_memory(url, "plover@nest", to="someone")
        assert b"brass" in legible(tmp_path)
        assert b"plover" not in legible(tmp_path)

    def test_a_store_that_is_not_there_is_not_made(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="no file"):
            list_memories(url)
        with pytest.raises(StoreError, match="no file"):
            delete_memory(url, "ana")
        assert list(tmp_path.iterdir()) == []

    def test_another_process_that_holds_it_open_finds_it_gone(self, url: str) -> None:
        if SlotMemory.open(url, **OPTIONS)._held.team.store.exclusive:  # type: ignore[attr-defined]
            pytest.skip("this SQLite cannot share a file safely")
        memory = SlotMemory.open(url, memory_id="ana", **OPTIONS)
        memory.ingest("the boiler has a brass valve")
        script = "import sys; from demem_agent.memories import *; delete_memory(sys.argv[1], 'ana')"
        subprocess.run([sys.executable, "-c", script, url], check=True)
        with pytest.raises(MemoryGone):
            memory.ingest("and a plover")
        assert [one.memory_id for one in list_memories(url)] == ["default"]


#: Everything that works on what a memory holds.
CALLS: dict[str, Callable[[SlotMemory], object]] = {
    "ingest": lambda memory: memory.ingest("a late plover"),
    "ingest_many": lambda memory: memory.ingest_many([{"text": "a late plover"}]),
    "route": lambda memory: memory.route("boiler"),
    "read": lambda memory: memory.read("boiler"),
    "answer": lambda memory: memory.answer("Which valve?"),
    "answered": lambda memory: memory.answered("Which valve?", "a late plover"),
    "feedback": lambda memory: memory.feedback("a1", reward=1.0),
    "decide": lambda memory: memory.decide("it leaks", ["call", "wait"]),
    "forget": lambda memory: memory.forget("e1"),
    "supersede": lambda memory: memory.supersede("e1", "e2"),
    "rename": lambda memory: memory.rename(0, "plover"),
    "pin": lambda memory: memory.pin(0),
    "reembed": lambda memory: memory.reembed(BagEncoder(8)),
    "evidence": lambda memory: memory.evidence(),
    "contexts": lambda memory: memory.contexts(),
    "slots": lambda memory: memory.slots,
    "len": len,
    "storage": lambda memory: memory.storage(),
    "fingerprint": lambda memory: memory.fingerprint(),
    "export": lambda memory: memory.export(),
    "check": lambda memory: memory.check(),
    "delete": lambda memory: memory.delete(),
}


class TestWholeMemories:
    @pytest.mark.parametrize("call", CALLS)
    def test_a_deleted_memory_says_so_and_does_not_come_back(self, store: Store, call: str) -> None:
        own, other = lived(opened(store)), opened(store)
        assert len(other) == 2
        own.delete()
        for memory in (own, other):
            with pytest.raises(MemoryGone, match="'memory'"):
                CALLS[call](memory)
        assert not store.holds(HERE)
        assert "brass" not in repr(own.__dict__["_held"].state)
        assert "brass" not in repr(other.__dict__["_held"].state)

    @pytest.mark.parametrize("call", CALLS)
    def test_a_handle_on_a_deleted_memory_does_not_touch_one_that_took_its_id(
        self, store: Store, call: str
    ) -> None:
        old, deleting = opened(store), opened(store)
        old.ingest("the boiler has a brass valve")
        deleting.delete()
        new = opened(store)
        new.ingest("the violin has a broken bow")  # as far on as the old one was
        with pytest.raises(MemoryGone):
            CALLS[call](old)
        assert [item.text for item in new.evidence()] == ["the violin has a broken bow"]
        new.check()

    def test_a_memory_that_is_deleted_while_a_model_works_is_not_written(
        self, store: Store
    ) -> None:
        def replaced() -> None:
            delete_memory(store, HERE.memory_id, tenant=HERE.tenant)
            opened(store).ingest("the violin has a broken bow")

        memory = opened(store, answerer=Interrupted(replaced))
        memory.ingest("the boiler has a brass valve")
        with pytest.raises(MemoryGone):
            memory.answer("What has the boiler?")
        assert opened(store).contexts() == ()

    def test_a_delta_for_another_memory_of_the_same_id_is_refused(self, store: Store) -> None:
        store.create(HERE, Settings())
        store.delete(*HERE)
        store.create(HERE, Settings())
        with pytest.raises(MemoryGone):
            store.commit(HERE, number(1))

    def test_a_receipt_says_what_went(self, store: Store) -> None:
        memory = lived(opened(store))
        size = sum(len(item.text) for item in memory.evidence())
        receipt = memory.delete()
        assert (receipt.tenant, receipt.memories) == HERE._replace(memory_id=("memory",))  # type: ignore[arg-type]
        assert (receipt.items, receipt.answers, receipt.size) == (2, 2, size)
        assert abs((datetime.now(UTC) - receipt.at).total_seconds()) < 600

    def test_a_tenant_is_deleted_whole_and_nobody_else(self, store: Store) -> None:
        for tenant, memory_id in [("t", "b"), ("t", "a"), ("u", "a")]:
            store.create(Address(tenant, memory_id), Settings())
        receipt = delete_memory(store, None, tenant="t")
        assert receipt.memories == ("a", "b")
        assert [(one.tenant, one.memory_id) for one in list_memories(store)] == [("u", "a")]

    def test_what_is_not_there_cannot_be_deleted(self, store: Store) -> None:
        with pytest.raises(NotFound):
            delete_memory(store, "nobody")
        with pytest.raises(NotFound):
            delete_memory(store, None, tenant="nobody")

    def test_all_of_a_tenant_go_only_where_it_is_named(self, store: Store) -> None:
        with pytest.raises(InvalidInput, match="memory_id"):
            delete_memory(store, None)

    def test_a_store_tells_who_is_in_it(self, store: Store) -> None:
        memory = opened(store)
        memory.ingest("früh", at="2024-05-01T23:30-05:00")
        memory.ingest("spät", at="2024-05-02T04:00")  # half an hour earlier, in UTC
        memory.ingest("undated")
        memory.answer("Wann?")
        (one,) = list_memories(store)
        assert (one.tenant, one.memory_id) == HERE
        assert (one.items, one.size, one.answers, one.slots) == (3, 17, 1, len(memory.slots))
        dates = [at.isoformat() if at else "" for at in (one.first, one.last)]
        assert dates == ["2024-05-02T04:00:00", "2024-05-01T23:30:00-05:00"]
        assert one.made is not None
        assert one.changed is not None
        assert one.made <= one.changed

    def test_a_copy_is_the_same_and_goes_its_own_way(self, store: Store) -> None:
        memory = lived(opened(store))
        copy_memory(store, HERE.memory_id, to="twin", tenant=HERE.tenant)
        twin = SlotMemory.open(store, tenant=HERE.tenant, memory_id="twin", **OPTIONS)
        assert twin.export() == memory.export()
        known = memory.fingerprint()
        for one in (twin, opened(MemoryStore())):
            one.ingest("the ferry has a new bell", session="s")
        twin.check()
        assert memory.fingerprint() == known != twin.fingerprint()

    def test_a_copy_in_another_store_goes_on_as_the_memory_does(self, store: Store) -> None:
        memory, other = lived(opened(store)), MemoryStore()
        copy_memory(store, HERE.memory_id, to="twin", tenant=HERE.tenant, to_url=other)
        twin = SlotMemory.open(other, tenant=HERE.tenant, memory_id="twin", **OPTIONS)
        for one in (memory, twin):
            one.undo("c1")
            one.ingest("the ferry has a new bell", session="s")
        assert twin.export() == memory.export()
        twin.check()

    def test_all_memories_are_copied_and_one_that_differs_is_not_written_over(
        self, store: Store
    ) -> None:
        memory, other = lived(opened(store)), MemoryStore()
        store.create(HERE._replace(memory_id="empty"), Settings())
        assert [one.memory_id for one in copy_memories(store, other)] == ["empty", "memory"]
        assert opened(other).export() == memory.export()
        assert copy_memories(store, other) == ()
        opened(other).ingest("the ferry has a new bell")
        with pytest.raises(InvalidInput, match="another memory 'memory'"):
            copy_memories(store, other)
        with pytest.raises(InvalidInput, match="another memory 'memory'"):
            copy_memories(other, store)

    def test_a_memory_is_not_copied_or_renamed_over_another(self, store: Store) -> None:
        lived(opened(store))
        store.create(HERE._replace(memory_id="other"), Settings())
        for change in (copy_memory, rename_memory):
            with pytest.raises(InvalidInput, match="to must be"):
                change(store, HERE.memory_id, to="other", tenant=HERE.tenant)
        with pytest.raises(StoreError):
            store.put(
                HERE, store.load(HERE._replace(memory_id="other")) or Rows(Settings(), Head())
            )
        with pytest.raises(StoreError):
            store.move(HERE, HERE._replace(memory_id="other"))
        assert len(opened(store)) == 2

    def test_a_renamed_memory_is_the_same_elsewhere(self, store: Store) -> None:
        memory = lived(opened(store))
        lines = memory.export()
        info = rename_memory(store, "memory", to="eve", tenant="tenant", to_tenant="acme")
        assert (info.tenant, info.memory_id) == ("acme", "eve")
        again = SlotMemory.open(store, tenant="acme", memory_id="eve", **OPTIONS)
        assert again.export() == lines
        again.ingest("the ferry has a new bell")
        again.check()
        with pytest.raises(MemoryGone):
            memory.ingest("a late plover")
        assert len(list_memories(store)) == 1

    def test_a_memory_that_is_renamed_into_the_place_of_another_is_not_taken_for_it(
        self, store: Store
    ) -> None:
        old = opened(store)
        old.ingest("the boiler has a brass valve")
        new = SlotMemory.open(store, tenant="tenant", memory_id="new", **OPTIONS)
        new.ingest("the violin has a broken bow")
        delete_memory(store, "memory", tenant="tenant")
        rename_memory(store, "new", to="memory", tenant="tenant")
        with pytest.raises(MemoryGone):
            old.read("boiler")

    def test_nobody_can_be_copied_or_renamed(self, store: Store) -> None:
        for change in (copy_memory, rename_memory):
            with pytest.raises(NotFound):
                change(store, "nobody", to="other")

    def test_coroutines_do_the_same(self, store: Store) -> None:
        async def run() -> None:
            memory = await AsyncSlotMemory.open(store, memory_id="ana", **OPTIONS)
            await memory.ingest("the boiler has a brass valve")
            await async_memories.copy_memory(store, "ana", to="ben")
            await async_memories.rename_memory(store, "ben", to="eve")
            listed = await async_memories.list_memories(store)
            assert [(one.memory_id, one.items) for one in listed] == [("ana", 1), ("eve", 1)]
            assert (await memory.delete()).items == 1
            with pytest.raises(MemoryGone):
                await memory.ingest("a late plover")
            assert len(memory) == 0
            assert (await async_memories.delete_memory(store, "eve")).memories == ("eve",)

        asyncio.run(run())


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

    def test_marks_are_exported_alike_in_whichever_order_they_were_made(self, store: Store) -> None:
        memory = opened(store)
        memory.ingest_many([{"text": "the boiler has a brass valve"}, {"text": "a broken bow"}])
        memory.hide("e2")
        memory.keep("e1")
        assert [mark.evidence_id for mark in memory.marks()] == ["e1", "e2"]
        assert opened(store).export() == memory.export()

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

    def test_a_memory_is_not_restored_over_another(self, store: Store) -> None:
        memory = SlotMemory.open(store)
        memory.ingest("Ana lives in Porto.")
        with pytest.raises(StoreError, match=r"^the memory 'default' exists already$"):
            SlotMemory.restore(memory.export(), store)
        assert len(SlotMemory.open(store)) == 1

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

    def test_what_others_write_while_a_model_works_is_taken_in_and_the_model_not_asked_again(
        self, store: Store
    ) -> None:
        other = opened(store)
        overtaken = Interrupted(lambda: other.ingest("the violin has a broken bow"))
        memory = opened(store, answerer=overtaken)
        memory.ingest("the boiler has a brass valve")
        answer = memory.answer("What is broken?")
        assert (overtaken.calls, answer.id, len(memory)) == (1, "a1", 2)
        assert len(memory.contexts()) == 1
        assert memory.fingerprint() == opened(store).fingerprint()
        memory.check()

    def test_an_operation_is_done_however_often_others_come_first(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory, other = opened(store), opened(store)
        memory.ingest("the boiler has a brass valve")
        commit, said = store.commit, iter(range(99))

        def overtaken(address: Address, delta: Delta) -> None:
            if not alone and delta.head.contexts == 1:
                alone.append(True)
                other.ingest(f"number {next(said)}")
                alone.clear()
            commit(address, delta)

        alone: list[bool] = []
        monkeypatch.setattr(store, "writing", _noted(store.writing, alone))  # type: ignore[attr-defined]
        monkeypatch.setattr(store, "commit", overtaken)
        assert memory.answer("What has the boiler?").id == "a1"
        assert [item.text for item in memory.evidence()][1:] == ["number 0"]
        assert memory.fingerprint() == opened(store).fingerprint()
        memory.check()

    def test_what_is_written_alone_stays_whatever_comes_after_it(self, store: Store) -> None:
        store.create(HERE, Settings())

        def write() -> None:
            with store.writing():  # type: ignore[attr-defined]
                store.commit(HERE, number(1))
                store.commit(HERE, number(3))

        with pytest.raises(StaleState):
            write()
        assert store.seq(HERE) == 1
        store.commit(HERE, number(2))
        assert store.seq(HERE) == 2

    def test_a_store_that_cannot_be_had_alone_is_tried_a_few_times(self) -> None:
        class Plain:
            """A store of somebody's own, with what every store must have."""

            schema = None

            def __getattr__(self, name: str) -> Any:
                if name == "writing":
                    raise AttributeError(name)
                return getattr(kept, name)

        kept = MemoryStore()
        memory = opened(Plain())  # type: ignore[arg-type]
        opened(kept).ingest("the boiler has a brass valve")
        assert memory.ingest("the violin has a broken bow").evidence_id == "e2"

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
