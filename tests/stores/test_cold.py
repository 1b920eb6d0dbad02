"""Memories that are put aside: opened as any other, forgotten and deleted as any other, and in one
place at a time, wherever what does it is killed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("obstore")

from putting_aside import DOES, was_killed, was_stopped
from stored import HERE, lived, opened

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput, MemoryGone, StoreError
from demem_agent.memories import copy_memory, delete_memory, list_memories, rename_memory
from demem_agent.pool import MemoryPool
from demem_agent.safekeeping import put_aside
from demem_agent.stores import Address, MemoryStore, Store, open_store, shelves
from demem_agent.stores.aside import MARK, record_of
from demem_agent.stores.cold import ColdStore, made_ready
from demem_agent.stores.shelves import Shelf, shelf_at
from demem_agent.testing import BagEncoder


@pytest.fixture
def to(tmp_path: Path) -> str:
    return f"file://{tmp_path}/cold"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/a.db"
    found = open_store(url)
    made_ready(found)
    yield found
    found.close()


@pytest.fixture
def cold(store: Store) -> ColdStore:
    return ColdStore(store)


def objects(to: str) -> list[bytes]:
    folder = Path(to.removeprefix("file://"))
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]


def as_it_is(store: Store) -> tuple[Any, ...]:
    """Return all that a memory tells of itself."""
    memory = opened(store)
    memory.check()
    told = [memory.read("Which valve has the boiler?"), memory.slots, memory.certificates()]
    return memory.fingerprint(), memory.export()[:-1], told


def test_a_memory_that_is_put_aside_comes_back_as_it_was(cold: ColdStore, to: str) -> None:
    lived(opened(cold))
    before = as_it_is(cold)
    done = cold.cool([HERE], to)
    assert (done.memories, done.items, done.busy) == (1, 2, 0)
    assert not cold.store.holds(HERE)
    assert len(objects(to)) == 1
    assert as_it_is(cold) == before
    assert cold.store.holds(HERE)
    assert not cold.store.holds(record_of(HERE))
    assert objects(to) == []


def test_it_is_listed_as_it_stood_and_whoever_held_it_open_finds_it_again(
    cold: ColdStore, to: str
) -> None:
    memory = lived(opened(cold))
    (info,) = list_memories(cold)
    cold.cool([HERE], to)
    assert list_memories(cold) == (info,)
    assert list_memories(cold, HERE.tenant) == (info,)
    assert cold.memories(HERE.tenant) == [HERE.memory_id]
    assert cold.holds(HERE)
    with pytest.raises(MemoryGone):
        memory.ingest("Something new.")
    assert opened(cold).ingest("Something new.").evidence_id == "e4"


def test_what_was_done_under_a_key_before_is_not_done_again(cold: ColdStore, to: str) -> None:
    lived(opened(cold))
    cold.cool([HERE], to)
    memory = opened(cold)
    about = {"speaker": "Ana", "at": "2023-05-08T10:00+02:00", "key": "k", "source_id": "x1"}
    assert memory.ingest("the boiler has a brass valve", **about).evidence_id == "e1"
    assert len(memory) == 2


def test_no_text_and_no_id_is_in_an_object(cold: ColdStore, to: str) -> None:
    lived(opened(cold))
    copy_memory(cold, HERE.memory_id, to="kestrel", tenant=HERE.tenant)
    cold.cool([HERE._replace(memory_id="kestrel")], to)
    (data,) = objects(to)
    plain = data + zlib.decompress(data)
    # Two or three bytes are in so many random ones by chance.
    for word in (b"boiler", b"brass", b"violin", b"2023-05", b"kestrel"):
        assert word not in plain


def test_what_is_deleted_while_it_is_aside_is_nowhere(cold: ColdStore, to: str) -> None:
    lived(opened(cold))
    cold.cool([HERE], to)
    receipt = delete_memory(cold, HERE.memory_id, tenant=HERE.tenant)
    assert (receipt.memories, receipt.items) == ((HERE.memory_id,), 2)
    assert objects(to) == []
    assert not cold.holds(HERE)
    assert list_memories(cold) == ()
    assert len(opened(cold)) == 0


def test_what_is_deleted_or_forgotten_cannot_be_read_from_an_object_that_was_kept(
    cold: ColdStore, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is gone from the store, whatever becomes of the object."""

    def fails(self: Shelf, path: str) -> None:
        raise StoreError("no network")

    monkeypatch.setattr(Shelf, "delete", fails)
    lived(opened(cold))
    cold.cool([HERE], to)
    key = cold._records()[0].key
    opened(cold).forget("e1")
    assert len(objects(to)) == 1
    assert cold._records() == []
    assert key not in str(vars(cold.store))


