"""Whole memories on the command line: listed, copied, renamed, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Demem
from sealed_files import legible

from demem_agent import SlotMemory
from demem_agent.cli.commands.whole import delete

pytest.importorskip("rich")
pytest.importorskip("typer")


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """Return a file with the memories of two people, and one of another tenant."""
    file = tmp_path / "users.db"
    for who, tenant in (("ana", "default"), ("ben", "default"), ("ana", "acme")):
        with SlotMemory.open(f"sqlite:///{file}", memory_id=who, tenant=tenant) as memory:
            memory.ingest(f"The plover of {who} at {tenant} is blue.", at="2024-05-01")
    return file


def names(demem: Demem, users: Path) -> list[tuple[str, str]]:
    found = demem.document("memories", users)
    return [(one["tenant"], one["memory_id"]) for one in found]


def test_a_file_tells_who_is_in_it(demem: Demem, users: Path) -> None:
    assert names(demem, users) == [("acme", "ana"), ("default", "ana"), ("default", "ben")]
    first = demem.document("memories", "-m", users, "--tenant", "acme")
    assert [(one["items"], one["first"]) for one in first] == [(1, "2024-05-01T00:00:00")]
    assert "2024-05-01" in demem("memories", users).out


def test_a_file_that_is_not_there_is_not_made(demem: Demem, tmp_path: Path) -> None:
    done = demem("memories", "none.db")
    assert (done.code, done.out) == (1, "")
    assert not Path("none.db").exists()


def test_delete_needs_a_yes(demem: Demem, users: Path) -> None:
    done = demem("delete", users, "--memory-id", "ana")
    assert done.code == 1
    assert "--yes" in done.err
    assert len(names(demem, users)) == 3


@pytest.mark.parametrize(("said", "left"), [("n", 3), ("y", 2)])
def test_a_person_is_asked(
    demem: Demem, users: Path, monkeypatch: pytest.MonkeyPatch, said: str, left: int
) -> None:
    asked: list[str] = []

    def confirm(question: str, **how: bool) -> None:
        asked.append(question)
        if said == "n":
            raise delete.typer.Abort

    monkeypatch.setattr(delete.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(delete.typer, "confirm", confirm)
    demem("delete", users, "--memory-id", "ana")
    assert asked == ["Delete the memory 'ana' of the tenant 'default', with 1 items, for good?"]
    assert len(names(demem, users)) == left


def test_what_is_deleted_is_not_in_the_file(demem: Demem, users: Path) -> None:
    receipt = demem.document("delete", users, "--memory-id", "ana", "--yes")
    assert (receipt["memories"], receipt["items"]) == (["ana"], 1)
    assert names(demem, users) == [("acme", "ana"), ("default", "ben")]
    left = legible(users.parent)
    assert b"plover of ana at default" not in left
    assert b"plover of ben" in left


def test_a_tenant_is_deleted_whole(demem: Demem, users: Path) -> None:
    receipt = demem.document("delete", users, "--all-of-tenant", "--yes")
    assert receipt["memories"] == ["ana", "ben"]
    assert names(demem, users) == [("acme", "ana")]


def test_a_memory_is_copied_into_another_file(demem: Demem, users: Path) -> None:
    demem("copy", users, "--memory-id", "ana", "--to", "twin", "--to-file", "b.db")
    assert names(demem, Path("b.db")) == [("default", "twin")]
    original = demem.document("check", "-m", users, "--id", "ana")
    copied = demem.document("check", "-m", "b.db", "--id", "twin")
    assert copied["fingerprint"] == original["fingerprint"]


def test_all_memories_are_copied_into_another_file_and_those_that_are_there_left(
    demem: Demem, users: Path
) -> None:
    first = demem.document("copy", users, "all.db")
    assert (first["memories"], first["items"] > 0) == (3, True)
    assert demem.document("copy", users, "all.db")["memories"] == 0
    assert names(demem, Path("all.db")) == names(demem, users)


@pytest.mark.parametrize("given", [(), ("all.db", "--to", "twin")])
def test_one_memory_or_all_of_them_are_to_be_named(
    demem: Demem, users: Path, given: tuple[str, ...]
) -> None:
    done = demem("copy", users, *given)
    assert done.code == 1
    assert "--to NAME" in done.err


def test_a_memory_is_renamed(demem: Demem, users: Path) -> None:
    demem("rename-memory", users, "--memory-id", "ana", "--to", "eve")
    assert names(demem, users) == [("acme", "ana"), ("default", "ben"), ("default", "eve")]


@pytest.mark.parametrize("command", ["copy", "rename-memory"])
def test_an_id_that_is_taken_is_refused(demem: Demem, users: Path, command: str) -> None:
    done = demem(command, users, "--memory-id", "ana", "--to", "ben")
    assert done.code == 1
    assert "'ben'" in done.err


def test_a_file_is_encrypted_and_has_another_key(
    demem: Demem, users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, byte in (("a.key", b"a"), ("b.key", b"b")):
        Path(name).write_text((byte * 32).hex())
    told = demem.document("rotate-key", users, "--to", "a.key")
    assert told["encrypted"]
    assert "it is encrypted" in demem("memories", users).err
    monkeypatch.setenv("DEMEM_ENCRYPTION_KEY_FILE", "a.key")
    assert len(names(demem, users)) == 3
    demem("rotate-key", users, "--to", "b.key")
    assert "encryption_key is not the key" in demem("check", "-m", users, "--id", "ana").err
    monkeypatch.setenv("DEMEM_ENCRYPTION_KEY_FILE", "b.key")
    assert demem("doctor", users).code == 0
    assert demem("export", "-m", users, "--id", "ana").code == 0
    demem("backup", users, "copy.db")
    assert demem("restore", "copy.db", "-m", "again.db").code == 0
    assert len(names(demem, Path("again.db"))) == 3
    demem("rotate-key", "again.db", "--open")
    monkeypatch.delenv("DEMEM_ENCRYPTION_KEY_FILE")
    assert len(names(demem, Path("again.db"))) == 3


@pytest.mark.parametrize("given", [(), ("--to", "a.key", "--open"), ("--to", "none.key")])
def test_a_key_is_changed_to_one_that_is_there_or_taken_away(
    demem: Demem, users: Path, given: tuple[str, ...]
) -> None:
    assert demem("rotate-key", users, *given).code != 0
    assert len(names(demem, users)) == 3
