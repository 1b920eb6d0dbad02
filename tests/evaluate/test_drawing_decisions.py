"""The course of a log of decisions, and its drawing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import MissingExtra
from demem_agent.evaluate import draw_decisions
from demem_agent.evaluate.deciding.course import course_of, moving_mean
from demem_agent.evaluate.drawing import figures

TOOLS = ("directory", "mail link", "on-site visit")
TEAMS = "accounting legal sales support finance design research logistics press training".split()


@pytest.fixture(scope="module")
def memory() -> SlotMemory:
    """Return a memory in which one situation is described like all others and is another."""
    made = SlotMemory(slots=4)
    for n in range(200):
        team = TEAMS[n % len(TEAMS)]
        best = "on-site visit" if team == "legal" else "directory"
        decision = made.decide(f"Password reset for ${team}", TOOLS)
        noise = 0.05 * (-1) ** (n // len(TEAMS))
        made.feedback(decision, reward=noise + (0.8 if decision.action == best else 0.2))
    made.decide("Password reset for legal", TOOLS)
    return made


def test_a_moving_mean_is_that_of_the_last_values() -> None:
    values = np.array([1.0, 0.0, np.nan, 1.0, 1.0])
    assert moving_mean(values, 2).tolist() == [1.0, 0.5, 0.0, 1.0, 1.0]
    assert np.isnan(moving_mean(np.array([np.nan, 1.0]), 3)).tolist() == [True, False]


def test_a_course_holds_every_decision(memory: SlotMemory) -> None:
    course = course_of(memory.decision_log())
    decisions = memory.decisions()
    assert list(course.chosen) == [one.action for one in decisions]
    assert course.explores.tolist() == [one.explores for one in decisions]
    assert np.isnan(course.rewards).tolist() == [one.reward is None for one in decisions]
    assert course.actions[0] == "directory"
    assert course.restarts == []


def test_situations_come_by_profile_and_in_a_profile_by_outcomes(memory: SlotMemory) -> None:
    course = course_of(memory.decision_log())
    assert {one.id for one in course.situations} == {one.id for one in memory.situations()}
    slots = [one.slot for one in course.situations if one.slot is not None]
    assert slots == sorted(slots)


def test_a_parting_is_placed_after_the_decisions_made_by_then(memory: SlotMemory) -> None:
    course = course_of(memory.decision_log())
    assert len(course.partings) == 1
    noted = course.partings[0]
    assert noted.parting.situation == "x2"
    assert noted.parting.decision == f"d{noted.after}"


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_decisions_are_drawn(memory: SlotMemory, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    drawn = draw_decisions(memory.decision_log(), tmp_path / "new" / f"decisions{suffix}")
    assert drawn.stat().st_size > 10_000


def test_a_single_decision_without_an_outcome_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    memory = SlotMemory()
    memory.decide("a case", ["only this"])
    assert draw_decisions(memory.decision_log(), tmp_path / "one.svg").exists()


def test_a_file_of_another_kind_is_refused(memory: SlotMemory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="path"):
        draw_decisions(memory.decision_log(), tmp_path / "decisions.txt")


def test_a_log_without_decisions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="log"):
        draw_decisions(SlotMemory().decision_log(), tmp_path / "none.svg")


def test_without_matplotlib_the_way_to_install_it_is_said(
    memory: SlotMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="lab"):
        draw_decisions(memory.decision_log(), tmp_path / "decisions.svg")
    assert not (tmp_path / "decisions.svg").exists()
