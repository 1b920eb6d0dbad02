"""What another handle has written comes in row by row, and to the same as loading all rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from benchmark_files import benchmark
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError
from demem_agent.stores import Store, open_store
from demem_agent.stores.touched import touched_since, with_write

life = benchmark("life", "reliability")

LENGTH = 30
QUESTIONS = (
    "Which valve has the boiler?",
    "Which bow has the violin?",
    "Which bell has the ferry?",
)
BOUNDS: tuple[dict[str, Any], ...] = ({}, {"most_items": 9}, {"storage": 400})


@cache
def steps(seed: int) -> list[Any]:
    found: list[Any] = life.course(seed, LENGTH).steps
    return found


@pytest.fixture
def store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        found = open_store(f"sqlite:///{folder}/a.db")
        yield found
        found.close()


def told(memory: SlotMemory) -> list[object]:
    """Return all that a memory tells of itself."""
    memory.check()
    state = memory._held.state
    return [
        memory.fingerprint(),
        memory.export(),
        [memory.read(question).text for question in QUESTIONS],
        [memory.route(question) for question in QUESTIONS],
        state.derived.used,
        {slot: list(items) for slot, items in state.members.items()},
        list(state.contexts),
        list(state.derived.cards),
    ]


@settings(max_examples=often(5))
@given(
    seed=st.integers(0, 3),
    bound=st.sampled_from(BOUNDS),
    takes=st.lists(st.booleans(), min_size=LENGTH, max_size=LENGTH),
)
def test_two_handles_come_to_what_loading_comes_to(
    seed: int, bound: dict[str, Any], takes: list[bool]
) -> None:
    given = {**life.life_options(), **bound}
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/a.db")
        handles = [SlotMemory.open(store, **given) for _ in range(2)]
        for n, (who, step) in enumerate(zip(takes, steps(seed), strict=True), 1):
            with suppress(DeMemError):  # what a bounded memory has forgotten already
                step.take(handles[who])
            if n % 5 == 0:
                assert told(handles[not who]) == told(SlotMemory.open(store, **given))
        store.close()


def test_what_another_writes_loads_nothing_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (SlotMemory.open(store, **life.life_options()) for _ in range(2))
    other.ingest("the boiler has a brass valve")
    one.read(QUESTIONS[0])
    monkeypatch.delattr(type(store), "load")
    for step in steps(0):
        step.take(other)
        assert one.fingerprint() == other.fingerprint()


def test_who_is_far_behind_loads_all(store: Store) -> None:
    one, other = (SlotMemory.open(store, **life.life_options()) for _ in range(2))
    for n in range(120):
        other.ingest(f"the boiler has valve {n}")
    one.ingest("the violin has a bow")
    assert one.fingerprint() == SlotMemory.open(store, **life.life_options()).fingerprint()


@given(
    writes=st.lists(
        st.dictionaries(st.sampled_from(("evidence", "slot")), st.sets(st.integers(0, 400))),
        max_size=60,
    ),
    seq=st.integers(-1, 61),
)
def test_rows_that_are_known_to_have_changed_are_those_that_have(
    writes: list[dict[str, set[int]]], seq: int
) -> None:
    recent = ""
    for after, touched in enumerate(writes):
        recent = with_write(recent, after, touched)
    assert len(recent) <= 1_500
    found = touched_since(recent, seq)
    if found is None:
        return
    changed = {"evidence": set[int](), "slot": set[int]()}
    for touched in writes[seq:]:
        for table, numbers in touched.items():
            changed[table] |= numbers
    assert {table: set(numbers) for table, numbers in found.items()} == {
        table: numbers for table, numbers in changed.items() if numbers
    }
