"""The program itself: its version, its commands, and what it imports."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from command_line import Demem, process

import demem_agent

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.commands import COMMANDS


def test_the_version_is_the_package_s(demem: Demem) -> None:
    assert demem("--version").out == f"demem {demem_agent.__version__}\n"


def test_without_a_command_the_commands_are_listed(demem: Demem) -> None:
    done = demem()
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)


def test_the_module_runs_as_the_program() -> None:
    done = process("--version")
    assert done.returncode == 0
    assert done.stdout.decode().strip() == f"demem {demem_agent.__version__}"


@pytest.mark.parametrize("command", ["ask", "hook", "serve"])
def test_a_command_loads_no_other_and_nothing_that_measures(command: str) -> None:
    code = (
        "import sys; from demem_agent.cli import main; "
        f"main([{command!r}, '--help']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not {name for name in loaded if re.match(r"demem_agent\.(evaluate|studies)\b", name)}
    files = {place.rpartition(".")[0] for place in COMMANDS.places.values()}
    here = COMMANDS.places[command].rpartition(".")[0]
    assert loaded & {f"demem_agent.cli.{file}" for file in files} == {f"demem_agent.cli.{here}"}
