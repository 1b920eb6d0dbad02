"""Two people in a car: what proved right for one of them is found again for him, and undone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from demem_agent import SlotMemory
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import InvalidInput, NotFound
from demem_agent.testing import BagEncoder
from demem_agent.types import Reading

SAID = (
    ("Ben", "My seat is warm, so warm."),
    ("Ben", "I like the seat heating at three."),
    ("Ana", "I like the seat heating at one."),
    ("Ana", "Please play some jazz in the morning."),
    ("Ben", "Take the motorway to the office."),
    ("Ana", "The window must stay shut in the tunnel."),
)
QUESTION = "How warm should the seat be?"
OTHER_WORDS = "My seat, how warm?"
RIGHT = "level three of the heating"
ENCODER = BagEncoder()
OPTIONS: dict[str, Any] = {
    "clock": None,
    "decisions": True,
    "slots": 1,
    "initial_slots": 1,
    "encoder": ENCODER,
    "answerer": ExtractiveAnswerer(ENCODER),
}


def car(**options: Any) -> SlotMemory:
    """Return a memory of what two people said in a car."""
    memory = SlotMemory(**OPTIONS | options)
    for speaker, text in SAID:
        memory.ingest(text, speaker=speaker)
    return memory


def decided(**options: Any) -> SlotMemory:
    """Return the same in which Ben was told what is right for him."""
    memory = car(**options)
    memory.feedback(memory.answer(QUESTION, asker="Ben"), reference=RIGHT)
    return memory


def first(reading: Reading) -> str:
    """Return the item whose line stands first."""
    return max(reading.lines, key=lambda line: line.score).evidence.id


def scored(reading: Reading) -> list[tuple[str, float]]:
    return [(line.evidence.id, line.score) for line in reading.lines]


def test_what_was_right_for_one_comes_first_for_him_again() -> None:
    assert first(car().read(QUESTION, asker="Ben")) == "e1"
    reading = decided().read(QUESTION, asker="Ben")
    assert first(reading) == "e2"
    assert reading.decisions == ("a1",)
    assert reading.recognised > 0.99


def test_it_comes_first_in_other_words() -> None:
    assert first(car().read(OTHER_WORDS, asker="Ben")) == "e1"
    reading = decided().read(OTHER_WORDS, asker="Ben")
    assert (first(reading), reading.decisions) == ("e2", ("a1",))


@pytest.mark.parametrize("asker", ["Ana", "Cleo"])
def test_it_does_not_come_first_for_others(asker: str) -> None:
    reading = decided().read(OTHER_WORDS, asker=asker)
    assert first(reading) != "e2"
    assert (reading.recognised, reading.decisions) == (0.0, ())


@pytest.mark.parametrize("question", [QUESTION, OTHER_WORDS])
@pytest.mark.parametrize("asker", ["Ana", "Cleo", None])
def test_it_is_known_again_for_nobody_else(asker: str | None, question: str) -> None:
    reading = decided().read(question, asker=asker)
    assert (reading.recognised, reading.decisions) == (0.0, ())


def test_what_was_right_for_one_gains_nothing_for_the_other() -> None:
    before = dict(scored(car().read(QUESTION, asker="Ana")))
    after = dict(scored(decided().read(QUESTION, asker="Ana")))
    assert after["e2"] <= before["e2"]


@pytest.mark.parametrize("question", [QUESTION, OTHER_WORDS])
def test_each_of_two_gets_what_was_right_for_him(question: str) -> None:
    memory = decided()
    memory.feedback(memory.answer(QUESTION, asker="Ana"), reference="level one of the heating")
    assert first(memory.read(question, asker="Ben")) == "e2"
    assert first(memory.read(question, asker="Ana")) == "e3"


def test_a_name_is_known_in_whatever_case_it_is_written() -> None:
    reading = decided().read(QUESTION, asker="BEN")
    assert reading.decisions == ("a1",)
    assert first(reading) == "e2"


def test_the_answer_rests_on_what_was_right() -> None:
    answer = decided().answer(OTHER_WORDS, asker="Ben")
    assert answer.evidence == ("e2",)
    assert answer.text == "Ben: I like the seat heating at three."


def test_a_decision_for_the_rain_is_made_in_the_rain_alone() -> None:
    memory = decided()
    wet = memory.answer(QUESTION, asker="Ben", conditions=["Rain"])
    memory.feedback(wet, reference="level one of the heating", reward=0.0)
    assert first(memory.read(OTHER_WORDS, asker="Ben")) == "e2"
    reading = memory.read(OTHER_WORDS, asker="Ben", conditions=["rain", "dark"])
    assert (first(reading), reading.decisions) == ("e3", ("a2",))


def test_a_memory_that_keeps_no_decisions_reads_as_before() -> None:
    plain, told = car(decisions=False), decided(decisions=False)
    assert told.read(OTHER_WORDS, asker="Ben") == plain.read(OTHER_WORDS, asker="Ben")


def test_a_memory_restored_reads_the_same() -> None:
    memory = decided()
    again = SlotMemory.restore(json.loads(json.dumps(memory.export())), **OPTIONS)
    for question in (QUESTION, OTHER_WORDS):
        for asker in ("Ben", "Ana", None):
            reading = again.read(question, asker=asker)
            assert reading == memory.read(question, asker=asker)
            assert scored(reading) == scored(memory.read(question, asker=asker))


def test_recognising_changes_nothing() -> None:
    memory = decided()
    before = memory.fingerprint()
    memory.read(QUESTION, asker="Ben", conditions=["rain"])
    assert memory.fingerprint() == before


# Undo


@pytest.mark.parametrize("question", [QUESTION, OTHER_WORDS])
@pytest.mark.parametrize("asker", ["Ben", "Ana", None])
@pytest.mark.parametrize(
    "told", [{"reference": RIGHT}, {"thumbs": False}, {"reward": 1.0, "reference": RIGHT}]
)
def test_undo_of_an_answer_gives_the_reading_before(
    told: dict[str, Any], asker: str | None, question: str
) -> None:
    memory = car()
    before = memory.read(question, asker=asker)
    memory.feedback(memory.answer(QUESTION, asker="Ben"), **told)
    memory.undo("a1")
    memory.check()
    after = memory.read(question, asker=asker)
    assert after == before
    assert scored(after) == scored(before)


def test_undo_leaves_the_rewards_on_record() -> None:
    memory = decided()
    before = memory.contexts()[0]
    memory.undo("a1")
    after = memory.contexts()[0]
    assert before.verdicts
    assert after.verdicts == ()
    assert (after.rewards, after.told) == (before.rewards, before.told)


def test_an_answer_is_not_undone_twice() -> None:
    memory = decided()
    memory.undo("a1")
    with pytest.raises(InvalidInput) as caught:
        memory.undo("a1")
    assert caught.value.field == "id"


def test_an_answer_of_which_nothing_was_told_is_not_undone() -> None:
    memory = car()
    memory.answer(QUESTION, asker="Ben")
    with pytest.raises(InvalidInput):
        memory.undo("a1")
    with pytest.raises(NotFound):
        memory.undo("a2")


def test_what_was_undone_can_be_told_again() -> None:
    memory = decided()
    memory.undo("a1")
    memory.feedback("a1", reference=RIGHT)
    assert first(memory.read(OTHER_WORDS, asker="Ben")) == "e2"


# Forgetting


def test_no_verdict_of_a_forgotten_line_is_left() -> None:
    memory = decided()
    memory.forget("e2")
    memory.check()
    assert memory.contexts()[0].verdicts == ()
    reading = memory.read(OTHER_WORDS, asker="Ben")
    assert (reading.recognised, reading.decisions) == (0.0, ())


def test_a_verdict_on_another_line_outlives_what_is_forgotten() -> None:
    memory = decided()
    memory.forget("e5")
    memory.check()
    assert first(memory.read(OTHER_WORDS, asker="Ben")) == "e2"


def test_a_context_whose_question_is_forgotten_is_not_known() -> None:
    memory = car()
    question = f"How warm should the seat be? {SAID[5][1]}"
    memory.feedback(memory.answer(question, asker="Ben"), reference=RIGHT)
    assert memory.read(question, asker="Ben").decisions == ("a1",)
    memory.forget("e6")
    memory.check()
    assert memory.contexts()[0].query == ""
    assert memory.read(question, asker="Ben").decisions == ()
    assert "tunnel" not in json.dumps(memory.export())


def test_a_condition_that_quotes_what_is_forgotten_goes_with_what_was_decided_for_it() -> None:
    memory = car()
    conditions = ["The window must stay shut in the tunnel", "rain"]
    answer = memory.answer(QUESTION, asker="Ben", conditions=conditions)
    memory.feedback(answer, reference=RIGHT)
    memory.forget("e6")
    memory.check()
    context = memory.contexts()[0]
    assert (context.conditions, context.verdicts) == (("rain",), ())
    assert "tunnel" not in json.dumps(memory.export()).casefold()
