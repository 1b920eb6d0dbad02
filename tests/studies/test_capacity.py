"""Splits and similarity at the same number of slots."""

from __future__ import annotations

from typing import Any

from demem_agent import SlotMemory, SplitSettings
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.slots.experiment import Experiment
from demem_agent.studies.ablations.capacity import (
    VARIANTS,
    Compared,
    audit_capacity,
    capacity_sheets,
    compared,
)
from demem_agent.studies.ablations.replay import Learning
from demem_agent.studies.ablations.triggers import always
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.turns import Turn

TEXTS = {"b": "the boiler has a brass valve", "v": "the violin has a broken bow"}
TURNS = tuple(Turn(text, "Ana", session="s", source_id=name) for name, text in TEXTS.items())
PROBES = (
    Probe("Which valve has the boiler?", "a brass valve", ("b",)),
    Probe("Which bow has the violin?", "a broken bow", ("v",)),
)
DIALOGUE = Dialogue("d1", TURNS, PROBES)
SMALL: dict[str, Any] = {
    "clock": None,
    "slot_limit": 44,
    "read_limit": 90,
    "encoder": BagEncoder(),
    "answerer": ReadingAnswerer(),
}


def test_similarity_is_given_as_many_slots_as_the_splits_ended_with() -> None:
    asked_for: list[int] = []

    def similar(slots: int) -> Learning:
        asked_for.append(slots)
        return Learning(SlotMemory(slots=1, split=SplitSettings(pairs=0), **SMALL))

    def splitting() -> Learning:
        experiment = Experiment(trigger=always())
        return Learning(SlotMemory(slots=4, initial_slots=1, experiment=experiment, **SMALL))

    records = compared(DIALOGUE, {"splits": splitting, "again": splitting}, similar)
    assert asked_for == [2]  # both variants ended with two, which is replayed once
    assert [(one.question, one.slots, one.splits) for one in records] == [(0, 2, 1), (1, 2, 1)] * 2
    # One line fits a summary: two slots hold both, and one slot what was asked last.
    assert [one.certified["summary"] for one in records[:2]] == [1.0, 1.0]
    assert [one.similar["summary"] for one in records[:2]] == [0.0, 1.0]


def record(question: int, certified: float, similar: float) -> Compared:
    names = ("summary words", "slot", "reading 2000")
    found, other = dict.fromkeys(names, certified), dict.fromkeys(names, similar)
    return Compared("d1", "certified", question, 6, 1, found, other)


def test_a_table_has_the_difference_question_by_question() -> None:
    (sheet,) = capacity_sheets([record(0, 0.5, 0.25), record(1, 1.0, 1.0)], 0)
    ((name, cells),) = sheet.rows
    assert name == "certified"
    assert cells[0].mean == 6  # type: ignore[union-attr]
    assert (cells[2].mean, cells[3].mean) == (0.75, 0.125)  # type: ignore[union-attr]


def test_an_audit_says_whether_any_beats_similarity_by_the_line() -> None:
    found = audit_capacity([DIALOGUE, Dialogue("d2", TURNS, PROBES)])
    (note,) = found.notes
    # All fits one slot's summary here, so that nothing is found more.
    assert note.endswith("by at least 0.03 more: none.")
    assert {name for name, _ in found.sheets[0].rows} == set(VARIANTS)
