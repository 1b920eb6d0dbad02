"""Answers say whether memory holds what was asked; a setting leaves out those that it does not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import AsyncSlotMemory, InvalidInput, Settings, SlotMemory
from demem_agent.answering.model import default_answer_model
from demem_agent.testing import BagEncoder
from demem_agent.types import Draft, Question

HELD = "Which valve has the boiler?"
FOREIGN = "Who won the football final in Brazil?"
WORDS = st.lists(
    st.sampled_from("boiler valve violin bow dog ? who".split()), min_size=1, max_size=6
).map(" ".join)


class Counting:
    """Answer with the same words, and count how often that was asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    def answer(self, question: Question) -> Draft:
        self.asked += 1
        return Draft("Certainly.")


def told(**options: Any) -> SlotMemory:
    memory = SlotMemory(**options)
    memory.ingest("The boiler has a brass valve.", speaker="Ana")
    memory.ingest("The violin has a broken bow.", speaker="Ben")
    return memory


def test_what_is_held_is_known_and_what_was_never_spoken_of_is_not() -> None:
    memory = told()
    assert memory.answer(HELD).known
    assert not memory.answer(FOREIGN).known


@settings(max_examples=often(40), deadline=None)
@given(st.lists(WORDS, max_size=6), WORDS, st.none() | st.floats(0.01, 1.0))
def test_an_answer_is_known_from_the_threshold_on(
    said: list[str], asked: str, known_from: float | None
) -> None:
    memory = SlotMemory(encoder=BagEncoder(), known_from=known_from)
    for text in said:
        memory.ingest(text)
    answer = memory.answer(asked)
    assert 0.0 <= answer.probability <= 1.0
    assert answer.known == memory.contexts()[0].known
    least = default_answer_model().known if known_from is None else known_from
    assert answer.known == (answer.text != "" and answer.probability >= least)
    if known_from is not None:
        assert answer.route.adequate == (bool(said) and answer.route.probability >= known_from)
    assert memory.answered(asked, "x").known == answer.route.adequate


@settings(max_examples=often(60), deadline=None)
@given(
    st.lists(WORDS, max_size=6),
    WORDS,
    st.lists(WORDS, max_size=2),
    st.sampled_from([None, 0.0, 0.3, 1.0]),
    st.sampled_from(["show", "withhold"]),
)
def test_nothing_is_never_said_to_be_known(
    said: list[str], asked: str, context: list[str], known_from: float | None, unknown: Any
) -> None:
    memory = SlotMemory(encoder=BagEncoder(), known_from=known_from, unknown=unknown)
    for text in said:
        memory.ingest(text)
    for query in (asked, "when was that?"):
        answer = memory.answer(query, context=context)
        assert answer.text.strip() or not answer.known
        assert memory.contexts()[-1].known == answer.known


def test_what_proved_right_before_is_known_however_improbable_it_is() -> None:
    memory = SlotMemory(clock=None, known_from=1.0, unknown="withhold")
    memory.ingest("The spare key is with Mrs Silva.", speaker="Ana")
    asked = "Where is the spare key?"
    first = memory.answer(asked)
    assert (first.known, first.text) == (False, "")
    memory.feedback(first, reward=1, reference="The spare key is with Mrs Silva.")
    again = memory.answer(asked)
    assert again.known
    assert "Mrs Silva" in again.text
    assert not again.route.adequate


@given(WORDS, st.sampled_from(["show", "withhold"]), st.none() | st.floats(0.0, 1.0))
@settings(max_examples=often(25), deadline=None)
def test_an_empty_memory_knows_nothing(asked: str, unknown: Any, known_from: float | None) -> None:
    memory = SlotMemory(encoder=BagEncoder(), unknown=unknown, known_from=known_from)
    assert not memory.answer(asked).known


def test_the_text_of_what_is_not_known_is_kept_unless_it_is_withheld() -> None:
    answerer = Counting()
    kept = told(answerer=answerer).answer(FOREIGN)
    assert (kept.known, kept.text) == (False, "Certainly.")
    withheld = told(answerer=answerer, unknown="withhold").answer(FOREIGN)
    assert (withheld.known, withheld.text, withheld.evidence) == (False, "", ())


def test_what_is_known_is_answered_where_the_rest_is_withheld() -> None:
    assert told(unknown="withhold").answer(HELD).text == told().answer(HELD).text != ""


def test_an_answer_from_elsewhere_is_never_withheld() -> None:
    memory = told(unknown="withhold")
    answer = memory.answered(FOREIGN, "Argentina.")
    assert (answer.known, answer.text) == (False, "Argentina.")


def test_a_higher_threshold_refuses_more_and_the_route_agrees() -> None:
    memory = told(known_from=1.0)
    assert not memory.answer(HELD).known
    assert not memory.route(HELD).adequate
    assert told(known_from=0.0).answer(HELD).known
    assert told(known_from=0.0).route(FOREIGN).adequate


@pytest.mark.parametrize("unknown", ["show", "withhold"])
def test_feedback_on_an_answer_that_was_not_known_works(unknown: Any) -> None:
    memory = told(unknown=unknown)
    answer = memory.answer(FOREIGN)
    report = memory.feedback(answer, correction="Argentina won the football final in Brazil.")
    assert report.remembered is not None
    memory.check()
    again = memory.answer(FOREIGN)
    assert again.known
    assert "Argentina" in again.text
    memory.feedback(again, thumbs=True)
    memory.undo(answer.id)
    memory.check()


def test_the_async_memory_says_the_same() -> None:
    async def asked() -> tuple[bool, str]:
        memory = AsyncSlotMemory(unknown="withhold")
        await memory.ingest("The boiler has a brass valve.")
        answer = await memory.answer(FOREIGN)
        return answer.known, answer.text

    assert asyncio.run(asked()) == (False, "")


def test_what_was_not_known_is_kept_with_the_decision(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, unknown="withhold", known_from=0.3) as memory:
        memory.ingest("The boiler has a brass valve.")
        memory.answer(FOREIGN)
        memory.answer(HELD)
        lines = json.loads(json.dumps(memory.export()))
    with SlotMemory.open(url) as memory:
        assert [context.known for context in memory.contexts()] == [False, True]
        assert (memory.settings.unknown, memory.settings.known_from) == ("withhold", 0.3)
    restored = SlotMemory.restore(lines)
    assert [context.known for context in restored.contexts()] == [False, True]


def test_the_settings_may_be_others_when_a_memory_is_opened_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url) as memory:
        memory.ingest("The boiler has a brass valve.")
    with SlotMemory.open(url, unknown="withhold", known_from=1.0) as memory:
        assert memory.answer(HELD).text == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"unknown": "hide"},
        {"unknown": None},
        {"known_from": 1.5},
        {"known_from": -0.1},
        {"known_from": True},
        {"known_from": float("nan")},
    ],
)
def test_another_way_or_threshold_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        Settings(**wrong)
