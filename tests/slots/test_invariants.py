"""Every invariant that ``check`` asserts is broken once, and found by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from demem_agent import SlotMemory, SplitSettings
from demem_agent.errors import InvariantBroken
from demem_agent.slots.invariants import check
from demem_agent.slots.records import Certified
from demem_agent.slots.state import State
from demem_agent.summaries.grounding import Written
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Attempt, Context

Break = Callable[[State], None]


def state() -> State:
    """Return a memory of two slots that a certificate divided, with three contexts."""

    def score(attempt: Attempt) -> float:
        return float(attempt.reference in attempt.reading)

    memory = SlotMemory(
        clock=None,
        slots=3,
        initial_slots=1,
        slot_limit=44,
        read_limit=90,
        split=SplitSettings(c_beta=0.2, sigma_0=0.1, eta_cal=0.02, tau_split=0.1, tau_sat=0.2),
        encoder=BagEncoder(),
        answerer=ReadingAnswerer(),
        scorers=(ScriptedScorer(score, "one"), ScriptedScorer(score, "two")),
    )
    memory.ingest("the boiler has a brass valve")
    memory.ingest("the violin has a broken bow")
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="brass valve")
    memory.feedback(memory.answer("Which bow has the violin?"), reference="broken bow")
    memory.answer("Which colour has the tent?")
    assert len(memory.slots) == 2
    return memory._held.state


def with_context(change: Callable[[Context], Context]) -> Break:
    """Return what changes the first context."""

    def broken(state: State) -> None:
        stored = state.contexts["a1"]
        state.contexts["a1"] = replace(stored, context=change(stored.context))

    return broken


def with_certificate(**changes: object) -> Break:
    """Return what changes the certificate."""

    def broken(state: State) -> None:
        certified = state.certificates["c1"]
        changed = replace(certified.certificate, **changes)  # type: ignore[arg-type]
        state.certificates["c1"] = Certified(changed, certified.seq, certified.before)

    return broken


def with_slot(number: int, **changes: object) -> Break:
    """Return what changes a slot."""

    def broken(state: State) -> None:
        state.slots[number] = replace(state.slots[number], **changes)  # type: ignore[arg-type]

    return broken


def too_many_slots(state: State) -> None:
    state.settings = replace(state.settings, slots=1, initial_slots=1)


def a_summary_too_long(state: State) -> None:
    state.measure = lambda text: 10 * len(text)


def an_item_lost(state: State) -> None:
    del state.evidence["e2"]


def ingested_less(state: State) -> None:
    state.head = replace(state.head, evidence=1)


def out_of_order(state: State) -> None:
    state.evidence = dict(reversed(state.evidence.items()))


def held_twice(state: State) -> None:
    for items in state.members.values():
        items["e1"] = None


def held_nowhere(state: State) -> None:
    for items in state.members.values():
        items.pop("e1", None)


def placed_nowhere(state: State) -> None:
    del state.slot_of["e1"]


def placed_in_another(state: State) -> None:
    state.slot_of["e1"], state.slot_of["e2"] = state.slot_of["e2"], state.slot_of["e1"]


def members_of_no_slot(state: State) -> None:
    state.members[2] = {}


def more_indexed(state: State) -> None:
    state.passage_index().remove({"e1"})


def fewer_contexts_made(state: State) -> None:
    state.head = replace(state.head, contexts=2)


BROKEN: list[tuple[str, Break]] = [
    ("2 slots, K is 1", too_many_slots),
    (r"the summary of slot \d measures", a_summary_too_long),
    ("items live", an_item_lost),
    ("2 items live, ingested less forgotten is 1", ingested_less),
    ("evidence is out of order", out_of_order),
    ("slots do not hold every live item exactly once", held_twice),
    ("slots do not hold every live item exactly once", held_nowhere),
    ("an item has no slot", placed_nowhere),
    (r"of slot \d|placed in another", placed_in_another),
    ("slots and their members disagree", members_of_no_slot),
    ("the index does not hold exactly the live items", more_indexed),
    ("more contexts than were ever made", fewer_contexts_made),
    ("slot 0 is its own parent", with_slot(0, parent=0)),
    ("prototype of slot 0 is not", with_slot(0, total=np.ones(16, np.float32))),
    ("what was written for slot 0", with_slot(0, written=Written("x", (("e9",),), "a model"))),
    ("a1 is in slot 9", with_context(lambda c: replace(c, slot=9))),
    ("a1 has a reward outside", with_context(lambda c: replace(c, rewards=(1.5,)))),
    ("a1 has a reward outside", with_context(lambda c: replace(c, rewards=(-0.5,)))),
    ("c1 does not exceed its threshold", with_certificate(radius=0.0)),
    ("c1 does not exceed its threshold", with_certificate(radius=0.1, threshold=0.1)),
    ("c1 split into no active slot", with_certificate(new_slot=2)),
]


def test_a_memory_as_it_was_made_breaks_none() -> None:
    check(state())


@pytest.mark.parametrize(("named", "broken"), BROKEN)
def test_what_is_broken_is_named(named: str, broken: Break) -> None:
    damaged = state()
    broken(damaged)
    with pytest.raises(InvariantBroken, match=named):
        check(damaged)


@pytest.mark.parametrize(
    "change",
    [
        with_context(lambda c: replace(c, slot=None)),
        with_context(lambda c: replace(c, rewards=(0.0, 1.0))),
        with_certificate(new_slot=2, undone=True),
        with_certificate(new_slot=2, decision="suppressed"),
    ],
)
def test_what_may_be_breaks_none(change: Break) -> None:
    changed = state()
    change(changed)
    check(changed)
