"""Keyed calls once what they told is forgotten: nothing confirms a guess or comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import benchmark

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, IdempotencyConflict, StoreError
from demem_agent.slots import ledger, naming
from demem_agent.slots.records import Delta, Operation
from demem_agent.stores import Address, MemoryStore
from demem_agent.testing import BagEncoder, ReadingAnswerer

SECRET = "The alarm code is 7431."
QUESTION = "What is the alarm code?"


def opened(store: str | MemoryStore | None = None, **options: Any) -> SlotMemory:
    given = {"encoder": BagEncoder(), "answerer": ReadingAnswerer(), "clock": None, **options}
    return SlotMemory(**given) if store is None else SlotMemory.open(store, **given)


def restored(memory: SlotMemory) -> SlotMemory:
    return SlotMemory.restore(memory.export(), encoder=BagEncoder(), clock=None)


def requests(memory: SlotMemory) -> dict[str, str]:
    """Return what is kept of what was asked, by key."""
    return {key: one.request for key, one in memory._held.state.keyed.items()}


def asked(memory: SlotMemory) -> None:
    memory.ingest(SECRET, key="k")


def updated(memory: SlotMemory) -> None:
    memory.ingest("The alarm code is 1234.")
    memory.update("e1", SECRET, key="k")


def referred(memory: SlotMemory) -> None:
    memory.ingest(SECRET)
    memory.feedback(memory.answer(QUESTION), reference="7431", key="k")


def corrected(memory: SlotMemory) -> None:
    memory.ingest("The alarm code is 1234.")
    memory.feedback(memory.answer(QUESTION), correction=SECRET, key="k")


def decided(memory: SlotMemory) -> None:
    memory.ingest(SECRET)
    memory.decide(SECRET, ("open", "leave"), key="k")


def named(memory: SlotMemory) -> None:
    memory.ingest(SECRET)
    memory.decide("At the door.", (SECRET, "leave"), key="k")


@pytest.mark.parametrize("told", [asked, updated, referred, corrected, decided, named])
def test_no_digest_of_what_was_told_is_left(told: Callable[[SlotMemory], None]) -> None:
    memory = opened()
    told(memory)
    before = {one for one in requests(memory).values() if one}
    memory.forget(memory.evidence()[-1].id)
    left = json.dumps(memory.export())
    assert before
    assert not any(digest in left for digest in before)
    assert "k" in requests(memory)


def replaced(memory: SlotMemory) -> None:
    answer = memory.answer("Which lamp is lit?")
    memory.feedback(answer, reference="7431", key="k")
    memory.feedback(answer, reference="the red one")


def recognized(memory: SlotMemory) -> None:
    memory.decide("At the front door, it is 7431.", ("open", "leave"))
    memory.decide("At the front door, it is 7431!", ("open", "leave"), key="k")


def rendered(memory: SlotMemory) -> None:
    memory.ingest(memory.read(QUESTION).text, key="k")


@pytest.mark.parametrize("told", [replaced, recognized, rendered])
def test_a_digest_of_what_is_kept_nowhere_goes_with_any_forget(
    told: Callable[[SlotMemory], None],
) -> None:
    memory = opened()
    memory.ingest(SECRET)
    memory.ingest("The lamp is lit.")
    told(memory)
    memory.forget("e2")
    assert requests(memory)["k"] == ""


class _Full(MemoryStore):
    """A store that has no room once."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False

    def commit(self, address: Address, delta: Delta) -> None:
        if self.is_full:
            self.is_full = False
            raise StoreError("the disk is full")
        super().commit(address, delta)


@pytest.mark.parametrize("told", [replaced, recognized, rendered, decided])
def test_a_digest_goes_as_well_where_the_first_try_to_forget_has_failed(
    told: Callable[[SlotMemory], None],
) -> None:
    store = _Full()
    memory = opened(store)
    memory.ingest(SECRET)
    told(memory)
    store.is_full = True
    with pytest.raises(StoreError):
        memory.forget("e1")
    memory.forget("e1")
    assert requests(memory)["k"] == ""


