"""Memories that are kept in RAM within a bound: one object for each, and none lost."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import MemoryGone, NotFound
from demem_agent.memories import delete_memory
from demem_agent.pool import MemoryPool
from demem_agent.testing import BagEncoder

OPTIONS: dict[str, Any] = {"clock": None, "encoder": BagEncoder()}


def pool(folder: Path, **bounds: Any) -> MemoryPool:
    return MemoryPool(f"sqlite:///{folder}/a.db", **bounds, **OPTIONS)


def filled(pool: MemoryPool, count: int, items: int = 20) -> None:
    for n in range(count):
        pool.of(f"m{n}").ingest_many([{"text": f"item {i} of {n}"} for i in range(items)])


def test_what_is_kept_is_within_the_bound_and_the_coldest_went(tmp_path: Path) -> None:
    with pool(tmp_path) as free:
        filled(free, 6)
    with pool(tmp_path) as anew:
        size = max(anew.of(name).resident for name in anew.names())
    with pool(tmp_path, most_bytes=3 * size) as bounded:
        for n in (0, 1, 2, 3, 1, 4):
            assert len(bounded.of(f"m{n}")) == 20
            assert bounded.resident <= 3 * size
        assert bounded.warm == ("m3", "m1", "m4")
        assert bounded.resident == sum(bounded.of(name).resident for name in bounded.warm)


def test_the_last_one_stays_however_large_it_is(tmp_path: Path) -> None:
    with pool(tmp_path, most_bytes=1) as tiny:
        filled(tiny, 3)
        assert tiny.warm == ("m2",)
        assert [len(tiny.of(name)) for name in tiny.names()] == [20, 20, 20]


def test_one_that_grows_while_others_are_asked_for_is_weighed_anew(tmp_path: Path) -> None:
    with pool(tmp_path) as free:
        filled(free, 3, items=1)
        before = free.resident
        free.of("m0").ingest_many([{"text": f"word{i} number{i} of {i}"} for i in range(300)])
        for name in ("m1", "m2"):
            free.of(name)
        assert free.resident > before + 200_000
        assert free.resident == sum(free.of(name).resident for name in free.warm)


def test_one_that_has_grown_makes_others_go(tmp_path: Path) -> None:
    with pool(tmp_path, most_bytes=400_000) as bounded:
        filled(bounded, 2, items=1)
        large = bounded.of("m0")
        large.ingest_many([{"text": f"word{i} number{i} of {i}"} for i in range(300)])
        bounded.of("m1")
        assert large.resident > 400_000
        assert bounded.warm == ("m1",)


def test_there_is_one_object_for_each_memory_while_somebody_has_it(tmp_path: Path) -> None:
    with pool(tmp_path, most_open=1) as one:
        held = one.of("ana")
        one.of("ben")
        assert one.warm == ("ben",)
        assert one.of("ana") is held
        gone = weakref.ref(held)
        del held
        one.of("ben")
        gc.collect()
        assert gone() is None


@pytest.mark.parametrize("call", ["len", "read", "answer", "ingest", "forget"])
def test_all_of_a_memory_leaves_ram_with_its_last_user(
    tmp_path: Path, call: str, only_counted: None
) -> None:
    with pool(tmp_path, most_open=1) as one:
        filled(one, 1)
        for name in ("ben", "m0", "ben"):  # the second time it is packed, the third opened from it
            one.of(name)
        memory = one.of("m0")
        used(memory, call)
        index = weakref.ref(memory._held.state.passage_index())
        del memory
        one.of("ben")
        assert index() is None


@pytest.fixture
def only_counted() -> Iterator[None]:
    """Have nothing go from RAM but what nothing refers to: Python looks for circles seldom."""
    gc.disable()
    yield
    gc.enable()


def used(memory: SlotMemory, call: str) -> None:
    if call == "read":
        memory.read("item 3")
    elif call == "answer":
        memory.feedback(memory.answer("item 3"), reward=1.0)
    elif call == "ingest":
        memory.ingest("another item")
    elif call == "forget":
        memory.forget(memory.evidence()[0].id)
    assert len(memory)


def test_threads_that_ask_at_once_get_the_same_and_lose_nothing(tmp_path: Path) -> None:
    bounded = pool(tmp_path, most_open=2)
    names = [f"m{n}" for n in range(5)]
    begun = threading.Barrier(8)
    got: list[SlotMemory] = []

    def work(number: int) -> None:
        begun.wait()
        got.append(bounded.of("first"))
        for n in range(25):
            bounded.of(names[(n + number) % 5]).ingest(f"{n} by {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, got))) == 1
    assert [len(bounded.of(name)) for name in names] == [40] * 5
    assert len(bounded.warm) == 2
    bounded.close()


def test_tasks_ask_without_blocking_their_loop(tmp_path: Path) -> None:
    async def run(one: MemoryPool) -> None:
        held = await asyncio.gather(*(one.aof("ana") for _ in range(8)))
        assert len(set(map(id, held))) == 1

    with pool(tmp_path) as one:
        asyncio.run(run(one))


def test_one_that_is_gone_is_kept_no_more(tmp_path: Path) -> None:
    told: list[str] = []
    with pool(tmp_path, on_gone=told.append) as one:
        filled(one, 2)
        held = one.of("m0")
        delete_memory(one.store, "m0")
        assert one.known("m0") is None
        assert (one.warm, told) == (("m1",), ["m0"])
        with pytest.raises(MemoryGone):
            held.ingest("late")
        assert len(one.of("m0")) == 0


def test_a_memory_is_deleted_by_its_id(tmp_path: Path) -> None:
    with pool(tmp_path) as one:
        filled(one, 2)
        before = one.resident
        assert one.delete("m0").items == 20
        assert (one.names(), one.warm) == (["m1"], ("m1",))
        assert one.resident < before
        with pytest.raises(NotFound):
            one.delete("m0")


def test_what_was_never_made_is_not_known() -> None:
    with MemoryPool(**OPTIONS) as one:
        assert one.known("nobody") is None
        assert one.names() == []


@pytest.mark.parametrize(
    "given", [{"most_bytes": 0}, {"most_open": 0}, {"memory_id": "x"}, {"most_bytes": 1.5}]
)
def test_what_cannot_be_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(given))):
        MemoryPool(**given)


def test_a_larger_memory_is_estimated_larger() -> None:
    sizes = []
    memory = SlotMemory(**OPTIONS)
    for n in range(4):
        sizes.append(memory.resident)
        memory.ingest_many([{"text": f"word{n}{i} of many{i}"} for i in range(50)])
        memory.answer("Which word?")
    assert sizes == sorted(set(sizes))


def test_all_who_want_to_know_are_told_what_is_gone() -> None:
    told: list[str] = []
    with MemoryPool(on_gone=told.append) as pool:
        pool.tell_gone(lambda id: told.append(f"{id}, too"))
        pool.of("ana")
        pool.delete("ana")
    assert told == ["ana", "ana, too"]
