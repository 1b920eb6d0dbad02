"""Who asks and under which conditions: checked at the door, and kept with the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder, ReadingAnswerer

QUESTION = "How warm should the seat be?"
OPTIONS: dict[str, Any] = {"clock": None, "encoder": BagEncoder(), "answerer": ReadingAnswerer()}
BAD: list[tuple[str, dict[str, Any]]] = [
    ("asker", {"asker": " \t"}),
    ("asker", {"asker": ""}),
    ("asker", {"asker": 7}),
    ("conditions", {"conditions": "rain"}),
    ("conditions", {"conditions": 7}),
    ("conditions", {"conditions": [f"fact {n}" for n in range(17)]}),
    ("conditions[1]", {"conditions": ["rain", "a" * 101]}),
    ("conditions[1]", {"conditions": ["rain", 7]}),
    ("conditions[0]", {"conditions": [" "]}),
]


def memory_of(**options: Any) -> SlotMemory:
    memory = SlotMemory(**OPTIONS | options)
    memory.ingest("The seat is best at two.", speaker="Ben")
    return memory


def asked(memory: SlotMemory) -> tuple[str | None, tuple[str, ...]]:
    context = memory.contexts()[-1]
    return context.asker, context.conditions


@pytest.mark.parametrize(("field", "given"), BAD)
def test_what_is_no_asker_and_no_condition_is_refused_by_name(
    field: str, given: dict[str, Any]
) -> None:
    memory = memory_of()
    for ask in (memory.read, memory.route, memory.answer):
        with pytest.raises(InvalidInput) as caught:
            ask(QUESTION, **given)
        assert caught.value.field == field
    with pytest.raises(InvalidInput) as caught:
        memory.answered(QUESTION, "At two.", **given)
    assert caught.value.field == field
    assert memory.contexts() == ()


def test_as_many_and_as_long_conditions_as_may_be_are_taken() -> None:
    memory = memory_of()
    memory.answer(QUESTION, conditions=[f"{n:02d}" + "a" * 98 for n in range(16)])
    assert [len(condition) for condition in asked(memory)[1]] == [100] * 16


def test_conditions_are_kept_in_lower_case_each_once_in_order() -> None:
    memory = memory_of()
    memory.answer(QUESTION, conditions=["Snow", "RAIN", "  heavy \n rain", "rain", "Straße"])
    assert asked(memory)[1] == ("heavy rain", "rain", "snow", "strasse")


def test_conditions_may_come_from_anything_that_gives_them_one_by_one() -> None:
    memory = memory_of()
    memory.answer(QUESTION, conditions=(fact for fact in ("snow", "rain")))
    assert asked(memory)[1] == ("rain", "snow")


def test_an_asker_is_kept_as_written_without_space_around() -> None:
    memory = memory_of()
    memory.answered(QUESTION, "At two.", asker=" Ben B. \n")
    assert asked(memory) == ("Ben B.", ())


def test_nobody_in_particular_asks_unless_it_is_said() -> None:
    memory = memory_of()
    memory.answer(QUESTION, asker=None)
    memory.answer(QUESTION)
    assert [(one.asker, one.conditions) for one in memory.contexts()] == [(None, ())] * 2


@pytest.mark.parametrize("decisions", [False, True])
def test_who_asked_and_what_held_survives_a_database(tmp_path: Path, decisions: bool) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    with SlotMemory.open(url, **OPTIONS, decisions=decisions) as memory:
        memory.ingest("The seat is best at two.", speaker="Ben")
        answer = memory.answer(QUESTION, asker="Ben", conditions=["rain"])
        memory.feedback(answer, reference="at two")
        before = memory.contexts()
    with SlotMemory.open(url, **OPTIONS, decisions=decisions) as again:
        again.check()
        assert again.contexts() == before
        assert asked(again) == ("Ben", ("rain",))


@pytest.mark.parametrize("decisions", [False, True])
def test_who_asked_and_what_held_survives_export_and_restore(decisions: bool) -> None:
    memory = memory_of(decisions=decisions)
    answer = memory.answer(QUESTION, asker="Ben", conditions=["rain"])
    memory.feedback(answer, reference="at two")
    again = SlotMemory.restore(memory.export(), **OPTIONS, decisions=decisions)
    assert again.contexts() == memory.contexts()
    assert asked(again) == ("Ben", ("rain",))


def test_an_argument_that_answer_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="limit"):
        memory_of().answer(QUESTION, limit=100)  # type: ignore[call-arg]


def test_an_argument_that_answered_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="who"):
        memory_of().answered(QUESTION, "At two.", who="Ben")  # type: ignore[call-arg]


def test_an_async_memory_checks_and_keeps_the_same() -> None:
    async def run() -> tuple[str | None, tuple[str, ...]]:
        memory = AsyncSlotMemory(**OPTIONS)
        await memory.ingest("The seat is best at two.")
        with pytest.raises(TypeError, match="limit"):
            await memory.answer(QUESTION, limit=100)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="who"):
            await memory.answered(QUESTION, "At two.", who="Ben")  # type: ignore[call-arg]
        for field, given in BAD:
            with pytest.raises(InvalidInput) as caught:
                await memory.answer(QUESTION, **given)
            assert caught.value.field == field
        await memory.answer(QUESTION, asker=" Ben", conditions=["Snow", "rain", "RAIN"])
        context = (await memory.contexts())[-1]
        return context.asker, context.conditions

    assert asyncio.run(run()) == ("Ben", ("rain", "snow"))