@pytest.mark.parametrize("text", [SECRET, "Another thing."])
def test_a_retry_brings_nothing_back_and_gets_its_result(tmp_path: Path, text: str) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with opened(url) as memory:
        first = memory.ingest(SECRET, key="k")
        memory.ingest("The lamp is lit.")
        memory.forget("e1")
        assert memory.ingest(text, key="k") == first
        before = memory.export()
    with opened(url) as memory:
        assert memory.ingest(text, key="k") == first
        assert memory.ingest_many([{"text": text, "key": "k"}]) == [first]
        memory.check()
        assert memory.export() == before


def test_a_correction_told_again_is_not_remembered_again() -> None:
    memory = opened()
    corrected(memory)
    memory.forget(memory.evidence()[-1].id)
    done = memory.feedback("a1", correction=SECRET, key="k")
    assert (done.remembered, len(memory)) == ("e2", 1)


def test_what_was_told_of_others_is_still_told_apart() -> None:
    memory = opened()
    memory.ingest("The lamp is lit.", key="other")
    memory.ingest(SECRET, key="k")
    memory.forget("e2")
    with pytest.raises(IdempotencyConflict):
        memory.ingest("The lamp is out.", key="other")


def test_what_makes_room_goes_with_what_was_asked() -> None:
    memory = opened(most_items=2)
    for number in range(4):
        memory.ingest(f"The lamp {number} is lit.", key=f"k{number}")
    assert [bool(one) for one in requests(memory).values()] == [False, False, True, True]


@pytest.mark.parametrize("by", ["id", "text"])
def test_a_list_brings_back_nothing_that_was_remembered_under_its_keys(by: str) -> None:
    memory = opened()
    turns = [
        {"text": SECRET, "key": "k", "source_id": "1"},
        {"text": "The lamp is lit.", "key": "l", "source_id": "2"},
    ]
    memory.ingest_many(turns)
    memory.forget("e1")
    done = memory.sync(turns, source="crm", by=by)  # type: ignore[arg-type]
    assert (done.unchanged, len(memory)) == (2, 1)
    memory.check()


RENT = {"text": "The rent is due.", "source_id": "2"}


def left_of(memory: SlotMemory) -> list[str]:
    """Return the digests that are kept of what was asked."""
    return [one for one in requests(memory).values() if len(one) == 64]


@pytest.mark.parametrize("is_forgotten_first", [False, True])
def test_what_has_left_its_list_leaves_no_digest(is_forgotten_first: bool) -> None:
    memory = opened()
    said = {"text": SECRET, "source_id": "1"}
    memory.sync([said, RENT], source="crm")
    if is_forgotten_first:
        memory.forget("e1")
        assert memory.sync([said, RENT], source="crm", gone="forget").unchanged == 2
        assert len(left_of(memory)) == 2
    done = memory.sync([RENT], source="crm", gone="forget")
    assert (done.receipt is None) == is_forgotten_first
    assert len(left_of(memory)) == 1
    memory.check()
    before = memory.export()
    memory.sync([RENT], source="crm", gone="forget")
    assert memory.export() == before
    assert memory.sync([said, RENT], source="crm").new == ("e3",)


def test_what_a_list_said_before_leaves_no_digest() -> None:
    memory = opened()
    memory.sync([{"text": SECRET, "source_id": "1"}], source="crm")
    memory.sync([{"text": "The alarm code is gone.", "source_id": "1"}], source="crm")
    _, last = left_of(memory)
    memory.forget("e1")
    assert left_of(memory) == [last]


def test_what_was_looked_at_once_is_looked_up_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = opened()
    for number in range(30):
        memory.ingest(f"The lamp {number} is lit.", key=f"k{number}")
    memory.forget("e1")
    memory.ingest("The lamp is out.", key="new")
    read: list[int] = []
    right = naming.named_in

    def named_in(one: Operation) -> list[str]:
        read.append(one.seq)
        return right(one)

    monkeypatch.setattr(naming, "named_in", named_in)
    memory.forget("e2")
    assert requests(memory)["k1"] == ""
    assert len(set(read)) == 2  # the new one, and the one that goes
    assert len(left_of(memory)) == 29


