"""A memory in a store, and a life in which everything happens to it once."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from demem_agent import SlotMemory
from demem_agent.stores import Address, Store
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Draft, Question

HERE = Address("tenant", "memory")
RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
#: One slot with room for one line in its summary: the two questions of ``lived`` split it.
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 3,
    "initial_slots": 1,
    "slot_limit": 70,
    "read_limit": 90,
    "encoder": BagEncoder(),
    "answerer": ReadingAnswerer(),
    "scorers": (RIGHT, RIGHT),
}


def driver(name: str) -> ModuleType:
    """Return a driver of SQLite; skip the test where pysqlite3 is not installed."""
    if name == "pysqlite3":
        found: ModuleType = pytest.importorskip(name)
        return found
    return importlib.import_module(name)


def opened(store: Store, **options: Any) -> SlotMemory:
    """Open the memory that the tests of a store work on."""
    return SlotMemory.open(
        store, tenant=HERE.tenant, memory_id=HERE.memory_id, **{**OPTIONS, **options}
    )


def lived(memory: SlotMemory) -> SlotMemory:
    """Do everything once: remember, answer, be rewarded, split, forget."""
    memory.ingest(
        "the boiler has a brass valve",
        speaker="Ana",
        at="2023-05-08T10:00+02:00",
        key="k",
        source_id="x1",
    )
    memory.ingest("the violin has a broken bow", session="s", source="chat", trust=0.5)
    memory.ingest("this is none of your business", source_id="x3")
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
    report = memory.feedback(
        memory.answer("Which bow has the violin?", at="2023-06-09"), reference="a broken bow"
    )
    assert report.split
    memory.forget(source_id="x3")
    return memory


class Interrupted:
    """Answer with the reading, after something else has happened, the first few times."""

    def __init__(self, happen: Callable[[], object], times: int = 1) -> None:
        self.calls = 0
        self._happen = happen
        self._times = times

    def answer(self, question: Question) -> Draft:
        self.calls += 1
        if self.calls <= self._times:
            self._happen()
        return ReadingAnswerer().answer(question)
