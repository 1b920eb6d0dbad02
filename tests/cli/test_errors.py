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


#: What a newcomer types, and what must be said of it.
SLIPS: list[tuple[list[str], str]] = [
    (["read", "What?", "--limit", "abc"], "--limit must be a whole number, got 'abc'"),
    (["read", "What?", "--limit=5.5"], "--limit must be a whole number, got '5.5'"),
    (["read", "What?", "--floor", "high"], "--floor must be a number, got 'high'"),
    (["rename", "one", "x"], "SLOT must be a whole number"),
    (["ask", "Where", "is", "it?"], "'is it?' is too much: put a text of several words in quot"),
    (["ingest", "no.jsonl"], "there is no file no.jsonl"),
    (["ingest", "."], ". is a folder, not a file"),
    (["forget", "12"], "no evidence has the id '12'; ids look like e12; demem items lists th"),
    (["forget", "a1"], "no evidence has the id 'a1'; a1 would be an answer; ids of evidence loo"),
    (["forget", "--source-id", "x"], "no evidence has the source_id 'x'; it is what your own fi"),
    (["feedback", "9", "--reward", "1"], "no answer has the id '9'; ids look like a3; demem ask"),
    (["feedback", "e1", "--reward", "1"], "no answer has the id 'e1'; e1 would be evidence; ids"),
    (["feedback", "a1"], "say how it did: --reward, --reference, --thumbs, --correction or"),
    (["undo", "c9"], "no certificate has the id 'c9'; ids look like c1; demem certificates"),
    (["undo", "a1"], "there is nothing to take back: no feedback on the answer a1 judged a"),
    (["outcome", "d9", "--reward", "1"], "no decision has the id 'd9'; ids look like d1; demem"),
    (["pin", "9"], "no slot has the id '9'; demem slots lists them"),
    (["explain", "x1"], "nothing has the id 'x1': answers are a1, evidence e1, certificates c1"),
    (["explain", "e99"], "no evidence has the id 'e99'; ids look like e12"),
    (["list"], "there is no command 'list': use demem items"),
    (["get"], "there is no command 'get': use demem show, or demem history"),
    (
        ["search", "boat"],
        "there is no command 'search': use demem ask for an answer, or demem read",
    ),
    (["add", "x"], "there is no command 'add': use demem ingest"),
    (["delete-all"], "there is no command 'delete-all': use demem delete"),
    (["users"], "there is no command 'users': use demem memories"),
    (["keep", "e2", "m.db"], "'m.db' is too much: name the memory by -m m.db (see demem keep"),
    (["check", "m.db"], "'m.db' is too much: name the memory by -m m.db"),
    (["decide", "rain"], "what can be chosen? give --action NAME once for each"),
    (["ask", "When?", "--at", "soon"], "at must be a date or a time in ISO 8601, such as '2023"),
]


@pytest.mark.parametrize(("typed", "said"), SLIPS, ids=[" ".join(row[0]) for row in SLIPS])
def test_a_slip_is_told_so_that_it_can_be_mended(
    demem: Demem, memory: Path, typed: list[str], said: str
) -> None:
    done = demem(*typed, "-m", memory)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"demem: {said}")


def test_an_option_before_the_command_is_told_where_it_stands(demem: Demem) -> None:
    done = demem("--memory", "m.db", "ask", "What?")
    assert done.err.startswith("demem: options stand behind the command: demem ask ... --memory")


def test_a_folder_is_no_memory(demem: Demem) -> None:
    assert demem("ask", "What?", "-m", ".").err.startswith("demem: . is a folder; a memory is a")


LINES: list[tuple[str, str]] = [
    ('{"text": "a", "speeker": "b"}', "line 1: a turn has no field 'speeker': did you mean 'spea"),
    (
        '{"text": "a",}',
        "line 1 must be JSON: Expecting property name enclosed in double quotes, got",
    ),
    ('"a"', "line 1 must be a turn with a text, a message with a role, or an object with messages"),
    ('{"text": "a"}\n{"text": null}', "line 2: text must be a text, got None"),
]


@pytest.mark.parametrize(("lines", "said"), LINES, ids=[row[0] for row in LINES])
def test_a_line_of_a_file_that_is_no_turn_is_named(
    demem: Demem, tmp_path: Path, lines: str, said: str
) -> None:
    (tmp_path / "chat.jsonl").write_text(lines, encoding="utf-8")
    done = demem("ingest", "chat.jsonl", "-m", "m.db")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"demem: chat.jsonl {said}")


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
