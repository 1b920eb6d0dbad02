"""``demem notes``: a model takes notes of a memory; the provider is on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("openai")

from demem_agent.testing import Provider, obedient


def test_a_model_takes_notes_of_what_a_file_holds(demem: Demem, memory: Path) -> None:
    with Provider(obedient) as provider:
        asked = ("notes", "-m", memory, "--model", "small", "--base-url", provider.url)
        done = demem(*asked, "--json")
        again = demem(*asked)
    assert done.code == 0
    assert done.document["batches"][0]["notes"]
    assert done.document["used"]["requests"] >= 1
    assert "Notes: 0 of 0 items" in again.out


def test_a_failing_provider_is_said_and_nothing_is_lost(demem: Demem, memory: Path) -> None:
    with Provider(obedient) as provider:
        url = ("--base-url", provider.url, "--timeout", "2")
        done = demem("notes", "-m", memory, "--model", "fault-html", *url)
    assert "stopped: " in done.out
    assert "Notes: 0 of 0 items" in done.out


def test_it_wants_a_model(demem: Demem, memory: Path) -> None:
    done = demem("notes", "-m", memory)
    assert done.code == 1
    assert "--model" in done.err
