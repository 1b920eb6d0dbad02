"""How the memory of one run is built: its units and limits, its collaborators, its store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from demem_agent import Settings, SplitSettings
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import StoreError
from demem_agent.slots.records import Delta
from demem_agent.stores import Address, DeletionReceipt, MemoryInfo, Rows, Store
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Answerer, Attempt, Draft, Mode, Order, Question, Stale
from machine.incoming import marks_in

__all__ = ["BreakableStore", "FickleAnswerer", "Setup", "bag", "setups"]


class FickleAnswerer(ReadingAnswerer):
    """Answer from the reading; but in one year say yes and no by turns.

    So both get to be rewarded.
    """

    YEAR = 2031

    def answer(self, question: Question) -> Draft:
        """Answer with the whole reading, or in that year with yes on every other day."""
        if question.at is None or question.at.year != self.YEAR:
            return super().answer(question)
        return Draft("Yes." if question.at.day % 2 else "No.")


class CachedEncoder:
    """Encode each text once per run of the tests.

    The inner encoder is a function of the text alone.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.fingerprint: str = inner.fingerprint
        self._rows: dict[str, NDArray[np.float32]] = {}

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        """Return the rows of the inner encoder."""
        for text in sentences:
            if text not in self._rows:
                self._rows[text] = self._inner.encode([text])[0]
        return np.stack([self._rows[text] for text in sentences])


@cache
def bag(dimensions: int) -> CachedEncoder:
    """Return the encoder of so many dimensions, always the same one."""
    return CachedEncoder(BagEncoder(dimensions))


def _judged(attempt: Attempt) -> float:
    """Rate an answer as a judge does who knows no reference: does it speak of what was asked?"""
    return 1.0 if marks_in(attempt.query) <= marks_in(attempt.answer) else 0.25


def _judged_lower(attempt: Attempt) -> float:
    return 0.9 * _judged(attempt)


JUDGES = (ScriptedScorer(_judged, "judge one"), ScriptedScorer(_judged_lower, "judge two"))
ANSWERERS: tuple[Answerer, ...] = (ReadingAnswerer(), FickleAnswerer(), ExtractiveAnswerer(bag(16)))


def _characters(text: str) -> int:
    return sum(1 for _ in text)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _words(text: str) -> int:
    return 4 * len(text.split())


def _squares(text: str) -> int:
    """Measure far more for a whole than for its parts together."""
    return len(text) ** 2 // 80


#: Unit, counter, and the test's own measure.
UNITS: tuple[tuple[str, Callable[[str], int] | None, Callable[[str], int]], ...] = (
    ("chars", None, _characters),
    ("bytes", None, _bytes),
    ("tokens", _words, _words),
    ("tokens", _squares, _squares),
)


@dataclass(frozen=True)
class Setup:
    """How one run's memory is built; ``unit`` is a place in ``UNITS``.

    Attributes:
        storage: what may be kept, in that unit; None keeps everything.
    """

    unit: int
    slots: int
    initial_slots: int
    slot_limit: int
    read_limit: int
    near: float
    mode: Mode
    sqlite: bool
    answerer: Answerer
    split: SplitSettings
    decisions: bool
    stale: Stale
    order: Order
    storage: int | None = None

    def measure(self, text: str) -> int:
        """Return what a text measures, by the test's own measure."""
        return UNITS[self.unit][2](text)

    def options(self) -> dict[str, Any]:
        """Return the options of ``SlotMemory``, but for its encoder and answerer."""
        unit, counter, _ = UNITS[self.unit]
        names = ("slots", "initial_slots", "slot_limit", "read_limit", "near", "mode", "split")
        given = {
            name: getattr(self, name) for name in (*names, "decisions", "stale", "order", "storage")
        }
        given["clock"] = None  # the twins come at other times
        given["unit"] = unit
        given["judges"] = JUDGES
        if counter is not None:
            given["counter"] = counter
        return given


def splits() -> st.SearchStrategy[SplitSettings]:
    """Return settings with which splits come soon."""
    return st.builds(
        SplitSettings,
        c_beta=st.sampled_from((0.0, 0.2)),
        sigma_0=st.just(0.05),
        eta_cal=st.just(0.0),
        tau_split=st.just(0.02),
        tau_sat=st.sampled_from((0.02, 0.1)),
        pairs=st.sampled_from((3, 2, 1)),
        counterfactuals=st.sampled_from((60, 24, 7)),
        delta=st.just(0.5),
    )


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    """Return how the memory of one run is built."""
    slots = draw(st.sampled_from((2, 2, 3, 4)))
    return Setup(
        unit=draw(st.integers(0, len(UNITS) - 1)),
        slots=slots,
        initial_slots=draw(st.sampled_from((1, 1, 2, slots))),
        slot_limit=draw(st.sampled_from((80, 80, 100, 300))),
        read_limit=draw(st.sampled_from((600, 250, 80))),
        near=draw(st.sampled_from((0.8, 1.0, -1.0))),
        mode=draw(st.sampled_from(("evidence", "strict"))),
        sqlite=draw(st.booleans()),
        answerer=draw(st.sampled_from(ANSWERERS)),
        split=draw(splits()),
        decisions=draw(st.sampled_from((True, False))),
        stale=draw(st.sampled_from(("mark", "withhold", "show"))),
        order=draw(st.sampled_from(("time", "latest"))),
    )


class BreakableStore:
    """A store whose commit fails when told to: before anything is written, or after all of it is.

    Attributes:
        good: commits until the failing one; below zero, none fails.
        written: whether the failing commit is written all the same, so that only its
            acknowledgement is lost.
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.schema = inner.schema
        self.good = -1
        self.written = False

    def break_after(self, good: int, written: bool) -> None:
        """Have a commit fail after so many good ones."""
        self.good = good
        self.written = written

    def commit(self, address: Address, delta: Delta) -> None:
        """Commit, or fail where it was told to.

        Raises:
            StoreError: then.
        """
        failing = self.good == 0
        self.good = max(self.good - 1, -1)
        if self.written or not failing:
            self.inner.commit(address, delta)
        if failing:
            raise StoreError("made to fail")

    def create(self, address: Address, settings: Settings) -> None:
        """Pass on."""
        self.inner.create(address, settings)

    def load(self, address: Address) -> Rows | None:
        """Pass on."""
        return self.inner.load(address)

    def put(self, address: Address, rows: Rows) -> None:
        """Pass on."""
        self.inner.put(address, rows)

    def seq(self, address: Address, era: int = 0) -> int:
        """Pass on."""
        return self.inner.seq(address, era)

    def move(self, address: Address, to: Address) -> None:
        """Pass on."""
        self.inner.move(address, to)

    def delete(self, tenant: str, memory_id: str | None = None) -> DeletionReceipt:
        """Pass on."""
        return self.inner.delete(tenant, memory_id)

    def survey(self, tenant: str | None = None) -> list[MemoryInfo]:
        """Pass on."""
        return self.inner.survey(tenant)

    def holds(self, address: Address) -> bool:
        """Pass on."""
        return self.inner.holds(address)

    def memories(self, tenant: str) -> list[str]:
        """Pass on."""
        return self.inner.memories(tenant)

    def close(self) -> None:
        """Pass on."""
        self.inner.close()
