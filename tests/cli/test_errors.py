"""What is refused, and how: one line, an exit code, never a traceback unasked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Demem

from demem_agent import SlotMemory
from demem_agent.errors import InvariantBroken

pytest.importorskip("rich")
pytest.importorskip("typer")


MISTAKES: dict[str, list[str]] = {
    "NotFound answer": ["feedback", "a99", "--reward", "1"],
    "NotFound explained": ["explain", "a99"],
    "NotFound certificate": ["undo", "c99"],
    "NotFound slot to rename": ["rename", "99", "x"],
    "NotFound slot to pin": ["pin", "99"],
    "NotFound slot to merge": ["merge", "99", "--into", "0"],
    "InvalidInput slot into itself": ["merge", "0", "--into", "0"],
    "NotFound evidence": ["forget", "e99"],
    "NotFound slot": ["slots", "--full", "99"],
    "InvalidInput reward": ["feedback", "a1", "--reward", "7"],
    "InvalidInput nothing": ["feedback", "a1"],
    "InvalidInput thumbs": ["feedback", "a1", "--thumbs", "sideways"],
    "InvalidInput outcome": ["feedback", "a1", "--outcome", "perhaps"],
    "InvalidInput outcome range": ["feedback", "a1", "--outcome", "1.5"],
    "InvalidInput together": ["feedback", "a1", "--thumbs", "up", "--outcome", "1"],
    "InvalidInput question": ["ask", "   "],
    "InvalidInput time": ["ask", "When?", "--at", "soon"],
    "InvalidInput mode": ["read", "What?", "--mode", "loud"],
    "InvalidInput limit": ["read", "What?", "--limit", "0"],
    "UsageError number": ["read", "What?", "--limit", "many"],
    "UsageError option": ["check", "--no-such-option"],
    "UsageError command": ["no-such-command"],
    "UsageError argument": ["ask"],
    "UsageError file": ["ingest", "no-such-file.jsonl"],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_exit_1(demem: Demem, memory: Path, name: str) -> None:
    done = demem(*MISTAKES[name], "-m", memory)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("demem: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_with_json_is_a_document_on_stdout(demem: Demem, memory: Path, name: str) -> None:
    done = demem(*MISTAKES[name], "-m", memory, "--json")
    assert (done.code, done.err) == (1, "")
    assert set(done.document) == {"error"}
    assert done.document["error"]["kind"] == name.split()[0]
    assert done.document["error"]["message"]


def test_the_same_key_for_another_request_is_a_mistake(demem: Demem, memory: Path) -> None:
    keyed = ("feedback", "a1", "--key=k", "--json")
    demem(*keyed, "--reward=1", "-m", memory)
    done = demem(*keyed, "--reward=0", "-m", memory)
    assert (done.code, done.document["error"]["kind"]) == (1, "IdempotencyConflict")


def test_a_file_that_is_no_database_is_a_fault(demem: Demem, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text(
        "These are notes, and they are long enough to be taken for a header." * 20
    )
    done = demem("slots", "-m", "notes.db", "--json")
    assert (done.code, done.document["error"]["kind"]) == (2, "StoreError")


@pytest.mark.parametrize(
    "error", [InvariantBroken("two slots hold e1"), ZeroDivisionError("by\nzero")]
)
def test_a_fault_is_one_line_and_exit_2(
    demem: Demem, memory: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(_: SlotMemory) -> None:
        raise error

    monkeypatch.setattr(SlotMemory, "check", broken)
    done = demem("check", "-m", memory)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "Traceback" not in done.err
    assert "Traceback" in demem("check", "-m", memory, "--debug").err


def test_what_follows_two_dashes_is_no_option(demem: Demem, memory: Path) -> None:
    done = demem("ask", "-m", memory, "--", "--json")
    assert done.code == 0
    assert done.out.startswith("answer")


@pytest.mark.parametrize("arguments", [["demo"], ["check", "--json"], []])
def test_without_typer_the_way_to_install_it_is_said(
    demem: Demem, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    done = demem(*arguments)
    assert done.code == 1
    assert "pip install 'demem-agent[cli]'" in (
        done.document["error"]["message"] if done.out else done.err
    )
    assert (done.out + done.err).count("Traceback") == 0
