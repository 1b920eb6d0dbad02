"""The program itself: its version, its commands, and what it imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import PACKAGE, Demem, process

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


def sources_outside_the_cli() -> Iterator[Path]:
    return (path for path in PACKAGE.rglob("*.py") if "cli" not in path.relative_to(PACKAGE).parts)


def test_nothing_but_the_cli_imports_typer_or_rich() -> None:
    guilty = []
    for path in sources_outside_the_cli():
        imported: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported.update(_imported(node))
        if imported & {"typer", "rich", "click"}:
            guilty.append(path.name)
    assert guilty == []
    assert len(list(sources_outside_the_cli())) > 20


def _imported(node: ast.AST) -> list[str]:
    """Return the packages that a statement imports from."""
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "").split(".")[0]]
    return []
