"""The fakes that are shipped for users' tests do what their docstrings say."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import Any

import numpy as np
import pytest

from demem_agent.encoders import describe
from demem_agent.testing import (
    Async,
    BagEncoder,
    Failing,
    ReadingAnswerer,
    ScriptedAnswerer,
    ScriptedScorer,
    Slow,
)
from demem_agent.types import Answerer, Attempt, Draft, Encoder, Evidence, Question, Reading, Scorer

ITEM = Evidence("e1", "Rex barked")
READING = Reading(
    text="Rex barked",
    size=10,
    limit=99,
    unit="chars",
    mode="evidence",
    evidence=(ITEM,),
    slots=(0,),
)
QUESTION = Question("Who barked?", None, READING)
ATTEMPT = Attempt("Who barked?", "Rex", "Rex barked", "Rex")


@pytest.mark.parametrize(
    "fake",
    [BagEncoder(), Failing(), Slow(BagEncoder(), 0), Async(BagEncoder())],
    ids=lambda fake: type(fake).__name__,
)
def test_every_fake_encoder_is_an_encoder(fake: object) -> None:
    assert isinstance(fake, Encoder)


@pytest.mark.parametrize(
    "fake",
    [
        ReadingAnswerer(),
        ScriptedAnswerer({}),
        Failing(),
        Slow(ReadingAnswerer(), 0),
        Async(ReadingAnswerer()),
    ],
    ids=lambda fake: type(fake).__name__,
)
def test_every_fake_answerer_is_an_answerer(fake: object) -> None:
    assert isinstance(fake, Answerer)


@pytest.mark.parametrize(
    "fake",
    [ScriptedScorer(1.0), Failing(), Slow(ScriptedScorer(1.0), 0), Async(ScriptedScorer(1.0))],
    ids=lambda fake: type(fake).__name__,
)
def test_every_fake_scorer_is_a_scorer(fake: object) -> None:
    assert isinstance(fake, Scorer)


# BagEncoder


def cosine(one: str, other: str) -> float:
    first, second = BagEncoder().encode([one, other])
    return float(first @ second / np.sqrt((first @ first) * (second @ second)))


def test_the_bag_knows_words_alone() -> None:
    assert cosine("the dog barked", "Barking dogs!") == pytest.approx(1.0)
    assert cosine("the dog barked", "the dog slept") > cosine("the dog barked", "a cat slept")


def test_the_bag_gives_one_row_a_text_of_the_dimension_asked_for() -> None:
    assert BagEncoder(5).encode(["one", "two", ""]).shape == (3, 5)
    assert BagEncoder(5).encode([]).shape == (0, 5)


def test_the_bag_gives_the_same_bytes_every_time() -> None:
    assert (
        BagEncoder().encode(["dog"]).tobytes() == BagEncoder().encode(["cat", "dog"])[1].tobytes()
    )


def test_a_text_without_words_has_a_direction_too() -> None:
    assert BagEncoder().encode([""]).any()


def test_bags_of_other_dimensions_or_names_are_told_apart() -> None:
    assert (
        len({describe(bag) for bag in (BagEncoder(), BagEncoder(8), BagEncoder(name="sack"))}) == 3
    )


# Answerers and scorers


def test_the_reading_is_the_answer_and_all_its_evidence_is_cited() -> None:
    assert ReadingAnswerer().answer(QUESTION) == Draft("Rex barked", ("e1",))


def test_scripted_answers_go_by_the_query_and_every_question_is_kept() -> None:
    answerer = ScriptedAnswerer({"Who barked?": "Rex"}, "nobody")
    other = Question("Who slept?", None, QUESTION.reading)
    assert [answerer.answer(question) for question in (QUESTION, other)] == ["Rex", "nobody"]
    assert answerer.asked == [QUESTION, other]


def test_a_scripted_score_is_a_number_or_a_function_of_the_attempt() -> None:
    assert ScriptedScorer(0.3).score(ATTEMPT) == 0.3
    assert (
        ScriptedScorer(lambda attempt: float(attempt.answer == attempt.reference), "exact").score(
            ATTEMPT
        )
        == 1.0
    )


# Wrappers

CALLS: list[tuple[str, Any, Any]] = [
    ("encode", BagEncoder(), ["Rex barked"]),
    ("answer", ReadingAnswerer(), QUESTION),
    ("score", ScriptedScorer(0.3), ATTEMPT),
]
each_call = pytest.mark.parametrize(
    ("method", "inner", "argument"), CALLS, ids=[row[0] for row in CALLS]
)


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@each_call
def test_failing_raises_at_once_where_nothing_is_said(
    method: str, inner: Any, argument: Any
) -> None:
    with pytest.raises(RuntimeError, match="made to fail"):
        getattr(Failing(inner), method)(argument)


@each_call
def test_failing_does_well_as_often_as_it_is_told_to(
    method: str, inner: Any, argument: Any
) -> None:
    failing = Failing(inner, good=2, error=KeyError("later"))
    for _ in range(2):
        assert plain(getattr(failing, method)(argument)) == plain(getattr(inner, method)(argument))
    with pytest.raises(KeyError, match="later"):
        getattr(failing, method)(argument)


@each_call
def test_slow_gives_the_same_only_later(method: str, inner: Any, argument: Any) -> None:
    started = time.perf_counter()
    assert plain(getattr(Slow(inner, 0.02), method)(argument)) == plain(
        getattr(inner, method)(argument)
    )
    assert time.perf_counter() - started >= 0.02


@each_call
def test_async_gives_the_same_from_a_coroutine(method: str, inner: Any, argument: Any) -> None:
    call = getattr(Async(inner), method)
    assert inspect.iscoroutinefunction(call)
    assert plain(asyncio.run(call(argument))) == plain(getattr(inner, method)(argument))


def test_async_yields_to_the_loop_before_it_answers() -> None:
    async def run() -> list[str]:
        order: list[str] = []

        async def ask() -> None:
            await Async(ReadingAnswerer()).answer(QUESTION)
            order.append("answered")

        asking = asyncio.create_task(ask())
        await asyncio.sleep(0)
        order.append("meanwhile")
        await asking
        return order

    assert asyncio.run(run()) == ["meanwhile", "answered"]


@pytest.mark.parametrize("wrap", [Async, lambda inner: Slow(inner, 0)], ids=["Async", "Slow"])
def test_a_wrapped_encoder_passes_for_the_one_inside(wrap: Any) -> None:
    assert describe(wrap(BagEncoder())) == describe(BagEncoder())


@pytest.mark.parametrize("wrap", [Async, lambda inner: Slow(inner, 0)], ids=["Async", "Slow"])
def test_a_wrapped_scorer_keeps_its_name(wrap: Any) -> None:
    assert wrap(ScriptedScorer(1.0, "exact")).name == "exact"
