"""The witnesses of a slot: when a pair splits it, as many others part as two sides allow."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from often import often

from demem_agent import SlotMemory
from demem_agent.slots.records import Certified, StoredContext, direction
from demem_agent.slots.state import State
from demem_agent.splitting.division import divide, witness_sides
from demem_agent.testing import BagEncoder
from demem_agent.types import Context, SplitCertificate

DIMENSIONS = 4
ITEMS = 4


@dataclass(frozen=True)
class Case:
    """A slot with contexts and suppressed witnesses; its first two contexts split it.

    Attributes:
        vectors: of the contexts; anchors: of the two sides.
        witnesses: (first, second, radius), the contexts by their places.
    """

    vectors: NDArray[np.float32]
    anchors: NDArray[np.float32]
    witnesses: tuple[tuple[int, int, float], ...]

    @property
    def ids(self) -> list[str]:
        return [f"a{n + 1}" for n in range(len(self.vectors))]

    def state(self, shuffled: int = 0) -> State:
        memory = SlotMemory(slots=3, initial_slots=1, encoder=BagEncoder(DIMENSIONS))
        for n in range(ITEMS):
            memory.ingest(f"the {'boiler' if n % 2 else 'violin'} has number {n}")
        state = memory._held.state
        for stored in self.contexts():
            state.put_context(stored)
        made = [(f"c{n + 1}", witness) for n, witness in enumerate(self.witnesses)]
        random.Random(shuffled).shuffle(made)
        for id, (first, second, radius) in made:
            state.certificates[id] = Certified(
                suppressed(id, (self.ids[first], self.ids[second]), radius), 1
            )
        return state

    def contexts(self) -> list[StoredContext]:
        return [
            StoredContext(
                Context(id, "?", None, 0, "", (), supports=(f"e{n % ITEMS + 1}",)), vector
            )
            for n, (id, vector) in enumerate(zip(self.ids, self.vectors, strict=True))
        ]

    @property
    def pair(self) -> tuple[StoredContext, StoredContext]:
        first, second, *_ = self.contexts()
        return first, second

    def sides(self, shuffled: int = 0) -> dict[str, bool]:
        return witness_sides(self.state(shuffled), 0, self.pair, self.anchors)

    def honoured(self) -> list[tuple[int, int]]:
        """Return what two sides can honour, those of the largest radius first."""
        kept = [(0, 1)]
        for first, second, _ in sorted(self.witnesses, key=lambda witness: -witness[2]):
            if two_sided([*kept, (first, second)]):
                kept.append((first, second))
        return kept


def suppressed(id: str, pair: tuple[str, str], radius: float) -> SplitCertificate:
    return SplitCertificate(
        id=id,
        slot=0,
        pair=pair,
        queries=("", ""),
        channels=("reference", "reference"),
        candidates=(),
        radius=radius,
        threshold=0.0,
        saturated=True,
        decision="suppressed",
        new_slot=None,
        scorers=(),
        conditions="",
    )


def two_sided(links: Sequence[tuple[int, int]]) -> bool:
    """Tell whether no cycle of links is odd, by colouring outwards from each node."""
    colour: dict[int, int] = {}
    for start in {node for link in links for node in link}:
        queue = [(start, colour.get(start, 0))]
        while queue:
            node, wanted = queue.pop()
            if node in colour:
                if colour[node] != wanted:
                    return False
                continue
            colour[node] = wanted
            queue += [(b if a == node else a, 1 - wanted) for a, b in links if node in (a, b)]
    return True


@st.composite
def cases(draw: st.DrawFn, least: int = 0) -> Case:
    count = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    vectors = np.stack(
        [direction(row) for row in rng.standard_normal((count, DIMENSIONS)).astype(np.float32)]
    )
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(
        lambda ends: ends[0] != ends[1]
    )
    links = draw(st.lists(ends, min_size=least, max_size=9, unique_by=lambda ends: frozenset(ends)))
    radii = draw(st.permutations([round(0.1 + 0.05 * n, 2) for n in range(len(links))]))
    anchors = np.stack(
        [direction(row) for row in rng.standard_normal((2, DIMENSIONS)).astype(np.float32)]
    )
    return Case(
        vectors, anchors, tuple((*ends, radius) for ends, radius in zip(links, radii, strict=True))
    )


@settings(deadline=None, max_examples=often(80))
@given(cases())
def test_the_pair_that_splits_a_slot_is_always_apart(case: Case) -> None:
    sides = case.sides()
    assert (sides["a1"], sides["a2"]) == (False, True)


@settings(deadline=None, max_examples=often(80))
@given(cases(least=1))
def test_every_witness_that_two_sides_can_honour_is_apart(case: Case) -> None:
    sides = case.sides()
    for first, second in case.honoured():
        assert sides[case.ids[first]] != sides[case.ids[second]]


@settings(deadline=None, max_examples=often(40))
@given(cases(), st.integers(0, 1), st.integers(0, 99))
def test_an_odd_cycle_of_witnesses_gives_way_to_the_pair(case: Case, end: int, seed: int) -> None:
    """A third context that is linked to both of the pair can be apart from one of them only."""
    third = len(case.vectors)
    more = np.concatenate([case.vectors, case.vectors[[end]]])
    cycle = ((0, third, 0.9), (third, 1, 0.8))
    odd = Case(more, case.anchors, (*case.witnesses, *cycle))
    sides = odd.sides(seed)
    assert (sides["a1"], sides["a2"]) == (False, True)
    assert sides[odd.ids[third]] is True  # apart from the first: the larger radius goes first


@settings(deadline=None, max_examples=often(40))
@given(cases(least=1), st.integers(1, 99))
def test_the_sides_do_not_depend_on_the_order_in_which_certificates_are_held(
    case: Case, seed: int
) -> None:
    assert case.sides() == case.sides(seed)


@settings(deadline=None, max_examples=often(40))
@given(cases())
def test_only_contexts_of_witnesses_are_given_a_side(case: Case) -> None:
    named = {0, 1} | {end for first, second, _ in case.witnesses for end in (first, second)}
    assert case.sides().keys() == {case.ids[n] for n in named}


def test_without_witnesses_a_context_is_left_to_the_anchors() -> None:
    vectors = np.eye(DIMENSIONS, dtype=np.float32)[:3]
    assert Case(vectors, vectors[:2], ()).sides() == {"a1": False, "a2": True}


def test_a_witness_moves_a_context_away_from_the_side_that_it_is_nearer_to() -> None:
    vectors = np.eye(DIMENSIONS, dtype=np.float32)[[0, 1, 1]]  # the third asks what the second asks
    near = Case(vectors, vectors[:2], ())
    apart = Case(vectors, vectors[:2], ((1, 2, 0.5),))
    assert "a3" in divide(near.state(), 0, near.pair, {}, 1).moved_contexts
    assert "a3" not in divide(apart.state(), 0, apart.pair, {}, 1).moved_contexts


@settings(deadline=None, max_examples=often(40))
@given(cases(least=1))
def test_a_division_sends_what_a_context_rests_on_where_it_sends_the_context(case: Case) -> None:
    """Unless contexts of both sides rest on it."""
    division = divide(case.state(), 0, case.pair, {}, 1)
    named = case.sides().keys()
    rests_on = {
        c.context.id: c.context.supports[0] for c in case.contexts() if c.context.id in named
    }
    for item in set(rests_on.values()):
        goes = {id in division.moved_contexts for id, other in rests_on.items() if other == item}
        assert len(goes) == 2 or {item in division.moved} == goes
