"""What a reading is composed of: the routed slot's passages ahead by little, parts that bear."""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.reading.composing import SLOT_PRIOR
from demem_agent.types import Reading

LONG = (
    "The garden was full of bees and the old fence leaned towards the road all summer long. "
    "We painted the kitchen yellow because the blue had faded near the window by the stove. "
    "Later my sister called about the train that she had missed in the rain on the way home."
)


def scores(reading: Reading) -> dict[str, float]:
    return {line.evidence.id: line.score for line in reading.lines}


def test_the_routed_slot_is_ahead_by_no_more_than_the_prior() -> None:
    memory = SlotMemory(slots=2, initial_slots=2, near=1.0)
    memory.ingest("The boiler has a brass valve.")
    memory.ingest("The violin has a broken bow.")
    assert [slot.evidence for slot in memory.slots] == [("e1",), ("e2",)]
    own = scores(memory.read("Which bow has the violin?", slot=1))
    other = scores(memory.read("Which bow has the violin?", slot=0))
    assert round(own["e2"] - other["e2"], 4) == SLOT_PRIOR == 0.15
    assert round(other["e1"] - own["e1"], 4) == SLOT_PRIOR


def test_the_items_of_a_reading_are_given_best_first_as_well() -> None:
    memory = SlotMemory()
    memory.ingest("The garden gate is green.", at="2024-05-01")
    memory.ingest("The boiler has a brass valve.", at="2024-05-02")
    reading = memory.read("Which valve has the boiler?")
    assert [item.id for item in reading.evidence] == ["e1", "e2"]
    assert [item.id for item in reading.ranked] == ["e2", "e1"]


def test_items_of_a_strict_reading_have_one_order() -> None:
    memory = SlotMemory(mode="strict")
    for text in ("The garden gate is green.", "The boiler has a brass valve."):
        memory.ingest(text)
    reading = memory.read("Which valve has the boiler?")
    assert reading.ranked == reading.evidence
