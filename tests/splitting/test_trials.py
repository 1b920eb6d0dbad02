"""Previews: a change of the memory during a test overtakes it, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from demem_agent import SlotMemory
from demem_agent.errors import CollaboratorError
from demem_agent.requests import Score
from demem_agent.splitting.trials import Overtaken, Preview, reply_to
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt

QUESTION = "Which valve has the boiler?"
REQUEST = Score(())


def memory_of(**more: Any) -> SlotMemory:
    memory = SlotMemory(encoder=BagEncoder(), answerer=ReadingAnswerer(), **more)
    memory.ingest("the boiler has a brass valve")
    memory.answer(QUESTION)
    return memory


def awaited(memory: SlotMemory) -> Any:
    """Return a flow that awaits the reply to its first request."""
    state = memory._held.state
    flow = reply_to(REQUEST, state, Preview.of(state, state.context("a1")))
    assert next(flow) == REQUEST
    return flow


def moved_on(memory: SlotMemory) -> None:
    memory.ingest("the violin has a broken bow")


def unmoved(memory: SlotMemory) -> None:
    memory.read(QUESTION)


def test_the_reply_is_passed_on() -> None:
    memory = memory_of()
    flow = awaited(memory)
    unmoved(memory)
    with pytest.raises(StopIteration) as done:
        flow.send("the reply")
    assert done.value.value == "the reply"


@pytest.mark.parametrize(
    ("happens", "raised"), [(unmoved, CollaboratorError), (moved_on, Overtaken)]
)
def test_a_failure_counts_only_where_the_memory_has_not_moved_on(
    happens: Callable[[SlotMemory], None], raised: type[Exception]
) -> None:
    memory = memory_of()
    flow = awaited(memory)
    happens(memory)
    with pytest.raises(raised):
        flow.throw(CollaboratorError("the scorer failed"))


def test_a_reply_to_a_stale_test_is_not_passed_on() -> None:
    memory = memory_of()
    flow = awaited(memory)
    moved_on(memory)
    with pytest.raises(Overtaken):
        flow.send("the reply")


def test_a_test_that_is_overtaken_every_time_leaves_the_feedback() -> None:
    """And says why it was not finished."""

    def score(attempt: Attempt) -> float:
        if len(memory.contexts()[1].rewards) == 0:
            memory.ingest(f"the train has {len(memory)} tickets")
        return float(attempt.reference in attempt.reading)

    scorer = ScriptedScorer(score)
    memory = memory_of(
        slots=4, initial_slots=1, slot_limit=44, read_limit=90, scorers=(scorer, scorer)
    )
    memory.ingest("the violin has a broken bow")
    second = memory.answer("Which bow has the violin?")
    memory.feedback("a1", reference="a brass valve")
    report = memory.feedback(second, reference="a broken bow")
    assert report.failed == "other operations changed the memory during every test"
    assert (report.certificate, memory.contexts()[1].told) == (None, ("reference",))
    memory.check()
