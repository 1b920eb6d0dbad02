"""Questions made unanswerable by rule: when a rule applies, and what it asks instead."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

from demem_agent import SlotMemory
from demem_agent.evaluate import Dialogue, Probe
from demem_agent.turns import Turn

unanswerable = benchmark("unanswerable")
TURNS = (
    Turn("I painted a lake at sunrise.", "Ben", source_id="1"),
    Turn("The violin has a broken bow.", "Ana", source_id="2"),
    *(Turn(f"We heard a cello and a piano, number {n}.", "Ana", source_id=f"c{n}") for n in "abc"),
)
TALK = Dialogue("talk", TURNS)
PAINTED = Probe("What did Ben paint?", "a lake", ("1",))
BROKEN = Probe("What of the violin?", "the bow", ("2",))


def test_a_swapped_question_is_about_the_other_one() -> None:
    assert unanswerable.swapped(TALK, PAINTED) == Probe("What did Ana paint?", "")


@pytest.mark.parametrize(
    "probe",
    [
        Probe("What was painted?", "a lake", ("1",)),
        Probe("What did Ben and Ana paint?", "a lake", ("1",)),
        Probe("What did Ben paint?", "a lake", ("1", "2")),
        Probe("What did Ana paint?", "a lake", ("1",)),
    ],
    ids=["nobody", "both", "both told", "told by the other"],
)
def test_where_it_is_not_one_persons_own_it_is_not_swapped(probe: Probe) -> None:
    assert unanswerable.swapped(TALK, probe) is None


def test_what_was_told_to_a_model_is_not_swapped() -> None:
    chat = Dialogue("chat", (Turn("Hi", "user", source_id="1"), Turn("Hi", "assistant")))
    assert unanswerable.swapped(chat, Probe("What did the user say?", "Hi", ("1",))) is None


def test_a_replaced_word_is_one_of_its_kind_that_the_evidence_lacks() -> None:
    memory = SlotMemory()
    memory.ingest_many(TURNS)
    index = memory._held.state.passage_index()
    kinds = unanswerable.Kinds.among([TALK])
    made = unanswerable.replaced(TALK, BROKEN, index, kinds, 0)
    assert made == Probe("What of the cello?", "")
    assert unanswerable.replaced(TALK, BROKEN, index, kinds, 0) == made
    assert unanswerable.replaced(TALK, Probe("What is it?", "x", ("2",)), index, kinds, 0) is None
