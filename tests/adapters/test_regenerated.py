"""An answer that is made anew takes the place of the one before it; one that comes after it does
not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import openai
import pytest
from adapter_contract import ASKED, holds, texts

from demem_adapters.common import Memories, Spoken
from demem_adapters.openai import wrap
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder, Provider

BRASS, STEEL = "It is of brass.", "It is of steel."


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


@pytest.fixture
def provider() -> Iterator[Provider]:
    numbers = count(1)
    with Provider(lambda _: f"Answer {next(numbers)}.") as serving:
        yield serving


def asked(provider: Provider, memories: Memories, *after: dict[str, Any]) -> None:
    about: Any = {"base_url": provider.url, "api_key": "unused", "max_retries": 0}
    with openai.OpenAI(**about) as client:
        wrapped: Any = wrap(client, memories, namespace="ana")
        before = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello!"}]
        messages = [*before, {"role": "user", "content": ASKED}, *after]
        wrapped.chat.completions.create(model="good", messages=messages)


def test_the_same_call_again_is_an_answer_made_anew(provider: Provider, memories: Memories) -> None:
    asked(provider, memories)
    asked(provider, memories)
    assert holds(memories) == [ASKED, "Answer 2."]
    assert texts(memories) == [ASKED, "Answer 1.", "Answer 2."]  # nothing is erased


def test_an_answer_that_goes_on_after_another_takes_no_place(
    provider: Provider, memories: Memories
) -> None:
    asked(provider, memories)
    asked(provider, memories, {"role": "assistant", "content": "Answer 1."})
    assert holds(memories) == [ASKED, "Answer 1.", "Answer 2."]


# What becomes of the answers


def told(memories: Memories, said: str, *, asked: str = ASKED, **more: Any) -> None:
    before = [Spoken(True, "Hello."), Spoken(False, "Hello!")]
    heard = memories.heard("ana", [asked], before=before)
    memories.converse("ana", asked, said, key=heard, **more)


def test_a_reading_says_until_when_the_first_answer_held(memories: Memories) -> None:
    for said in (BRASS, STEEL):
        told(memories, said)
    reading = memories.recall("ana", "What is it made of, steel or brass?", limit=200)
    assert reading is not None
    told_of = [line for line in reading.text.splitlines() if "It is of" in line]
    assert [line.startswith("- [until ") for line in told_of] == [True, False]


def test_an_answer_made_anew_that_goes_on_in_another_process_takes_the_place_of_the_first() -> None:
    store = MemoryStore()
    here, there = (Memories(store, encoder=BagEncoder()) for _ in range(2))
    here.converse("ana", ASKED, BRASS, key=here.heard("ana", [ASKED]))
    here.heard("ana", [ASKED])  # made anew: the model calls a tool, and its result comes elsewhere
    there.converse("ana", ASKED, STEEL, key=there.heard("ana", [ASKED], goes_on=True))
    assert holds(there) == [ASKED, STEEL]


def test_an_answer_that_comes_again_after_another_holds_again(memories: Memories) -> None:
    for said in (BRASS, STEEL, BRASS, BRASS):
        told(memories, said)
    assert holds(memories) == [ASKED, BRASS]
    assert texts(memories) == [ASKED, BRASS, STEEL, BRASS]


def test_each_answer_can_be_told_how_it_did_after_a_restart(tmp_path: Path) -> None:
    about: Any = {"encoder": BagEncoder()}
    with Memories(f"sqlite:///{tmp_path}/bot.db", **about) as memories:
        told(memories, BRASS, call="r1")
        told(memories, STEEL, call="r2")
    with Memories(f"sqlite:///{tmp_path}/bot.db", **about) as memories:
        assert memories.feedback("r1", namespace="ana", thumbs=False).reward == 0.0
        assert memories.feedback("r2", namespace="ana", thumbs=True).reward == 1.0


def test_what_is_forgotten_goes_with_all_answers_to_it(memories: Memories) -> None:
    for said in ("The valve is of brass.", "The valve is of steel."):
        told(memories, said, asked="Which valve has my boiler?")
    memories.forget("ana", memories.of("ana").evidence()[0].id)
    assert texts(memories) == []
