"""The speed of memories with and without decisions: both do the same, and ratios are of runs."""

from __future__ import annotations

from itertools import islice

import numpy as np
from benchmark_files import benchmark

from demem_agent import SlotMemory

speed = benchmark("speed_decisions")


def test_ratios_are_of_each_run_and_their_median_counts() -> None:
    runs = [np.array([[2.0, 1.0]] * 3), np.array([[6.0, 2.0]] * 3), np.array([[4.0, 4.0]] * 3)]
    found = speed.figure("read", 10, 0, 50, runs)
    assert (found.ratio, found.lowest, found.highest) == (2.0, 1.0, 3.0)
    assert (found.with_decisions, found.without) == (4000.0, 2000.0)


def test_both_memories_are_told_the_same() -> None:
    growing = speed.Growing.of(items=20, seed=0, askers=True)
    growing.tell(2)
    growing.tell(3)
    ours, plain = growing.memories
    assert ours.settings.decisions
    assert not plain.settings.decisions
    for memory in growing.memories:
        assert [context.query for context in memory.contexts()] == [
            asked.question for asked in growing.past
        ]
        assert [context.told for context in memory.contexts()] == [("reference",)] * 3


def test_the_memory_that_goes_first_takes_turns() -> None:
    order: list[int] = []
    memories = SlotMemory(decisions=True), SlotMemory()

    def work(memory: SlotMemory, asked: object) -> float:
        order.append(memories.index(memory))
        return 1.0

    asked = list(islice(speed.questions(0, askers=False), 2))
    times = speed.side_by_side(memories, work, asked)
    assert times.shape == (2, 2)
    assert order == [1, 0, 0, 1]


def test_a_chat_turn_remembers_question_and_answer_and_records_the_answer() -> None:
    memory = SlotMemory()
    asked = next(speed.questions(0, askers=False))
    assert speed.chat_turn(memory, asked) >= 0.0
    assert len(memory) == 2
    assert len(memory.contexts()) == 1


def test_two_people_ask_by_turns_where_askers_are_wanted() -> None:
    asked = list(islice(speed.questions(0, askers=True), 3))
    assert [one.how["asker"] for one in asked] == [*speed.ASKERS, speed.ASKERS[0]]
