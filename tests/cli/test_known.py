"""What the commands show of an answer that memory does not seem to hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.tables.route import NOT_KNOWN

HELD = "Which valve has the boiler?"
FOREIGN = "Who won the football final in Brazil?"


@pytest.fixture
def place(tmp_path: Path, demem: Demem) -> Path:
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"text": "The boiler has a brass valve."}\n')
    demem("ingest", turns, "-m", tmp_path / "m.db")
    return tmp_path / "m.db"


def test_ask_says_that_an_answer_is_not_known(demem: Demem, place: Path) -> None:
    shown = demem("ask", FOREIGN, "-m", place).out
    document = demem.document("ask", FOREIGN, "-m", place)
    assert document["known"] is False
    assert (NOT_KNOWN in shown) == bool(document["text"])
    assert NOT_KNOWN not in demem("ask", HELD, "-m", place).out
    assert demem.document("ask", HELD, "-m", place)["known"] is True


def test_explain_says_what_was_not_known_when_it_was_asked(demem: Demem, place: Path) -> None:
    asked = [demem.document("ask", question, "-m", place)["id"] for question in (FOREIGN, HELD)]
    assert [NOT_KNOWN in demem("explain", id, "-m", place).out for id in asked] == [True, False]
    documents = [demem.document("explain", id, "-m", place) for id in asked]
    assert [document["answer"]["known"] for document in documents] == [False, True]


def test_a_memory_is_made_with_what_is_typed(demem: Demem, tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"text": "The boiler has a brass valve."}\n')
    place = tmp_path / "w.db"
    demem("ingest", turns, "-m", place, "--unknown", "withhold", "--known-from", "1.0")
    document = demem.document("ask", HELD, "-m", place)
    assert (document["known"], document["text"]) == (False, "")
    wrong = demem("ingest", turns, "-m", tmp_path / "x.db", "--unknown", "hide")
    assert (wrong.code != 0, "unknown" in wrong.err) == (True, True)
