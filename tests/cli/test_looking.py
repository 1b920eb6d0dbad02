"""Looking into a memory: its items, one item, how it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem

from demem_agent import SlotMemory

pytest.importorskip("rich")
pytest.importorskip("typer")


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    """Return a memory of three items: the second has taken the place of the first."""
    file = tmp_path / "towns.db"
    with SlotMemory.open(f"sqlite:///{file}") as memory:
        memory.ingest("Ana lives in Lisbon.", speaker="Ana", at="2024-01-01", source_id="x1")
        memory.ingest("Ana lives in Porto.", speaker="Ana", at="2024-05-01")
        memory.ingest("The boiler has a brass valve.")
        memory.supersede("e1", "e2")
        memory.feedback(memory.answer("Where does Ana live?"), reference="Porto")
    return file


def test_the_latest_items_are_listed(demem: Demem, towns: Path) -> None:
    found = demem.document("items", towns, "--limit", "2")
    assert [one["id"] for one in found["items"]] == ["e2", "e3"]
    assert found["of"] == 3
    assert len(demem.document("items", towns, "--limit", "0")["items"]) == 3
    printed = demem("items", "-m", towns).out
    assert "Ana lives in Porto." in printed
    assert "2024-05-01" in printed


def test_an_item_is_shown_with_what_became_of_it(demem: Demem, towns: Path) -> None:
    shown = demem.document("show", "e1", towns)
    assert (shown["text"], shown["source_id"], shown["forgotten"]) == (
        "Ana lives in Lisbon.",
        "x1",
        False,
    )
    assert [one["new"][0] for one in shown["successions"]] == ["e2"]
    assert "superseded by e2" in demem("show", "e1", "-m", towns).out


def test_an_item_is_shown_with_the_answers_that_used_it(demem: Demem, towns: Path) -> None:
    used = demem.document("show", "e2", towns)["answers"]
    assert used == [{"id": "a1", "query": "Where does Ana live?", "as": "right"}]
    assert "right in a1" in demem("show", "e2", towns).out


def test_an_item_that_was_forgotten_says_so(demem: Demem, towns: Path) -> None:
    demem("forget", "e3", "-m", towns)
    assert demem.document("show", "e3", towns) == {
        "id": "e3",
        "forgotten": True,
        "by_itself": False,
    }
    assert "was forgotten" in demem("show", "e3", towns).out


@pytest.mark.parametrize("id", ["e4", "e0", "a1", "e", "x"])
def test_an_item_that_never_was_is_a_mistake(demem: Demem, towns: Path, id: str) -> None:
    done = demem("show", id, towns)
    assert (done.code, done.out) == (1, "")
    assert repr(id) in done.err


def test_what_went_by_itself_says_so(demem: Demem, tmp_path: Path) -> None:
    Path("notes.txt").write_text("One remark.\n\nAnother remark.\n\nA third remark.\n")
    demem("ingest", "notes.txt", "-m", "m.db", "--most-items", "2", "--when-full", "age")
    assert demem.document("show", "e1", "m.db")["by_itself"] is True


def test_marks_are_made_and_shown(demem: Demem, towns: Path) -> None:
    demem("keep", "e3", "-m", towns)
    hidden = demem.document("hide", "e1", "-m", towns)["marks"]
    assert hidden == [
        {"evidence_id": "e1", "kept": False, "hidden": True},
        {"evidence_id": "e3", "kept": True, "hidden": False},
    ]
    printed = demem("items", towns).out
    assert "(kept) The boiler" in printed
    assert "(hidden) Ana lives in Lisbon." in printed
    assert "Lisbon" not in demem("read", "Where does Ana live?", "-m", towns).out
    assert demem.document("keep", "e3", "--off", "-m", towns)["marks"] == hidden[:1]


def test_stats_say_how_a_memory_stands(demem: Demem, towns: Path) -> None:
    stats = demem.document("stats", towns)
    assert (stats["items"], stats["answers"], stats["forgotten"]) == (3, 1, 0)
    printed = " ".join(demem("stats", "-m", towns).out.split())
    assert "items 3, no bound; 0 marked as kept" in printed


def test_what_comes_into_a_full_memory_is_refused(demem: Demem) -> None:
    Path("notes.txt").write_text("One remark.\n\nAnother remark.\n")
    bounds = ("--most-items", "1", "--when-full", "refuse")
    done = demem("ingest", "notes.txt", "-m", "m.db", *bounds)
    assert done.code == 1
    assert "the memory is full: most_items is 1" in done.err


def test_a_file_is_kept_for_so_many_days(demem: Demem) -> None:
    Path("notes.txt").write_text("One remark.\n")
    demem("ingest", "notes.txt", "-m", "m.db", "--keep-days", "30")
    assert demem.document("stats", "m.db")["keep_days"] == 30
    dated = '{"text": "Said long ago.", "at": "2019-01-01"}\n'
    Path("turns.jsonl").write_text(dated)
    demem("ingest", "turns.jsonl", "-m", "m.db")
    assert [one["text"] for one in demem.document("items", "m.db")["items"]] == ["One remark."]
