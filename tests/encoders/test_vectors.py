"""A query whose vector is known already is read and routed by it."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.encoders import default_encoder
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder

SAID = (
    "My boiler has a brass valve.",
    "Ines plays the cello.",
    "We fly to Lisbon in May.",
    "The cat is called Rex.",
)


def remembering(encoder: Any = None) -> SlotMemory:
    memory = SlotMemory(encoder=encoder or BagEncoder())
    memory.ingest_many([{"text": text} for text in SAID])
    return memory


class Counting(BagEncoder):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def encode(self, sentences: list[str], /) -> Any:
        self.calls += 1
        return super().encode(sentences)


@given(st.sampled_from(SAID), st.floats(0.01, 100.0))
def test_the_encoders_own_vector_of_any_length_reads_as_the_query_alone(
    query: str, length: float
) -> None:
    memory = remembering()
    vector = length * BagEncoder().encode([query])[0]
    assert memory.read(query, vector=vector) == memory.read(query)
    assert memory.route(query, vector=vector) == memory.route(query)


def test_a_query_with_its_vector_is_not_encoded() -> None:
    encoder = Counting()
    memory = remembering(encoder)
    vector = BagEncoder().encode(["Which valve?"])[0].tolist()
    encoder.calls = 0
    memory.read("Which valve?", vector=vector)
    memory.route("Which valve?", vector=vector)
    assert encoder.calls == 0


@pytest.mark.parametrize("text", SAID)
def test_a_vector_without_its_query_finds_by_meaning_alone(text: str) -> None:
    memory = SlotMemory()
    memory.ingest_many([{"text": said, "session": said} for said in SAID])
    vector = default_encoder().encode([text])[0]
    best = max(memory.read("", vector=vector).lines, key=lambda line: line.score)
    assert best.text == text


def test_the_async_memory_takes_vectors_too() -> None:
    async def run() -> str:
        memory = AsyncSlotMemory(encoder=BagEncoder())
        await memory.ingest(SAID[0])
        vector = BagEncoder().encode(["valve"])[0]
        assert (await memory.route("", vector=vector)).slot == 0
        return (await memory.read("", vector=vector)).text

    assert SAID[0] in asyncio.run(run())


def test_an_empty_memory_gives_an_empty_reading_for_any_vector() -> None:
    memory = SlotMemory(encoder=BagEncoder())
    assert memory.read("", vector=[1.0, 2.0]).text == ""
    assert memory.route("", vector=[1.0, 2.0]).slot is None


@pytest.mark.parametrize(
    "vector",
    [[], [0.0, 0.0], [1.0], [[1.0, 2.0], [1.0, 2.0]], [np.nan] * 64, "words", [None], 3.0],
    ids=["empty", "zeros", "short", "two", "nan", "text", "none", "number"],
)
def test_a_vector_that_is_none_of_the_memorys_is_refused(vector: Any) -> None:
    memory = remembering()
    for ask in (memory.read, memory.route):
        with pytest.raises(InvalidInput, match="vector"):
            ask("Which valve?", vector=vector)  # type: ignore[operator]


def test_a_blank_query_is_refused_without_a_vector() -> None:
    with pytest.raises(InvalidInput, match="query"):
        remembering().read(" ")
