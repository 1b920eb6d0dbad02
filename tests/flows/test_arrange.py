"""What a user does to slots by hand: names, pins and merges, and what undo, splits and stores make
of them.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine import BreakableStore
from often import often
from sealed_files import made_earlier

from demem_agent import AsyncSlotMemory, FeedbackReport, SlotMemory, SplitSettings
from demem_agent.errors import InvalidInput, NotFound, StoreError
from demem_agent.stores import MemoryStore
from demem_agent.stores.manifest import ended
from demem_agent.stores.schema import VERSION
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer

#: What is told, the question about it, and its answer.
FACTS = (
    ("the boiler has a brass valve", "Which valve has the boiler?", "a brass valve"),
    ("the violin has a broken bow", "Which bow has the violin?", "a broken bow"),
    ("the train has a new driver", "Which driver has the train?", "a new driver"),
    ("the garden has a stone wall", "Which wall has the garden?", "a stone wall"),
)
RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
#: One slot with room for one line in its summary, so that each further question splits.
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 4, "initial_slots": 1, "slot_limit": 44, "read_limit": 90, "encoder": BagEncoder(),
    "answerer": ReadingAnswerer(), "scorers": (RIGHT, RIGHT),
    "split": SplitSettings(
        c_beta=0.2, sigma_0=0.1, eta_cal=0.02, tau_split=0.1, tau_sat=0.2, counterfactuals=99
    ),
}  # fmt: skip
#: Every item in a slot of its own.
APART = {"initial_slots": 4, "near": 1.0}


def memory_of(facts: int = 2, **options: Any) -> SlotMemory:
    memory = SlotMemory(**{**OPTIONS, **options})
    for text, _, _ in FACTS[:facts]:
        memory.ingest(text)
    return memory


def told(memory: SlotMemory, fact: int) -> FeedbackReport:
    _, question, right = FACTS[fact]
    return memory.feedback(memory.answer(question), reference=right)


def split_of(facts: int = 2, **options: Any) -> SlotMemory:
    """Give a memory whose one slot was split at every question but the first."""
    memory = memory_of(facts, **options)
    assert [told(memory, fact).split for fact in range(facts)] == [
        fact > 0 for fact in range(facts)
    ]
    return memory


def placed(memory: SlotMemory) -> dict[int, tuple[str, ...]]:
    return {slot.number: slot.evidence for slot in memory.slots}


def parents(memory: SlotMemory) -> dict[int, int | None]:
    return {slot.number: slot.parent for slot in memory.slots}


def standing(memory: SlotMemory) -> list[str]:
    return [c.id for c in memory.certificates() if c.decision == "split" and not c.undone]


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(InvalidInput) as caught:
        act()
    return caught.value.field


# Names


@pytest.mark.parametrize("name", ["Kitchen", "Ünï 🎻", "a" * 10_000, "\ud800", None])
def test_a_slot_has_the_name_it_was_given_last(name: str | None) -> None:
    memory = memory_of()
    memory.rename(0, "first")
    memory.rename(0, name)
    assert [slot.name for slot in memory.slots] == [name]


def test_nothing_but_people_looks_at_a_name() -> None:
    named, plain = memory_of(), memory_of()
    named.rename(0, "violin")
    for _, question, _ in FACTS:
        assert named.route(question) == plain.route(question)
        assert named.read(question) == plain.read(question)


def test_a_split_leaves_the_name_with_the_slot_that_stays() -> None:
    memory = memory_of()
    memory.rename(0, "things")
    assert [told(memory, fact).split for fact in (0, 1)] == [False, True]
    assert {slot.number: slot.name for slot in memory.slots} == {0: "things", 1: None}


def test_a_name_that_quotes_what_is_forgotten_goes_from_whatever_slot_has_it() -> None:
    memory = memory_of(2, **APART)
    memory.rename(0, FACTS[1][0])
    receipt = memory.forget("e2")
    assert receipt.slots == (0, 1)
    assert {slot.number: slot.name for slot in memory.slots} == {0: None, 1: None}
    assert "bow" not in repr(memory.export())


def test_a_name_of_before_a_split_is_forgotten_with_what_it_quotes() -> None:
    memory = memory_of()
    memory.rename(0, FACTS[1][0])
    assert [told(memory, fact).split for fact in (0, 1)] == [False, True]
    memory.rename(0, None)
    memory.forget("e2")
    assert "broken bow" not in repr(memory.export())
    memory.undo("c1")
    assert [slot.name for slot in memory.slots] == [None]


# Pins


def test_a_conflict_in_a_pinned_slot_is_logged_as_suppressed_and_splits_nothing() -> None:
    memory = memory_of()
    memory.pin(0)
    told(memory, 0)
    before = placed(memory)
    made = told(memory, 1).certificate
    assert made is not None
    assert (made.decision, made.pinned, made.saturated, made.new_slot) == (
        "suppressed",
        True,
        False,
        None,
    )
    assert made.threshold == OPTIONS["split"].tau_split  # a slot is free, so the lower one applies
    assert placed(memory) == before


def test_a_conflict_in_a_pinned_slot_is_acted_on_once_it_is_loose() -> None:
    memory = memory_of()
    memory.pin(0)
    pair = [told(memory, fact).certificate for fact in (0, 1)][1]
    memory.pin(0, False)
    report = memory.feedback(memory.answer("Which key has the piano?"), reward=0.0)
    assert report.split
    assert report.certificate is not None
    assert pair is not None
    assert (report.certificate.id, report.certificate.pair) == ("c2", pair.pair)
    memory.check()


def test_a_pinned_slot_takes_in_what_is_placed_there() -> None:
    memory = memory_of(1)
    memory.pin(0)
    memory.ingest(FACTS[1][0])
    assert placed(memory) == {0: ("e1", "e2")}


def test_a_new_slot_is_not_pinned() -> None:
    memory = split_of()
    assert [slot.pinned for slot in memory.slots] == [False, False]


@pytest.mark.parametrize(("number", "field"), [(0, "into"), (1, "slot")])
def test_a_pinned_slot_is_not_merged_either_way(number: int, field: str) -> None:
    memory = split_of()
    memory.pin(number)
    before = memory.fingerprint()
    assert refused(lambda: memory.merge(1, into=0)) == field
    assert memory.fingerprint() == before


@pytest.mark.parametrize("number", [0, 1])
def test_a_split_into_or_from_a_pinned_slot_is_not_undone_until_it_is_loose(number: int) -> None:
    memory = split_of()
    memory.pin(number)
    assert refused(lambda: memory.undo("c1")) == "id"
    memory.pin(number, False)
    memory.undo("c1")
    assert placed(memory) == {0: ("e1", "e2")}


# Merging


def test_a_merge_moves_everything_into_the_other_slot_and_closes_the_first() -> None:
    memory = split_of()
    memory.merge(1, into=0)
    memory.check()
    assert placed(memory) == {0: ("e1", "e2")}
    assert {context.slot for context in memory.contexts()} == {0}


def test_a_merge_leaves_the_name_of_the_slot_that_stays() -> None:
    memory = split_of()
    memory.rename(0, "stays")
    memory.rename(1, "goes")
    memory.merge(1, into=0)
    assert [slot.name for slot in memory.slots] == ["stays"]


def test_a_merge_of_what_a_split_had_parted_takes_the_split_back() -> None:
    memory = split_of()
    memory.merge(1, into=0)
    assert standing(memory) == []
    assert memory.certificates()[0].undone
    assert refused(lambda: memory.undo("c1")) == "id"


def test_a_merge_of_what_no_split_had_parted_takes_none_back() -> None:
    memory = split_of(3)
    memory.ingest(FACTS[3][0])
    (last,) = (c.new_slot for c in memory.certificates() if c.id == "c2")
    first = next(c for c in memory.certificates() if c.id == "c1")
    others = {0, 1, 2} - {last}
    assert last is not None
    assert first.new_slot in others
    memory.merge(last, into=first.new_slot if parents(memory)[last] == 0 else 0)
    memory.check()
    assert standing(memory) == ["c1"]


def test_an_ancestor_can_be_merged_into_its_descendant() -> None:
    memory = split_of()
    memory.merge(0, into=1)
    memory.check()
    assert (placed(memory), parents(memory), standing(memory)) == ({1: ("e1", "e2")}, {1: None}, [])


ORDER = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3)


@settings(max_examples=often(40), deadline=None)
@given(ORDER)
def test_no_slot_descends_from_itself_whatever_is_merged(merges: list[tuple[int, int]]) -> None:
    memory = SlotMemory.restore(LINE, **OPTIONS)
    for number, target in merges:
        if number != target and {number, target} <= parents(memory).keys():
            memory.merge(number, into=target)
            memory.check()
    above = parents(memory)
    for number in above:
        seen = {number}
        parent = above[number]
        while parent is not None:
            assert parent not in seen
            seen.add(parent)
            parent = above[parent]
    assert sorted(item for items in placed(memory).values() for item in items) == [
        "e1",
        "e2",
        "e3",
        "e4",
    ]


@settings(max_examples=often(40), deadline=None)
@given(ORDER, st.permutations(["c1", "c2", "c3"]))
def test_whatever_was_merged_a_split_that_stands_can_be_undone(
    merges: list[tuple[int, int]], order: list[str]
) -> None:
    memory = SlotMemory.restore(LINE, **OPTIONS)
    for number, target in merges:
        if number != target and {number, target} <= parents(memory).keys():
            memory.merge(number, into=target)
    for certificate in order:
        if certificate in standing(memory):
            count = len(memory.slots)
            memory.undo(certificate)
            memory.check()
            assert len(memory.slots) == count - 1
            assert certificate not in standing(memory)
    assert (len(memory.slots), standing(memory), len(memory)) == (1, [], 4)


def test_a_merge_into_a_slot_is_no_way_back_to_the_state_before_a_split() -> None:
    memory = memory_of()
    told(memory, 0)
    answer = memory.answer(FACTS[1][1])
    assert memory.feedback(answer, reference=FACTS[1][2]).split
    memory.merge(1, into=0)
    assert memory.certificates()[0].undone
    assert memory.feedback(
        answer, reference=FACTS[1][2]
    ).split  # the pair can be tested and split again


def test_a_merge_frees_a_slot_in_which_a_suppressed_witness_is_acted_on() -> None:
    memory = memory_of(4, slots=3)
    made = [told(memory, fact).certificate for fact in (0, 1, 3, 2)]
    assert [one.decision if one else None for one in made] == [None, "split", "split", "suppressed"]
    aside = memory.feedback("a1", reward=1.0)
    assert (aside.tested, aside.certificate) == (0, None)  # no slot is free: nothing is tested anew
    witness = made[-1]
    assert witness is not None
    memory.merge(2, into=0)
    report = memory.feedback("a1", reward=1.0)
    memory.check()
    assert report.certificate is not None
    assert (report.certificate.decision, report.certificate.pair) == ("split", witness.pair)
    home = {context.id: context.slot for context in memory.contexts()}
    assert (len(memory.slots), home[witness.pair[0]] != home[witness.pair[1]]) == (3, True)


def test_a_suppressed_witness_is_looked_at_once_for_each_change_of_its_slot() -> None:
    memory = memory_of(2, slots=1)
    witness = [told(memory, fact).certificate for fact in (0, 1)][1]
    assert witness is not None
    both = ScriptedScorer(1.0)
    again = SlotMemory.restore(
        raised(memory.export(), 2), **{**OPTIONS, "slots": 2, "scorers": (both, both)}
    )
    answer = again.answer("Which key has the piano?")
    assert [again.feedback(answer, reward=0.0).tested for _ in range(3)] == [1, 0, 0]
    again.ingest("the piano has a loose key")
    assert [again.feedback(answer, reward=0.0).tested for _ in range(2)] == [1, 0]


def test_a_suppressed_witness_is_acted_on_though_the_first_try_is_not_written() -> None:
    store = BreakableStore(MemoryStore())
    memory = SlotMemory.open(store, **OPTIONS)
    for text, _, _ in FACTS[:2]:
        memory.ingest(text)
    memory.pin(0)
    for fact in (0, 1):
        told(memory, fact)
    memory.pin(0, False)
    answer = memory.answer("Which key has the piano?")
    store.break_after(0, False)
    with pytest.raises(StoreError):
        memory.feedback(answer, reward=0.0, key="k")
    assert memory.feedback(answer, reward=0.0, key="k").split


def raised(lines: list[dict[str, Any]], slots: int) -> list[dict[str, Any]]:
    """Give an export as that of a memory with more slots."""
    first = lines[0] | {"settings": lines[0]["settings"] | {"slots": slots}}
    return ended([first, *lines[1:]])


# Bad input


@pytest.mark.parametrize("name", ["", " \n", 5, b"x", ["a"]])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    assert refused(lambda: memory_of().rename(0, name)) == "name"


@pytest.mark.parametrize("slot", [-1, 0.0, "0", True, None])
def test_a_slot_that_is_no_whole_number_is_refused(slot: Any) -> None:
    memory = memory_of()
    for act in (
        lambda: memory.rename(slot, "x"),
        lambda: memory.pin(slot),
        lambda: memory.merge(slot, into=0),
    ):
        assert refused(act) == "slot"
    assert refused(lambda: memory.merge(0, into=slot)) == "into"


@pytest.mark.parametrize("pinned", [1, "yes", None])
def test_a_pin_that_is_neither_true_nor_false_is_refused(pinned: Any) -> None:
    assert refused(lambda: memory_of().pin(0, pinned)) == "pinned"


def test_a_slot_that_is_not_active_is_not_found() -> None:
    memory = memory_of()
    calls: tuple[Callable[[], object], ...] = (
        lambda: memory.rename(3, "x"), lambda: memory.pin(3), lambda: memory.merge(3, into=0),
        lambda: memory.merge(0, into=3),
    )  # fmt: skip
    for call in calls:
        before = memory.fingerprint()
        with pytest.raises(NotFound, match="slot"):
            call()
        assert memory.fingerprint() == before


def test_a_slot_is_not_merged_into_itself() -> None:
    assert refused(lambda: memory_of().merge(0, into=0)) == "into"


def test_an_empty_memory_has_no_slot_to_arrange() -> None:
    with pytest.raises(NotFound):
        SlotMemory(**OPTIONS).pin(0)


# Stores


def arranged(memory: SlotMemory) -> SlotMemory:
    for text, _, _ in FACTS[:3]:
        memory.ingest(text)
    for fact in range(3):
        told(memory, fact)
    memory.rename(0, "Kitchen \ud800\x00")
    memory.pin(0)
    memory.merge(2, into=1)
    return memory


def test_names_pins_and_merges_survive_the_reopening_of_a_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with SlotMemory.open(url, **OPTIONS) as memory:
        arranged(memory)
        before = memory.fingerprint(), memory.slots, memory.certificates(), memory.export()
    with SlotMemory.open(url, **OPTIONS) as again:
        again.check()
        assert (again.fingerprint(), again.slots, again.certificates(), again.export()) == before
        assert refused(lambda: again.merge(1, into=0)) == "into"


def test_names_pins_and_merges_survive_export_and_restore() -> None:
    memory = arranged(SlotMemory(**OPTIONS))
    again = SlotMemory.restore(memory.export(), **OPTIONS)
    again.check()
    assert (again.fingerprint(), again.slots) == (memory.fingerprint(), memory.slots)


def test_an_export_from_before_there_were_names_is_restored_without_any() -> None:
    memory = split_of()
    lines = ended(_without_names(line) for line in memory.export())
    assert "pinned" not in {name for line in lines if line["kind"] == "slot" for name in line}
    again = SlotMemory.restore(lines, **OPTIONS)
    assert again.slots == memory.slots
    again.undo("c1")
    assert placed(again) == {0: ("e1", "e2")}


def _without_names(line: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in line.items() if name not in ("name", "pinned")}
    before = line.get("before")
    return bare | {"before": _without_names(before)} if isinstance(before, dict) else bare


def test_a_database_of_the_first_version_is_migrated_and_goes_on(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with SlotMemory.open(f"sqlite:///{old}", **OPTIONS) as memory:
        for text, _, _ in FACTS[:2]:
            memory.ingest(text)
        told(memory, 0)
        told(memory, 1)
        before = memory.fingerprint(), memory.slots
    made_earlier(old, 1)
    with SlotMemory.open(f"sqlite:///{old}", **OPTIONS) as again:
        again.check()
        assert (again.fingerprint(), again.slots) == before
        again.rename(0, "Kitchen")
        again.pin(1)
    with SlotMemory.open(f"sqlite:///{old}", **OPTIONS) as again:
        assert [(slot.name, slot.pinned) for slot in again.slots] == [
            ("Kitchen", False),
            (None, True),
        ]
    with closing(sqlite3.connect(old)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)


# Sync and async


def test_an_async_memory_is_arranged_the_same() -> None:
    async def run() -> tuple[str, object]:
        memory = AsyncSlotMemory(**OPTIONS)
        for text, _, _ in FACTS[:3]:
            await memory.ingest(text)
        for fact in range(3):
            answer = await memory.answer(FACTS[fact][1])
            await memory.feedback(answer, reference=FACTS[fact][2])
        await memory.rename(0, "Kitchen \ud800\x00")
        await memory.pin(0)
        await memory.merge(2, into=1)
        with pytest.raises(InvalidInput):
            await memory.merge(1, into=0)
        with pytest.raises(NotFound):
            await memory.rename(7, "x")
        await memory.check()
        return await memory.fingerprint(), await memory.certificates()

    memory = arranged(SlotMemory(**OPTIONS))
    assert asyncio.run(run()) == (memory.fingerprint(), memory.certificates())


#: A memory that was split three times, each slot with one item.
LINE = split_of(4).export()
