"""An answer that is made anew takes the place of the one before it; one that comes after it does
not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import openai
import pytest
from adapter_contract import ASKED, VALVE, texts

from demem_adapters.common import Memories
from demem_adapters.openai import wrap
from demem_agent.testing import BagEncoder, Provider

FIRST, SECOND, THIRD = "It is of brass.", "It is of steel.", "It is of copper."


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def told(memories: Memories, said: str, *, asked: str = ASKED, key: str = "k", **more: Any) -> None:
    memories.converse("ana", asked, said, key=key, **{"instead": True, **more})


def holding(memories: Memories) -> list[str]:
    """Return what holds in a memory."""
    memory = memories.of("ana")
    return [
        item.text
        for item in memory.evidence()
        if memory.history(item.id)[-1].evidence.id == item.id
    ]


def test_the_last_answer_to_the_same_turn_holds(memories: Memories) -> None:
    for said in (FIRST, SECOND, THIRD):
        told(memories, said)
    assert holding(memories) == [ASKED, THIRD]
    assert texts(memories) == [ASKED, FIRST, SECOND, THIRD]


def test_a_reading_says_that_the_first_answer_holds_no_longer(memories: Memories) -> None:
    for said in (FIRST, SECOND):
        told(memories, said)
    reading = memories.recall("ana", "What is it made of, steel or brass?", limit=200)
    assert reading is not None
    told_of = [line for line in reading.text.splitlines() if "It is of" in line]
    assert [line.startswith("- [until ") for line in told_of] == [True, False]


def test_an_answer_that_comes_again_after_another_holds_again(memories: Memories) -> None:
    for said in (FIRST, SECOND, FIRST):
        told(memories, said)
    assert holding(memories) == [ASKED, FIRST]


def test_the_same_answer_again_changes_nothing(memories: Memories) -> None:
    for _ in range(2):
        told(memories, FIRST)
    assert texts(memories) == [ASKED, FIRST]


@pytest.mark.parametrize(
    "more",
    [{"instead": False}, {"session": "other", "key": "l"}, {"key": "l", "asked": VALVE}],
    ids=str,
)
def test_what_is_no_answer_to_the_same_turn_takes_no_place(
    memories: Memories, more: dict[str, Any]
) -> None:
    told(memories, FIRST)
    told(memories, SECOND, **more)
    assert {FIRST, SECOND} <= {*holding(memories)}


def test_the_same_words_later_in_the_conversation_are_another_turn(memories: Memories) -> None:
    told(memories, FIRST)
    told(memories, "Noted.", asked=VALVE, key="l")
    told(memories, SECOND, key="m")
    assert holding(memories) == [ASKED, FIRST, VALVE, "Noted.", ASKED, SECOND]


def test_feedback_on_both_answers_is_possible_after_a_restart(tmp_path: Any) -> None:
    about: Any = {"encoder": BagEncoder()}
    with Memories(f"sqlite:///{tmp_path}/bot.db", **about) as memories:
        told(memories, FIRST, call="r1")
        told(memories, SECOND, call="r2")
    with Memories(f"sqlite:///{tmp_path}/bot.db", **about) as memories:
        assert memories.feedback("r1", namespace="ana", thumbs=False).reward == 0.0
        assert memories.feedback("r2", namespace="ana", thumbs=True).reward == 1.0


# Over the client


@pytest.fixture
def provider() -> Iterator[Provider]:
    numbers = count(1)
    with Provider(lambda _: f"Answer {next(numbers)}.") as serving:
        yield serving


def asked(provider: Provider, memories: Memories, *after: dict[str, Any]) -> None:
    about: Any = {"base_url": provider.url, "api_key": "unused", "max_retries": 0}
    with openai.OpenAI(**about) as client:
        wrapped: Any = wrap(client, memories, namespace="ana")
        messages = [{"role": "user", "content": ASKED}, *after]
        wrapped.chat.completions.create(model="good", messages=messages)


def test_the_same_call_again_is_an_answer_made_anew(provider: Provider, memories: Memories) -> None:
    asked(provider, memories)
    asked(provider, memories)
    assert holding(memories) == [ASKED, "Answer 2."]


def test_an_answer_that_goes_on_after_another_takes_no_place(
    provider: Provider, memories: Memories
) -> None:
    asked(provider, memories)
    asked(provider, memories, {"role": "assistant", "content": "Answer 1."})
    assert holding(memories) == [ASKED, "Answer 1.", "Answer 2."]
