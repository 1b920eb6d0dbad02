"""An operation happens whole or not at all: what fails on the way leaves memory as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from machine import BreakableStore

from demem_agent import AsyncSlotMemory, SlotMemory, SplitSettings
from demem_agent.errors import (
    CollaboratorError,
    DeMemError,
    EncoderMismatch,
    InvalidInput,
    NotFound,
    StoreError,
)
from demem_agent.stores import open_store
from demem_agent.testing import Async, BagEncoder, Failing, ReadingAnswerer
from demem_agent.types import Attempt, Question

Act = Callable[[SlotMemory], object]
TOLD = [
    f"The {a} {b} is number {n}."
    for n, (a, b) in enumerate([("boiler", "valve"), ("violin", "bow")] * 2)
]
EASILY = SplitSettings(c_beta=0.0, eta_cal=0.0, tau_split=0.02, tau_sat=0.02)
#: A setting in which the second reference below certifies a conflict: the summary holds one
#: sentence of two.
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 2,
    "initial_slots": 1,
    "slot_limit": 60,
    "read_limit": 400,
    "split": EASILY,
}


def team() -> dict[str, Any]:
    return {**OPTIONS, "encoder": BagEncoder(), "answerer": ReadingAnswerer()}


def told(memory: SlotMemory) -> SlotMemory:
    """Bring a memory to the point where one more reference splits its slot."""
    memory.ingest(TOLD[0])
    memory.ingest(TOLD[1], source_id="d1")
    memory.answer(TOLD[0])
    memory.answer(TOLD[1])
    memory.feedback("a1", reference=TOLD[0])
    return memory


def split(memory: SlotMemory) -> None:
    assert memory.feedback("a2", reference=TOLD[1], key="k").split


@dataclass(frozen=True)
class Operation:
    """One kind of operation.

    Attributes:
        again: what doing it a second time raises when it has been done; None for a keyed one, which
            gives its result.
        ready: done first, as part of the state that must not change; by default nothing.
    """

    act: Act
    again: type[DeMemError] | None = None
    ready: Act = len  # which changes nothing


KEYED = {
    "ingest": Operation(lambda memory: memory.ingest(TOLD[2], key="k")),
    "ingest_many": Operation(
        lambda memory: memory.ingest_many([{"text": t, "key": t} for t in TOLD])
    ),
    "feedback": Operation(lambda memory: memory.feedback("a1", reward=1.0, key="k")),
    "split": Operation(split),
}
UNKEYED = {
    "forget": Operation(lambda memory: memory.forget(source_id="d1"), NotFound),
    "undo": Operation(lambda memory: memory.undo("c1"), InvalidInput, split),
}
REPEATED = {
    "answer": Operation(lambda memory: memory.answer("What about the boiler?").text),
    "reembed": Operation(lambda memory: memory.reembed(BagEncoder(8))),
}


@pytest.fixture(params=["memory://", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BreakableStore]:
    url = f"sqlite:///{tmp_path / 'memory.db'}" if request.param == "sqlite" else request.param
    opened = BreakableStore(open_store(url))
    yield opened
    opened.close()


def all_of(memory: SlotMemory) -> tuple[object, ...]:
    """Give everything a user can see of a memory."""
    memory.check()
    return (
        memory.fingerprint(),
        memory.slots,
        memory.contexts(),
        memory.certificates(),
        memory.export(),
    )


def done_once(operation: Operation) -> tuple[str, object]:
    memory = told(SlotMemory(**team()))
    operation.ready(memory)
    operation.act(memory)
    return memory.fingerprint(), memory.certificates()


# -- the store fails
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KEYED | UNKEYED | REPEATED)
def test_a_commit_that_fails_leaves_the_state_as_it_was(store: BreakableStore, name: str) -> None:
    operation = (KEYED | UNKEYED | REPEATED)[name]
    memory = told(SlotMemory.open(store, **team()))
    operation.ready(memory)
    before = all_of(memory)
    store.break_after(0, written=False)
    with pytest.raises(StoreError, match="made to fail"):
        operation.act(memory)
    assert all_of(memory) == before


@pytest.mark.parametrize("name", KEYED | UNKEYED | {"answer": REPEATED["answer"]})
def test_a_commit_whose_acknowledgement_was_lost_is_seen_as_the_store_holds_it(
    store: BreakableStore, name: str
) -> None:
    operation = (KEYED | UNKEYED | REPEATED)[name]
    memory = told(SlotMemory.open(store, **team()))
    operation.ready(memory)
    before = all_of(memory)
    store.break_after(0, written=True)
    with pytest.raises(StoreError, match="made to fail"):
        operation.act(memory)
    assert all_of(memory) == all_of(SlotMemory.open(store, **team())) != before


def test_a_reembedding_whose_acknowledgement_was_lost_asks_for_the_new_encoder(
    store: BreakableStore,
) -> None:
    memory = told(SlotMemory.open(store, **team()))
    store.break_after(0, written=True)
    with pytest.raises(StoreError, match="made to fail"):
        memory.reembed(BagEncoder(8))
    with pytest.raises(EncoderMismatch):
        memory.evidence()
    assert len(SlotMemory.open(store, **team() | {"encoder": BagEncoder(8)}).evidence()) == len(
        TOLD[:2]
    )


@pytest.mark.parametrize("name", KEYED | UNKEYED | REPEATED)
def test_an_operation_that_was_not_written_can_be_repeated(
    store: BreakableStore, name: str
) -> None:
    operation = (KEYED | UNKEYED | REPEATED)[name]
    memory = told(SlotMemory.open(store, **team()))
    operation.ready(memory)
    store.break_after(0, written=False)
    with pytest.raises(StoreError):
        operation.act(memory)
    operation.act(memory)
    assert (memory.fingerprint(), memory.certificates()) == done_once(operation)


@pytest.mark.parametrize("name", KEYED)
def test_a_keyed_operation_whose_acknowledgement_was_lost_is_done_once(
    store: BreakableStore, name: str
) -> None:
    memory = told(SlotMemory.open(store, **team()))
    store.break_after(0, written=True)
    with pytest.raises(StoreError):
        KEYED[name].act(memory)
    repeated = KEYED[name].act(memory)
    assert (memory.fingerprint(), memory.certificates()) == done_once(KEYED[name])
    assert repeated == KEYED[name].act(told(SlotMemory(**team())))


@pytest.mark.parametrize("name", UNKEYED)
def test_an_operation_whose_acknowledgement_was_lost_is_seen_to_be_done(
    store: BreakableStore, name: str
) -> None:
    operation = UNKEYED[name]
    memory = told(SlotMemory.open(store, **team()))
    operation.ready(memory)
    store.break_after(0, written=True)
    with pytest.raises(StoreError):
        operation.act(memory)
    assert operation.again is not None
    with pytest.raises(operation.again):
        operation.act(memory)
    assert (memory.fingerprint(), memory.certificates()) == done_once(operation)


def test_batches_before_the_failing_one_stay_and_are_not_done_again(
    store: BreakableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_agent.memory.BATCH", 2)
    turns = [{"text": f"The boiler valve is number {n}.", "key": f"k{n}"} for n in range(7)]
    memory = SlotMemory.open(store, **team())
    for good in (1, 0, 1):
        store.break_after(good, written=False)
        with pytest.raises(StoreError):
            memory.ingest_many(turns)
    assert len(memory) == 4
    memory.ingest_many(turns)
    whole = SlotMemory(**team())
    whole.ingest_many(turns)
    assert memory.fingerprint() == whole.fingerprint()


def test_what_a_failing_commit_left_in_the_store_opens_as_the_state_before(
    store: BreakableStore,
) -> None:
    memory = told(SlotMemory.open(store, **team()))
    store.break_after(0, written=False)
    with pytest.raises(StoreError):
        memory.forget("e1")
    with SlotMemory.open(store, **team()) as again:
        assert all_of(again) == all_of(memory)


def test_a_state_that_ran_ahead_of_its_store_falls_back_to_it(store: BreakableStore) -> None:
    memory = told(SlotMemory.open(store, **team()))
    before = all_of(memory)
    memory._held.state.head = replace(memory._held.state.head, seq=memory._held.state.head.seq + 1)
    memory._held.state.slots.clear()
    assert all_of(memory) == before


def test_a_failed_commit_leaves_an_async_memory_as_it_was(store: BreakableStore) -> None:
    async def run() -> None:
        memory = await AsyncSlotMemory.open(store, **{**team(), "encoder": Async(BagEncoder())})
        await memory.ingest(TOLD[0])
        before = await memory.fingerprint()
        store.break_after(0, written=False)
        with pytest.raises(StoreError, match="made to fail"):
            await memory.ingest(TOLD[1], key="k")
        assert await memory.fingerprint() == before
        await memory.ingest(TOLD[1], key="k")
        await memory.check()
        assert len(memory) == 2

    asyncio.run(run())


# -- an encoder, answerer or scorer fails
# --------------------------------------------------------------------------


class Given:
    """An encoder, answerer or scorer that gives the same, whatever it is asked."""

    name = "bag"
    fingerprint = "bag-16"

    def __init__(self, result: object) -> None:
        self._result = result

    def encode(self, sentences: list[str], /) -> Any:
        return self._result

    def answer(self, question: Question, /) -> Any:
        return self._result

    def score(self, attempt: Attempt, /) -> Any:
        return self._result


class FailingBag(Failing):
    """A bag encoder that fails after some calls, and passes for the sound one."""

    name = "bag"
    fingerprint = "bag-16"


ENCODING: dict[str, Act] = {
    "ingest": lambda memory: memory.ingest(TOLD[2]),
    "ingest_many": lambda memory: memory.ingest_many([{"text": text} for text in TOLD]),
    "route": lambda memory: memory.route("What about the boiler?"),
    "read": lambda memory: memory.read("What about the boiler?"),
    "answer": lambda memory: memory.answer("What about the boiler?"),
}


def reopened(memory: SlotMemory, **others: Any) -> SlotMemory:
    """Give the same memory with other collaborators."""
    return SlotMemory.restore(memory.export(), **{**team(), **others})


@pytest.mark.parametrize("name", ENCODING)
@pytest.mark.parametrize(
    "encoder",
    [
        FailingBag(),
        FailingBag(error=OSError("no such model")),
        *map(Given, (None, [], [[1.0, 2.0]] * 9, [["a"]])),
    ],
    ids=[
        "raises",
        "cannot be read",
        "gives nothing",
        "gives no rows",
        "gives other rows",
        "gives words",
    ],
)
def test_an_encoder_that_fails_leaves_the_state_as_it_was(name: str, encoder: Any) -> None:
    memory = reopened(told(SlotMemory(**team())), encoder=encoder)
    before = all_of(memory)
    with pytest.raises(DeMemError):
        ENCODING[name](memory)
    assert all_of(memory) == before


def test_reembed_with_an_encoder_that_fails_at_any_call_keeps_the_old_one() -> None:
    memory = told(SlotMemory(**team()))
    before = all_of(memory)
    for good in range(2):  # one call for the evidence, one for the queries
        with pytest.raises(CollaboratorError):
            memory.reembed(Failing(BagEncoder(8), good))
        assert all_of(memory) == before
    memory.ingest(TOLD[2])
    memory.check()


@pytest.mark.parametrize(
    "answerer", [Failing(), Given(None), Given(7)], ids=["raises", "gives nothing", "a number"]
)
def test_an_answerer_that_fails_leaves_the_state_as_it_was(answerer: Any) -> None:
    memory = reopened(told(SlotMemory(**team())), answerer=answerer)
    before = all_of(memory)
    with pytest.raises(CollaboratorError):
        memory.answer("What about the boiler?")
    assert all_of(memory) == before


def test_an_interrupted_call_leaves_the_state_as_it_was_and_the_memory_usable() -> None:
    interrupted = Failing(error=KeyboardInterrupt())  # type: ignore[arg-type]  # not an Exception, on purpose
    memory = reopened(told(SlotMemory(**team())), answerer=interrupted)
    before = all_of(memory)
    with pytest.raises(KeyboardInterrupt):
        memory.answer("What about the boiler?")
    assert all_of(memory) == before
    assert memory.ingest(TOLD[2]).evidence_id == "e3"


@dataclass
class Fallible:
    """A scorer whose calls can be counted and made to fail from one on, all scorers of a memory
    together.
    """

    name: str
    left: list[int]
    gives: object = None

    def score(self, attempt: Attempt, /) -> Any:
        self.left[0] -= 1
        if self.left[0] < 0:
            if self.gives is None:
                raise RuntimeError("made to fail")
            return self.gives
        return float(attempt.reference in attempt.reading)


def scoring(good: int, gives: object = None) -> dict[str, Any]:
    left = [good]
    return {"scorers": [Fallible("first", left, gives), Fallible("second", left, gives)]}


@pytest.mark.parametrize("good", [0, 1])
@pytest.mark.parametrize("gives", [None, float("nan"), 1.5, "good", True], ids=str)
def test_a_scorer_that_fails_on_the_answer_itself_leaves_the_state_as_it_was(
    good: int, gives: object
) -> None:
    memory = reopened(told(SlotMemory(**team())), **scoring(good, gives))
    before = all_of(memory)
    with pytest.raises(CollaboratorError):
        memory.feedback("a2", reference=TOLD[1], key="k")
    assert all_of(memory) == before


def rewarded_without_tests() -> str:
    """Give the fingerprint after the same feedback, had it not been tested for a conflict."""
    memory = reopened(told(SlotMemory(**team())), **scoring(999), split=SplitSettings(pairs=0))
    memory.feedback("a2", reference=TOLD[1])
    return memory.fingerprint()


def test_a_scorer_that_fails_at_any_call_of_the_conflict_tests_costs_the_tests_alone() -> None:
    untested, failures = rewarded_without_tests(), 0
    for good in range(2, 100):
        memory = reopened(told(SlotMemory(**team())), **scoring(good))
        report = memory.feedback("a2", reference=TOLD[1])
        memory.check()
        assert memory.contexts()[1].rewards == (1.0,)
        if report.failed is None:
            assert report.split
            break
        failures += 1
        assert "scorer" in report.failed
        assert report.certificate is None
        assert memory.fingerprint() == untested
    assert failures > 2


def test_an_answerer_that_fails_at_any_call_of_the_conflict_tests_costs_the_tests_alone() -> None:
    untested, failures = rewarded_without_tests(), 0
    for good in range(100):
        memory = reopened(
            told(SlotMemory(**team())), answerer=Failing(ReadingAnswerer(), good), **scoring(999)
        )
        report = memory.feedback("a2", reference=TOLD[1])
        memory.check()
        if report.failed is None:
            assert report.split
            break
        failures += 1
        assert "answerer" in report.failed
        assert memory.fingerprint() == untested
    assert failures > 2


def test_a_keyed_feedback_whose_tests_failed_gives_its_stored_report_again() -> None:
    memory = reopened(told(SlotMemory(**team())), answerer=Failing())
    report = memory.feedback("a2", reference=TOLD[1], key="k")
    before = all_of(memory)
    assert memory.feedback("a2", reference=TOLD[1], key="k") == report
    assert all_of(memory) == before
