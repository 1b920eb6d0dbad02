"""``demem bulk``: many memories by one call, which may be made again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import Demem, rows_file

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """Return a folder of what two memories are told."""
    folder = tmp_path / "chats"
    folder.mkdir()
    rows_file(folder / "ana.jsonl", {"text": "I live in Porto."}, {"text": "The boat is green."})
    (folder / "ben.txt").write_text("The cat is grey.\n")
    return folder


def test_a_folder_is_told_once_however_often_it_is_asked(demem: Demem, chats: Path) -> None:
    asked = ("bulk", "ingest", chats, "--store", "bot.db", "--slots", "4")
    assert demem(*asked).out == "Memories: 2, failed: 0. New: 3, known: 0, skipped: 0.\n"
    assert demem(*asked).out == "Memories: 2, failed: 0. New: 0, known: 3, skipped: 0.\n"
    with SlotMemory.open("sqlite:///bot.db", memory_id="ana") as memory:
        assert [item.text for item in memory.evidence()] == [
            "I live in Porto.",
            "The boat is green.",
        ]
        assert memory.settings.slots == 4


def test_json_is_a_line_for_each_memory_and_one_of_all(demem: Demem, chats: Path) -> None:
    done = demem("bulk", "ingest", chats, "--store", "bot.db", "--json")
    *each, total = map(json.loads, done.out.splitlines())
    assert [(one["memory_id"], one["new"], one["error"]) for one in each] == [
        ("ana", 2, None),
        ("ben", 1, None),
    ]
    assert total == {"memories": 2, "new": 3, "known": 0, "skipped": 0, "failed": 0}


def test_what_failed_is_named_and_the_exit_code_tells(demem: Demem, chats: Path) -> None:
    (chats / "bad.jsonl").write_text('{"text"')
    done = demem("bulk", "ingest", chats, "--store", "bot.db")
    assert done.code == 1
    assert done.err.startswith("demem: bad: bad.jsonl must be JSON")
    assert done.out == "Memories: 3, failed: 1. New: 3, known: 0, skipped: 0.\n"


def test_memories_of_another_encoder_are_encoded_anew(demem: Demem) -> None:
    with SlotMemory.open("sqlite:///bot.db", memory_id="ana", encoder=BagEncoder()) as memory:
        memory.ingest("I live in Porto.")
    done = demem("bulk", "reembed", "--store", "bot.db")
    assert (done.code, done.out) == (0, "Memories: 1, failed: 0. New: 1, known: 0, skipped: 0.\n")
    with SlotMemory.open("sqlite:///bot.db", memory_id="ana") as memory:
        assert "Porto" in memory.read("Where do I live?").text


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("ingest",), "which files"),
        (("ingest", "none"), "a file or a folder"),
        (("ingest", "chats", "--format", "poem"), "one of auto"),
        (("ingest", "chats", "--by", "user", "--format", "text"), "--by"),
        (("ingest", "chats", "--extra", "keep"), "refuse"),
        (("ingest", "chats", "--slots", "0"), "slots"),
        (("ingest", "chats", "--workers", "2", "--scheduler", "tcp://here:1"), "one of --workers"),
        (("reembed",), "no memory at bot.db"),
        (("reembed", "chats"), "no files"),
        (("dream",), "none of ingest, reembed"),
        (("ingest", "chats", "--store", "memory://"), "RAM"),
    ],
)
def test_what_it_cannot_do_it_says_and_makes_no_store(
    demem: Demem, chats: Path, typed: tuple[str, ...], says: str
) -> None:
    done = demem("bulk", *typed, *(() if "--store" in typed else ("--store", "bot.db")))
    assert done.code == 1
    assert says in done.err
    assert chats.is_dir()
    assert not Path("bot.db").exists()


def test_several_workers_need_dask_which_it_says(
    demem: Demem, chats: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "demem_agent.bulk.dask", raising=False)
    done = demem("bulk", "ingest", chats, "--store", "bot.db", "--workers", "2")
    assert done.code == 1
    assert "pip install 'demem-agent[bulk]'" in done.err
    assert not Path("bot.db").exists()


@pytest.mark.slow
def test_two_workers_tell_what_one_does(demem: Demem, chats: Path) -> None:
    pytest.importorskip("distributed")
    rows_file(chats / "bad.jsonl", {"text": "Hi", "loud": True})
    done = demem("bulk", "ingest", chats, "--store", "bot.db", "--workers", "2")
    assert done.code == 1
    assert "loud" in done.err
    assert done.out == "Memories: 3, failed: 1. New: 3, known: 0, skipped: 0.\n"
