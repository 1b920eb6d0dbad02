"""The examples in the help of every command are calls of it, and those that need nothing run."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from command_line import Demem

pytest.importorskip("typer")

import typer.main

from demem_agent import SlotMemory
from demem_agent.cli import main
from demem_agent.cli.app import app_of
from demem_agent.cli.commands import COMMANDS
from demem_agent.cli.examples import EXAMPLES

CALLS = [(name, call) for name, calls in EXAMPLES.items() for call in calls]
#: The files that the examples name.
NAMED = ("bot.db", "bot.jsonl", "chat.jsonl", "turns.jsonl", "questions.jsonl", "notes.txt")
#: They ask a model or a person, hear an agent, need data, take long, go on until stopped, or write
#: to places of the machine.
NOT_RUN = {
    "chat",
    "notes",
    "bench",
    "audit",
    "lab",
    "mcp",
    "hook",
    "serve",
    "worker",
    "open",
    "cool",
    "jobs",
    "bulk",
}
TURNS = (
    {"text": "I live in Porto.", "speaker": "Ana", "at": "2025-03-01", "source_id": "t1"},
    {"text": "The boat is green.", "speaker": "Ben", "at": "2023-03-02", "source_id": "t2"},
    {"text": "We fly to Oslo in June.", "speaker": "Ana", "at": "2025-03-03", "source_id": "t3"},
)


def words_of(call: str) -> list[str]:
    """Return the arguments of a call, without what a shell does with its input and output."""
    command, _, _ = call.replace(" < ", " > ").partition(" > ")
    program, *words = shlex.split(command)
    assert program == "demem"
    return words


@pytest.fixture(scope="module")
def made(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    turns = "".join(f"{json.dumps(turn)}\n" for turn in TURNS)
    (folder / "chat.jsonl").write_text(turns)
    (folder / "turns.jsonl").write_text(turns)
    question = {"question": "Where does Ana live?", "reference": "Porto", "evidence": ["t1"]}
    (folder / "questions.jsonl").write_text(f"{json.dumps(question)}\n")
    (folder / "notes.txt").write_text("The spare key is behind the blue pot.\n")
    (folder / "audit.jsonl").touch()
    (folder / "new.key").write_text("0f" * 32)
    bot = shutil.copy(lived, folder / "bot.db")
    with SlotMemory.open(f"sqlite:///{bot}") as memory:
        gone = memory.forget(memory.ingest("I was here.").evidence_id)
    (folder / "receipt.json").write_text(json.dumps(asdict(gone)))
    for call in (["export", str(folder / "bot.jsonl")], ["supersede", "e1", "e2"]):
        assert main([*call, "-m", str(bot)]) == 0
    return folder


@pytest.fixture
def files(demem: Demem, made: Path, tmp_path: Path) -> Demem:
    """Return what runs a command beside those files."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return demem


def test_every_command_shows_two_examples_at_least() -> None:
    assert EXAMPLES.keys() == COMMANDS.keys()
    assert all(len(calls) >= 2 for calls in EXAMPLES.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_of_a_command_ends_with_its_examples(demem: Demem, name: str) -> None:
    told = demem(name, "--help").out
    for call in EXAMPLES[name]:
        assert f"\n    {call}\n" in f"{told}\n"


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_an_example_is_a_call_that_the_command_understands(name: str, call: str) -> None:
    for file in NAMED:  # typer looks whether they are there
        Path(file).touch()
    command, *words = words_of(call)
    assert command == name
    parsed = typer.main.get_command(app_of([name])).commands[name]  # type: ignore[attr-defined]
    parsed.make_context(name, words)


@pytest.mark.parametrize(("name", "call"), [one for one in CALLS if one[0] not in NOT_RUN])
def test_an_example_runs(files: Demem, name: str, call: str) -> None:
    done = files(*words_of(call))
    assert done.code == 0
    assert "demem:" not in done.err
