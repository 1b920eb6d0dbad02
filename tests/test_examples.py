"""The examples run as they stand and show what they say they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def printed_by(name: str) -> str:
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=EXAMPLES.parent, check=True)
    return done.stdout


def test_disagreeing_users_are_parted_by_a_certificate_and_an_undo_brings_the_conflict_back() -> None:
    before, certificate, after = printed_by("disagreeing_users.py").split("\n\n")
    assert (before.count("  right  "), before.count("  WRONG  ")) == (4, 0)
    assert "slot 0 is split" in certificate
    assert "computed again from its own scores: split" in certificate
    assert after.startswith("After the undo: 1 slot(s)")
    assert after.count("  WRONG  ") > 0


def test_the_openai_client_remembers_for_the_one_who_told_it() -> None:
    printed = printed_by("openai_memory.py")
    assert "ana: Which valve has the boiler?\nbot: You told me: The boiler in the kitchen has a brass valve." in printed
    assert "ben: Which valve has the boiler?\nbot: I know nothing of it." in printed
