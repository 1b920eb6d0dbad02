"""What was said several times stands once in a reading, with how often it was said."""

from __future__ import annotations

from datetime import datetime

import pytest

from demem_agent import SlotMemory

PLEASE = "Please water the plants!"
YESTERDAY = ("Ana", "I watered the plants yesterday.")


def told(*turns: tuple[str, str, int]) -> SlotMemory:
    memory = SlotMemory()
    for speaker, text, day in turns:
        memory.ingest(text, speaker=speaker, at=datetime(2024, 3, day))
    return memory


def body(memory: SlotMemory, query: str = "plants") -> list[str]:
    return memory.read(query).text.splitlines()[1:-1]


def test_what_was_said_several_times_stands_once() -> None:
    memory = told(*(("Ana", PLEASE, day) for day in (2, 5, 9)))
    lines = body(memory)
    assert lines[1:] == ["- [said 3 times, last on 9 March 2024] Ana: Please water the plants!"]
    (line,) = memory.read("plants").lines
    assert {line.evidence.id, *(item.id for item in line.again)} == {"e1", "e2", "e3"}


def test_case_and_punctuation_make_no_difference() -> None:
    memory = told(("Ana", "Water the plants", 2), ("Ana", "water  the plants!!", 2))
    assert body(memory) == ["# 2 March 2024", "- [said 2 times] Ana: Water the plants"]


@pytest.mark.parametrize(
    ("speaker", "text"),
    [("Ben", "I watered the plants."), ("Ana", "I watered the plants and left.")],
)
def test_others_and_other_words_stand_for_themselves(speaker: str, text: str) -> None:
    memory = told(("Ana", "I watered the plants.", 2), (speaker, text, 2))
    assert len(memory.read("plants").lines) == 2


def test_the_same_words_that_mean_another_day_are_not_the_same() -> None:
    memory = told((*YESTERDAY, 2), (*YESTERDAY, 9))
    assert len(memory.read("plants").lines) == 2


def test_what_was_forgotten_is_not_counted() -> None:
    memory = told(*(("Ana", PLEASE, day) for day in (2, 5, 9)))
    memory.forget("e3")
    assert "[said 2 times, last on 5 March 2024]" in memory.read("plants").text
    memory.forget("e2")
    assert body(memory) == ["# 2 March 2024", "- Ana: Please water the plants!"]


def test_what_no_longer_holds_is_not_folded_into_what_holds_again() -> None:
    porto = ("Ana", "I live in Porto.")
    memory = told((*porto, 2), ("Ana", "I live in Faro.", 5), (*porto, 9))
    memory.supersede("e1", "e2")
    text = memory.read("Where does Ana live?").text
    assert text.count("I live in Porto.") == 2


def test_a_line_that_is_left_out_leaves_its_place_to_one_that_says_the_same() -> None:
    memory = told(*(("Ana", PLEASE, day) for day in (2, 5)))
    (line,) = memory.read("plants", without=["e1"]).lines
    assert (line.evidence.id, line.again) == ("e2", ())
