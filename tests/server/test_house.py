"""The memories of a server are changed by one after the other."""

from __future__ import annotations

import threading

import pytest

from demem_agent.errors import StoreError
from demem_agent.pool import MemoryPool
from demem_agent.server import House, KeyRing


def test_who_may_not_wait_for_another_change_is_told_so() -> None:
    house = House(MemoryPool(), KeyRing())
    held, done = threading.Event(), threading.Event()

    def change() -> None:
        with house.writing("ana"):
            held.set()
            done.wait(10)

    thread = threading.Thread(target=change)
    thread.start()
    held.wait(10)
    with pytest.raises(StoreError), house.writing("ana", 0.01):
        pass
    with house.writing("ben", 0.01):
        done.set()
    thread.join()
    with house.writing("ana", 1), house.writing("ana", 0.01):
        pass


def test_an_answer_is_known_by_the_id_that_a_guest_knows_it_by() -> None:
    house = House(MemoryPool(), KeyRing())
    house.answer_ids += [lambda memory, id: None, lambda memory, id: f"{memory}:{id}"]
    assert house.answer_id("ana", "r1") == "ana:r1"
    house.answer_ids.clear()
    assert house.answer_id("ana", "r1") is None
