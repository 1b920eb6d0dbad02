"""Undo, forget, export and import: what the commands do to a memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Demem

from demem_agent import SlotMemory

pytest.importorskip("rich")
pytest.importorskip("typer")


def test_undo_takes_the_split_back(demem: Demem, memory: Path) -> None:
    before = demem.document("slots", "-m", memory)["slots"]
    after = demem.document("undo", "c1", "-m", memory)["slots"]
    assert len(after) == len(before) - 1
    certificates = demem.document("certificates", "-m", memory)
    assert [certificate["undone"] for certificate in certificates] == [True]
    assert demem("undo", "c1", "-m", memory).code == 1


def test_what_is_forgotten_is_in_no_export_and_not_in_the_file(demem: Demem, memory: Path) -> None:
    assert "62,000" in demem("export", "-m", memory).out
    receipt = demem.document("forget", "--source-id", "s2:8", "-m", memory)
    assert len(receipt["evidence"]) == 1
    assert "62,000" not in demem("export", "-m", memory).out
    assert b"62,000" not in memory.read_bytes()


def test_forget_takes_all_versions_where_that_is_asked(demem: Demem, memory: Path) -> None:
    updated = demem.document("update", "-m", memory, "e1", "The office moved to Faro.")
    receipt = demem.document("forget", "e1", "--versions", "-m", memory)
    assert {"e1", updated["evidence_id"]} <= set(receipt["evidence"])


def test_forget_takes_exactly_one_selector(demem: Demem, memory: Path) -> None:
    for arguments in (
        [],
        ["e1", "--source-id", "s1:1"],
        ["--source-id", "s1:1", "--before", "2025-02-01"],
    ):
        assert demem("forget", *arguments, "-m", memory).code == 1
    assert demem.document("check", "-m", memory)["items"] == 80


def test_an_export_is_imported_with_the_same_fingerprint(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    copy = ("-m", "copy.db", "--id", "twin", "--tenant", "t")
    demem("import", "e.jsonl", *copy)
    original = demem.document("check", "-m", memory)
    assert demem.document("check", *copy)["fingerprint"] == original["fingerprint"]


def test_an_export_to_a_pipe_is_the_same_as_to_a_file(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    text = Path("e.jsonl").read_text()
    assert demem("export", "-m", memory).out == text
    rows = list(map(json.loads, text.splitlines()))
    assert demem.document("export", "-m", memory) == rows


def test_an_import_may_widen_the_budget_of_slots(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    demem("import", "e.jsonl", "-m", "copy.db", "--slots=7", "--read-limit=1200")
    with SlotMemory.open("sqlite:///copy.db") as imported:
        assert (imported.settings.slots, imported.settings.read_limit) == (7, 1200)


@pytest.mark.parametrize(
    "budget", [("--slot-limit", "500"), ("--unit", "bytes"), ("--slots", "1"), ("--slots", "-4")]
)
def test_an_import_refuses_a_budget_that_the_export_does_not_fit(
    demem: Demem, memory: Path, budget: tuple[str, str]
) -> None:
    demem("export", "e.jsonl", "-m", memory)
    assert demem("import", "e.jsonl", "-m", "copy.db", *budget).code == 1
    assert not Path("copy.db").exists()


def test_an_import_over_a_memory_is_refused(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    done = demem("import", "e.jsonl", "-m", memory)
    assert done.code == 1
    assert "--id" in done.err


@pytest.mark.parametrize(
    "content", ["", "no json\n", "[1]\n", '{"kind": "slot"}\n', '{"kind": "memory"}\n']
)
def test_an_import_of_something_else_makes_no_file(
    demem: Demem, tmp_path: Path, content: str
) -> None:
    (tmp_path / "e.jsonl").write_text(content)
    done = demem("import", "e.jsonl", "-m", "copy.db")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert not Path("copy.db").exists()


def test_an_export_never_overwrites_the_memory(demem: Demem, memory: Path) -> None:
    before = memory.read_bytes()
    assert demem("export", memory, "-m", memory).code == 1
    assert memory.read_bytes() == before


def test_an_export_that_cannot_be_written_is_one_line(demem: Demem, memory: Path) -> None:
    done = demem("export", "no/such/folder/e.jsonl", "-m", memory)
    assert (done.code, done.err.count("\n")) == (1, 1)


def test_a_fact_is_changed_and_its_history_told(demem: Demem, memory: Path) -> None:
    made = demem.document("update", "e1", "Changed.", "--at", "2025-09-01", "-m", memory)
    assert (made["evidence_id"], made["replaced"]) == ("e81", "e1")
    chain = demem.document("history", "e1", "-m", memory)
    assert [(one["id"], one["holds"]) for one in chain] == [("e1", False), ("e81", True)]
    shown = demem("history", "e81", "-m", memory).out
    assert f"e1 ({made['succession']}, updated)" in shown
    assert demem("undo", made["succession"], "-m", memory).code == 0
    assert [one["id"] for one in demem.document("history", "e1", "-m", memory)] == ["e81", "e1"]


def test_a_text_that_an_item_has_already_changes_nothing(demem: Demem, memory: Path) -> None:
    text = demem.document("explain", "e1", "-m", memory)["evidence"]["text"]
    assert "nothing changed" in demem("update", "e1", text, "-m", memory).out
    assert demem.document("check", "-m", memory)["items"] == 80
