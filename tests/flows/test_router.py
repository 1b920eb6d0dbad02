"""A router: it chooses the slot, nothing else, and where it fails the score does."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import InvalidInput
from demem_agent.settings import SplitSettings
from demem_agent.testing import (
    Async,
    BagEncoder,
    Failing,
    ReadingAnswerer,
    ScriptedRouter,
    ScriptedScorer,
)
from demem_agent.types import Attempt, Router, Slot, SplitCertificate

ASKED = "What does the concert cost?"
TEXTS = (
    "The boiler has a brass valve and makes 21 degrees.",
    "The violin has a broken bow, says Ana.",
    "The concert in Porto costs 14 euros.",
)
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 3,
    "initial_slots": 3,
    "near": 1.0,
    "slot_limit": 200,
}


def memory_of(texts: Sequence[str] = TEXTS, **options: Any) -> SlotMemory:
    given: dict[str, Any] = {**OPTIONS, "encoder": BagEncoder(), **options}
    memory = SlotMemory(**given)
    for text in texts:
        memory.ingest(text)
    return memory


def last(_: str, slots: Sequence[Slot]) -> int:
    return slots[-1].number


def first(_: str, slots: Sequence[Slot]) -> int:
    return slots[0].number


@settings(deadline=None, max_examples=often(20))
@given(slot=st.integers(0, 2), query=st.sampled_from([*TEXTS, ASKED, "Hello?"]))
def test_a_query_goes_where_the_router_says(slot: int, query: str) -> None:
    memory = memory_of(router=ScriptedRouter(slot))
    route = memory.route(query)
    assert (route.slot, route.unrouted) == (slot, "")
    assert memory.answer(query).route == route
    assert (
        memory.read(query, mode="strict").text == memory.read(query, mode="strict", slot=slot).text
    )


def test_all_but_the_route_is_as_the_score_has_it() -> None:
    own = memory_of().route(ASKED).slot
    routed = memory_of(router=ScriptedRouter(own)) if own is not None else memory_of()
    plain = memory_of().read(ASKED)
    assert routed.read(ASKED) == plain
    other = memory_of(router=ScriptedRouter(0)).read(ASKED)
    assert {item.id for item in other.evidence} == {item.id for item in plain.evidence}


def test_it_is_shown_the_question_and_every_slot_once() -> None:
    router = ScriptedRouter(0)
    memory = memory_of(router=router)
    memory.route(ASKED)
    [(query, slots)] = router.asked
    assert query == ASKED
    assert slots == list(memory.slots)


def test_the_same_question_is_put_once_as_long_as_the_slots_are_the_same() -> None:
    router = ScriptedRouter(0)
    memory = memory_of(router=router)
    assert memory.route(ASKED) == memory.route(ASKED)
    memory.answer(ASKED)
    assert len(router.asked) == 1
    memory.ingest("The concert begins at eight.")
    memory.route(ASKED)
    assert len(router.asked) == 2


def test_another_question_is_put_again() -> None:
    router = ScriptedRouter(0)
    memory = memory_of(router=router)
    memory.route(ASKED)
    memory.route("Who has the bow?")
    assert len(router.asked) == 2


def test_a_slot_that_the_caller_names_is_read_and_the_router_not_asked() -> None:
    router = ScriptedRouter(0)
    memory = memory_of(router=router)
    assert "violin" in memory.read(ASKED, mode="strict", slot=1).text
    assert router.asked == []


def test_of_fewer_than_two_slots_it_is_asked_nothing() -> None:
    router = ScriptedRouter(0)
    memory = memory_of(TEXTS[:1], router=router)
    assert memory.route(ASKED).slot == 0
    assert SlotMemory(router=router).route(ASKED).slot is None
    assert router.asked == []


def test_under_a_filter_it_is_shown_slots_that_hold_something_of_what_is_left() -> None:
    router = ScriptedRouter(last)
    memory = memory_of(router=router)
    memory.ingest("The violin is in Porto.", speaker="Ben")
    memory.ingest("The boiler is cold.", speaker="Ben")
    memory.route("violin", where={"speaker": "Ben"})
    held = {slot.number for slot in memory.slots if {"e4", "e5"}.intersection(slot.evidence)}
    assert {slot.number for slot in router.asked[0][1]} == held
    assert len(held) == 2


def test_a_failure_is_counted_and_seen_and_the_score_chooses() -> None:
    memory = memory_of(router=Failing())
    own = memory_of().route(ASKED)
    route = memory.route(ASKED)
    assert (route.slot, route.scores, route.margin) == (own.slot, own.scores, own.margin)
    assert route.unrouted == "the router failed: RuntimeError"
    assert memory.read(ASKED).unrouted == route.unrouted
    assert memory.read(ASKED).text == memory_of().read(ASKED).text
    assert memory.router_failures == {"the router failed: RuntimeError": 3}
    assert dict(memory.health().router_failures) == memory.router_failures


def test_it_is_asked_again_after_a_failure() -> None:
    class Once:
        def __init__(self) -> None:
            self.calls = 0

        def choose(self, query: str, slots: Sequence[Slot], /) -> int:
            self.calls += 1
            if self.calls == 1:
                raise RuntimeError
            return 1

    memory = memory_of(router=Once())
    assert memory.route(ASKED).unrouted
    assert (memory.route(ASKED).slot, memory.route(ASKED).unrouted) == (1, "")


@pytest.mark.parametrize("given", [3, -1, True, 1.0, "1", None, [0]])
def test_anything_but_the_number_of_a_slot_is_a_failure(given: Any) -> None:
    memory = memory_of(router=ScriptedRouter(lambda _, __: given))
    assert memory.route(ASKED).unrouted.startswith("the router gave")
    assert sum(memory.router_failures.values()) == 1


def test_a_number_of_numpy_is_one() -> None:
    two: Any = np.int64(2)
    assert memory_of(router=ScriptedRouter(lambda _, __: two)).route(ASKED).slot == 2


def test_a_memory_without_one_has_no_failures() -> None:
    memory = memory_of()
    assert (memory.route(ASKED).unrouted, memory.router_failures) == ("", {})


def test_what_proved_right_for_the_same_question_goes_before_what_it_says() -> None:
    memory = memory_of(router=ScriptedRouter(0))
    answer = memory.answer("Who has a broken bow?")
    assert answer.route.slot == 0
    memory.feedback(answer, reference="The violin has a broken bow")
    assert memory.route("Who has a broken bow?").slot == 1


@pytest.mark.parametrize("wrapped", [False, True], ids=["sync", "async"])
def test_it_may_be_a_coroutine_in_either_memory(wrapped: bool) -> None:
    inner = ScriptedRouter(2)
    router: Router = Async(inner) if wrapped else inner

    async def routed() -> int | None:
        given: dict[str, Any] = {**OPTIONS, "encoder": BagEncoder(), "router": router}
        memory = AsyncSlotMemory(**given)
        for text in TEXTS:
            await memory.ingest(text)
        return (await memory.route("boiler")).slot

    assert asyncio.run(routed()) == 2
    assert memory_of(router=router).route("boiler").slot == 2


def test_a_slot_that_is_gone_when_it_answers_is_not_taken() -> None:
    class Merges:
        def __init__(self) -> None:
            self.memory: SlotMemory | None = None

        def choose(self, query: str, slots: Sequence[Slot], /) -> int:
            assert self.memory is not None
            self.memory.merge(1, into=0)
            return 1

    router = Merges()
    router.memory = memory_of(router=router)
    assert router.memory.route(ASKED).slot in {slot.number for slot in router.memory.slots}


def test_a_copy_of_the_memory_has_it_too() -> None:
    assert copy.deepcopy(memory_of(router=ScriptedRouter(1))).route(ASKED).slot == 1


@pytest.mark.parametrize("given", [7, "model", ScriptedRouter])
def test_what_is_no_router_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="router"):
        SlotMemory(router=given)


# Feedback and the trigger


BOILER, VIOLIN = "the boiler has a brass valve", "the violin has a broken bow"
ABOUT_BOILER, ABOUT_VIOLIN = "Which valve has the boiler?", "Which bow has the violin?"
PIANO = "the piano has a golden key"


def _apart(attempt: Attempt) -> float:
    """A question is answered by what holds its own thing."""
    own = "violin" if "violin" in attempt.query else "boiler"
    return float(own in attempt.reading)


def conflict(router: Router | None) -> SplitCertificate | None:
    """Tell what is right of two things that one slot holds, with the piano in another."""
    options: dict[str, Any] = {**OPTIONS, "slots": 4, "slot_limit": 44, "read_limit": 150}
    if router is not None:
        options["router"] = router
    memory = SlotMemory(
        encoder=BagEncoder(),
        answerer=ReadingAnswerer(),
        scorers=[ScriptedScorer(_apart, "one"), ScriptedScorer(_apart, "two")],
        split=SplitSettings(c_beta=0.2, sigma_0=0.1, eta_cal=0.02),
        **options,
    )
    for text in (BOILER, VIOLIN, PIANO):
        memory.ingest(text)
    memory.merge(1, into=0)
    memory.feedback(memory.answer(ABOUT_BOILER), reference="a brass valve")
    report = memory.feedback(memory.answer(ABOUT_VIOLIN), reference="a broken bow")
    memory.check()
    return report.certificate


def names_of(certificate: SplitCertificate | None) -> list[str]:
    assert certificate is not None
    return [candidate.name for candidate in certificate.candidates]


def test_a_conflict_is_tested_on_the_slots_that_the_router_chooses() -> None:
    router = ScriptedRouter(2)
    assert "routed 2" in names_of(conflict(router))
    assert {query for query, _ in router.asked} == {ABOUT_BOILER, ABOUT_VIOLIN}
    assert "routed 2" not in names_of(conflict(None))


def test_a_router_that_fails_leaves_the_test_of_a_conflict_to_the_score() -> None:
    assert conflict(Failing()) == conflict(None)


def test_an_answer_is_recorded_in_the_slot_that_the_router_chose() -> None:
    memory = memory_of(router=ScriptedRouter(1))
    memory.feedback(memory.answer(ASKED), reward=0.0)
    assert [one.slot for one in memory.contexts()] == [1]
