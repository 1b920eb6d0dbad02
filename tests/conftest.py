"""What all tests share: the folder ``tests/support``, and an order in which they run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

#: Files with tests that take many seconds. They run first: in several processes, one that begins a
#: long test last lets the others wait.
LONGEST = ("test_machine.py", "test_learner.py", "test_sequences.py", "test_seeded_bugs.py")

# pytest's importlib mode leaves folders off the path.
sys.path.append(str(Path(__file__).parent / "support"))
# What it asserts is told like what a test file asserts.
pytest.register_assert_rewrite("adapter_contract")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave all other tests in their order."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    name = item.path.name
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)
