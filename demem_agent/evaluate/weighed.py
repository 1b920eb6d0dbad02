"""What a system takes, counted as it is measured: processor time, room on disk, and its model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar, runtime_checkable

from demem_agent.evaluate.system import Maker, System
from demem_agent.llms.model import Usage
from demem_agent.turns import Turn

__all__ = ["AsksModel", "Cost", "KeepsFiles", "Weighed", "weighed"]

_T = TypeVar("_T")


@runtime_checkable
class KeepsFiles(Protocol):
    """A system that says what it keeps on disk; one in RAM does not."""

    def disk(self) -> int:
        """Return the bytes of its files."""
        ...


@runtime_checkable
class AsksModel(Protocol):
    """A system that asks a language model by itself; most do not."""

    def newly_used(self) -> Usage:
        """Return what its calls have used since this was asked last."""
        ...


@dataclass(slots=True)
class Cost:
    """What all dialogues of one system took.

    Attributes:
        turns, reads: how many were told, and how many readings given.
        ingesting, reading: seconds of the processor, of all threads and of programs started.
        disk: bytes of all dialogues, 0 or None of a system in RAM.
        used: by the model that the system asks, to remember and to read; None where it asks none.
    """

    turns: int = 0
    reads: int = 0
    ingesting: float = 0.0
    reading: float = 0.0
    disk: int | None = None
    used: Usage | None = None


class Weighed:
    """A system whose calls are counted; it does otherwise what the system does."""

    def __init__(self, system: System, cost: Cost) -> None:
        self._system = system
        self._cost = cost

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Have the system remember the turns, and count what that takes."""
        seconds = self._counted(lambda: self._system.ingest(turns))[0]
        self._cost.ingesting += seconds
        self._cost.turns += len(turns)
        if isinstance(self._system, KeepsFiles):
            self._cost.disk = (self._cost.disk or 0) + self._system.disk()

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return what the system reads, and count what that takes."""
        seconds, text = self._counted(lambda: self._system.read(query, limit, at))
        self._cost.reading += seconds
        self._cost.reads += 1
        return text

    def _counted(self, call: Callable[[], _T]) -> tuple[float, _T]:
        """Make a call; return its seconds and what it gave, and count what its model used."""
        timed = _timed(call)
        if isinstance(self._system, AsksModel):
            self._cost.used = (self._cost.used or Usage()) + self._system.newly_used()
        return timed


def weighed(make: Maker, cost: Cost) -> Maker:
    """Return a maker of the same systems that adds to a cost.

    One of them is tried at once and not counted: what it imports and loads is of the process, and
    not of a dialogue.
    """
    trial = make()
    trial.ingest([Turn("The cat is called Minka.", speaker="Ana")])
    trial.read("What is the cat called?", 100)
    return lambda: Weighed(make(), cost)


def _timed(call: Callable[[], _T]) -> tuple[float, _T]:
    begun = _processor_seconds()
    value = call()
    return _processor_seconds() - begun, value


def _processor_seconds() -> float:
    """Return what this process has taken, and those that it has waited for."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system
