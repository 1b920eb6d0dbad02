"""The turns of passages are kept up as passages come and go."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.scoring.turns import Turns

#: By turn, whether each of its passages stays.
KEPT = st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=8)


def turns_of(passages: list[int]) -> Turns:
    turns = Turns()
    for count in passages:
        turns.add(count)
    return turns


def test_passages_are_numbered_by_turn() -> None:
    turns = turns_of([2, 1, 3])
    assert turns.starts.tolist() == [0, 2, 3]
    assert turns.of.tolist() == [0, 0, 1, 2, 2, 2]
    assert turns.ends(np.array([0, 1, 2])).tolist() == [1, 2, 5]


def test_the_best_of_a_turn_is_that_of_its_passages() -> None:
    best = turns_of([2, 1, 3]).best(np.array([1, 5, 2, 7, 9, 8], np.float32))
    assert best.tolist() == [5.0, 2.0, 9.0]


@given(KEPT)
def test_what_is_left_is_as_if_the_rest_had_never_been_added(kept: list[list[bool]]) -> None:
    turns = turns_of([len(passages) for passages in kept])
    turns.keep(np.concatenate([np.array(passages, np.bool_) for passages in kept]))
    left = turns_of([sum(passages) for passages in kept if any(passages)])
    assert turns.starts.tolist() == left.starts.tolist()
    assert turns.of.tolist() == left.of.tolist()