def test_all_stores_come_to_the_same(tmp_path: Path) -> None:
    told = []
    for store in (None, f"sqlite:///{tmp_path}/a.db"):
        memory = opened(store)
        corrected(memory)
        memory.forget(memory.evidence()[-1].id)
        told.append(memory.export())
        memory.close()
    with opened(store) as memory:
        told.append(memory.export())
    assert told[0] == told[1] == told[2]


class TestWhatIsKnownLongEnough:
    @pytest.fixture(autouse=True)
    def few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ledger, "KEYS", 5)
        monkeypatch.setattr(ledger, "RECEIPTS", 3)

    @pytest.mark.parametrize("in_file", [False, True])
    def test_the_oldest_keys_go_of_which_nothing_is_there(
        self, tmp_path: Path, in_file: bool
    ) -> None:
        url = f"sqlite:///{tmp_path}/a.db" if in_file else None
        memory = opened(url)
        memory.ingest("The lamp is lit.", key="lamp")
        memory.sync([{"text": "The rent is due.", "source_id": "1"}], source="crm")
        answer = memory.answer("Which lamp is lit?")
        for number in range(20):
            memory.feedback(answer, reward=1.0, key=f"f{number}")
        known = list(memory._held.state.keyed)
        assert known == [
            "lamp",
            "crm:1",
            *(f"f{number}" for number in range(14, 20)),
        ]  # 5, and the new one
        again = opened(url) if in_file else restored(memory)
        again.check()
        assert again.export() == memory.export()
        assert memory.ingest("The lamp is lit.", key="lamp").evidence_id == "e1"

    def test_the_oldest_receipts_of_room_go(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/a.db"
        with opened(url, most_items=1) as memory:
            for number in range(9):
                memory.ingest(f"The lamp {number} is lit.")
            told = memory.receipts()
        assert [receipt.evidence for receipt in told[-3:]] == [("e6",), ("e7",), ("e8",)]
        assert len(told) <= 4
        with opened(url) as memory:
            memory.check()
            assert memory.receipts() == told

    def test_what_is_within_the_bound_is_known(self) -> None:
        memory = opened()
        memory.ingest("The lamp is lit.")
        answer = memory.answer("Which lamp is lit?")
        for number in range(5):
            memory.feedback(answer, reward=1.0, key=f"f{number}")
        assert len(memory._held.state.keyed) == 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_through_a_life_no_call_tells_what_is_gone_and_each_may_be_made_again(seed: int) -> None:
    life = benchmark("life", "reliability")
    memory = life.opened(MemoryStore())
    taken = []
    for step in life.course(seed, 60).steps:
        step.take(memory)
        taken.append(step)
        live = {item.id for item in memory.evidence()}
        for one in memory._held.state.keyed.values():
            items = {id for id in naming.named_in(one) if id.startswith("e")}
            assert not one.request or items <= live
    before = memory.export()
    for step in taken:
        if step.is_keyed:
            with suppress(DeMemError):  # where what it was about is gone
                step.take(memory)
    assert memory.export() == before


@pytest.mark.parametrize(
    "otherwise",
    [
        lambda memory: memory.feedback(memory.answer("?"), thumbs=True, key="k"),
        lambda memory: memory.decide("Rain.", ("open", "leave"), key="k"),
        lambda memory: memory.supersede("e2", "e3", key="k"),
    ],
    ids=["feedback", "decide", "supersede"],
)
def test_a_forgotten_key_is_not_another_kind_of_call(
    otherwise: Callable[[SlotMemory], object],
) -> None:
    memory = opened()
    memory.ingest(SECRET, key="k")
    memory.ingest_many([{"text": "It rains."}, {"text": "It pours."}])
    memory.forget("e1")
    assert requests(memory) == {"k": ""}
    with pytest.raises(IdempotencyConflict):
        otherwise(memory)


def test_nor_is_one_of_feedback_that_of_a_turn() -> None:
    memory = opened()
    memory.ingest(SECRET)
    memory.feedback(memory.answer(QUESTION), reference="7431", key="k")
    memory.forget("e1")
    with pytest.raises(IdempotencyConflict):
        memory.ingest("It rains.", key="k")
