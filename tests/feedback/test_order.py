"""What numbers told of one answer come to does not depend on the order in which they arrive."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedAnswerer
from demem_agent.types import Answerer, Context

TOLD = ("the boiler has a brass valve", "the violin has a broken bow", "the boiler has a new pipe")
QUESTION = "Which valve has the boiler?"
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 3,
    "initial_slots": 2,
    "read_limit": 90,
    "encoder": BagEncoder(),
}
#: Who answers: with all that was read, with words of its own, with nothing.
ANSWERERS: dict[str, Answerer] = {
    "read": ReadingAnswerer(),
    "said": ScriptedAnswerer({}, "a valve made of brass"),
    "silent": ScriptedAnswerer({}),
}

SHARES = st.sampled_from((0.0, 0.25, 0.49, 0.5, 0.75, 1.0))
#: Every channel that gives a number and no text.
NUMBERS = st.one_of(
    SHARES.map(lambda reward: {"reward": reward}),
    st.booleans().map(lambda up: {"thumbs": up}),
    (SHARES | st.booleans()).map(lambda score: {"outcome": score}),
    st.lists(st.sampled_from((TOLD[0], "brass", "no")), min_size=1, max_size=2).map(
        lambda texts: {"agreement": texts}
    ),
)


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Draw the same feedback in two orders."""
    first = draw(st.lists(NUMBERS, min_size=1, max_size=6))
    return first, draw(st.permutations(first))


@cache
def answered(answerer: str, forgotten: bool) -> tuple[dict[str, Any], ...]:
    memory = SlotMemory(**OPTIONS, answerer=ANSWERERS[answerer])
    for text in TOLD:
        memory.ingest(text)
    memory.answer(QUESTION)
    memory.answer("Which bow has the violin?")
    if forgotten:
        memory.forget("e1")
    return tuple(memory.export())


def after(answerer: str, forgotten: bool, told: list[dict[str, Any]]) -> Context:
    memory = SlotMemory.restore(
        answered(answerer, forgotten), **OPTIONS, answerer=ANSWERERS[answerer]
    )
    for each in told:
        memory.feedback("a1", **each)
    memory.check()
    return memory.contexts()[0]


def known(context: Context) -> tuple[object, ...]:
    told = sorted(zip(context.told, context.rewards, strict=True))
    settled = (context.slot, context.kept, context.credible)
    return (context.channel, context.reference, context.supports, *settled, told)


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize("answerer", list(ANSWERERS))
@settings(deadline=None, max_examples=often(40))
@given(both=orders())
def test_any_order_of_numbers_makes_the_same_known(
    answerer: str, forgotten: bool, both: tuple[list[dict[str, Any]], list[dict[str, Any]]]
) -> None:
    first, second = (after(answerer, forgotten, told) for told in both)
    assert known(first) == known(second)


def home(rewards: tuple[float, ...]) -> tuple[object, ...]:
    """Reward an answer that was routed to one slot and rests on more of another."""
    memory = SlotMemory(**OPTIONS | {"near": 0.6, "read_limit": 6000}, answerer=ANSWERERS["read"])
    for text in ("Rex ate the red apple", "Bella flew to Lisbon", "Bella flew to Lisbon again"):
        memory.ingest(text)
    answer = memory.answer("Did Rex eat a red apple?")
    assert [answer.route.slot] != [slot.number for slot in memory.slots if "e2" in slot.evidence]
    for reward in rewards:
        memory.feedback(answer, reward=reward)
    context = memory.contexts()[0]
    return context.slot, context.kept


def test_the_home_of_a_context_does_not_depend_on_the_order_of_its_rewards() -> None:
    assert home((1.0, 0.0, 0.0)) == home((0.0, 0.0, 1.0))
