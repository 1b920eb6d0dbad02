"""Modules, extras, tests, examples, pages and tables of the adapters: each has all of them, and no
more.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from documents import ROOT

import demem_agent

ROOM = ROOT / "adapters" / "demem_adapters"
DOCS = ROOT / "docs"
TIERS = ("first-class", "supported", "contributed")
#: What stands in the room and is no adapter.
NO_ADAPTERS = {"common", "contrib", "new", "proxy"}
#: Where the extras of adapters end in pyproject.toml.
END_OF_EXTRAS = "# No adapters from here on."


def modules(room: Path) -> set[str]:
    """Return the names of the adapters in a room: files and packages that do not begin with _."""
    names: set[str] = set()
    for path in room.iterdir():
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and path.stem[0].isalpha():
            names.add(path.stem)
    return names - NO_ADAPTERS


def rows(heading: str) -> dict[str, list[str]]:
    """Return the rows of the first table after a heading of docs/adapters.md, by their first cell.

    The first cell is the name of an adapter, alone or as a link to its page.
    """
    text = (DOCS / "adapters.md").read_text(encoding="utf-8").split(f"{heading}\n", 1)[1]
    found: dict[str, list[str]] = {}
    lines = text[text.index("\n|") + 1 :].splitlines()
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        first, *cells = [cell.strip() for cell in line.strip("|").split(" |")]
        name = first.strip("[").split("]")[0]
        assert name not in found
        found[name] = cells
    return found


def extras() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return found


CONTRIBUTED = modules(ROOM / "contrib")
ADAPTERS = sorted(modules(ROOM) | CONTRIBUTED)


def test_adapters_are_found() -> None:
    assert {"openai", "langgraph", "dspy"} <= {*ADAPTERS}
    assert modules(ROOM).isdisjoint(CONTRIBUTED)


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_has_an_extra_a_test_an_example_and_a_page_of_its_name(name: str) -> None:
    assert name.replace("_", "-") in extras()
    assert (ROOT / "tests" / "adapters" / f"test_{name}.py").is_file()
    assert (ROOT / "examples" / f"{name}_memory.py").is_file()
    assert (DOCS / "adapters" / f"{name}.md").is_file()
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"      - {name}: adapters/{name}.md\n" in site


def test_no_page_and_no_extra_is_of_an_adapter_that_is_not_there() -> None:
    assert sorted(page.stem for page in (DOCS / "adapters").glob("*.md")) == ADAPTERS
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    of_adapters = project.split("[project.optional-dependencies]")[1].split(END_OF_EXTRAS)[0]
    named = [line.split(" = ")[0] for line in of_adapters.splitlines() if " = [" in line]
    assert sorted(named) == sorted(name.replace("_", "-") for name in ADAPTERS)


def test_the_tables_have_a_row_for_each_adapter_and_no_cell_of_the_second_is_empty() -> None:
    assert sorted(rows("# Adapters")) == ADAPTERS
    told = rows("## When, where and until")
    assert sorted(told) == ADAPTERS
    for cells in told.values():
        assert len(cells) == 4
        assert all(cells)


def test_each_adapter_has_a_tier_and_those_in_contrib_alone_are_contributed() -> None:
    tiers = {name: cells[0] for name, cells in rows("# Adapters").items()}
    assert {*tiers.values()} <= {*TIERS}
    assert {name for name, tier in tiers.items() if tier == "contributed"} == CONTRIBUTED
    assert [*rows("## Three tiers")] == [*TIERS]


def test_the_first_cell_of_a_row_leads_to_the_page() -> None:
    text = (DOCS / "adapters.md").read_text(encoding="utf-8")
    for name in ADAPTERS:
        assert f"| [{name}](adapters/{name}.md) | " in text


def test_both_packages_are_marked_as_typed() -> None:
    assert demem_agent.__file__ is not None
    assert (Path(demem_agent.__file__).parent / "py.typed").is_file()
    assert (ROOM / "py.typed").is_file()
