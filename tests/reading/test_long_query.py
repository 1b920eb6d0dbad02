"""Of a very long query both ends are read, and the middle is not."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

MIDDLE = "lorem ipsum " * 80_000


@pytest.fixture
def memory() -> SlotMemory:
    memory = SlotMemory()
    memory.ingest("The violin is in the attic.", speaker="Ana", at="2024-01-01")
    memory.ingest("The ladder is behind the garage.", speaker="Ana", at="2024-01-02")
    return memory


@pytest.mark.parametrize(
    "query", ["Where is the violin? " + MIDDLE, MIDDLE + "Where is the violin?"]
)
def test_what_either_end_asks_is_found(memory: SlotMemory, query: str) -> None:
    assert memory.read(query).ranked[0] == memory.read("Where is the violin?").ranked[0]


def test_the_middle_changes_nothing(memory: SlotMemory) -> None:
    ends = "x " * 4_096, " y" * 4_096
    shown = memory.read(ends[0] + "ladder " * 9 + ends[1])
    assert shown.text == memory.read(ends[0] + "violin " * 9 + ends[1]).text


def test_an_answer_keeps_both_ends_of_its_question(memory: SlotMemory) -> None:
    kept = memory.answer("Where is the violin? " + MIDDLE).query
    assert kept.startswith("Where is the violin?")
    assert len(kept) == 2 * 8_192 + 1


def test_a_query_of_both_ends_alone_is_read_whole(memory: SlotMemory) -> None:
    query = "z" * (2 * 8_192)
    assert memory.answer(query).query == query
