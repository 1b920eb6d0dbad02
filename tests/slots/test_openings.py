"""The text of a slot opens with what was decided in it: what it says, and when it says nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.reading.packing import strip_rendered

SEAT = "I want the seat heating at level 3."
SAID = (SEAT, "We stop for coffee at the old mill.", "My sister has moved to a town by the sea.")
QUESTION = "Set the seat heating as I like it."


def memory_of(**options: Any) -> SlotMemory:
    given: dict[str, Any] = {"decisions": True, "slots": 1, "initial_slots": 1, **options}
    memory = SlotMemory(**given)
    for text in SAID:
        memory.ingest(text, speaker="Ann")
    return memory


def decided(memory: SlotMemory, times: int = 1, query: str = QUESTION, **who: Any) -> str:
    """Tell what is right so often; return the text of the slot."""
    for _ in range(times):
        memory.feedback(memory.answer(query, **{"asker": "Ann", **who}), reference=SEAT)
    memory.check()
    return memory.slots[0].summary


def test_it_opens_with_who_asked_what_and_what_is_right() -> None:
    first = decided(memory_of()).splitlines()[0]
    assert first == f"- decided for Ann, set seat heating like: Ann: {SEAT} (right once)"


def test_it_says_how_often_it_proved_so() -> None:
    assert "(right 3 times)" in decided(memory_of(), times=3)


def test_it_says_under_which_conditions() -> None:
    assert "for Ann, when dark, rain, " in decided(memory_of(), conditions=["Rain", "dark"])


def test_what_it_opens_with_is_not_said_twice() -> None:
    text = decided(memory_of())
    assert text.count(SEAT) == 1
    assert all(said in text for said in SAID)


def test_it_is_the_excerpts_alone_where_nothing_was_decided() -> None:
    assert "decided" not in memory_of().slots[0].summary
    assert "decided" not in decided(memory_of(decisions=False))


def test_a_strict_reading_begins_with_it_and_names_what_it_quotes() -> None:
    memory = memory_of()
    decided(memory)
    reading = memory.read("coffee", mode="strict")
    assert reading.text.splitlines()[1].startswith("- decided for Ann")
    assert reading.lines[0].text == SEAT
    assert {item.text for item in reading.evidence} == set(SAID)


def test_it_is_not_remembered_when_it_comes_back() -> None:
    memory = memory_of()
    decided(memory)
    assert strip_rendered(memory.read("coffee", mode="strict").text) == ""


def test_forgetting_what_is_right_takes_it_out() -> None:
    memory = memory_of()
    decided(memory)
    memory.forget("e1")
    memory.check()
    assert "decided" not in memory.slots[0].summary
    assert "heating" not in memory.slots[0].summary


def test_taking_back_what_was_told_takes_it_out() -> None:
    memory = memory_of()
    before = memory.slots[0].summary
    decided(memory)
    memory.undo("a1")
    assert sorted(memory.slots[0].summary.splitlines()) == sorted(before.splitlines())


def test_it_has_a_quarter_of_the_limit_at_most() -> None:
    memory = memory_of(slot_limit=800)
    for n in range(12):
        text = f"I want the fan number {n} at level {n + 1} please."
        memory.ingest(text)
        memory.feedback(memory.answer(f"Set fan number {n}.", asker="Ann"), reference=text)
    memory.check()
    first = [line for line in memory.slots[0].summary.splitlines() if "decided" in line]
    assert 0 < len("\n".join(first)) <= 200


def test_it_is_left_out_where_one_line_has_more_than_its_share() -> None:
    assert "decided" not in decided(memory_of(slot_limit=80))


def test_what_a_slot_holds_is_decided_there_alone() -> None:
    memory = memory_of(slots=3, initial_slots=3, near=1.0)
    decided(memory)
    opening = [slot for slot in memory.slots if "decided" in slot.summary]
    assert all("e1" in slot.evidence for slot in opening)


def test_a_reopened_memory_says_the_same() -> None:
    memory = memory_of()
    decided(memory, times=2)
    assert SlotMemory.restore(memory.export()).slots == memory.slots


@settings(deadline=None, max_examples=often(20))
@given(
    limit=st.integers(40, 900),
    unit=st.sampled_from(("chars", "bytes")),
    query=st.text(min_size=1).filter(str.strip),
    asker=st.none() | st.text(min_size=1, max_size=60).filter(str.strip),
)
def test_no_text_of_a_slot_is_ever_over_the_limit(
    limit: int, unit: Any, query: str, asker: str | None
) -> None:
    memory = memory_of(slot_limit=limit, unit=unit)
    decided(memory, query=query, asker=asker)
    (slot,) = memory.slots
    assert slot.size <= limit
    for line in slot.summary.splitlines():
        assert line.startswith(("- ", "  "))


@pytest.mark.parametrize("limit", [60, 90, 200])
def test_a_strict_reading_with_a_limit_of_its_own_keeps_to_it(limit: int) -> None:
    memory = memory_of()
    decided(memory)
    assert memory.read(QUESTION, mode="strict", limit=limit).size <= limit
