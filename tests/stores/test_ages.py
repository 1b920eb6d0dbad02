"""Whoever allows that what is read is a little old is given what a copy of the store has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import MEMORY, served
from stored import OPTIONS

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.server import make_app
from demem_agent.stores import Address, MemoryStore, at_most_old

ADDRESS = Address("default", "ana")


class Copied(MemoryStore):
    """A store with a copy of before, which notes down how old it might be when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.copy = MemoryStore()
        self.asked: list[float] = []

    def bring_up(self) -> None:
        """Have the copy be what the store is."""
        self.copy = MemoryStore()
        rows = self.load(ADDRESS)
        if rows is not None:
            self.copy.put(ADDRESS, rows)

    def look_at_copy(self, _: Address, age: float, look: Callable[[MemoryStore], Any]) -> Any:
        self.asked.append(age)
        return look(self.copy)


def opened(store: Copied) -> SlotMemory:
    return SlotMemory.open(store, memory_id="ana", **OPTIONS)


def of_one_turn() -> Copied:
    store = Copied()
    opened(store).ingest("turn 1")
    store.bring_up()
    return store


def test_what_is_read_is_of_the_copy_where_that_is_allowed_alone() -> None:
    store = of_one_turn()
    memory = opened(store)
    opened(store).ingest("turn 2")
    with at_most_old(2.0):
        assert (len(memory), len(memory.read("turn").evidence)) == (1, 1)
    assert (len(memory), len(memory.read("turn").evidence)) == (2, 2)


def test_the_shorter_of_two_holds() -> None:
    store = of_one_turn()
    memory = opened(store)
    with at_most_old(2.0):
        with at_most_old(1.0):
            len(memory)
        with at_most_old(3.0):
            len(memory)
    assert store.asked == [1.0, 2.0]


def test_what_writes_asks_no_copy() -> None:
    store = of_one_turn()
    memory = opened(store)
    with at_most_old(2.0):
        memory.answer("Which turn?")
        memory.forget(memory.ingest("turn 2", key="k").evidence_id)
        memory.sync([{"text": "turn 3", "source_id": "x"}], source="list")
        assert store.asked == []


def test_coroutines_are_given_it_too() -> None:
    store = of_one_turn()

    async def run() -> tuple[int, int]:
        memory = await AsyncSlotMemory.open(store, memory_id="ana", **OPTIONS)
        opened(store).ingest("turn 2")
        with at_most_old(2.0):
            old = len((await memory.read("turn")).evidence)
        return old, len((await memory.read("turn")).evidence)

    assert asyncio.run(run()) == (1, 2)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "2", True, None])
def test_an_age_that_is_none_is_refused(seconds: Any) -> None:
    with pytest.raises(InvalidInput, match="seconds"), at_most_old(seconds):
        raise AssertionError("it is let in")


def test_a_server_allows_it_to_requests_that_change_nothing() -> None:
    store = of_one_turn()
    with served(url=store, read_age=2.0) as ask:
        assert ask("POST", f"{MEMORY}/items", {"text": "turn 2"}).status == 201
        assert store.asked == []
        assert ask("POST", f"{MEMORY}/read", {"query": "turn"}).status == 200
        assert set(store.asked) == {2.0}


def test_a_server_is_given_no_age_that_is_none() -> None:
    with pytest.raises(InvalidInput, match="read_age"):
        make_app(read_age=0)


@given(st.lists(st.sampled_from(["write", "forget", "bring up", "read old", "read", "open"])))
def test_a_reader_never_goes_back_and_never_misses_more_than_the_copy(does: list[str]) -> None:
    store = of_one_turn()
    writer = reader = opened(store)
    versions = [["turn 1"]]
    seen = copied = 0
    for number, what in enumerate(does, 2):
        if what == "write":
            writer.ingest(f"turn {number}")
        elif what == "forget" and versions[-1]:
            writer.forget(writer.evidence()[0].id)
        elif what == "bring up":
            store.bring_up()
            copied = len(versions) - 1
        if what in ("write", "forget"):
            versions.append([item.text for item in writer.evidence()])
        if what == "open":
            reader, seen = opened(store), len(versions) - 1
        if what == "read":
            assert [item.text for item in reader.evidence()] == versions[-1]
            seen = len(versions) - 1
        if what == "read old":
            with at_most_old(2.0):
                found = [item.text for item in reader.evidence()]
            reader.check()
            assert found in versions[max(seen, copied) :]
            seen = max(seen, copied)
