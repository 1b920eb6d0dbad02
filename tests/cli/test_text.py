"""No text that was remembered can break a terminal, a table or a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from command_line import PACKAGE, Demem, process, rows_file
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.cli import main

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.printing import shown
from demem_agent.cli.tables.cells import cell, first_words

NASTY = "[bold]raw[/bold] \x1b[31mred\x07 \ud800 :smile: \u202eback \U0001f600 [/nothing]"


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_shown_text_can_be_encoded_and_acts_on_no_terminal(text: str) -> None:
    safe = shown(text)
    safe.encode("utf-8")
    for character in safe:
        assert character in "\n\t" or character.isprintable() or ord(character) > 0x9F


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_cell_shows_brackets_and_all_as_they_are(text: str) -> None:
    assert cell(text).plain == shown(text)


@given(st.text(max_size=200), st.integers(10, 80))
def test_first_words_are_one_line_of_at_most_their_length(text: str, characters: int) -> None:
    words = first_words(text, characters)
    assert len(words) <= characters
    assert "\n" not in words


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    file = rows_file(
        tmp_path / "nasty.jsonl", {"text": NASTY, "speaker": "A[b]\x1b", "source_id": "x\n[i]"}
    )
    assert main(["ingest", str(file), "-m", "nasty.db"]) == 0
    return tmp_path / "nasty.db"


def test_text_with_markup_and_control_characters_is_shown_written_out(
    demem: Demem, nasty: Path
) -> None:
    done = demem("ask", "What is [bold]raw[/bold]?", "-m", nasty)
    assert done.code == 0
    flat = "".join(done.out.split())
    assert "[bold]raw[/bold]" in flat
    assert "\\x1b[31mred\\x07" in flat
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_json_gives_every_text_back_unchanged(demem: Demem, nasty: Path) -> None:
    lines = demem.document("read", "raw", "-m", nasty)["lines"]
    assert [(line["text"], line["speaker"], line["source_id"]) for line in lines] == [
        (NASTY, "A[b]\x1b", "x\n[i]")
    ]


def test_an_export_gives_every_text_back_unchanged(demem: Demem, nasty: Path) -> None:
    rows = [json.loads(line) for line in demem("export", "-m", nasty).out.splitlines()]
    assert [row["text"] for row in rows if row["kind"] == "evidence"] == [NASTY]


@pytest.mark.parametrize(
    "command", [["ask", "raw"], ["read", "raw"], ["slots"], ["slots", "--full", "0"]]
)
def test_a_pipe_that_takes_ascii_alone_breaks_nothing(
    nasty: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    pipes = {name: TextIOWrapper(BytesIO(), "ascii") for name in ("stdout", "stderr")}
    for name, pipe in pipes.items():
        monkeypatch.setattr(sys, name, pipe)
    assert main([*command, "-m", str(nasty)]) == 0
    assert _written(pipes["stdout"]).isascii()
    assert _written(pipes["stdout"])
    assert _written(pipes["stderr"]) == b""


def _written(pipe: TextIOWrapper) -> bytes:
    pipe.flush()
    pipe.seek(0)
    return pipe.buffer.read()


def test_a_program_whose_pipes_take_ascii_alone_ends_well(nasty: Path) -> None:
    done = process("ask", "raw", "-m", str(nasty), PYTHONIOENCODING="ascii", COLUMNS="30")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


def test_a_pipe_that_closes_early_is_no_error(memory: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", "demem_agent.cli", "export", "-m", str(memory)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(1)
        running.stdout.close()
        errors = running.stderr.read()
    assert (running.returncode, errors) == (141, b"")
