"""What every command does alike: JSON, width, help, and no memory made by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.commands import COMMANDS

USES: dict[str, list[str]] = {
    "ask": ["What is Bruno's medicine?"],
    "read": ["What is Bruno's medicine?", "--limit", "9000"],
    "feedback": ["a1", "--reward", "0.5"],
    "items": [],
    "show": ["e1"],
    "stats": [],
    "keep": ["e1"],
    "hide": ["e1"],
    "slots": [],
    "explain": ["a2"],
    "certificates": [],
    "update": ["e1", "Bruno takes Rimadyl."],
    "history": ["e1"],
    "supersede": ["e1", "e2"],
    "outcome": ["d1", "--reward", "1"],
    "decisions": [],
    "replay-decisions": [],
    "forget": ["e1"],
    "undo": ["c1"],
    "rename": ["0", "At home"],
    "pin": ["0"],
    "merge": ["1", "--into", "0"],
    "share": [],
    "export": [],
    "check": [],
    "copy": ["--to", "twin"],
    "rename-memory": ["--to", "twin"],
    "delete": ["--yes"],
}


def test_every_command_on_a_memory_is_tried_here() -> None:
    assert set(USES) | {
        "demo",
        "chat",
        "ingest",
        "decide",
        "import",
        "lab",
        "eval",
        "bench",
        "audit",
        "serve",
        "worker",
        "jobs",
        "bulk",
        "open",
        "inspect",
        "keys",
        "mcp",
        "memories",
        "notes",
        "setup",
        "hook",
        "backup",
        "cool",
        "restore",
        "doctor",
        "rotate-key",
        "verify-receipt",
        "audit-log",
    } == set(COMMANDS)


@pytest.mark.parametrize("command", USES)
def test_json_is_one_document_and_nothing_else(demem: Demem, memory: Path, command: str) -> None:
    done = demem(command, *USES[command], "-m", memory, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert done.document is not None


@pytest.mark.parametrize("command", USES)
def test_text_for_a_person_is_written_at_any_width(
    demem: Demem, memory: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    done = demem(command, *USES[command], "-m", memory)
    assert (done.code, done.err) == (0, "")
    assert done.out.strip()


@pytest.mark.parametrize("command", USES)
def test_no_command_makes_a_memory_that_is_not_there(demem: Demem, command: str) -> None:
    done = demem(command, *USES[command], "-m", "none.db")
    assert (done.code, done.out) == (1, "")
    assert (
        done.err == "demem: there is no memory at none.db; demem ingest or demem import makes one\n"
    )
    assert not Path("none.db").exists()


@pytest.mark.parametrize("command", USES)
def test_no_command_makes_a_memory_of_another_id(demem: Demem, memory: Path, command: str) -> None:
    done = demem(command, *USES[command], "-m", memory, "--id=other")
    assert done.code == 1
    assert "'default'" in done.err
    assert demem("check", "-m", memory, "--id", "other").code == 1


@pytest.mark.parametrize("command", USES)
def test_without_a_memory_named_the_way_to_name_one_is_said(demem: Demem, command: str) -> None:
    done = demem(command, *USES[command])
    assert (done.code, done.out) == (1, "")
    assert done.err == "demem: which memory? pass --memory PATH or set DEMEM_MEMORY\n"


def test_the_memory_can_be_named_by_the_environment(
    demem: Demem, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMEM_MEMORY", f"sqlite:///{memory}")
    assert demem("check").code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(demem: Demem, command: str) -> None:
    done = demem(command, "--help")
    assert done.code == 0
    assert "--json" in done.out
