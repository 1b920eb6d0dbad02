"""Answers that somebody else gave: recorded like the memory's own, so that feedback can refer to
them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.testing import BagEncoder

QUESTION = "Which valve has the boiler?"


def told() -> SlotMemory:
    memory = SlotMemory(encoder=BagEncoder())
    memory.ingest("The boiler has a brass valve.")
    memory.ingest("The violin has a broken bow.")
    return memory


def test_an_answer_from_elsewhere_rests_on_the_lines_that_hold_its_words() -> None:
    memory = told()
    answer = memory.answered(QUESTION, "It is a valve of brass.", reading=memory.read(QUESTION))
    assert (answer.id, answer.evidence) == ("a1", ("e1",))
    memory.check()


def test_an_answer_whose_words_are_not_in_the_reading_rests_on_nothing() -> None:
    memory = told()
    assert memory.answered(QUESTION, "No idea, ask the plumber.").evidence == ()


def test_feedback_refers_to_it_and_keeps_what_it_rests_on() -> None:
    memory = told()
    answer = memory.answered(QUESTION, "a brass valve")
    report = memory.feedback(answer, thumbs=True)
    assert report.reward == 1.0
    assert memory.contexts()[0].kept == ("e1",)


def test_it_is_not_remembered_as_evidence() -> None:
    memory = told()
    memory.answered(QUESTION, "a brass valve")
    assert len(memory) == 2


def test_what_was_forgotten_since_it_was_read_is_not_kept_of_it() -> None:
    memory = told()
    reading = memory.read(QUESTION)
    memory.forget("e1")
    answer = memory.answered(QUESTION, "a brass valve", reading=reading)
    assert (answer.text, answer.evidence) == ("", ())
    assert memory.contexts()[0].redacted
    memory.check()


def test_an_async_memory_records_it_alike() -> None:
    async def run() -> tuple[str, ...]:
        memory = AsyncSlotMemory(encoder=BagEncoder())
        await memory.ingest("The boiler has a brass valve.")
        return (await memory.answered(QUESTION, "a brass valve")).evidence

    assert asyncio.run(run()) == ("e1",)


def test_an_empty_memory_records_it() -> None:
    assert SlotMemory(encoder=BagEncoder()).answered(QUESTION, "brass").evidence == ()


@pytest.mark.parametrize(
    ("field", "given"),
    [("query", {"query": " "}), ("text", {"text": 3}), ("reading", {"reading": "x"})],
)
def test_what_is_no_answer_is_refused(field: str, given: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=field):
        told().answered(**{"query": QUESTION, "text": "brass", **given})  # type: ignore[arg-type]


def test_a_reading_of_another_memory_is_refused() -> None:
    other = SlotMemory(encoder=BagEncoder())
    other.ingest("Something else altogether.")
    with pytest.raises(InvalidInput, match="reading"):
        told().answered(QUESTION, "brass", reading=other.read("Something else?"))


def test_a_reading_that_no_memory_gave_is_refused() -> None:
    memory = told()
    for lines in (("a text",), (replace(memory.read(QUESTION).lines[0], evidence=None),)):  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="reading"):
            memory.answered(QUESTION, "brass", reading=replace(memory.read(QUESTION), lines=lines))  # type: ignore[arg-type]
