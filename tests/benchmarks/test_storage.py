"""Bounded storage as it is measured: what is asked and told, and how it is shown."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

from demem_agent import SlotMemory, Turn
from demem_agent.evaluate import Dialogue, Probe

pytest.importorskip("rich")
pytest.importorskip("typer")
storage = benchmark("storage")

DIALOGUE = Dialogue(
    "d",
    (
        Turn("The boiler has a brass valve.", speaker="Ana", source_id="1"),
        Turn("The violin has a broken bow.", speaker="Ben", source_id="2"),
    ),
    (
        Probe("Which valve does the boiler have?", "a brass valve", ("1",), "single-hop"),
        Probe("Which bow does the violin have?", "a broken bow", ("2",), "single-hop"),
        Probe("What was never said?", "nothing", ("1",), "adversarial"),
    ),
)


def test_of_every_second_question_the_answer_is_told() -> None:
    learned = storage.learn(DIALOGUE, "text")
    assert [context.reference for context in learned.contexts()] == ["a brass valve"]
    assert storage.credit_of(learned, DIALOGUE) == [1, 1, 1]


def test_all_questions_are_asked_and_say_whether_they_were_told() -> None:
    learned = storage.learn(DIALOGUE, "lines")
    found = list(storage.ask(learned, DIALOGUE, "s", "everything"))
    assert [(one.told, one.recall) for one in found] == [(True, 1.0), (False, 1.0)]


def test_rivals_keep_items_alone() -> None:
    lines = storage.learn(DIALOGUE, "text").export()
    for order in (storage.newest, storage.most_specific):
        experiment = storage.Experiment(keeping=order)
        memory = SlotMemory.restore(lines, storage=60, experiment=experiment)
        memory.rename(0, None)
        assert memory.storage().contexts == 0
        assert len(memory) == 2


def test_precision_and_recall() -> None:
    assert storage.shares([1, 2, 4]) == {"precision": 0.5, "recall": 0.25}
