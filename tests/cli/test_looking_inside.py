"""``demem open`` and ``demem inspect``: a page to look inside, served or written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest
from command_line import Demem

pytest.importorskip("rich")
pytest.importorskip("typer")


def test_inspect_writes_one_file_and_says_where(demem: Demem, lived: Path) -> None:
    demem("export", "bot.jsonl", "-m", str(lived))
    done = demem.document("inspect", "bot.jsonl", "--out", "a/page")
    assert [one.name for one in Path("a/page").iterdir()] == ["index.html"]
    assert done["bytes"] == Path(done["page"]).stat().st_size


def test_inspect_refuses_what_is_no_export_in_words(demem: Demem) -> None:
    Path("turns.jsonl").write_text('{"text": "I live in Porto."}\n')
    done = demem("inspect", "turns.jsonl")
    assert done.code == 1
    assert "must be what demem export wrote" in done.err
    assert not Path("page").exists()


def test_open_makes_no_file_of_what_is_not_there(demem: Demem) -> None:
    done = demem("open", "nobody.db", "--no-browser")
    assert done.code == 1
    assert "there is no file" in done.err
    assert not Path("nobody.db").exists()


def test_open_gives_an_address_with_a_key_that_alone_lets_in(demem: Demem, lived: Path) -> None:
    command = [sys.executable, "-m", "demem_agent.cli", "open", str(lived), "--no-browser"]
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        address, _, key = json.loads(told)["url"].partition("/#key=")
        request = urllib.request.Request(f"{address}/v1/memories")
        with pytest.raises(HTTPError, match="401"):
            urllib.request.urlopen(request)
        request.add_header("Authorization", f"Bearer {key}")
        with urllib.request.urlopen(request) as came:
            assert json.load(came)["records"]
        process.send_signal(signal.SIGINT)
    assert not lived.with_name(f"{lived.name}.keys").exists()
