"""Run ``demem`` in this process or in another, as the tests of commands do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import demem_agent
from demem_agent.cli import main

__all__ = ["ASKED", "BUDGET", "DEMO", "PACKAGE", "ROOT", "Demem", "Done", "process", "rows_file"]

ROOT = Path(__file__).parents[2]
PACKAGE = Path(demem_agent.__file__).parent
DEMO = ROOT / "examples" / "demo.jsonl"
#: What the memory of decisions was asked.
ASKED = "What should the seat heating be set to?"
BUDGET = ("--slots", "3", "--initial-slots", "2", "--slot-limit", "280", "--read-limit", "900")


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document that was printed."""
        return json.loads(self.out)


class Demem:
    """Run commands in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Done:
        """Run a command."""
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)

    def document(self, *arguments: object) -> Any:
        """Return the JSON document that a command prints."""
        return self(*arguments, "--json").document


def rows_file(path: Path, *turns: dict[str, Any]) -> Path:
    """Write turns as JSON lines."""
    lines = [json.dumps(turn) + "\n" for turn in turns]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    surroundings = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), **environment}
    return subprocess.run(
        [sys.executable, "-m", "demem_agent.cli", *arguments],
        env=surroundings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
