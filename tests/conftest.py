"""What all tests share: the folder ``tests/support``, and an order in which they run."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# No test is timed: how fast something is a benchmark tells, and a first call loads what it needs.
# The same examples are tried each time, so that a change is judged by what it changed, and three in
# ten of a full search, so that nobody waits; `make fuzz` looks for new ones, and tries all.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("random", deadline=None, max_examples=100)
settings.load_profile("same")

#: Files with tests that take many seconds. They run first: in several processes, one that begins a
#: long test last lets the others wait.
LONGEST = (
    "test_new_adapter.py",
    "test_machine.py",
    "test_learner.py",
    "test_sequences.py",
    "test_seeded_bugs.py",
)

# pytest's importlib mode leaves folders off the path.
sys.path.append(str(Path(__file__).parent / "support"))
# What it asserts is told like what a test file asserts.
pytest.register_assert_rewrite("adapter_contract")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder to put first on PATH, whose ``demem`` and ``python`` are those of the interpreter
    that runs the tests.
    """
    folder = tmp_path / "tools"
    folder.mkdir()
    installed = Path(sys.executable).with_name("demem")
    start = [str(installed)] if installed.exists() else [sys.executable, "-m", "demem_agent.cli"]
    for name, words in (("demem", start), ("python", [sys.executable])):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of a PostgreSQL database with a schema of its own; skips where there is no server."""
    from postgres_server import dropped, fresh_url

    url = fresh_url()
    yield url
    dropped(url)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave all other tests in their order."""
    items.sort(key=_place)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while tests are collected nor, later, among ten thousand of them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _place(item: pytest.Item) -> int:
    name = item.path.name
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)
