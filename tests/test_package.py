"""The package as a whole: its table of contents, how light it is to import, which way its arrows
point.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import demem_agent

PACKAGE = Path(demem_agent.__file__).parent
HEAVY = {
    "model2vec",
    "openai",
    "pysqlite3",
    "rich",
    "sqlite3",
    "tenacity",
    "tiktoken",
    "torch",
    "typer",
}


def imported_modules(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_public_names_are_sorted_and_at_most_twenty() -> None:
    assert list(demem_agent.__all__) == sorted(set(demem_agent.__all__))
    assert 1 <= len(demem_agent.__all__) <= 20


def test_every_public_name_exists() -> None:
    assert [name for name in demem_agent.__all__ if not hasattr(demem_agent, name)] == []


def test_import_loads_nothing_heavy() -> None:
    script = "import json, sys, demem_agent; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "demem_agent" in loaded
    assert loaded & HEAVY == set()


def test_import_scan_sees_every_form_of_import() -> None:
    source = "import a.b\ndef f():\n    from demem_adapters.x import y\n"
    assert imported_modules(source) == {"a.b", "demem_adapters.x"}


def test_core_imports_no_adapter() -> None:
    sources = sorted(PACKAGE.rglob("*.py"))
    guilty = [
        path.name
        for path in sources
        if any(
            name.split(".")[0] == "demem_adapters"
            for name in imported_modules(path.read_text(encoding="utf-8"))
        )
    ]
    assert len(sources) > 5
    assert guilty == []


def test_decision_core_imports_nothing_of_the_rest() -> None:
    outside = {
        (path.name, name)
        for path in (PACKAGE / "decision").rglob("*.py")
        for name in imported_modules(path.read_text(encoding="utf-8"))
        if name.startswith("demem_agent") and not name.startswith("demem_agent.decision")
    }
    assert outside == set()


def test_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
