"""What the tests of commands share: a folder of their own, the command, and a memory that lived."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import ASKED, Demem

from demem_agent import SlotMemory


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run in a folder of its own, which is home too, at a fixed width, with no memory named."""
    for name in ("DEMEM_MEMORY", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def demem(capsys: pytest.CaptureFixture[str]) -> Demem:
    """Return what runs a command in this process."""
    return Demem(capsys)


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory of the demo's conversation with a decision and three answers.

    They are d1, a1, and a2 and a3, which led to a split, c1.
    """
    from demem_agent.cli.demo import data

    file = tmp_path_factory.mktemp("lived") / "m.db"
    budget = {"slots": 3, "initial_slots": 2, "slot_limit": 280, "read_limit": 900}
    with SlotMemory.open(f"sqlite:///{file}", **budget) as memory:
        memory.ingest_many(data.conversation())
        memory.decide("Pixel has to see the vet", ["call", "write"])
        memory.answer("When was Pixel at the vet?", at="2025-06-02")
        for need in data.NEEDS[:2]:
            answer = memory.answer(need.question)
            report = memory.feedback(answer, reference=need.reference)
        assert report.split
    return file


@pytest.fixture
def learning(tmp_path: Path) -> Path:
    """Return a memory of decisions with an answer that was told: a1, for Ana while it rains."""
    file = tmp_path / "learning.db"
    with SlotMemory.open(f"sqlite:///{file}", decisions=True) as memory:
        memory.ingest("I like the seat heating at three.", speaker="Ana", at="2024-03-01")
        memory.ingest("I set the seat heating to one.", speaker="Ben", at="2024-03-02")
        answer = memory.answer(ASKED, asker="Ana", conditions=["Rain"])
        memory.feedback(answer, reference="seat heating at three")
    return file


@pytest.fixture
def memory(lived: Path, tmp_path: Path) -> Path:
    """Return a copy of that memory."""
    return Path(shutil.copy(lived, tmp_path / "m.db"))
