"""The package as a whole: its table of contents, how light it is to import, which way its arrows
point, what outsiders may reach.
"""

from __future__ import annotations

import ast
import importlib
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from documents import README, ROOT, blocks

import demem_agent

PACKAGE = Path(demem_agent.__file__).parent
HEAVY = {
    "model2vec",
    "msgspec",
    "openai",
    "pysqlite3",
    "rich",
    "sqlite3",
    "tenacity",
    "tiktoken",
    "torch",
    "typer",
    "uvicorn",
}

#: What only some operations need: none of it is loaded before.
LATER = {
    "asyncio",
    "concurrent",
    "demem_agent.async_memory",
    "demem_agent.cli",
    "demem_agent.decision",
    "demem_agent.evaluate",
    "demem_agent.flows.feedback",
    "demem_agent.llms",
    "demem_agent.splitting",
    "demem_agent.studies",
    "demem_agent.testing",
    "importlib.metadata",
    "importlib.resources",
    "logging",
    "numpy.ma",
    "numpy.random",
    "pathlib",
    "pydantic",
    "tempfile",
    "urllib",
}

OUTSIDERS = [
    *sorted((ROOT / "adapters").rglob("*.py")),
    *sorted((ROOT / "examples").glob("*.py")),
    *sorted((ROOT / "benchmarks").glob("adapter*.py")),
    README,
    *sorted((ROOT / "docs").rglob("*.md")),
]


@cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """Return what a source is made of; several tests look through the same ones."""
    return tuple(ast.walk(ast.parse(source)))


def imported_modules(source: str) -> set[str]:
    return imported_by(nodes_of(source))


