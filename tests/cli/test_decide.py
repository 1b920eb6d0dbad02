"""``demem decide``, ``outcome`` and ``decisions``."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("rich")
pytest.importorskip("typer")

SITUATION = "Password reset for sales"
OFFER = ("--action", "directory", "--action", "mail link")


def test_what_was_said_to_work_is_chosen_and_told(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "new.db"
    for _ in range(6):
        made = demem.document("decide", SITUATION, *OFFER, "-m", at)
        reward = "1" if made["action"] == "directory" else "0"
        demem.document("outcome", made["id"], "--reward", reward, "-m", at)
    best = demem.document("decide", SITUATION, *OFFER, "--no-explore", "-m", at)
    assert (best["action"], best["explores"]) == ("directory", False)
    listed = demem.document("decisions", "-m", at)
    assert "not mail link: 0 of" in listed["advice"]["x1"]
    told = demem("decisions", "-m", at).out
    assert "what worked" in told


def test_what_an_agent_chose_itself_is_recorded(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "new.db"
    made = demem.document("decide", SITUATION, *OFFER, "--chose", "visit", "-m", at)
    assert (made["action"], made["probability"]) == ("visit", None)
    assert made["actions"] == ["directory", "mail link", "visit"]


def test_every_decision_is_listed(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "new.db"
    for text in (SITUATION, "The printer is on fire"):
        demem.document("decide", text, *OFFER, "--asker", "Ana", "-m", at)
    listed = demem.document("decisions", "-m", at)
    assert [one["text"] for one in listed["situations"]] == [SITUATION, "The printer is on fire"]
    assert [one["situation"] for one in listed["decisions"]] == ["x1", "x2"]


def test_a_decision_is_explained(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "new.db"
    for _ in range(4):
        made = demem.document("decide", SITUATION, *OFFER, "--asker", "Ana", "-m", at)
        reward = "1" if made["action"] == "directory" else "0"
        demem.document("outcome", made["id"], "--reward", reward, "-m", at)
    told = demem.document("explain", "d4", "-m", at)
    assert told["decision"]["id"] == "d4"
    assert told["situation"]["asker"] == "Ana"
    assert sum(one["here"]["count"] for one in told["actions"]) == 3
    assert sum(one["here_now"]["count"] for one in told["actions"]) == 4
    shown = demem("explain", "d4", "-m", at).out
    assert "No certificate parts this situation" in shown
    assert "before the decision and until now" in shown


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        (("decide", SITUATION), "actions"),
        (("decide", SITUATION, *OFFER, "--never", "directory", "--never", "mail link"), "never"),
        (("decide", SITUATION, *OFFER, "--chose", "x", "--no-explore"), "explore"),
        (("outcome", "d7", "--reward", "1"), "d7"),
        (("explain", "d7"), "decision"),
    ],
)
def test_bad_input_names_its_field(
    demem: Demem, memory: Path, typed: tuple[str, ...], field: str
) -> None:
    done = demem(*typed, "-m", memory)
    assert done.code == 1
    assert field in done.err
