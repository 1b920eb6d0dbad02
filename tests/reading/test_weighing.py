"""What each line of a reading has its score from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder

SAID = (
    "the boiler has a brass valve",
    "the violin has a broken bow",
    "the boiler was mended in May. The violin was not. Nobody knows why that is so.",
    "no",
    "the bow of the violin is new",
)
QUERIES = st.sampled_from(["Which valve has the boiler?", "the bow", "?", "What was in May?", "no"])
LIMITS = st.sampled_from([40, 120, 2000])


@pytest.fixture(scope="module")
def told() -> SlotMemory:
    """Return a memory that was told what is right and what is wrong."""
    memory = SlotMemory(slots=3, initial_slots=2, clock=None, encoder=BagEncoder())
    for number, text in enumerate(SAID):
        memory.ingest(text, speaker=("Ana", "Ben")[number % 2])
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
    memory.feedback(memory.answer("Which bow has the violin?"), thumbs=False)
    return memory


@settings(max_examples=often(25), deadline=None)
@given(query=QUERIES, limit=LIMITS, where=st.sampled_from([None, {"speaker": "Ana"}]))
def test_the_parts_of_a_line_add_up_to_its_score_in_the_reading_that_read_gives(
    told: SlotMemory, query: str, limit: int, where: Any
) -> None:
    weighed = told.weigh(query, limit=limit, where=where)
    assert weighed.reading == told.read(query, limit=limit, where=where)
    assert weighed.route == told.route(query, where=where)
    lines = [*weighed.reading.lines, *weighed.reading.left_out.best]
    parts = [*weighed.parts, *weighed.parts_left_out]
    assert len(lines) == len(parts)
    for line, one in zip(lines, parts, strict=True):
        assert sum(one.values()) == pytest.approx(line.score, abs=0.001)


def test_what_feedback_moved_is_told_apart(told: SlotMemory) -> None:
    query = "Which valve has the boiler?"
    weighed = told.weigh(query)
    first = max(range(len(weighed.parts)), key=lambda n: weighed.reading.lines[n].score)
    assert weighed.reading.lines[first].evidence.id == "e1"
    assert weighed.parts[first]["moved"] > 1
    fresh = SlotMemory(clock=None, encoder=BagEncoder(), stale="show")
    fresh.ingest_many([{"text": text} for text in SAID])
    assert not any("moved" in parts for parts in fresh.weigh(query).parts)


def test_the_lines_of_a_summary_have_no_parts(told: SlotMemory) -> None:
    weighed = told.weigh("Which valve has the boiler?", mode="strict")
    assert weighed.reading.lines
    assert not any(weighed.parts)
