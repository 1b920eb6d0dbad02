"""What comes without a time is dated when it came, by the memory's clock."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.testing import BagEncoder

NOON = datetime(2024, 5, 15, 12)


def ticking() -> Callable[[], datetime]:
    """Return a clock that is a minute later each time it is looked at."""
    minutes: Iterator[int] = count()
    return lambda: NOON + timedelta(minutes=next(minutes))


def memory_of(**options: Any) -> SlotMemory:
    return SlotMemory(**{"encoder": BagEncoder(), **options})


def test_what_is_remembered_without_a_time_was_said_now() -> None:
    memory = memory_of()
    before = datetime.now()
    memory.ingest("The valve is brass.")
    memory.ingest_many([{"text": "The bow is broken."}, {"text": "The tent is green."}])
    after = datetime.now()
    times = [item.at for item in memory.evidence()]
    assert all(at is not None and before <= at <= after for at in times)


def test_what_is_asked_without_a_time_is_asked_now() -> None:
    memory = memory_of()
    memory.ingest("The valve is brass.", at="2020-01-01")
    before = datetime.now()
    memory.answer("Which valve?")
    asked = memory.contexts()[0].at
    assert asked is not None
    assert before <= asked <= datetime.now()


def test_the_clock_of_the_machine_has_no_zone_as_dates_that_people_write() -> None:
    memory = memory_of()
    memory.ingest("The valve is brass.")
    at = memory.evidence()[0].at
    assert at is not None
    assert at.tzinfo is None


def test_a_time_that_is_given_is_kept() -> None:
    memory = memory_of(clock=lambda: NOON)
    memory.ingest("The valve is brass.", at="2020-01-01")
    memory.answer("Which valve?", at="2020-02-01")
    assert memory.evidence()[0].at == datetime(2020, 1, 1)
    assert memory.contexts()[0].at == datetime(2020, 2, 1)


def test_without_a_clock_nothing_is_dated() -> None:
    memory = memory_of(clock=None)
    memory.ingest("The valve is brass.")
    memory.ingest_many([{"text": "The bow is broken."}])
    memory.feedback(memory.answer("Which valve?"), correction="The steel one.")
    assert [item.at for item in memory.evidence()] == [None] * 3
    assert memory.contexts()[0].at is None


def test_both_memories_date_alike() -> None:
    async def dated() -> list[datetime | None]:
        memory = AsyncSlotMemory(encoder=BagEncoder(), clock=ticking())
        await memory.ingest("The valve is brass.")
        await memory.ingest_many([{"text": "The bow is broken."}, {"text": "Tea is at noon."}])
        answer = await memory.answer("Which valve?")
        await memory.feedback(answer, correction="The steel one.")
        return [item.at for item in await memory.evidence()]

    memory = memory_of(clock=ticking())
    memory.ingest("The valve is brass.")
    memory.ingest_many([{"text": "The bow is broken."}, {"text": "Tea is at noon."}])
    memory.feedback(memory.answer("Which valve?"), correction="The steel one.")
    assert asyncio.run(dated()) == [item.at for item in memory.evidence()]


def test_a_correction_stands_below_what_it_corrects() -> None:
    memory = memory_of()
    memory.ingest("The valve of the boiler is brass.")
    memory.feedback(memory.answer("Which valve has the boiler?"), correction="It is steel.")
    text = memory.read("Which valve has the boiler?").text
    assert text.index("brass") < text.index("steel")
    assert "undated" not in text


def test_what_the_clock_dated_is_forgotten_by_its_date() -> None:
    memory = memory_of(clock=lambda: NOON)
    memory.ingest("The valve is brass.")
    memory.forget(before="2024-05-16")
    assert memory.evidence() == ()


@pytest.mark.parametrize("zone", [None, UTC])
def test_a_relative_time_is_of_the_day_that_the_clock_shows(zone: Any) -> None:
    memory = memory_of(clock=lambda: NOON.replace(tzinfo=zone))
    memory.ingest("I had the valve repaired yesterday.", speaker="Ana")
    assert "[yesterday: 14 May 2024] Ana:" in memory.read("the valve").text


def test_a_request_that_is_sent_again_later_is_the_same_request() -> None:
    memory = memory_of(clock=ticking())
    done = memory.ingest("The valve is brass.", key="k")
    assert memory.ingest("The valve is brass.", key="k") == done
    assert memory.ingest_many([{"text": "The valve is brass.", "key": "k"}]) == [done]
    assert [item.at for item in memory.evidence()] == [NOON]


def test_feedback_that_is_sent_again_later_is_the_same_feedback() -> None:
    memory = memory_of(clock=ticking())
    memory.ingest("The valve is brass.")
    answer = memory.answer("Which valve?")
    done = memory.feedback(answer, correction="The steel one.", key="k")
    assert memory.feedback(answer, correction="The steel one.", key="k") == done
    assert len(memory) == 2


def test_what_was_undated_in_an_export_stays_so_and_what_comes_next_is_dated() -> None:
    old = memory_of(clock=None)
    old.ingest("The valve is brass.")
    memory = SlotMemory.restore(old.export(), encoder=BagEncoder(), clock=lambda: NOON)
    assert memory.fingerprint() == old.fingerprint()
    memory.ingest("The valve is steel now.")
    assert [item.at for item in memory.evidence()] == [None, NOON]
    text = memory.read("valve").text
    assert text.index("# undated") < text.index("# 15 May 2024")


@pytest.mark.parametrize("clock", [None, datetime.now])
@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda memory: pickle.loads(pickle.dumps(memory))]
)
def test_a_copy_has_the_clock_of_the_memory(clock: Any, again: Any) -> None:
    made = again(memory_of(clock=clock))
    made.ingest("The valve is brass.")
    assert (made.evidence()[0].at is None) == (clock is None)


@settings(deadline=None, max_examples=often(20))  # a machine may be busy
@given(st.lists(st.sampled_from(["The valve is brass.", "Tea is at noon."]), max_size=4))
def test_the_same_operations_by_the_same_clock_give_the_same(texts: list[str]) -> None:
    def lived() -> str:
        memory = memory_of(clock=ticking())
        for text in texts:
            memory.ingest(text)
            memory.feedback(memory.answer("When is tea?"), correction="At four.")
        return memory.fingerprint()

    assert lived() == lived()
