"""``demem serve`` and ``demem keys``: memories behind a URL, and who may ask for them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent import SlotMemory
from demem_agent.errors import RemoteError


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve the memories of a folder in another process; yield the URL and the process."""
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            told += line
        try:
            yield json.loads(told)["url"], process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)


def made(demem: Demem, *options: str) -> str:
    """Make a key; return it as it was shown."""
    done = demem("keys", "create", "-m", "bot.db", *options)
    assert done.code == 0
    return done.out.splitlines()[0]


def test_a_key_is_shown_once_and_lists_have_all_but_the_secret(demem: Demem) -> None:
    written = made(demem, "--prefix", "team-a/", "--scope", "read,write", "--name", "bot")
    assert re.fullmatch(r"dm_[0-9a-f]+_[\w-]{40,}", written)
    listed = demem("keys", "list", "-m", "bot.db")
    assert "team-a/..." in listed.out
    assert "read, write" in listed.out
    assert written[-20:] not in listed.out
    assert demem.document("keys", "list", "-m", "bot.db")[0]["name"] == "bot"
    assert Path("bot.db.keys").exists()


def test_a_key_is_rotated_and_revoked_by_the_id_in_it(demem: Demem) -> None:
    id = made(demem, "--prefix", "", "--scope", "read", "--scope", "admin").split("_")[1]
    new = demem.document("keys", "rotate", id, "-m", "bot.db", "--hours", "0")
    assert new["scopes"] == ["admin", "read"]
    assert demem("keys", "revoke", new["id"], "-m", "bot.db").code == 0
    shown = demem("keys", "list", "-m", "bot.db").out
    assert "expired" in shown
    assert "revoked" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("create", "--scope", "read"), "--prefix"),
        (("create", "--prefix", ""), "--scope"),
        (("create", "--prefix", "", "--scope", "all"), "scopes must be"),
        (("revoke",), "which key"),
        (("revoke", "abc"), "no key has the id"),
        (("lend",), "create, list, rotate, revoke"),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    demem: Demem, arguments: tuple[str, ...], says: str
) -> None:
    done = demem("keys", *arguments, "-m", "bot.db")
    assert done.code == 1
    assert says in done.err


def test_a_store_in_ram_has_no_keys_unless_a_file_is_named(demem: Demem) -> None:
    assert "--keys PATH" in demem("keys", "list", "-m", "memory://").err
    assert demem("keys", "list", "-m", "memory://", "--keys", "a.keys").code == 0


def test_memories_of_a_file_are_served_until_it_is_told_to_end(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "bot.db", "--slots", "4") as (url, process):
        with SlotMemory.open(url, memory_id="ana") as memory:
            memory.ingest("The cat is called Minka.", speaker="Ana")
            assert memory.settings.slots == 4
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM
    with SlotMemory.open(f"sqlite:///{tmp_path}/bot.db", memory_id="ana") as memory:
        assert len(memory) == 1


def test_a_key_that_is_made_while_it_serves_is_needed_at_once_and_no_text_is_logged(
    demem: Demem, tmp_path: Path
) -> None:
    with serving(tmp_path, "--store", ".", "--audit", "audit.jsonl") as (url, process):
        with SlotMemory.open(url, memory_id="ana") as memory:
            memory.ingest("The cat is called Minka.", speaker="Ana")
            written = demem("keys", "create", "-m", ".", "--prefix", "ana", "--scope", "read").out
            key = written.splitlines()[0]
            with pytest.raises(RemoteError, match="key"):
                memory.read("Minka?")
        with pytest.raises(RemoteError, match="write"):
            SlotMemory.open(url, key=key, memory_id="ana")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    noted = (tmp_path / "audit.jsonl").read_text()
    assert (tmp_path / "demem.db").exists()
    for told in (log, noted):
        assert "ingest" in told
        assert key.split("_")[1] in told
        assert not re.search("Minka|cat|" + key.split("_", 2)[2], told)
    rows = [json.loads(line) for line in noted.splitlines()]
    assert [row["status"] for row in rows] == [201, 201, 401, 403]
    assert {row["memory"] for row in rows} == {"ana"}


def test_others_are_served_only_with_keys(demem: Demem) -> None:
    done = demem("serve", "-m", "bot.db", "--host", "0.0.0.0", "--port", "0")
    assert done.code == 1
    assert "as long as there are no keys" in done.err


def test_a_folder_that_is_not_there_is_said(demem: Demem) -> None:
    assert "there is no folder" in demem("serve", "-m", "nowhere/bot.db").err


def test_a_setting_out_of_range_makes_no_file(demem: Demem) -> None:
    assert "slots" in demem("serve", "-m", "bot.db", "--slots", "0").err
    assert not Path("bot.db").exists()


def test_a_proxy_that_is_asked_for_is_served_and_said(tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--port", "0"]
    command += ["--proxy", "anthropic=http://127.0.0.1:9", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
    (line,) = [one for one in lines if "with memory" in one]
    assert line.startswith("http://127.0.0.1:9 with memory: http://127.0.0.1:")
    assert line.endswith("/m/{memory}/anthropic, by the key that callers send\n")


@pytest.mark.parametrize(
    ("given", "says"),
    [("other=http://a.example", "openai and anthropic"), ("a.example", "https URL")],
)
def test_a_proxy_that_cannot_be_is_refused(demem: Demem, given: str, says: str) -> None:
    pytest.importorskip("httpx2")
    done = demem("serve", "-m", "bot.db", "--proxy", given)
    assert done.code != 0
    assert says in done.err


def test_a_key_of_one_memory_is_made(demem: Demem) -> None:
    made(demem, "--only", "ana", "--scope", "read")
    assert "the memory ana" in demem("keys", "list", "-m", "bot.db").out
    assert demem("keys", "create", "-m", "bot.db", "--scope", "read").code != 0
    both = ("--only", "ana", "--prefix", "a", "--scope", "read")
    assert demem("keys", "create", "-m", "bot.db", *both).code != 0
