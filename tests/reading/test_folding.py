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


def test_greetings_fillers_and_typos_make_no_difference() -> None:
    memory = told(
        ("Ana", "Hey! I am allergic to plants.", 2),
        ("Ana", "I'm allergic to the plants, ok!", 3),
        ("Ana", "im alergic to plants", 5),
    )
    (line,) = memory.read("Who is allergic to plants?").lines
    assert {line.evidence.id, *(item.id for item in line.again)} == {"e1", "e2", "e3"}
    assert "[said 3 times" in memory.read("plants").text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I take 5 mg for the plants.", "I take 50 mg for the plants."),
        ("Ben waters the plants.", "Eve waters the plants."),
        ("I water the plants.", "I do not water the plants."),
    ],
)
def test_updates_are_not_folded(one: str, other: str) -> None:
    memory = told(("Ana", one, 2), ("Ana", other, 3))
    assert len(memory.read("plants").lines) == 2


@pytest.mark.parametrize(
    ("speaker", "text"),
    [("Ben", "I watered the plants."), ("Ana", "I watered the plants and left.")],
)
def test_others_and_other_words_stand_for_themselves(speaker: str, text: str) -> None:
    memory = told(("Ana", "I watered the plants.", 2), (speaker, text, 2))
    assert len(memory.read("plants").lines) == 2


def test_what_is_taken_back_is_not_what_stands() -> None:
    memory = SlotMemory()
    long = "The plants on the balcony and the ones in the kitchen are all fine again. " * 5
    memory.ingest(f"{long}I love the plants. Not any more.", speaker="Ana")
    memory.ingest("I love the plants.", speaker="Ana")
    assert all(not line.again for line in memory.read("love plants").lines)


def test_a_typo_is_counted_until_it_is_forgotten() -> None:
    memory = told(("Ana", "I am allergic to plants.", 2), ("Ana", "I am alergic to plants.", 5))
    (line,) = memory.read("plants").lines
    memory.forget(line.again[0].id)
    assert [one.again for one in memory.read("plants").lines] == [()]
    memory.check()


def test_a_word_that_the_memory_has_often_is_one() -> None:
    memory = told(
        ("Ana", "My prednisone lies by the plants.", 2),
        ("Ana", "my predisone lies by the plants", 3),
    )
    assert len(memory.read("plants").lines) == 2
    for day in (4, 5):
        memory.ingest(f"Day {day} of prednisone.", speaker="Ana", at=datetime(2024, 3, day))
    (line,) = (one for one in memory.read("plants").lines if "plants" in one.text)
    assert len(line.again) == 1


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


def test_in_bounded_storage_only_what_is_remembered_is_counted() -> None:
    memory = SlotMemory(storage=1500, slots=2)
    for n in range(40):
        opening = ("Hey, please", "Please", "oh,")[n % 3]
        memory.ingest(f"{opening} water the plants!", speaker="Ana", session=f"s{n // 4}")
        memory.ingest(f"On day {n} I wrote {n} pages about plants.", speaker="Ana")
    memory.check()
    remembered = {item.id for item in memory.evidence()}
    (line,) = (one for one in memory.read("water the plants").lines if "water" in one.text)
    said = {item.id for item in memory.evidence() if "water" in item.text}
    assert {line.evidence.id, *(item.id for item in line.again)} == said <= remembered
    assert len(said) < 40


def test_an_answer_from_a_folded_line_is_explained_and_learnt_from() -> None:
    memory = told(("Ana", PLEASE, 2), ("Ana", "hey, please water the plants", 5))
    answer = memory.answer("What should be watered?")
    memory.feedback(answer, reference="the plants")
    assert [one.read for one in memory.contexts() if one.id == answer.id] != [()]
    (line,) = memory.read("What should be watered?").lines
    assert len(line.again) == 1
    memory.forget(line.evidence.id)
    (rest,) = memory.read("What should be watered?").lines
    assert rest.again == ()
    memory.check()
