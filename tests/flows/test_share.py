"""Two slots share again where a conflict waits for one, and no known decision loses by it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory, SplitSettings
from demem_agent.errors import CollaboratorError
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Draft, FeedbackReport, Question

#: What is told, the question about it, and its answer.
FACTS = (
    ("the boiler has a brass valve", "Which valve has the boiler?", "a brass valve"),
    ("the violin has a broken bow", "Which bow has the violin?", "a broken bow"),
    ("the train has a new driver", "Which driver has the train?", "a new driver"),
    ("the garden has a stone wall", "Which wall has the garden?", "a stone wall"),
)
SPLIT: dict[str, Any] = {
    "c_beta": 0.2, "sigma_0": 0.1, "eta_cal": 0.02, "tau_split": 0.1, "tau_sat": 0.2,
    "counterfactuals": 99,
}  # fmt: skip


def _is_read(attempt: Attempt) -> float:
    return float(attempt.reference in attempt.reading)


def options(**split: Any) -> dict[str, Any]:
    """Return options of a memory with a line a slot, whose first three items open the slots."""
    rated = ScriptedScorer(_is_read)
    return {
        "clock": None, "slots": 3, "initial_slots": 3, "near": 1.0, "slot_limit": 44,
        "read_limit": 90, "encoder": BagEncoder(), "answerer": ReadingAnswerer(),
        "scorers": (rated, rated),
        "split": SplitSettings(**SPLIT | split),
    }  # fmt: skip


def told(memory: SlotMemory, fact: int) -> FeedbackReport:
    _, question, right = FACTS[fact]
    return memory.feedback(memory.answer(question), reference=right)


def waiting(memory: SlotMemory | None = None, **split: Any) -> SlotMemory:
    """Return a memory in whose first slot a conflict waits; nothing is known of the others."""
    memory = SlotMemory(**options(**split)) if memory is None else memory
    for text, _, _ in FACTS:
        memory.ingest(text)
    assert placed(memory) == {0: ("e1", "e4"), 1: ("e2",), 2: ("e3",)}
    assert [told(memory, fact).split for fact in (0, 3)] == [False, False]
    assert [made.decision for made in memory.certificates()] == ["suppressed"]
    return memory


def placed(memory: SlotMemory) -> dict[int, tuple[str, ...]]:
    return {slot.number: slot.evidence for slot in memory.slots}


def test_slots_that_no_decision_needs_apart_share() -> None:
    memory = waiting()
    found = memory.share()
    assert found is not None
    assert (found.slot, found.into, found.radius, found.contexts) == (2, 1, 0.0, ())
    assert placed(memory) == {0: ("e1", "e4"), 1: ("e2", "e3")}
    assert memory.sharings() == (found,)
    memory.check()


def test_what_waited_is_split_by_the_next_feedback() -> None:
    memory = waiting()
    memory.share()
    report = memory.feedback("a1", reward=1.0)
    assert report.split
    assert placed(memory)[2] in (("e1",), ("e4",))


def test_with_the_setting_feedback_shares_by_itself() -> None:
    memory = waiting(sharing=50)
    assert [(one.slot, one.into) for one in memory.sharings()] == [(2, 1)]
    assert memory.feedback("a1", reward=1.0).split


def test_slots_stay_where_a_decision_would_lose() -> None:
    memory = waiting()
    told(memory, 1)
    told(memory, 2)
    assert memory.share() is None
    assert len(memory.slots) == 3


def test_a_decision_that_loses_nothing_is_named() -> None:
    memory = waiting()
    told(memory, 2)
    found = memory.share()
    assert found is not None
    assert found.contexts == ("a3",)
    assert 0 <= found.radius <= found.threshold == 0.1


def test_nothing_is_merged_where_nothing_waits() -> None:
    memory = SlotMemory(**options())
    for text, _, _ in FACTS:
        memory.ingest(text)
    assert memory.share() is None
    assert len(memory.slots) == 3


@pytest.mark.parametrize("hold", ["pin", "rename"])
def test_pinned_and_named_slots_are_left_alone(hold: str) -> None:
    memory = waiting()
    for slot in (1, 2):
        if hold == "pin":
            memory.pin(slot)
        else:
            memory.rename(slot, "mine")
    assert memory.share() is None


def test_what_a_certificate_holds_apart_is_not_merged() -> None:
    memory = waiting()
    memory.share()
    assert memory.feedback("a1", reward=1.0).split
    memory.ingest("the boiler has a brass valve in the cellar")
    parted = {context.slot for context in memory.contexts()}
    found = memory.share()
    assert found is None or {found.slot, found.into} != parted


def test_the_answers_are_bounded() -> None:
    memory = waiting()
    for fact in (1, 2, 1, 2):
        told(memory, fact)
    asked: list[Question] = []
    answerer = memory._held.team.answerer
    right = answerer.answer

    def counted(question: Question) -> Draft:
        asked.append(question)
        return right(question)

    answerer.answer = counted  # type: ignore[method-assign]
    memory.share(answers=4)
    assert len(asked) <= 4


@pytest.mark.parametrize("answers", [0, 1, 2.5, True])
def test_too_few_answers_are_refused(answers: object) -> None:
    with pytest.raises(InvalidInput, match="answers"):
        waiting().share(answers)  # type: ignore[arg-type]


def test_feedback_stands_where_the_test_of_sharing_fails() -> None:
    memory = SlotMemory(**options(sharing=50))
    for text, _, _ in FACTS:
        memory.ingest(text)
    for fact in (2, 0):
        told(memory, fact)
    answer = memory.answer(FACTS[3][1])
    answerer = memory._held.team.answerer
    right = answerer.answer

    def failing(question: Question) -> Draft:
        if question.query == FACTS[2][1]:
            raise RuntimeError("down")
        return right(question)

    answerer.answer = failing  # type: ignore[method-assign]
    report = memory.feedback(answer, reference=FACTS[3][2])
    assert report.failed is not None
    assert report.certificate is not None
    assert len(memory.slots) == 3
    with pytest.raises(CollaboratorError):
        memory.share()
    memory.check()


def test_it_is_known_after_opening_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/m.db"
    with SlotMemory.open(url, **options()) as memory:
        found = waiting(memory).share()
    with SlotMemory.open(url, **options()) as again:
        assert again.sharings() == (found,)
        assert again.receipts() == ()
        restored = SlotMemory.restore(again.export(), **options())
        assert restored.sharings() == (found,)


def test_an_async_memory_does_the_same() -> None:
    async def run() -> tuple[object, ...]:
        memory = AsyncSlotMemory(**options(sharing=50))
        for text, _, _ in FACTS:
            await memory.ingest(text)
        for fact in (0, 3):
            _, question, right = FACTS[fact]
            await memory.feedback(await memory.answer(question), reference=right)
        assert await memory.share() is None
        return await memory.sharings()

    assert asyncio.run(run()) == waiting(sharing=50).sharings()
