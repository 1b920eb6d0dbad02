"""MemoryArena's SR, PS and sPS, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.evaluate.arena import SubTask, arena_scores, of_marks, of_readings
from demem_agent.evaluate.measured import Measured
from demem_agent.evaluate.protocol.run import Mark


def test_figures_of_two_subsets_worked_by_hand() -> None:
    found = [
        SubTask("a", "math", right=True, partly=1.0),
        SubTask("a", "math", right=True, partly=1.0),
        SubTask("b", "math", right=True, partly=1.0),
        SubTask("b", "math", right=False, partly=0.5),
        SubTask("b", "math", right=False, partly=0.0),
        SubTask("c", "travel", right=False, partly=0.75),
    ]
    scores = arena_scores(found)
    assert scores["subsets"]["math"] == {
        "tasks": 2,
        "SR": 0.5,
        "PS": pytest.approx((1 + 1 / 3) / 2),
        "sPS": 0.75,
    }
    assert scores["subsets"]["travel"] == {"tasks": 1, "SR": 0.0, "PS": 0.0, "sPS": 0.75}
    assert scores["SR"] == 0.25


def test_without_sub_tasks_there_are_no_figures() -> None:
    assert arena_scores([]) == {"subsets": {}, "SR": None}


subtasks = st.builds(
    SubTask,
    st.sampled_from("abc"),
    st.sampled_from(["math", "travel"]),
    st.booleans(),
    st.floats(0, 1),
)


@given(st.lists(subtasks, min_size=1))
def test_no_more_tasks_succeed_than_progress_says(found: list[SubTask]) -> None:
    for one in arena_scores(found)["subsets"].values():
        assert 0 <= one["SR"] <= one["PS"] + 1e-12
        assert one["PS"] <= 1
        assert 0 <= one["sPS"] <= 1


def read(dialogue: str, recall: float | None, nine_tenths: float | None) -> Measured:
    return Measured(
        dialogue, 0, "math", "demem", 500, recall, None, nine_tenths, 9, 0.0, None, None
    )


def test_a_sub_task_could_be_right_where_all_its_evidence_is_read() -> None:
    found = of_readings(
        [read("r-1/2", 1.0, 1.0), read("r-1/3", 0.6, 0.5), read("r-1/4", None, None)]
    )
    assert found == [SubTask("r-1", "math", True, 1.0), SubTask("r-1", "math", False, 0.6)]


def test_runs_of_one_row_are_tasks_of_their_own_and_what_failed_is_none() -> None:
    marks = [
        Mark(0, "demem", "r-1/2", 0, "math", binary=(1.0, 1.0), graded=(1.0, 0.5)),
        Mark(1, "demem", "r-1/2", 0, "math", binary=(1.0, 0.0), graded=(0.0, 0.5)),
        Mark(1, "demem", "r-1/3", 0, "math", failed="timeout"),
    ]
    first, second = of_marks(marks)
    assert (first.right, first.partly, second.right, second.partly) == (True, 0.75, False, 0.25)
    assert arena_scores(of_marks(marks))["subsets"]["math"]["tasks"] == 2
