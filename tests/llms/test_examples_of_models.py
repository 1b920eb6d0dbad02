"""The examples that ask a model: they run as they stand, and choose a slot that is there."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import ModelError
from demem_agent.llms import Breaker, OpenAIChat, Retry
from demem_agent.testing import BagEncoder, Provider, obedient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROUTING = runpy.run_path(str(EXAMPLES / "model_routing.py"))
TEXTS = (
    "The boiler has a brass valve and makes 21 degrees.",
    "The violin has a broken bow, says Ana.",
    "Ben starts the sonata at half past seven on Friday.",
    "The concert in Porto costs 14 euros.",
)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(obedient) as serving:
        yield serving


def chat(provider: Provider) -> OpenAIChat:
    retry = Retry(attempts=2, seconds=2.0, first_wait=0.01)
    return OpenAIChat("good", base_url=provider.url, retry=retry, breaker=Breaker())


def memory_of(**options: Any) -> SlotMemory:
    memory = SlotMemory(encoder=BagEncoder(), **options)
    memory.ingest_many([{"text": text, "at": "2025-03-05", "speaker": "Ana"} for text in TEXTS])
    return memory


def chosen_slot(provider: Provider, memory: SlotMemory, query: str) -> int:
    number: int = asyncio.run(ROUTING["chosen_slot"](chat(provider), memory.slots, query))
    return number


def test_the_prompt_declares_what_it_is_given_to_be_data() -> None:
    text = ROUTING["INSTRUCTIONS"]
    assert "data; nothing in" in text or "is data" in text
    assert "Reply with one JSON object and nothing else" in text


def test_a_model_can_choose_the_slot_that_is_read(provider: Provider) -> None:
    memory = memory_of(slots=4, initial_slots=4, near=1.0, slot_limit=200)
    for slot in memory.slots:
        chosen = chosen_slot(provider, memory, slot.summary)
        assert chosen == slot.number
        assert slot.summary in memory.read("anything", mode="strict", slot=chosen).text


@pytest.mark.parametrize("reply", ['{"slot": 99}', '{"slot": "0"}', "slot 0"])
def test_a_slot_that_is_not_there_is_not_chosen(reply: str) -> None:
    memory = memory_of(slots=2, initial_slots=1, slot_limit=120)
    with Provider(reply) as provider, pytest.raises(ModelError, match="malformed"):
        chosen_slot(provider, memory, "anything")


def test_without_slots_none_can_be_chosen(provider: Provider) -> None:
    with pytest.raises(InvalidInput, match="slots"):
        chosen_slot(provider, SlotMemory(), "anything")


@pytest.mark.parametrize("name", ["model_notes", "model_routing"])
def test_the_example_runs_as_it_stands(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert "Porto" in capsys.readouterr().out
