"""``demem decide``, ``outcome`` and ``decisions``."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

from demem_agent import SlotMemory
from demem_agent.settings import DecideSettings

pytest.importorskip("rich")
pytest.importorskip("typer")

SITUATION = "Password reset for sales"
OFFER = ("--action", "directory", "--action", "mail link")


def test_what_was_said_to_work_is_chosen_and_told(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "new.db"
    for _ in range(6):
        made = demem.document("decide", SITUATION, *OFFER, "-m", at)
        reward = "1" if made["action"] == "mail link" else "0"
        demem.document("outcome", made["id"], "--reward", reward, "-m", at)
    best = demem.document("decide", SITUATION, *OFFER, "--no-explore", "-m", at)
    assert (best["action"], best["explores"]) == ("mail link", False)
    listed = demem.document("decisions", "-m", at)
    assert "not directory: 0 of" in listed["advice"]["x1"]
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


def drawn_by_chance(at: Path) -> None:
    """Make a memory that leaves a choice in two to chance."""
    settings = DecideSettings(chance=0.5)
    with SlotMemory.open(f"sqlite:///{at}", decide=settings) as memory:
        for _ in range(40):
            made = memory.decide(SITUATION, ["directory", "mail link"])
            memory.feedback(made, outcome=made.action == "directory")


def test_decisions_are_replayed_under_other_policies(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "chance.db"
    drawn_by_chance(at)
    replayed = demem.document("replay-decisions", "-m", at)
    assert [one["name"] for one in replayed["policies"]] == [
        "as it is",
        "no corrections",
        "the paper's form",
    ]
    assert (replayed["compared"], replayed["support"]) == (40, 1.0)
    assert replayed["policies"][0]["ips"]["mean"] > 0.6
    shown = demem("replay-decisions", "-m", at).out
    assert "SNIPS" in shown
    assert "Conditions" in shown


def test_a_policy_to_replay_is_told_by_options(demem: Demem, tmp_path: Path) -> None:
    at = tmp_path / "chance.db"
    drawn_by_chance(at)
    typed = ("--slots", "1", "--slots", "5", "--no-corrections", "--delta", "0.01")
    replayed = demem.document("replay-decisions", *typed, "--learns-from", "all", "-m", at)
    assert [one["name"] for one in replayed["policies"]] == [
        "as it is",
        "1 slot, no corrections, delta 0.01",
        "5 slots, no corrections, delta 0.01",
    ]
    assert {one["taught"] for one in replayed["policies"]} == {40}


def test_where_nothing_was_left_to_chance_there_is_no_estimate(demem: Demem, memory: Path) -> None:
    assert "no estimate: no decision" in demem("replay-decisions", "-m", memory).out


def test_decisions_are_drawn(demem: Demem, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    at = tmp_path / "chance.db"
    drawn_by_chance(at)
    assert "drawn: " in demem("decisions", "--draw", tmp_path / "o.svg", "-m", at).out
    assert (tmp_path / "o.svg").read_text().startswith("<?xml")
    refused = demem("decisions", "--draw", tmp_path / "o.txt", "-m", at)
    assert (refused.code, "path" in refused.err) == (1, True)


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
        (("decide", SITUATION), "--action"),
        (("decide", SITUATION, *OFFER, "--never", "directory", "--never", "mail link"), "never"),
        (("decide", SITUATION, *OFFER, "--chose", "x", "--no-explore"), "explore"),
        (("outcome", "d7", "--reward", "1"), "d7"),
        (("explain", "d7"), "decision"),
        (("replay-decisions", "--slots", "0"), "slots"),
        (("replay-decisions", "--delta", "2"), "delta"),
        (("replay-decisions", "--paper", "--no-corrections"), "corrections"),
        (("replay-decisions", "--learns-from", "some"), "learns_from"),
    ],
)
def test_bad_input_names_its_field(
    demem: Demem, memory: Path, typed: tuple[str, ...], field: str
) -> None:
    done = demem(*typed, "-m", memory)
    assert done.code == 1
    assert field in done.err
