"""Who asks, what holds, and what was decided before: what the commands take and show of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ASKED, Demem

from demem_agent import SlotMemory
from demem_agent.settings import Settings

pytest.importorskip("rich")
pytest.importorskip("typer")

FOR_ANA = ("--asker", "Ana", "--condition", "rain", "--condition", "at night")


@pytest.mark.parametrize("command", ["ask", "read"])
def test_who_asks_and_what_holds_reach_memory(demem: Demem, learning: Path, command: str) -> None:
    document = demem.document(command, ASKED, *FOR_ANA, "-m", learning)
    with SlotMemory.open(f"sqlite:///{learning}") as opened:
        expected = opened.read(ASKED, asker="Ana", conditions=["rain", "at night"])
    reading = document.get("reading", document)
    assert expected.decisions == ("a1",)
    assert (reading["text"], reading["recognised"], reading["decisions"]) == (
        expected.text,
        expected.recognised,
        ["a1"],
    )


@pytest.mark.parametrize("situation", [(), ("--asker", "Ben", "--condition", "rain")], ids=str)
def test_what_was_decided_for_another_is_not_recognised(
    demem: Demem, learning: Path, situation: tuple[str, ...]
) -> None:
    document = demem.document("read", ASKED, *situation, "-m", learning)
    assert (document["recognised"], document["decisions"]) == (0.0, [])


def test_an_answer_is_stored_with_who_asked_and_what_held(demem: Demem, learning: Path) -> None:
    asked = demem.document("ask", ASKED, *FOR_ANA, "-m", learning)
    stored = demem.document("explain", asked["id"], "-m", learning)
    assert (stored["answer"]["asker"], stored["answer"]["conditions"]) == (
        "Ana",
        ["at night", "rain"],
    )
    assert stored["route"]["scores"] == asked["route"]["scores"]


def test_ask_says_that_the_same_was_decided_before(demem: Demem, learning: Path) -> None:
    told = demem("ask", ASKED, *FOR_ANA, "-m", learning).out
    assert [line.split() for line in told.splitlines() if line.startswith("recognised")] == [
        ["recognised", "1.0,", "from", "a1;", "put", "behind:", "e2"]
    ]


def test_read_says_beside_its_text_that_the_same_was_decided_before(
    demem: Demem, learning: Path
) -> None:
    done = demem("read", "What level for the seat heating?", *FOR_ANA, "-m", learning)
    assert done.err.startswith("recognised .")
    assert done.err.endswith(", from a1; put behind: e2\n")
    assert "recognised" not in done.out


def test_read_says_nothing_beside_its_text_where_nothing_was_decided(
    demem: Demem, learning: Path
) -> None:
    assert demem("read", ASKED, "--asker=Ben", "-m", learning).err == ""


def test_explain_shows_who_asked_what_held_and_what_feedback_said_of_lines(
    demem: Demem, learning: Path
) -> None:
    told = demem("explain", "a1", "-m", learning).out
    words = [line.split() for line in told.splitlines()]
    assert ["asker", "Ana"] in words
    assert ["conditions", "rain"] in words
    assert ["e1", "+6.00", *"I like the seat heating at three.".split()] in words


def test_explain_gives_what_feedback_said_of_lines_as_values(demem: Demem, learning: Path) -> None:
    text = "I like the seat heating at three."
    assert demem.document("explain", "a1", "-m", learning)["verdicts"] == [
        {"id": "e1", "start": 0, "end": len(text), "text": text, "log_odds": 6.0}
    ]


def test_explain_shows_no_verdicts_where_none_were_given(demem: Demem, learning: Path) -> None:
    asked = demem.document("ask", ASKED, "-m", learning)
    assert "What its feedback said" not in demem("explain", asked["id"], "-m", learning).out


def test_undo_of_an_answer_takes_back_what_feedback_said_of_lines(
    demem: Demem, learning: Path
) -> None:
    assert demem.document("undo", "a1", "-m", learning)["undone"] == "a1"
    explained = demem.document("explain", "a1", "-m", learning)
    assert (explained["verdicts"], explained["answer"]["rewards"] != []) == ([], True)
    assert demem.document("read", ASKED, *FOR_ANA, "-m", learning)["decisions"] == []


@pytest.mark.parametrize("id", ["a1", "a9", "c9"])
def test_undo_of_what_there_is_not_is_one_line(demem: Demem, memory: Path, id: str) -> None:
    done = demem("undo", id, "-m", memory)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


@pytest.mark.parametrize(
    ("typed", "named"), [(("--asker", " "), "asker"), (("--condition", ""), "conditions[0]")]
)
def test_a_situation_that_is_none_is_named(
    demem: Demem, memory: Path, typed: tuple[str, str], named: str
) -> None:
    done = demem("read", ASKED, *typed, "-m", memory)
    assert done.code == 1
    assert named in done.err


def test_a_memory_is_made_with_a_bound_on_everything_kept(demem: Demem, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The spare key is behind the blue pot.\n\nThe cat sleeps on the sofa.\n")
    demem("ingest", notes, "--storage", 50, "-m", tmp_path / "n.db")
    with SlotMemory.open(f"sqlite:///{tmp_path}/n.db") as opened:
        assert [item.text for item in opened.evidence()] == ["The cat sleeps on the sofa."]
        assert opened.settings.storage == 50


@pytest.mark.parametrize(("typed", "kept"), [("--decisions", True), ("--no-decisions", False)])
def test_a_memory_is_made_with_or_without_decisions_as_is_typed(
    demem: Demem, tmp_path: Path, typed: str, kept: bool
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The spare key is behind the blue pot.\n")
    demem("ingest", notes, typed, "-m", tmp_path / "n.db")
    with SlotMemory.open(f"sqlite:///{tmp_path}/n.db") as opened:
        assert opened.settings.decisions is kept


def test_what_is_not_typed_of_decisions_follows_the_default(demem: Demem, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The spare key is behind the blue pot.\n")
    demem("ingest", notes, "-m", tmp_path / "n.db")
    with SlotMemory.open(f"sqlite:///{tmp_path}/n.db") as opened:
        assert opened.settings.decisions == Settings().decisions


@pytest.fixture
def rivals(tmp_path: Path) -> Path:
    """Return the file of a memory in which two people want it otherwise, as was certified."""
    path = tmp_path / "rivals.db"
    with SlotMemory.open(f"sqlite:///{path}", decisions=True, slots=1, initial_slots=1) as opened:
        said = {"Ann": "I want the seat at level 3.", "Ben": "Level 1 of the seat is enough."}
        for text in said.values():
            opened.ingest(text)
        for asker, text in said.items():
            asked = "Set the seat as I like it."
            reading = opened.read(asked, asker=asker)
            done = reading.ranked[0].text
            answer = opened.answered(asked, done, reading=reading, asker=asker)
            opened.feedback(answer, reference=text, reward=float(done == text))
    return path


def test_explain_says_what_a_certificate_keeps_behind(demem: Demem, rivals: Path) -> None:
    told = " ".join(demem("explain", "c1", "-m", rivals).out.split())
    assert "where a1 is decided again, e2 stands behind" in told
    assert "where a2 is decided again, e1 stands behind" in told
    assert demem.document("explain", "c1", "-m", rivals)["rivals"][0][0] == "e1"


def test_undo_takes_a_certificate_back(demem: Demem, rivals: Path) -> None:
    demem("undo", "c1", "-m", rivals)
    told = " ".join(demem("explain", "c1", "-m", rivals).out.split())
    assert "taken back" in told
    assert "stands behind" not in told
