"""The machine finds what it is for: bugs put into the library on purpose make it fail, each for the right reason."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import MemoryMachine

from demem_agent import erase, undo
from demem_agent.compress import Summary, compress
from demem_agent.errors import DeMemError
from demem_agent.ledger import operation, stored_result
from demem_agent.loading import load_state
from demem_agent.placement import _Draft
from demem_agent.reading import pack
from demem_agent.records import Delta
from demem_agent.state import State
from demem_agent.stores import Address, MemoryStore
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.types import Line
from demem_agent.units import Measure

SEARCH = settings(
    max_examples=600,  # it ends at the first failure, so only a bug that hides needs many
    stateful_step_count=20,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
STORES = (MemoryStore, SqliteStore)

Patch = pytest.MonkeyPatch
#: What puts a bug in, and what the machine has to say of it.
BUGS: list[Any] = []


def bug(said: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Enter a bug in the table with a pattern for the message of the check that must find it."""

    def enter(put_in: Callable[[Patch], None]) -> Callable[[Patch], None]:
        BUGS.append(pytest.param(put_in, said, id=put_in.__name__))
        return put_in

    return enter


@bug("the summary of slot . measures|a summary exceeds L")
def summary_is_not_cut_to_the_limit(patch: Patch) -> None:
    def twice(candidates: Any, limit: int, measure: Measure, gate: Any = None) -> Summary:
        return compress(candidates, 2 * limit, measure, gate)

    patch.setattr("demem_agent.state.compress", twice)
    patch.setattr("demem_agent.placement.compress", twice)


@bug("slots do not hold every live item|listed in slot|misstates the slots|damaged rows: slot")
def moved_item_stays_in_its_old_slot_too(patch: Patch) -> None:
    right = State._move

    def move(self: State, moves: Any) -> None:
        moves = list(moves)
        stay = [(self.slot_of[item], item) for item, _ in moves]
        right(self, moves)
        for slot, item in stay:
            self.members[slot][item] = None

    patch.setattr(State, "_move", move)


@bug("context .* is not active|contexts differ|in no active slot|does not restore the state")
def undo_leaves_contexts_in_the_closed_slot(patch: Patch) -> None:
    for name in ("_restored", "merging"):
        right = getattr(undo, name)
        patch.setattr(undo, name, lambda *args, right=right: replace(right(*args), contexts=()))


@bug("does not restore the state")
def undo_always_merges(patch: Patch) -> None:
    def merged(state: State, certified: Any, before: Any, back: int) -> Delta:
        return undo.merging(state, state.slots[back], state.slots[before.number], "undo")

    patch.setattr(undo, "_restored", merged)


@bug("the summary of slot . covers|forgotten text is left|the prototype of slot")
def forget_leaves_the_summary(patch: Patch) -> None:
    def rebuilt(state: State, gone: set[str], quotes: Sequence[str]) -> tuple[Any, ...]:
        touched = sorted({state.slot_of[item] for item in gone})
        return tuple(replace(state.slots[number], revision=state.head.seq + 1) for number in touched)

    patch.setattr(erase, "_rebuilt", rebuilt)


@bug("forgotten text is left")
def forget_leaves_the_answers_in_certificates(patch: Patch) -> None:
    def without(candidate: Any, gone: set[str], quotes: Sequence[str]) -> Any:
        return replace(candidate, cover=tuple(item for item in candidate.cover if item not in gone))

    patch.setattr(erase, "_without", without)


@bug("forgotten text is left")
def forget_leaves_what_was_quoted_in_queries(patch: Patch) -> None:
    right = erase._cleared

    def cleared(stored: Any, gone: set[str], quotes: Sequence[str]) -> Any:
        return right(stored, gone, ())

    patch.setattr(erase, "_cleared", cleared)


@bug("forgotten text is left")
def forget_leaves_the_write_ahead_log(patch: Patch) -> None:
    patch.setattr(SqliteStore, "_erase_log", lambda self: True)


@bug("a reading exceeds its limit")
def reading_does_not_count_its_headers(patch: Patch) -> None:
    def without_header(best_first: Any, limit: int, measure: Measure, cut: Any) -> tuple[list[Line], str]:
        return pack(best_first, limit + measure("# 2 March 2024\n"), measure, cut)

    patch.setattr("demem_agent.flows.pack", without_header)


