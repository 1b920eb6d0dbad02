"""Routers without a model: each chooses by what it may know."""

from __future__ import annotations

from typing import Any

from benchmark_files import benchmark

from demem_agent import SlotMemory
from demem_agent.evaluate import Probe
from demem_agent.testing import BagEncoder

routers = benchmark("routers")
TEXTS = (
    "The boiler has a brass valve and makes 21 degrees.",
    "The violin has a broken bow, says Ana.",
    "The concert in Porto costs 14 euros.",
)


def slots_of() -> Any:
    memory = SlotMemory(
        clock=None, slots=3, initial_slots=3, near=1.0, slot_limit=200, encoder=BagEncoder()
    )
    for number, text in enumerate(TEXTS):
        memory.ingest(text, source_id=f"t{number}")
    return memory.slots


def test_words_choose_the_slot_that_has_most_of_the_question() -> None:
    assert routers.by_words("Which bow of the violin is broken?", slots_of()) == 1
    assert routers.by_words("What else?", slots_of()) == 0


def test_the_answer_key_chooses_the_slot_with_most_of_the_gold() -> None:
    key = routers.Key.of([Probe("What?", "it", ("t2",))])
    key.source_of = {"e1": "t0", "e2": "t1", "e3": "t2"}
    assert routers.by_key(key)("What?", slots_of()) == 2
    assert routers.by_key(key)("Another?", slots_of()) == 0


def test_a_draw_is_the_same_for_the_same_question_and_any_slot_for_others() -> None:
    slots = slots_of()
    drawn = {routers.at_random(f"question {n}", slots) for n in range(30)}
    assert drawn == {0, 1, 2}
    assert routers.at_random("one", slots) == routers.at_random("one", slots)
