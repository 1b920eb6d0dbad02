"""Two threads on one memory come to what one of them after the other could have come to.

Every order of their steps is gone through, as ``schedules`` has them take turns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest
from schedules import Turns, explored
from stored import OPTIONS

from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.flows import ingest
from demem_agent.stores import MemoryStore

Call = Callable[[SlotMemory], Any]
#: Per program, what the two threads do with a memory of two items and an answer.
PROGRAMS: dict[str, tuple[Sequence[Call], Sequence[Call]]] = {
    "the same key": (
        (lambda m: m.ingest("the ferry has a bell", key="k").evidence_id,),
        (lambda m: m.ingest("the ferry has a bell", key="k").evidence_id,),
    ),
    "one forgets what the other changes": (
        (lambda m: m.forget("e1").evidence,),
        (lambda m: m.update("e1", "the boiler has a steel valve", key="u").evidence_id,),
    ),
    "one forgets what the other answers from": (
        (lambda m: m.forget("e1").evidence,),
        (lambda m: m.answer("Which valve has the boiler?").id,),
    ),
    "both rate one answer": (
        (lambda m: m.feedback("a1", reward=1.0, key="f").reward,),
        (lambda m: m.feedback("a1", reward=0.0, key="g").reward,),
    ),
    "both correct one answer alike": (
        (lambda m: m.feedback("a1", correction="a steel valve", key="f").remembered,),
        (lambda m: m.feedback("a1", correction="a steel valve", key="g").remembered,),
    ),
    "three calls each": (
        (
            lambda m: m.ingest("the ferry has a bell", key="k").evidence_id,
            lambda m: m.rename(0, "home"),
            lambda m: m.forget("e2").evidence,
        ),
        (
            lambda m: m.ingest("the piano has a key", key="l").evidence_id,
            lambda m: m.hide("e1"),
            lambda m: m.ingest("the ferry has a bell", key="k").evidence_id,
        ),
    ),
}


def made() -> SlotMemory:
    memory = SlotMemory.open(MemoryStore(), **{**OPTIONS, "decisions": False})
    memory.ingest("the boiler has a brass valve")
    memory.ingest("the violin has a broken bow")
    memory.answer("Which valve has the boiler?")
    return memory


def shown(memory: SlotMemory, results: Sequence[Sequence[Any]]) -> tuple[object, ...]:
    """Give all that can be seen, but for the numbers of operations."""
    memory.check()
    items = [(item.id, item.text) for item in memory.evidence()]
    slots = [(slot.name, slot.evidence, slot.summary) for slot in memory.slots]
    asked = [(one.id, one.answer, one.rewards, one.read) for one in memory.contexts()]
    told = tuple(tuple(map(_plain, each)) for each in results)
    return repr((items, slots, asked, memory.marks(), memory.successions())), told


def _plain(result: Any) -> Any:
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else result


def serial(programs: Sequence[Sequence[Call]]) -> Iterator[tuple[object, ...]]:
    """Yield what each order of whole calls comes to."""
    first, second = programs
    places = range(len(first) + len(second))
    for chosen in combinations(places, len(first)):
        memory = made()
        left, results = [list(first), list(second)], ([], [])
        for place in places:
            who = 0 if place in chosen else 1
            call = left[who].pop(0)
            try:
                results[who].append(call(memory))
            except Exception as error:  # it is a result like others
                results[who].append(error)
        yield shown(memory, results)


def require_serial(programs: tuple[Sequence[Call], Sequence[Call]], switches: int | None) -> int:
    """Go through the orders of two threads' steps; return how many there are.

    Raises:
        AssertionError: naming the first that comes to something else than whole calls in a row.
    """
    allowed = set(serial(programs))
    seen = 0

    def run(schedule: Sequence[int]) -> Turns:
        memory, turns = made(), Turns(schedule)
        memory._lock = turns  # type: ignore[assignment]
        calls = [[lambda call=call: call(memory) for call in calls] for calls in programs]
        results = turns.run(calls)
        assert shown(memory, results) in allowed, turns.taken
        return turns

    for _ in explored(run, switches):
        seen += 1
    return seen


@pytest.mark.parametrize("name", [name for name in PROGRAMS if len(PROGRAMS[name][0]) == 1])
def test_what_two_threads_come_to_is_what_some_order_comes_to(name: str) -> None:
    assert require_serial(PROGRAMS[name], None) > 5


@pytest.mark.slow
def test_what_threads_of_three_calls_come_to_is_what_some_order_comes_to() -> None:
    assert require_serial(PROGRAMS["three calls each"], 3) > 100


def test_a_key_that_is_looked_up_too_early_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ingest._not_done
    known: dict[int, list[int]] = {}
    monkeypatch.setattr(
        ingest,
        "_not_done",
        lambda state, coming: known.setdefault(id(coming), right(state, coming)),
    )
    with pytest.raises((AssertionError, StoreError)):
        require_serial(PROGRAMS["the same key"], None)


def test_threads_that_wait_for_each_other_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedules.WAIT", 0.2)
    never = threading.Event()
    with pytest.raises(AssertionError, match="stand still"):
        Turns(()).run([[never.wait], [lambda: None]])
    never.set()
