"""What puts memories aside, or brings them back, and stops at any step of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stored import HERE

from demem_agent.stores import Store, open_store
from demem_agent.stores.cold import ColdStore
from demem_agent.stores.shelves import Shelf

__all__ = ["DOES", "Stops", "was_killed", "was_stopped"]


class Killed(BaseException):
    """What ends a process."""


class Stops:
    """Stops at the nth step of whatever touches a store or a shelf, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: Store, at: int) -> None:
        self.at, self.count = at, 0
        for name in ("put", "get", "delete"):
            monkeypatch.setattr(Shelf, name, self._step(getattr(Shelf, name)))
        for name in ("put", "delete", "load"):
            monkeypatch.setattr(store, name, self._step(getattr(store, name)))

    def _step(self, does: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            self._count()
            found = does(*given, **named)
            self._count()
            return found

        return step

    def _count(self) -> None:
        self.count += 1
        if self.count == self.at:
            self.end()

    def end(self) -> None:
        """Stop."""
        raise Killed


DOES: dict[str, Callable[[ColdStore, str], object]] = {
    "cool": lambda cold, to: cold.cool([HERE], to),
    "open": lambda cold, to: cold.bring_back(HERE),
    "delete": lambda cold, to: cold.delete(*HERE),
}


def was_stopped(url: str, to: str, does: str, at: int) -> bool:
    """Do something, and fail at a step of it; return whether there was such a step."""
    store = open_store(url)
    with pytest.MonkeyPatch.context() as patch:
        Stops(patch, store.store, at)  # type: ignore[attr-defined]
        try:
            DOES[does](store, to)  # type: ignore[arg-type]
        except Killed:
            return True
        finally:
            store.close()
    return False


def was_killed(url: str, to: str, does: str, at: int) -> bool:
    """Do so in a process that is gone at that step, without a word to anybody."""
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), url, to, does, str(at)]
    return subprocess.run(command).returncode != 0


PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
import putting_aside
putting_aside.Stops.end = lambda self: os._exit(9)
putting_aside.was_stopped(*sys.argv[2:5], int(sys.argv[5]))
"""
