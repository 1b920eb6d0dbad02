"""Nothing is read for a message on which nothing remembered bears, where that is asked for."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput
from demem_agent.scoring.gate import default_gate

TALK = [
    ("user", "hi, I moved to Leeds in March, flat 4 on Mill Lane"),
    ("assistant", "Congratulations on the move! How is the new flat?"),
    ("user", "good, but the boiler is loud. My landlord is called Oskar Brandt."),
    ("assistant", "You could ask him to have the pump checked."),
    ("user", "my sister Nadia is allergic to walnuts, so no walnut cake on her birthday"),
    ("assistant", "Noted. A lemon cake would do."),
    ("user", "the locker code at the gym is 4471"),
    ("assistant", "Got it."),
]
IDLE = ["Thanks!", "ok", "lol", "Write a haiku about rain.", "good morning", "👍"]
ASKED = [
    ("What is the locker code at the gym?", "4471"),
    ("Which nuts is Nadia allergic to?", "walnuts"),
    ("what's my landlord called", "Oskar Brandt"),
]


def chat() -> SlotMemory:
    memory = SlotMemory(clock=None)
    for speaker, text in TALK:
        memory.ingest(text, speaker=speaker, session="s1")
    return memory


@pytest.mark.parametrize("message", IDLE)
def test_small_talk_gets_an_empty_reading_that_says_so(message: str) -> None:
    reading = chat().read(message, gate=True)
    assert (reading.text, reading.size, reading.lines) == ("", 0, ())
    assert reading.gated is not None
    assert reading.gated < default_gate().threshold


@pytest.mark.parametrize(("question", "told"), ASKED)
def test_a_question_that_memory_answers_is_read_for(question: str, told: str) -> None:
    gated = chat().read(question, gate=True)
    assert told in gated.text
    assert gated == chat().read(question)
    assert gated.gated is None


@pytest.mark.parametrize("message", IDLE)
def test_without_it_the_limit_is_filled(message: str) -> None:
    reading = chat().read(message)
    assert reading.gated is None
    assert reading == chat().read(message, gate=False)


def test_what_was_decided_before_is_read_all_the_same() -> None:
    memory = chat()
    answer = memory.answer("Thanks!", gate=False)
    memory.feedback(answer, correction="the locker code at the gym is 4471")
    reading = memory.read("Thanks!", gate=True)
    assert reading.settled
    assert "4471" in reading.text


def test_a_strict_reading_is_a_summary_whatever_is_asked() -> None:
    memory = chat()
    assert memory.read("Thanks!", gate=True, mode="strict") == memory.read("Thanks!", mode="strict")


def test_an_answer_can_be_gated_as_well() -> None:
    assert chat().answer("Thanks!", gate=True).reading.text == ""


@pytest.mark.parametrize("gate", [1, "yes", None])
def test_anything_but_true_and_false_is_refused(gate: object) -> None:
    with pytest.raises(InvalidInput, match="gate"):
        chat().read("Thanks!", gate=gate)  # type: ignore[arg-type]
