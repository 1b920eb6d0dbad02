"""Whole questions for an encoder with ``encode_query``; for any other what they are about."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import CollaboratorError
from demem_agent.testing import Async, BagEncoder, Failing, Slow
from demem_agent.text.language.words import clean

SAID = ("My boiler has a brass valve.", "Ines plays the cello.", "We fly to Lisbon in May.")
ASKED = "Can you tell me what kind of valve the boiler has, please?"


class Two(BagEncoder):
    """An encoder of two methods, which notes what each was given."""

    def __init__(self, dimensions: int = 64, of_queries: int | None = None) -> None:
        super().__init__(dimensions)
        self.said: list[str] = []
        self.asked: list[str] = []
        self._queries = BagEncoder(of_queries or dimensions)

    def encode(self, sentences: list[str], /) -> Any:
        self.said += sentences
        return super().encode(sentences)

    def encode_query(self, sentences: list[str], /) -> Any:
        self.asked += sentences
        return self._queries.encode(sentences)


class Overheard(BagEncoder):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def encode(self, sentences: list[str], /) -> Any:
        self.said += sentences
        return super().encode(sentences)


def remembering(encoder: Any) -> SlotMemory:
    memory = SlotMemory(encoder=encoder, clock=None)
    memory.ingest_many([{"text": text} for text in SAID])
    return memory


def test_it_is_given_the_whole_question_and_encode_what_was_said() -> None:
    encoder = Two()
    memory = remembering(encoder)
    memory.read(ASKED)
    memory.route(ASKED)
    assert encoder.asked == [ASKED, ASKED]
    assert encoder.said == list(SAID)


@settings(deadline=None, max_examples=often(30))
@given(st.text(min_size=1).filter(str.strip))
def test_any_question_comes_whole(question: str) -> None:
    encoder = Two()
    remembering(encoder).read(question)
    assert encoder.asked == [clean(question)]


def test_without_it_encode_is_given_what_the_question_is_about() -> None:
    encoder = Overheard()
    memory = remembering(encoder)
    memory.read(ASKED)
    assert encoder.said[len(SAID) :] == ["Can you me what of valve the boiler has"]


def test_an_encode_query_that_is_no_method_is_none() -> None:
    encoder = Overheard()
    encoder.encode_query = None  # type: ignore[attr-defined]
    assert "valve" in remembering(encoder).read(ASKED).text


def test_the_vector_of_encode_query_finds() -> None:
    class Backwards(BagEncoder):
        def encode_query(self, sentences: list[str], /) -> Any:
            return super().encode([SAID[1] for _ in sentences])

    best = max(remembering(Backwards()).read("Xyzzy?", floor=0.0).lines, key=lambda one: one.score)
    assert best.text == SAID[1]


def test_reembedding_gives_it_the_questions_that_were_answered() -> None:
    memory = remembering(BagEncoder())
    memory.answer(ASKED)
    encoder = Two(32)
    memory.reembed(encoder)
    assert encoder.asked == [ASKED]
    assert not {ASKED} & set(encoder.said)


def test_other_dimensions_than_those_of_encode_name_both() -> None:
    memory = remembering(Two(64, of_queries=32))
    with pytest.raises(CollaboratorError, match=r"encode_query .* 32 dimensions .* 64"):
        memory.read(ASKED)


def test_a_memory_stays_as_it_was_where_reembedding_finds_two_dimensions() -> None:
    memory = remembering(BagEncoder())
    memory.answer(ASKED)
    before = memory.export()
    with pytest.raises(CollaboratorError, match=r"encode_query .* 16 dimensions .* 32"):
        memory.reembed(Two(32, of_queries=16))
    assert memory.export() == before


@pytest.mark.parametrize(
    "given", [None, "words", [[1.0], [2.0]], [[np.nan] * 64], [[]], [["a"] * 64]]
)
def test_anything_but_a_vector_a_question_is_refused(given: object) -> None:
    class Odd(BagEncoder):
        def encode_query(self, sentences: list[str], /) -> object:
            return given

    with pytest.raises(CollaboratorError, match="the encoder gave"):
        remembering(Odd()).read(ASKED)


def test_a_failure_is_the_encoders() -> None:
    class Broken(BagEncoder):
        def encode_query(self, sentences: list[str], /) -> Any:
            raise RuntimeError(sentences[0])

    with pytest.raises(CollaboratorError, match=r"the encoder failed: RuntimeError$"):
        remembering(Broken()).read(ASKED)


def test_a_question_asked_while_the_memory_is_encoded_anew_is_asked_of_the_new_one() -> None:
    memory = remembering(BagEncoder())

    class Meanwhile(Two):
        def encode_query(self, sentences: list[str], /) -> Any:
            memory.reembed(BagEncoder(32))
            return super().encode_query(sentences)

    memory.reembed(Meanwhile(64))
    assert memory.read(ASKED) == remembering(BagEncoder(32)).read(ASKED)


@pytest.mark.parametrize(
    "wrap",
    [Async, lambda inner: Slow(inner, 0), lambda inner: Failing(inner, good=9)],
    ids=["Async", "Slow", "Failing"],
)
def test_a_wrapped_encoder_has_it_where_the_one_inside_has(wrap: Any) -> None:
    encoder = Two()
    remembering(wrap(encoder)).read(ASKED)
    assert encoder.asked == [ASKED]
    assert not hasattr(wrap(BagEncoder()), "encode_query")


@pytest.mark.parametrize("wrap", [Async, lambda inner: inner], ids=["async", "sync"])
def test_the_async_memory_asks_it_too(wrap: Any) -> None:
    encoder = Two()

    async def read() -> str:
        memory = AsyncSlotMemory(encoder=wrap(encoder), clock=None)
        await memory.ingest(SAID[0])
        return (await memory.read(ASKED)).text

    assert SAID[0] in asyncio.run(read())
    assert encoder.asked == [ASKED]


def test_failing_raises_in_its_place() -> None:
    with pytest.raises(CollaboratorError, match="the encoder failed: RuntimeError"):
        remembering(Failing(Two(), good=1)).read(ASKED)
