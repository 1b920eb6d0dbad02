"""What a docstring shows is what it does: each of the public names, and of a memory's methods."""

from __future__ import annotations

import ast
import copy
import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import demem_agent
from demem_agent import SlotMemory

PACKAGE = Path(demem_agent.__file__).parent


@cache
def begun() -> SlotMemory:
    """Return the memory that the examples begin with, as the docstring of SlotMemory says."""
    memory = SlotMemory(clock=None)
    memory.ingest("I moved to Lisbon.", speaker="Ana", at="2024-03-02", source_id="m1")
    memory.ingest("The cat is called Minka.", speaker="Ana", at="2024-03-03")
    memory.ingest("The plumber comes on Fridays.", speaker="Ben", at="2024-03-04")
    return memory


def of_root() -> dict[str, str]:
    """Return the docstrings of the root's names, and of what a memory has."""
    found = {name: getattr(demem_agent, name).__doc__ or "" for name in demem_agent.__all__}
    for name in dir(SlotMemory):
        member = inspect.getattr_static(SlotMemory, name)
        if not name.startswith("_"):
            found[f"SlotMemory.{name}"] = inspect.getdoc(member) or ""
    return found


def elsewhere() -> Iterator[tuple[str, str]]:
    """Yield the docstrings of the package that have an example, each with the name of its module.

    Those of the root's names are left out.
    """
    known = set(of_root().values())
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if ">>>" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if ">>> " in text and text not in {inspect.cleandoc(doc) for doc in known}:
                    inside = path.relative_to(PACKAGE.parent).with_suffix("")
                    yield ".".join(inside.parts), text


def failures(name: str, text: str, module: str = "") -> str:
    """Run the examples of a docstring with a memory of their own; return what went wrong.

    Args:
        module: where the docstring is, if it is not of the root: the examples know its names.
    """
    names: dict[str, Any] = dict(vars(importlib.import_module(module))) if module else {}
    names |= {each: getattr(demem_agent, each) for each in demem_agent.__all__}
    names["memory"] = copy.copy(begun())
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), names, name, name, 0)
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    return "".join(told)


@pytest.mark.parametrize("name", of_root())
def test_an_example_of_a_public_name_does_what_it_shows(name: str) -> None:
    text = of_root()[name]
    assert ">>> " in text, f"{name} has no example"
    assert failures(name, text) == ""


def test_an_example_anywhere_else_does_what_it_shows() -> None:
    assert [told for name, text in elsewhere() if (told := failures(name, text, name))] == []


def test_an_example_that_shows_something_else_is_seen() -> None:
    assert "Expected:" in failures("wrong", ">>> len(memory)\n4")
    assert failures("right", ">>> len(memory)\n3") == ""