@bug("IdempotencyConflict was not raised")
def key_is_looked_up_without_its_request(patch: Patch) -> None:
    def any_request(state: State, key: str | None, request: str) -> dict[str, Any] | None:
        known = state.keyed.get(key) if key is not None else None
        return stored_result(state, key, known.request if known else request)

    patch.setattr("demem_agent.flows.stored_result", any_request)
    patch.setattr("demem_agent.feedback.stored_result", any_request)


@bug("a re(opened|stored) memory exports something else|the twin gives another result")
def keyed_result_is_not_stored(patch: Patch) -> None:
    for store in STORES:
        _commit_as(patch, store, lambda delta: replace(delta, operations=tuple(map(_without_key, delta.operations))))


@bug("slots, K is|more than K slots|K slots were active")
def a_full_memory_splits(patch: Patch) -> None:
    def one_more(self: State) -> int:
        return next(k for k in itertools.count() if k not in self.slots)

    patch.setattr(State, "free_slot", one_more)


@bug("the twin")
def ties_are_broken_by_what_came_before(patch: Patch) -> None:
    """Open the lowest free slot and the highest in turn, as an unseeded random choice would."""
    right, turn = _Draft.open, itertools.cycle((False, True))

    def either(self: _Draft) -> tuple[int, bool]:
        taken = self.numbers
        free = [k for k in range(self.state.settings.slots) if k not in taken]
        if next(turn):
            self.numbers = sorted([*taken, *free[:-1]])
        number, opened = right(self)
        self.numbers = sorted([*taken, number])
        return number, opened

    patch.setattr(_Draft, "open", either)


@bug("many at once place as one by one|the twin")
def a_batch_places_by_the_slots_before_it(patch: Patch) -> None:
    right = _Draft.add

    def add(self: _Draft, number: int, *rest: Any) -> None:
        first = self.changed.get(number)
        right(self, number, *rest)
        self.changed[number] = first or self.changed[number]

    patch.setattr(_Draft, "add", add)


@bug("the twin|a reopened memory|a restored memory")
def loading_loses_what_was_used(patch: Patch) -> None:
    def load(*args: Any) -> State:
        state = load_state(*args)
        state.used.clear()
        state.cut.clear()
        return state

    patch.setattr("demem_agent.core.load_state", load)


@bug("the twin|goes on otherwise")
def forgetting_the_last_item_of_a_session_forgets_the_session_in_ram(patch: Patch) -> None:
    right = State._drop

    def drop(self: State, items: Any) -> None:
        last = {item: self.evidence[item].session for item in items}
        last = {item: session for item, session in last.items() if self.sessions[session][-1] == item}
        right(self, items)
        for session in last.values():
            self.sessions[session] = _Unseen(self.sessions[session])

    patch.setattr(State, "_drop", drop)


@bug("text rendered by read came back")
def rendered_text_is_remembered(patch: Patch) -> None:
    patch.setattr("demem_agent.flows.strip_rendered", lambda text: text)


@bug("live evidence is not|neighbour|the twin")
def memories_of_two_tenants_share_rows(patch: Patch) -> None:
    for store in STORES:
        for name in ("create", "load", "seq", "commit"):
            _for_one_tenant(patch, store, name)


#: Searches for one bug; most are found by the first.
SEARCHES = 4


@pytest.mark.parametrize(("put_in", "said"), BUGS)
def test_the_machine_finds(monkeypatch: Patch, put_in: Callable[[Patch], None], said: str) -> None:
    put_in(monkeypatch)
    assert re.search(said, _found())


def _found() -> str:
    """Search until something is found; the cases of a search follow from its name, so they are the same every day."""
    for again in range(SEARCHES):
        machine = type(f"Search{again}", (MemoryMachine,), {})
        try:
            run_state_machine_as_test(machine, settings=SEARCH)
        except (AssertionError, DeMemError) as error:
            return str(error).splitlines()[0]
    return "nothing was found"


class _Unseen(list[str]):
    """A list that seems empty until something is appended."""

    def __init__(self, items: list[str]) -> None:
        super().__init__(items)
        self._before = len(items)

    def __bool__(self) -> bool:
        return len(self) > self._before


def _commit_as(patch: Patch, store: type[Any], change: Callable[[Delta], Delta]) -> None:
    right = store.commit
    patch.setattr(store, "commit", lambda self, address, delta: right(self, address, change(delta)))


def _without_key(line: Any) -> Any:
    return operation(line.seq, line.kind, None, "", {})


def _for_one_tenant(patch: Patch, store: type[Any], name: str) -> None:
    right = getattr(store, name)
    patch.setattr(store, name, lambda self, address, *rest: right(self, Address("t", address.memory_id), *rest))