def imported_by(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "demem_agent":
            found.update(f"demem_agent.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def of_the_package(name: str) -> bool:
    return name.partition(".")[0] == "demem_agent"


def gives_out(module: str, name: str) -> bool:
    """Whether outsiders may import a name from a public module: a room in it may be one."""
    if name == "*" or f"{module}.{name}" in demem_agent.__public__:
        return True
    return name in getattr(importlib.import_module(module), "__all__", ())


def beyond_the_wall(source: str) -> Iterator[str]:
    """Yield what a source imports of the package that is not public, as written in full."""
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            for name in node.names:
                if of_the_package(name.name) and name.name not in demem_agent.__public__:
                    yield name.name
        elif isinstance(node, ast.ImportFrom) and of_the_package(node.module or ""):
            module = node.module or ""
            if module not in demem_agent.__public__:
                yield module
                continue
            for name in node.names:
                if not gives_out(module, name.name):
                    yield f"{module}.{name.name}"


def python_of(path: Path) -> str:
    """Return the code of a source file, or that of all Python blocks of a document."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    return "\n".join(block.text for block in blocks(text) if block.language == "python")


def test_public_names_are_sorted_and_at_most_twenty() -> None:
    assert list(demem_agent.__all__) == sorted(set(demem_agent.__all__))
    assert 1 <= len(demem_agent.__all__) <= 20


def test_a_name_that_is_not_loaded_yet_is_offered_all_the_same() -> None:
    script = "import demem_agent; print('SlotMemory' in vars(demem_agent), dir(demem_agent))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("False")
    assert [name for name in demem_agent.__all__ if repr(name) not in done.stdout] == []


def test_every_public_name_exists() -> None:
    assert [name for name in demem_agent.__all__ if not hasattr(demem_agent, name)] == []


@cache
def loaded_by(script: str) -> frozenset[str]:
    """Return the modules that a fresh process has loaded after a script."""
    script = f"{script}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return frozenset(done.stdout.split())


def in_rooms(loaded: Iterable[str], rooms: Iterable[str]) -> list[str]:
    """Return those of some modules that are one of some packages, or in it."""
    return sorted(
        name for name in loaded if any(f"{name}.".startswith(f"{room}.") for room in rooms)
    )


def test_import_loads_the_records_and_not_even_numpy() -> None:
    loaded = loaded_by("import demem_agent")
    assert "demem_agent.types" in loaded
    assert (
        in_rooms(loaded, {*HEAVY, *LATER, "numpy", "json", "dateutil", "demem_agent.memory"}) == []
    )


def test_the_decision_kernel_is_loaded_alone() -> None:
    loaded = loaded_by("import demem_agent.decision")
    assert "demem_agent.decision.certificates" in loaded
    assert in_rooms(loaded, {"demem_agent.text", "demem_agent.slots", "demem_agent.memory"}) == []


def test_a_memory_loads_nothing_heavy_and_no_operation() -> None:
    loaded = loaded_by("from demem_agent import SlotMemory")
    assert "demem_agent.memory" in loaded
    operations = {name for name in in_rooms(loaded, ["demem_agent.flows"]) if name.count(".") > 1}
    assert operations == set()
    assert in_rooms(loaded, {*HEAVY, *LATER}) == []


def test_a_first_reading_loads_what_it_needs_and_nothing_more() -> None:
    loaded = loaded_by(
        "from demem_agent import SlotMemory; memory = SlotMemory();"
        "memory.ingest('I moved to Lisbon.'); memory.read('Where do I live?')"
    )
    assert in_rooms(loaded, ["demem_agent.flows.read"]) != []
    assert in_rooms(loaded, {*HEAVY, *LATER}) == []


def eager(source: str) -> list[str]:
    """Return what a source has compiled where it is imported: patterns, methods of records.

    A record without slots, which few are, cannot be written later.
    """
    found = []
    if "slots=True" in source:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
                found += [name.name for name in node.names if name.name == "dataclass"]
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            calls = [node for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
            found += [text for call in calls if (text := ast.unparse(call.func)) == "re.compile"]
    return found


def test_what_a_memory_loads_compiles_patterns_and_records_when_they_are_used() -> None:
    loaded = in_rooms(loaded_by("from demem_agent import SlotMemory"), ["demem_agent"])
    guilty = {}
    for name in loaded:
        path = importlib.import_module(name).__file__
        assert path is not None
        found = eager(Path(path).read_text(encoding="utf-8"))
        guilty |= {name: found} if found and name != "demem_agent.later" else {}
    assert len(loaded) > 50
    assert guilty == {}


def test_what_is_compiled_at_once_is_seen() -> None:
    record = "@dataclass(frozen=True, slots=True)\nclass A:\n    a: int\n"
    assert eager(f"from dataclasses import dataclass, field\n{record}") == ["dataclass"]
    assert eager(f"from demem_agent.later import dataclass\n{record}") == []
    assert eager("A = re.compile('a')\nB: dict = {1: re.compile('b')}\n") == ["re.compile"] * 2
    assert eager("def f():\n    return re.compile('a')\n") == []


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


def test_nothing_but_the_cli_imports_typer_or_rich() -> None:
    outside = [
        path for path in PACKAGE.rglob("*.py") if "cli" not in path.relative_to(PACKAGE).parts
    ]
    guilty = {}
    for path in outside:
        names = imported_modules(path.read_text(encoding="utf-8"))
        packages = {name.partition(".")[0] for name in names}
        guilty[path] = packages & {"typer", "rich", "click"}
    assert len(outside) > 20
    assert {path: packages for path, packages in guilty.items() if packages} == {}


def test_decision_core_imports_nothing_of_the_rest() -> None:
    outside = {
        (path.name, name)
        for path in (PACKAGE / "decision").rglob("*.py")
        for name in imported_modules(path.read_text(encoding="utf-8"))
        if name.startswith("demem_agent") and not name.startswith("demem_agent.decision")
    }
    assert outside == set()


@pytest.mark.parametrize("module", demem_agent.__public__)
def test_every_public_module_exists_and_gives_out_what_it_says(module: str) -> None:
    made = importlib.import_module(module)
    assert made.__doc__
    assert [name for name in getattr(made, "__all__", ()) if not hasattr(made, name)] == []


def test_public_modules_are_sorted_and_each_is_named_once() -> None:
    assert list(demem_agent.__public__) == sorted(set(demem_agent.__public__))


def test_outsiders_import_what_is_public_and_nothing_else() -> None:
    found = {path: [*beyond_the_wall(python_of(path))] for path in OUTSIDERS}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}


def test_the_wall_sees_every_way_around_it() -> None:
    source = """
import demem_agent.text.language.words
import demem_agent.errors
import json, demem_agent.slots as slots
from demem_agent import SlotMemory, flows, text
from demem_agent.splitting import replay, replaying
from demem_agent.decision import *


def f():
    from demem_agent.reading.packing import packed
    from demem_agent.text import clean, units
"""
    assert {*beyond_the_wall(source)} == {
        "demem_agent.text.language.words",
        "demem_agent.slots",
        "demem_agent.flows",
        "demem_agent.splitting.replaying",
        "demem_agent.reading.packing",
        "demem_agent.text.units",
    }


def test_the_wall_reads_the_python_of_documents_and_no_other_block(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nimport a\n```\n```json\n{}\n```\n```python\nimport b\n```\n")
    assert imported_modules(python_of(page)) == {"a", "b"}


#: Rooms and root modules, each above all that it may import from (``docs/architecture.md``).
FLOORS = """cli server studies evaluate testing llms bulk jobs async_memory async_memories pool
     memories auditing memory client wire copying safekeeping held tracing door options flows
     splitting feedback
     drivers stores answering reading requests slots changes summaries scoring encoders text
     decision imports messages settings channels where turns types metadata servers errors notebook
     hints shipped later""".split()


def arrows_up(source: str, floor: str) -> list[str]:
    """Return the rooms above a floor that a source imports from, but for what only types need.

    What has an ``else`` is no such thing: it is imported when it is first used.
    """
    only_types: set[ast.AST] = set()
    for node in nodes_of(source):
        asked = ast.unparse(node.test) if isinstance(node, ast.If) and not node.orelse else ""
        if isinstance(node, ast.If) and asked == "TYPE_CHECKING":
            only_types.update(*map(ast.walk, node.body))
    above = FLOORS[: FLOORS.index(floor)]
    names = imported_by(node for node in nodes_of(source) if node not in only_types)
    rooms = [name.split(".")[1] for name in names if name.startswith("demem_agent.")]
    return sorted(room for room in rooms if room in above)


def test_every_room_stands_on_a_floor() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert modules | rooms == set(FLOORS)


def test_every_arrow_points_down() -> None:
    guilty = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        floor = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if floor != "__init__":
            up = arrows_up(path.read_text(encoding="utf-8"), floor)
            guilty |= {str(path.relative_to(PACKAGE)): up} if up else {}
    assert guilty == {}


def test_an_arrow_that_points_up_is_seen() -> None:
    source = "from demem_agent.flows.read import read\nfrom demem_agent.text.units import measure\n"
    assert arrows_up(source, "slots") == ["flows"]
    assert arrows_up("from demem_agent import flows\n", "slots") == ["flows"]
    only_types = "if TYPE_CHECKING:\n    from demem_agent.flows import read\n"
    assert arrows_up(only_types, "slots") == []
    assert arrows_up(f"{only_types}else:\n    read = module('read')\n", "slots") == ["flows"]


def test_the_page_of_modules_is_as_the_modules_are() -> None:
    """``python docs/drawings/modules.py`` makes it anew."""
    drawing = runpy.run_path(str(ROOT / "docs" / "drawings" / "modules.py"))
    assert (ROOT / "docs" / "modules.md").read_text(encoding="utf-8") == drawing["page"]()
