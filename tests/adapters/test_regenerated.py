"""An answer that is made anew takes the place of the one before it; one that comes after it does
not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import openai
import pytest
from adapter_contract import ASKED, texts

from demem_adapters.common import Memories
from demem_adapters.openai import wrap
from demem_agent.testing import BagEncoder, Provider


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
    assert texts(memories) == [ASKED, "Answer 2."]


def test_an_answer_that_goes_on_after_another_takes_no_place(
    provider: Provider, memories: Memories
) -> None:
    asked(provider, memories)
    asked(provider, memories, {"role": "assistant", "content": "Answer 1."})
    assert texts(memories) == [ASKED, "Answer 1.", "Answer 2."]
