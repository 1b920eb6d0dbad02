"""A memory can be copied and pickled, as agent frameworks do with what they are given."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.testing import BagEncoder

Copy = Callable[[SlotMemory], SlotMemory]


def pickled(memory: SlotMemory) -> SlotMemory:
    again: SlotMemory = pickle.loads(pickle.dumps(memory))
    return again


copying = pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, pickled])


def told() -> SlotMemory:
    memory = SlotMemory(slots=3, slot_limit=90, encoder=BagEncoder(), memory_id="ana")
    memory.ingest("The boiler has a brass valve.", key="k1")
    memory.ingest("The violin has a broken bow.")
    memory.feedback(
        memory.answer("Which valve has the boiler?"), correction="a steel valve since May"
    )
    return memory


@copying
def test_a_copy_holds_the_same(copied: Copy) -> None:
    memory = told()
    again = copied(memory)
    assert (again.fingerprint(), again.settings) == (memory.fingerprint(), memory.settings)
    again.check()


@copying
def test_a_copy_goes_its_own_way(copied: Copy) -> None:
    memory = told()
    before, again = memory.fingerprint(), copied(memory)
    again.ingest("Only the copy knows this.")
    assert memory.fingerprint() == before
    assert len(again) == len(memory) + 1


@copying
def test_a_copy_knows_the_keys_that_were_used(copied: Copy) -> None:
    again = copied(told())
    assert again.ingest("The boiler has a brass valve.", key="k1").evidence_id == "e1"
    assert len(again) == 3


@copying
def test_a_copy_of_a_memory_in_a_store_is_the_same_memory(copied: Copy, tmp_path: Path) -> None:
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", encoder=BagEncoder()) as memory:
        memory.ingest("The boiler has a brass valve.")
        again = copied(memory)
        again.ingest("The violin has a broken bow.")
        assert len(memory) == 2
        again.close()
        assert memory.ingest("Still open.").evidence_id == "e3"


def test_who_does_the_work_is_shared() -> None:
    memory = told()
    assert copy.deepcopy(memory)._held.team.encoder is memory._held.team.encoder


def test_an_async_memory_is_copied_alike() -> None:
    async def run() -> tuple[str, str]:
        memory = AsyncSlotMemory(encoder=BagEncoder())
        await memory.ingest("The boiler has a brass valve.")
        again = copy.deepcopy(memory)
        await again.ingest("Only the copy knows this.")
        return str(len(memory)), str(len(again))

    assert asyncio.run(run()) == ("1", "2")


def test_a_memory_shows_what_it_is_and_no_text() -> None:
    memory = SlotMemory(memory_id="ana")
    memory.ingest("The safe opens with 4417.")
    assert repr(memory) == "<SlotMemory 'ana': items 1, slots 1>"


@pytest.mark.parametrize("name", ["read_limit", "slots", "encoder", "keep_days"])
def test_what_is_settled_when_a_memory_is_made_is_not_set_later(name: str) -> None:
    memory = SlotMemory()
    with pytest.raises(AttributeError, match=rf"SlotMemory\({name}=...\) or SlotMemory.open\("):
        setattr(memory, name, 5)
