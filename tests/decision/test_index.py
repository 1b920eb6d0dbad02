"""The capped upper confidence index: what it keeps to for any rewards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from demem_agent.decision.learners.learner import capped_confidence

Rows = tuple[list[int], list[float], list[int]]


def chosen(counts: Sequence[float], sums: Sequence[float], awaited: Sequence[float] = ()) -> int:
    order = np.arange(len(counts))
    waiting = np.array(awaited or np.zeros(len(counts)), dtype=float)
    return capped_confidence(np.array(counts, float), np.array(sums, float), 0.5, order, waiting)


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    actions = draw(st.integers(1, 6))
    counts = draw(st.lists(st.integers(0, 30), min_size=actions, max_size=actions))
    means = draw(st.lists(st.floats(0, 1), min_size=actions, max_size=actions))
    awaited = draw(st.lists(st.integers(0, 5), min_size=actions, max_size=actions))
    return counts, [n * mean for n, mean in zip(counts, means, strict=True)], awaited


def test_what_has_always_worked_is_not_left_for_what_was_never_tried() -> None:
    assert chosen([0, 1, 0], [0, 1, 0]) == 1
    assert chosen([0, 40, 0], [0, 40, 0]) == 1


def test_what_failed_gives_way_to_what_was_never_tried() -> None:
    assert chosen([1, 0], [0, 0]) == 1
    assert chosen([30, 1, 0], [15, 0, 0]) == 2


def test_what_can_no_longer_be_the_best_gives_way_to_what_was_never_tried() -> None:
    assert chosen([5, 0], [3.5, 0]) == 0
    assert chosen([500, 0], [350, 0]) == 1


def test_plays_whose_rewards_are_awaited_go_round_what_was_never_tried() -> None:
    assert chosen([0, 0, 0], [0, 0, 0], [1, 0, 0]) == 1
    assert chosen([0, 0, 0], [0, 0, 0], [1, 1, 2]) == 0


@given(rows(), st.integers(0, 5))
def test_an_action_that_nobody_tried_never_waits_for_a_worse_half(drawn: Rows, one: int) -> None:
    counts, sums, awaited = drawn
    one %= len(counts)
    counts[one], sums[one], awaited[one] = 0, 0.0, 0
    untried = [n for n, count in enumerate(counts) if count == awaited[n] == 0]
    taken = chosen(counts, sums, awaited)
    assert taken in untried or sums[taken] >= 0.5 * counts[taken] > 0


@given(rows())
def test_the_best_of_what_may_be_the_best_is_chosen(drawn: Rows) -> None:
    counts, sums, awaited = drawn
    assume(min(counts) > 0)
    taken = chosen(counts, sums, awaited)
    means = np.array(sums) / np.array(counts)
    plays = np.array(counts) + np.array(awaited)
    index = np.minimum(means + 0.5 * np.sqrt(2 * np.log(plays.sum()) / plays), 1.0)
    may_be = index == index.max()
    assert means[taken] == means[may_be].max()
