"""Partitions from certificates: the paper's guarantees, and never worse than the colouring."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from often import often

from demem_agent.decision import (
    Envelope,
    Partition,
    cannot_link,
    cover_partition,
    distance_bounds,
    fallback,
    gaps,
    greedy_partition,
    lower_losses,
    radius,
    radius_bounds,
    unknown,
    upper_gaps,
    worst_case_frontier,
)
from demem_agent.decision._colouring import colour, smallest_last

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Pairs = list[tuple[int, int]]

units = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0.0, 1.0)
shapes = st.tuples(st.integers(1, 7), st.integers(1, 4))
states = st.integers(1, 4)
ways = pytest.mark.parametrize("divide", [greedy_partition, cover_partition])


def boxed(stack: Floats) -> Envelope:
    low, high = np.sort(stack, axis=0)
    return Envelope(low, high)


envelopes = shapes.flatmap(lambda shape: arrays(np.float64, (2, *shape), elements=units)).map(boxed)
graphs = (
    st.integers(1, 8)
    .flatmap(lambda n: arrays(np.bool_, (n, n)))
    .map(lambda g: np.triu(g, 1) | np.triu(g, 1).T)
)


def members(partition: Partition, state: int) -> list[int]:
    return np.flatnonzero(partition.labels == state).tolist()


def colours_needed(graph: Bools) -> int:
    edges = np.argwhere(graph)
    for k in range(1, len(graph) + 1):
        for labels in product(range(k), repeat=len(graph)):
            if all(labels[x] != labels[y] for x, y in edges):
                return k
    raise AssertionError("N colours are always enough")


def brute_degeneracy(graph: Bools) -> int:
    subsets = (
        list(s) for n in range(1, len(graph) + 1) for s in combinations(range(len(graph)), n)
    )
    return max(int(graph[np.ix_(s, s)].sum(axis=1).min()) for s in subsets)


def graph_levels(envelope: Envelope) -> list[float]:
    return sorted({0.0, *distance_bounds(envelope)[0].ravel().tolist()})


# Colouring


@settings(deadline=None)
@given(graphs)
def test_smallest_last_finds_the_degeneracy(graph: Bools) -> None:
    order, degeneracy = smallest_last(graph)
    assert degeneracy == brute_degeneracy(graph)
    assert sorted(order) == list(range(len(graph)))
    assert all(graph[v, order[:i]].sum() <= degeneracy for i, v in enumerate(order))


@given(graphs)
def test_colouring_smallest_last_is_proper_and_uses_at_most_one_colour_more_than_the_degeneracy(
    graph: Bools,
) -> None:
    order, degeneracy = smallest_last(graph)
    labels = colour(graph, order)
    assert not (graph & (labels[:, None] == labels)).any()
    assert 0 <= labels.min() <= labels.max() <= degeneracy


# Greedy-Partition


def test_the_greedy_partition_of_an_instance_worked_by_hand() -> None:
    # Contexts 0 and 1 agree, 2 wants the other action and loses .5 by theirs: one edge a pair, at
    # levels below .5.
    mu = np.array([[1.0, 0.25], [1.0, 0.5], [0.5, 1.0]])
    two, one = greedy_partition(Envelope(mu, mu), 2), greedy_partition(Envelope(mu, mu), 1)
    assert two.labels[0] == two.labels[1] != two.labels[2]
    assert (two.level, two.certified, two.degeneracy) == (0.0, 0.0, 1)
    assert (one.labels.tolist(), one.level, one.certified, one.degeneracy) == (
        [0, 0, 0],
        0.5,
        0.5,
        0,
    )


@given(envelopes, states)
def test_the_greedy_level_is_the_first_whose_degeneracy_leaves_colours_enough(
    envelope: Envelope, k: int
) -> None:
    found = greedy_partition(envelope, k)
    fit = [a for a in graph_levels(envelope) if smallest_last(cannot_link(envelope, a))[1] + 1 <= k]
    assert found.level == fit[0]
    assert found.degeneracy == smallest_last(cannot_link(envelope, found.level))[1] < k


@settings(deadline=None, max_examples=often(60))
@given(envelopes, states)
def test_the_greedy_level_is_the_graph_threshold_where_the_degeneracy_allows_and_never_below_it(
    envelope: Envelope, k: int
) -> None:
    levels = graph_levels(
        envelope
    )  # the graph changes at these levels only, so the infimum is one of them
    threshold = next(a for a in levels if colours_needed(cannot_link(envelope, a)) <= k)
    level = greedy_partition(envelope, k).level
    assert level >= threshold
    if smallest_last(cannot_link(envelope, threshold))[1] + 1 <= k:
        assert level == threshold


@ways
@given(envelope=envelopes, k=states)
def test_a_partition_has_k_states_and_describes_itself(
    divide: Callable[..., Partition], envelope: Envelope, k: int
) -> None:
    found = divide(envelope, k)
    assert found.actions is not None
    assert (found.labels.shape, found.actions.shape) == ((len(envelope.lower),), (k,))
    used = [state for state in range(k) if members(found, state)]
    assert sorted(used) == sorted(set(found.labels.tolist()))
    for state in range(k):
        expected = radius(upper_gaps(envelope), members(found, state))[1] if state in used else -1
        assert found.actions[state] == expected
    assert found.certified == max(
        radius_bounds(envelope, members(found, state))[1] for state in used
    )
    assert not (cannot_link(envelope, found.level) & (found.labels[:, None] == found.labels)).any()


@ways
@given(
    stack=shapes.flatmap(lambda shape: arrays(np.float64, (3, *shape), elements=units)), k=states
)
def test_the_certified_radius_is_never_below_the_true_one(
    divide: Callable[..., Partition], stack: Floats, k: int
) -> None:
    low, mu, high = np.sort(stack, axis=0)
    found = divide(Envelope(low, high), k)
    assert (
        max(radius(gaps(mu), members(found, s))[0] for s in set(found.labels.tolist()))
        <= found.certified
    )


# The action cover


@given(envelopes, states)
def test_the_cover_is_never_worse_than_the_colouring(envelope: Envelope, k: int) -> None:
    assert cover_partition(envelope, k).certified <= greedy_partition(envelope, k).certified


@given(envelopes, states)
def test_the_cover_of_a_small_instance_has_the_smallest_certified_radius_of_all(
    envelope: Envelope, k: int
) -> None:
    losses = upper_gaps(envelope)
    width = losses.shape[1]
    choices = (list(c) for n in range(1, min(k, width) + 1) for c in combinations(range(width), n))
    assert cover_partition(envelope, k).certified == min(
        losses[:, c].min(axis=1).max() for c in choices
    )


def test_a_context_of_which_nothing_is_known_does_not_stop_the_others_from_being_served() -> None:
    mu = np.eye(3)[[0, 0, 1, 1, 2, 2]]
    lower, upper = np.vstack([mu, np.zeros((1, 3))]), np.vstack([mu, np.ones((1, 3))])
    found = cover_partition(Envelope(lower, upper), 3)
    assert found.certified == 1.0
    assert [found.labels[i] == found.labels[i + 1] for i in (0, 2, 4)] == [True] * 3
    assert len(set(found.labels[:6].tolist())) == 3


@pytest.mark.parametrize(("k", "target"), [(3, 1.05), (5, 1.02), (8, 1.01), (10, 1.0)])
def test_the_cover_comes_close_to_the_frontier_on_random_instances(k: int, target: float) -> None:
    found, exact = 0.0, 0.0
    for seed in range(20):
        mu = np.random.default_rng(seed).random((20, 12))
        found += cover_partition(Envelope(mu, mu), k).certified
        exact += worst_case_frontier(mu, k).value
    assert exact <= found <= target * exact


@ways
def test_five_hundred_contexts_are_partitioned_in_well_under_a_second(
    divide: Callable[..., Partition],
) -> None:
    mu = np.random.default_rng(0).random((500, 20))
    envelope = Envelope(np.maximum(mu - 0.1, 0), np.minimum(mu + 0.1, 1))
    started = time.perf_counter()
    divide(envelope, 8)
    assert time.perf_counter() - started < 1.5  # some .05 s on the machine it was written on


# Witnesses


def drawn_pairs(data: st.DataObject, size: int) -> Pairs:
    every = list(combinations(range(size), 2))
    return data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []


def graph_of(pairs: Pairs, size: int) -> Bools:
    graph = np.zeros((size, size), dtype=np.bool_)
    for x, y in pairs:
        graph[x, y] = graph[y, x] = True
    return graph


@ways
@settings(deadline=None)
@given(data=st.data(), envelope=envelopes, k=states)
def test_witnesses_are_kept_apart_or_proven_to_need_more_states(
    divide: Callable[..., Partition], data: st.DataObject, envelope: Envelope, k: int
) -> None:
    pairs = drawn_pairs(data, len(envelope.lower))
    if colours_needed(graph_of(pairs, len(envelope.lower))) > k:
        with pytest.raises(ValueError, match=r"^cannot_link must be satisfiable"):
            divide(envelope, k, cannot_link=pairs)
        return
    found = divide(envelope, k, cannot_link=pairs)
    assert all(found.labels[x] != found.labels[y] for x, y in pairs)
    assert 0 <= found.labels.min() <= found.labels.max() < k


@settings(deadline=None)
@given(st.data(), envelopes, states)
def test_the_cover_is_never_worse_than_the_colouring_under_witnesses(
    data: st.DataObject, envelope: Envelope, k: int
) -> None:
    pairs = drawn_pairs(data, len(envelope.lower))
    if colours_needed(graph_of(pairs, len(envelope.lower))) <= k:
        greedy = greedy_partition(envelope, k, cannot_link=pairs)
        assert cover_partition(envelope, k, cannot_link=pairs).certified <= greedy.certified


@ways
@given(data=st.data(), envelope=envelopes)
def test_a_mask_and_its_pairs_give_the_same_partition(
    divide: Callable[..., Partition], data: st.DataObject, envelope: Envelope
) -> None:
    pairs, k = drawn_pairs(data, len(envelope.lower)), len(envelope.lower)
    by_pairs = divide(envelope, k, cannot_link=iter(pairs))
    by_mask = divide(envelope, k, cannot_link=graph_of(pairs, len(envelope.lower)))
    assert by_pairs.labels.tolist() == by_mask.labels.tolist()


@ways
def test_no_witnesses_are_the_same_as_none_given(divide: Callable[..., Partition]) -> None:
    mu = np.random.default_rng(5).random((12, 4))
    plain, empty = divide(Envelope(mu, mu), 3), divide(Envelope(mu, mu), 3, cannot_link=[])
    assert plain.labels.tolist() == empty.labels.tolist()


@ways
def test_witnesses_part_contexts_that_agree(divide: Callable[..., Partition]) -> None:
    found = divide(Envelope(np.ones((3, 1)), np.ones((3, 1))), 2, cannot_link=[(0, 2)])
    assert found.labels[0] != found.labels[2]
    assert found.certified == 0.0


def crown(size: int) -> Pairs:
    """Return the edges of two rows, each vertex joined to all of the other row but its partner.

    The degeneracy is high, and two colours do.
    """
    return [(x, size + y) for x, y in permutations(range(size), 2)]


@ways
def test_witnesses_of_high_degeneracy_that_two_states_satisfy_are_satisfied(
    divide: Callable[..., Partition],
) -> None:
    found = divide(unknown((12, 2)), 2, cannot_link=crown(6))
    assert len(set(found.labels[:6].tolist())) == 1
    assert found.degeneracy == 5


@ways
def test_witnesses_that_need_more_states_are_refused_with_contexts_to_spare(
    divide: Callable[..., Partition],
) -> None:
    clique = list(combinations(range(4), 2))
    with pytest.raises(ValueError, match=r"^cannot_link must be satisfiable with 3 states"):
        divide(unknown((1500, 2)), 3, cannot_link=clique)


# Three colours do for this prism, but smallest-last takes four.
PRISM: Pairs = [(0, 1), (0, 4), (0, 5), (1, 2), (1, 3), (2, 3), (2, 5), (3, 4), (4, 5)]


@ways
def test_witnesses_that_the_greedy_order_fails_on_are_satisfied_by_search(
    divide: Callable[..., Partition],
) -> None:
    graph = graph_of(PRISM, 8)
    assert colour(graph, smallest_last(graph)[0]).max() == 3
    labels = divide(unknown((8, 2)), 3, cannot_link=PRISM).labels
    assert all(labels[x] != labels[y] for x, y in PRISM)
    assert labels.max() == 2


@ways
def test_witnesses_neither_satisfied_nor_refuted_are_said_to_be_neither(
    divide: Callable[..., Partition], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_agent.decision._colouring.COLOURING_BUDGET", 5)
    with pytest.raises(RuntimeError, match="nor proved that none do"):
        divide(unknown((8, 2)), 3, cannot_link=PRISM)


# The fallback router


@given(st.data(), envelopes, states)
def test_the_fallback_state_has_the_smallest_certified_radius_after_insertion(
    data: st.DataObject, envelope: Envelope, k: int
) -> None:
    x = data.draw(st.integers(0, len(envelope.lower) - 1))
    labels = data.draw(arrays(np.intp, len(envelope.lower), elements=st.integers(-1, k - 1)))
    partition = Partition(labels, np.full(k, -1), 0.0, 1.0, 0)
    classes = [[y for y in members(partition, s) if y != x] + [x] for s in range(k)]
    after = [radius_bounds(envelope, rows)[1] for rows in classes]
    assert fallback(envelope, partition, x) == after.index(min(after))


def test_the_fallback_of_a_context_of_which_nothing_is_known_is_the_first_state() -> None:
    mu = np.vstack([np.eye(2), np.zeros((1, 2))])
    envelope = Envelope(mu, np.vstack([np.eye(2), np.ones((1, 2))]))
    assert (
        fallback(envelope, Partition(np.array([0, 1, -1]), np.array([0, 1]), 0.0, 0.0, 0), 2) == 0
    )


# Arguments

ONE = Envelope(np.zeros((3, 2)), np.ones((3, 2)))
WHOLE = Partition(np.zeros(3, dtype=np.intp), np.zeros(1, dtype=np.intp), 0.0, 1.0, 0)
LOOP = np.eye(3, dtype=np.bool_)
ONE_WAY = np.triu(np.ones((3, 3), dtype=np.bool_), 1)
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no states": (lambda: greedy_partition(ONE, 0), "^k must be a whole number >= 1, got 0"),
    "a pair of one": (
        lambda: greedy_partition(ONE, 2, cannot_link=[(1, 1)]),
        "^cannot_link must be pairs of two",
    ),
    "a pair outside": (
        lambda: cover_partition(ONE, 2, cannot_link=[(0, 3)]),
        r"^cannot_link must be .* in \[0, 2\]",
    ),
    "half a context": (
        lambda: cover_partition(ONE, 2, cannot_link=[(0, 0.5)]),
        "^cannot_link must be",
    ),  # type: ignore[list-item]
    "three of a pair": (
        lambda: greedy_partition(ONE, 2, cannot_link=[(0, 1, 2)]),
        "^cannot_link must be",
    ),  # type: ignore[list-item]
    "a mask of another shape": (
        lambda: greedy_partition(ONE, 2, cannot_link=LOOP[:2]),
        r"^cannot_link must be of shape",
    ),
    "a mask with loops": (
        lambda: greedy_partition(ONE, 2, cannot_link=LOOP),
        "^cannot_link must be pairs of two",
    ),
    "a mask of one way": (
        lambda: cover_partition(ONE, 2, cannot_link=ONE_WAY),
        "^cannot_link must be symmetric",
    ),
    "a context outside": (
        lambda: fallback(ONE, WHOLE, 3),
        r"^x must be a whole number in \[0, 2\]",
    ),
    "another envelope's partition": (
        lambda: fallback(unknown((2, 2)), WHOLE, 0),
        "^partition must be of 2 contexts",
    ),
    "a partition without actions": (
        lambda: fallback(ONE, Partition(WHOLE.labels, None, 0.0, 1.0, 0), 0),
        "^partition must have actions",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_out_of_range_is_named_with_its_range(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_arrays_of_a_partition_are_copies_that_cannot_be_written() -> None:
    labels = np.zeros(2, dtype=np.intp)
    partition = Partition(labels, None, 0.0, math.inf, 0)
    labels[0] = 1
    assert partition.labels.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1


def test_partitions_leave_the_lower_losses_of_their_envelope_as_the_only_source_of_levels() -> None:
    envelope = Envelope(np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([[1.0, 0.25], [0.25, 1.0]]))
    assert greedy_partition(envelope, 1).level == radius(lower_losses(envelope))[0] == 0.25
