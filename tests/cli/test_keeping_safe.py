"""``demem backup``, ``restore`` and ``doctor``."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem
from sealed_files import edited

pytest.importorskip("rich")
pytest.importorskip("typer")


def damage(path: Path) -> None:
    edited(path, "evidence", 2)


def test_a_backup_comes_back_as_it_was(demem: Demem, memory: Path) -> None:
    exported = demem("export", "-m", memory).out
    made = demem.document("backup", memory, "b.db")
    assert (made["memories"], len(made["digest"])) == (1, 64)
    assert demem("restore", "b.db", "-m", "again.db").code == 0
    assert demem("export", "-m", "again.db").out == exported


def test_nothing_is_overwritten(demem: Demem, memory: Path) -> None:
    before = memory.read_bytes()
    demem("backup", memory, "b.db")
    for command in (["backup", memory, "b.db"], ["restore", "b.db", "-m", memory]):
        done = demem(*command)
        assert (done.code, done.out) == (1, "")
        assert "the name of no file that is there" in done.err
    assert memory.read_bytes() == before


def test_verifying_reads_all_and_writes_nothing(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    demem("backup", memory, "b.db")
    here = sorted(path.name for path in Path.cwd().iterdir())
    verified = demem.document("restore", "e.jsonl", "--verify")
    found = demem.document("restore", "b.db", "--verify")
    assert verified["ok"] is found["sound"] is True
    assert found["memories"][0]["digest"] == verified["digest"]
    assert found["memories"][0]["items"] == verified["items"]
    assert sorted(path.name for path in Path.cwd().iterdir()) == here


def test_verifying_names_the_line_at_fault(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    whole = Path("e.jsonl").read_text().splitlines(keepends=True)
    Path("e.jsonl").write_text("".join(whole[:-1]))
    done = demem("restore", "e.jsonl", "--verify")
    assert done.code == 1
    assert f"line {len(whole)} of the export is missing" in done.err


def test_a_sound_file_is_told_to_be_so(demem: Demem, memory: Path) -> None:
    done = demem("doctor", memory)
    assert done.code == 0
    assert "sound" in done.out
    assert demem.document("doctor", "-m", memory)["sound"] is True


def test_a_damaged_file_is_mended_in_a_copy(demem: Demem, memory: Path) -> None:
    damage(memory)
    before = memory.read_bytes()
    looked = demem("doctor", memory)
    assert looked.code == 2
    assert "evidence 2" in looked.out
    done = demem.document("doctor", memory, "--repair", "mended.db")
    # The item stands in a block as well, from which it is taken.
    assert (done["lost"], done["found"]["sound"]) == (0, False)
    assert "default: the row of evidence 2 (the item is in its block)" in done["rows"]
    assert memory.read_bytes() == before
    assert demem("doctor", "mended.db").code == 0
    assert demem("check", "-m", "mended.db").code == 0


def test_a_damaged_backup_is_not_restored(demem: Demem, memory: Path) -> None:
    demem("backup", memory, "b.db")
    damage(Path("b.db"))
    done = demem("restore", "b.db", "-m", "again.db")
    assert done.code == 2
    assert "evidence 2" in done.out
    assert not Path("again.db").exists()
    assert demem("restore", "b.db", "--verify").code == 2


def test_a_file_that_is_not_there_is_not_made(demem: Demem) -> None:
    for command in (["backup", "none.db", "b.db"], ["doctor", "none.db"]):
        assert demem(*command).code == 1
    assert list(Path.cwd().glob("*.db*")) == []
