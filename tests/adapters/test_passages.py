"""A reading in pieces: whole, best first, and within a limit however a framework shows them."""

from __future__ import annotations

from datetime import datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_adapters.common.passages import Passage, details, fitting, passages
from demem_agent import Evidence, SlotMemory
from demem_agent.testing import BagEncoder
from demem_agent.text import measure
from demem_agent.types import Unit

SENTENCES = [
    f"In room {n} of the house the boiler has a valve of {metal}."
    for n, metal in product(range(9), ("brass", "tin"))
]


def memory() -> SlotMemory:
    made = SlotMemory(encoder=BagEncoder())
    made.ingest(
        " ".join(SENTENCES), speaker="ana", at=datetime(2026, 3, 1), session="s", source_id="m1"
    )
    made.ingest_many(
        [{"text": "The weather is fine."}, {"text": "The boiler in room 3 has a valve of brass."}]
    )
    return made


@given(st.integers(60, 3000))
def test_passages_are_the_lines_of_a_reading_by_item_and_best_first(limit: int) -> None:
    reading = memory().read("Which valve has the boiler in room 3?", limit=limit)
    found = passages(reading)
    assert [passage.score for passage in found] == sorted((p.score for p in found), reverse=True)
    assert {passage.evidence for passage in found} == set(reading.evidence)
    in_passages = "\n".join(passage.text for passage in found).split("\n")
    in_lines = "\n".join(line.text for line in reading.lines).split("\n")
    assert sorted(in_passages) == sorted(in_lines)


@given(st.integers(60, 3000))
def test_a_passage_is_as_probable_as_its_surest_line_and_none_is_surer_than_one_before(
    limit: int,
) -> None:
    reading = memory().read("Which valve has the boiler in room 3?", limit=limit)
    found = [passage.probability for passage in passages(reading)]
    assert found == sorted(found, reverse=True)
    surest: dict[str, float] = {}
    for line in reading.lines:
        surest[line.evidence.id] = max(surest.get(line.evidence.id, 0.0), line.probability)
    assert sorted(found) == sorted(surest.values())


def test_what_is_read_of_one_item_stays_in_its_order() -> None:
    reading = memory().read(
        "Which valve has the boiler in room 8, and which in room 0?", limit=1500
    )
    (long,) = [p.text for p in passages(reading) if p.evidence and p.evidence.source_id == "m1"]
    places = [" ".join(SENTENCES).index(line) for line in long.split("\n")]
    assert len(places) > 1
    assert places == sorted(places)


def test_a_summary_is_one_passage_of_no_item() -> None:
    reading = memory().read("Which valve has the boiler?", mode="strict")
    assert passages(reading) == [Passage(reading.text, probability=reading.probability)]


@pytest.mark.parametrize(
    "reading", [None, SlotMemory(encoder=BagEncoder()).read("Which valve?")], ids=["none", "empty"]
)
def test_of_nothing_there_are_no_passages(reading: object) -> None:
    assert passages(reading) == []  # type: ignore[arg-type]


@given(
    st.lists(st.text(max_size=20), max_size=8),
    st.integers(0, 60),
    st.sampled_from(["chars", "bytes", "tokens"]),
)
def test_what_fits_is_within_the_limit_and_no_passage_is_left_out_that_would_fit(
    texts: list[str], limit: int, unit: Unit
) -> None:
    offered = [Passage(text) for text in texts]
    size = measure(unit)
    taken = list(fitting(offered, lambda passage: f"<{passage.text}>", limit, size))
    left = limit - sum(size(f"<{passage.text}>") for passage in taken)
    assert left >= 0
    kept = {id(passage) for passage in taken}
    missed = [passage for passage in offered if id(passage) not in kept]
    assert all(size(f"<{passage.text}>") > left for passage in missed)


def test_details_are_json_values_and_leave_out_what_is_not_known() -> None:
    item = Evidence("e1", "x", speaker="ana", at=datetime(2026, 3, 1, 9, 30), source_id="m1")
    assert details(item) == {
        "speaker": "ana",
        "source_id": "m1",
        "evidence_id": "e1",
        "at": "2026-03-01T09:30:00",
    }
    assert details(None) == {}
