"""What only touches on what is asked makes no answer known, and what tells it does."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import SlotMemory

SAID = [
    "Sofia has a boat, Gaivota, moored at the marina",
    "one day I'll have my own boat...",
    "how high is the credit card limit usually?",
    "Paulo got a new credit card with Millennium",
    "my sister Joana teaches chemistry in Aveiro",
    "my dog is called Bolt",
    "the car is a grey Clio",
    "Carla is the new manager",
    "mum's birthday is 2 October",
]


@pytest.fixture(scope="module")
def memory() -> SlotMemory:
    return spoken(*SAID)


@pytest.mark.parametrize(
    "query",
    [
        "What is my boat called?",
        "Where is my boat moored?",
        "What is my credit card limit?",
        "When is my birthday?",
    ],
)
def test_what_is_told_of_another_only_is_not_known(memory: SlotMemory, query: str) -> None:
    assert not memory.answer(query).known


@pytest.mark.parametrize(
    "query",
    [
        "What is Sofia's boat called?",
        "What is my dog called?",
        "What does Joana teach?",
        "Who is my manager?",
        "When is mum's birthday?",
    ],
)
def test_what_is_told_stays_known(memory: SlotMemory, query: str) -> None:
    assert memory.answer(query).known
