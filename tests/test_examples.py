"""The examples run as they stand and show what they say they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def printed_by(name: str, seconds: float = 60) -> str:
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, cwd=EXAMPLES.parent, check=True
    )
    return done.stdout


def test_disagreeing_users_are_parted_by_a_certificate_and_an_undo_brings_the_conflict_back() -> (
    None
):
    before, certificate, after = printed_by("disagreeing_users.py").split("\n\n")
    assert (before.count("  right  "), before.count("  WRONG  ")) == (4, 0)
    assert "slot 0 is split" in certificate
    assert "computed again from its own scores: split" in certificate
    assert after.startswith("After the undo: 1 slot(s)")
    assert after.count("  WRONG  ") > 0


def test_an_agent_that_tells_memory_of_its_tools_needs_one_call_for_what_took_several() -> None:
    table, taught, _ = printed_by("agent_loop.py").split("\n\n")
    calls = {
        line[:30].strip(): [int(n) for n in line[30:].split()] for line in table.splitlines()[1:]
    }
    without, with_outcomes = (
        calls["memory that hears nothing"],
        calls["memory that hears of outcomes"],
    )
    assert without[0] == without[1] == without[2] == with_outcomes[0] > 6
    assert with_outcomes[1:] == calls["memory that decides"][1:] == [6, 6]
    assert "`supervisorctl restart` works on rhea" in taught


def test_tools_are_chosen_well_from_the_second_week_on() -> None:
    weeks, _ = printed_by("tool_choice.py").split("\n\n")
    right = [int(line.split()[-3]) for line in weeks.splitlines()]
    assert right[0] < 55
    assert min(right[1:]) >= 57


def test_the_hooks_of_a_coding_agent_carry_from_one_session_to_the_next() -> None:
    monday, tuesday, *recalled = printed_by("coding_agent_hooks.py").splitlines()
    assert monday == "monday, before the model: nothing"
    assert tuesday.startswith("tuesday, before the model: What is remembered of earlier")
    assert any("port 8081" in line for line in recalled)


@pytest.mark.slow
def test_clients_that_know_nothing_of_memory_have_it_behind_the_proxy() -> None:
    told = printed_by("proxy_clients.py", 240).splitlines()
    assert told[1] == "  Noted."
    assert told[3] == "  You told me: The boiler in the kitchen has a brass valve."
    assert told[5] == "  I know nothing of it."
    assert told[7:] in ([], told[3:4])