def test_all_of_a_tenant_are_deleted_those_that_are_aside_among_them(
    cold: ColdStore, to: str
) -> None:
    for name in ("ana", "ben", "eve"):
        with SlotMemory.open(cold, memory_id=name, encoder=BagEncoder()) as memory:
            memory.ingest(f"{name} was here.")
    cold.cool([Address("default", name) for name in ("ana", "eve")], to)
    receipt = delete_memory(cold, None, tenant="default")
    assert receipt.memories == ("ana", "ben", "eve")
    assert receipt.items == 3
    assert objects(to) == []
    assert cold.memories("default") == []


def test_it_is_copied_renamed_and_kept_from_being_overwritten_as_any_other(
    cold: ColdStore, to: str
) -> None:
    lived(opened(cold))
    cold.cool([HERE], to)
    copy_memory(cold, HERE.memory_id, to="copy", tenant=HERE.tenant)
    cold.cool([HERE], to)
    with pytest.raises(InvalidInput):
        copy_memory(cold, "copy", to=HERE.memory_id, tenant=HERE.tenant)
    rename_memory(cold, HERE.memory_id, to="other", tenant=HERE.tenant)
    assert cold.memories(HERE.tenant) == ["copy", "other"]
    copy, other = (HERE._replace(memory_id=name) for name in ("copy", "other"))
    cold.cool([other], to)
    with pytest.raises(StoreError):
        cold.move(copy, other)


def test_one_that_is_written_to_meanwhile_stays(
    cold: ColdStore, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = lived(opened(cold))
    put = Shelf.put

    def written_to(self: Shelf, path: str, data: bytes) -> None:
        memory.ingest("Said meanwhile.")
        put(self, path, data)

    monkeypatch.setattr(Shelf, "put", written_to)
    done = cold.cool([HERE], to)
    assert (done.memories, done.busy) == (0, 1)
    assert objects(to) == []
    assert memory.evidence()[-1].text == "Said meanwhile."


def test_an_object_that_was_changed_or_lost_is_told_and_nothing_else_is_made_of_it(
    cold: ColdStore, to: str
) -> None:
    lived(opened(cold))
    before = as_it_is(cold)
    cold.cool([HERE], to)
    (path,) = [path for path in Path(to.removeprefix("file://")).rglob("*") if path.is_file()]
    data = path.read_bytes()
    for wrong in (data[:-1] + bytes([data[-1] ^ 1]), data[: len(data) // 2], None):
        path.unlink() if wrong is None else path.write_bytes(wrong)
        with pytest.raises(StoreError, match="put aside"):
            opened(cold)
        assert cold.holds(HERE)
        assert not cold.store.holds(HERE)
    path.write_bytes(data)
    assert as_it_is(cold) == before


def require_whole(cold: ColdStore, does: str, fingerprint: str, *, stopped: bool) -> list[bool]:
    """Assert that a memory is as it was, or deleted; return where it was found."""
    places = [cold.store.holds(HERE), cold.store.holds(record_of(HERE))]
    assert any(places) or does == "delete"
    assert stopped or does != "delete" or not any(places)
    if any(places):
        assert len(list_memories(cold)) == 1
        assert opened(cold).fingerprint() == fingerprint
        cold.bring_back(HERE)
        assert not cold.store.holds(record_of(HERE))
    return places


@pytest.mark.parametrize("does", DOES)
@pytest.mark.parametrize(
    "stops",
    [was_stopped, pytest.param(was_killed, marks=pytest.mark.slow)],
    ids=["fails", "killed"],
)
def test_stopped_anywhere_it_is_whole_and_in_one_place(
    tmp_path: Path, does: str, stops: Callable[[str, str, str, int], bool]
) -> None:
    """Or is deleted, or is not; and a sweep leaves no object that nobody names."""
    stopped, at = True, 0
    while stopped:
        at += 1
        folder = tmp_path / f"{does}{at}"
        folder.mkdir()
        to, url = f"file://{folder}/cold", f"sqlite:///{folder}/a.db"
        with closing(open_store(url)) as store:
            made_ready(store)
            cold = ColdStore(store)
            memory = opened(cold)
            memory.ingest("the boiler has a brass valve", key="k")
            fingerprint = memory.fingerprint()
            if does != "cool":
                cold.cool([HERE], to)
        stopped = stops(url, to, does, at)
        with closing(open_store(url)) as again:
            assert isinstance(again, ColdStore)
            places = require_whole(again, does, fingerprint, stopped=stopped)
            assert stops is was_stopped or sum(places) <= 1
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(shelves, "_YOUNG", -shelves._YOUNG)
                again.sweep(to)
            assert objects(to) == []
    assert at > 5


def test_objects_of_another_store_and_young_ones_are_not_swept(tmp_path: Path, to: str) -> None:
    stores = []
    for name in ("a", "b"):
        store = open_store(f"sqlite:///{tmp_path}/{name}.db")
        made_ready(store)
        stores.append(ColdStore(store))
    opened(stores[0]).ingest("Here.")
    stores[0].cool([HERE], to)
    shelf_at(to).put(f"{stores[1]._mark()}/left", b"left by a crash")
    assert stores[1].sweep(to) == 0  # it may be on its way
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelves, "_YOUNG", -shelves._YOUNG)
        assert stores[1].sweep(to) == 1
    assert len(opened(stores[0])) == 1
    for store in stores:
        store.close()


def test_a_store_is_made_ready_first_and_puts_aside_what_is_old_enough_then(
    tmp_path: Path, to: str
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, memory_id="ana", encoder=BagEncoder()) as memory:
        memory.ingest("I moved to Lisbon.")
    assert not put_aside(url, to=to, days=0).was_ready
    assert put_aside(url, to=to, days=1).memories == 0
    assert put_aside(url, to=to, days=0).memories == 1
    assert put_aside(url, to=to, days=0).memories == 0  # it is aside already
    with SlotMemory.open(url, memory_id="ana", encoder=BagEncoder()) as memory:
        assert [item.text for item in memory.evidence()] == ["I moved to Lisbon."]
    store = open_store(url)
    assert isinstance(store, ColdStore)
    assert [one.memory_id for one in store.survey()] == ["ana"]
    store.close()


def test_a_server_answers_from_a_memory_that_another_process_has_put_aside(
    cold: ColdStore, to: str
) -> None:
    with MemoryPool(cold, encoder=BagEncoder()) as pool:
        pool.of("ana").ingest("I moved to Lisbon.")
        cold.cool([pool.address("ana")], to)
        assert pool.names() == ["ana"]
        found = pool.known("ana")
        assert found is not None
        assert [item.text for item in found.evidence()] == ["I moved to Lisbon."]


def test_objects_may_be_in_ram() -> None:
    store = MemoryStore()
    made_ready(store)
    cold = ColdStore(store)
    opened(cold).ingest("Here.")
    assert cold.cool([HERE], "memory:///test").memories == 1
    assert len(opened(cold)) == 1


@pytest.mark.parametrize("to", ["cold", "", "nonsense://x", 3])
def test_what_is_no_place_for_objects_is_named(tmp_path: Path, to: Any) -> None:
    with pytest.raises((InvalidInput, StoreError)) as caught:
        put_aside(f"sqlite:///{tmp_path}/a.db", to=to, days=1)
    assert str(to) in str(caught.value)


def test_a_store_where_nothing_is_aside_is_opened_as_itself(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/a.db")
    assert not isinstance(store, ColdStore)
    assert not store.holds(MARK)
    store.close()
