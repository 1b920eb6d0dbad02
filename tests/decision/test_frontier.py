"""The frontier by enumeration of every partition; the paper's theorems by the exact solvers."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from often import often

from demem_agent.decision import (
    Frontier,
    Packing,
    average_frontier,
    average_interval,
    can_share,
    covering_interval,
    covering_number,
    gaps,
    information_bound,
    packing_interval,
    packing_number,
    pairwise_distance,
    radius,
    worst_case_frontier,
    worst_case_interval,
)

Floats = NDArray[np.float64]

# Quarters make ties and exact zeros common; the rest of the unit interval makes them rare.
units = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0.0, 1.0)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 4))
rewards = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=units))
states = st.integers(1, 5)
solved = settings(deadline=None, max_examples=often(60))  # each example runs integer programs


def partitions(size: int, k: int) -> Iterator[list[list[int]]]:
    """Enumerate every partition of ``size`` contexts into at most k clusters."""
    if size == 0:
        yield []
        return
    for rest in partitions(size - 1, k):
        for i in range(len(rest)):
            yield [*rest[:i], [*rest[i], size - 1], *rest[i + 1 :]]
        if len(rest) < k:
            yield [*rest, [size - 1]]


def brute_worst(mu: Floats, k: int) -> float:
    loss = gaps(mu)
    return min(max(radius(loss, cluster)[0] for cluster in p) for p in partitions(len(mu), k))


def brute_average(mu: Floats, k: int, shares: Floats) -> float:
    loss = gaps(mu) * shares[:, None]
    return float(
        min(sum(loss[cluster].sum(axis=0).min() for cluster in p) for p in partitions(len(mu), k))
    )


def brute_packing(mu: Floats, eps: float) -> int:
    distance, size = pairwise_distance(mu), len(mu)
    sets = (m for n in range(1, size + 1) for m in combinations(range(size), n))
    return max(len(m) for m in sets if all(distance[x, y] > eps for x, y in combinations(m, 2)))


def weights_of(data: st.DataObject, size: int) -> Floats:
    drawn = data.draw(arrays(np.float64, size, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    return drawn if drawn.sum() > 0 else np.ones(size)


# Exact values


def test_the_worst_case_frontier_of_a_matrix_worked_by_hand() -> None:
    # One action for all loses at best 1 - .75 (the third action); two actions serve everyone.
    mu = np.array([[1.0, 0.0, 0.75], [1.0, 0.25, 0.75], [0.0, 1.0, 0.75]])
    one, two = worst_case_frontier(mu, 1), worst_case_frontier(mu, 2)
    assert (one.value, one.actions, one.labels.tolist()) == (0.25, (2,), [0, 0, 0])
    assert (two.value, two.actions, two.labels.tolist()) == (0.0, (0, 1), [0, 0, 1])


@solved
@given(rewards, states)
def test_the_worst_case_frontier_is_the_best_of_all_partitions(mu: Floats, k: int) -> None:
    found = worst_case_frontier(mu, k)
    assert found.value == brute_worst(mu, k)
    assert len(found.actions) <= k
    assert found.verify(mu)


@solved
@given(st.data(), rewards, states)
def test_the_average_frontier_is_the_best_of_all_partitions(
    data: st.DataObject, mu: Floats, k: int
) -> None:
    weights = weights_of(data, len(mu))
    found = average_frontier(mu, k, weights)
    assert found.value == pytest.approx(brute_average(mu, k, weights / weights.sum()), abs=1e-6)
    assert len(found.actions) <= k
    assert found.verify(mu)


@solved
@given(rewards, units)
def test_the_covering_number_is_the_fewest_clusters_of_any_partition(
    mu: Floats, eps: float
) -> None:
    found, loss = covering_number(mu, eps), gaps(mu)
    fit = (
        p
        for p in partitions(len(mu), len(mu))
        if all(can_share(loss, c, eps) is not None for c in p)
    )
    assert found.number == min(map(len, fit))
    assert found.verify(mu)


@solved
@given(rewards, units)
def test_the_packing_number_is_that_of_the_largest_subset(mu: Floats, eps: float) -> None:
    found = packing_number(mu, eps)
    assert found.number == brute_packing(mu, eps)
    assert found.verify(mu)


# Theorems


@solved
@given(rewards, units)
def test_all_contexts_share_one_state_exactly_when_an_action_is_near_optimal_in_all(
    mu: Floats, eps: float
) -> None:
    action, frontier = can_share(gaps(mu), None, eps), worst_case_frontier(mu, 1)
    assert (action is not None) == (frontier.value <= eps)
    assert action is None or gaps(mu)[:, action].max() <= eps


@solved
@given(rewards, states, units)
def test_k_states_reach_a_distortion_exactly_when_k_is_at_least_its_covering_number(
    mu: Floats, k: int, eps: float
) -> None:
    assert (k >= covering_number(mu, eps).number) == (worst_case_frontier(mu, k).value <= eps)


@solved
@given(rewards, states, units)
def test_more_packed_contexts_than_states_at_twice_a_distortion_rule_it_out(
    mu: Floats, k: int, eps: float
) -> None:
    if packing_number(mu, 2 * eps).number > k:
        assert worst_case_frontier(mu, k).value > eps


@solved
@given(rewards, states, units)
def test_a_packing_rules_out_its_own_distance_already(mu: Floats, k: int, eps: float) -> None:
    if packing_number(mu, eps).number > k:
        assert worst_case_frontier(mu, k).value > eps


@solved
@given(rewards, units)
def test_a_packing_is_never_larger_than_a_covering(mu: Floats, eps: float) -> None:
    assert packing_number(mu, eps).number <= covering_number(mu, eps).number


@solved
@given(st.data(), rewards, units)
def test_a_memory_that_keeps_a_distortion_tells_as_much_as_the_information_bound(
    data: st.DataObject, mu: Floats, eps: float
) -> None:
    packed, loss = packing_number(mu, 2 * eps).members, gaps(mu)
    fit = [
        p
        for p in partitions(len(mu), len(mu))
        if all(can_share(loss, c, eps) is not None for c in p)
    ]
    clusters = data.draw(st.sampled_from(fit))
    shares = np.array([len(set(packed) & set(cluster)) / len(packed) for cluster in clusters])
    entropy = -sum(
        share * math.log(share) for share in shares if share > 0
    )  # I(Z; M) of a deterministic memory
    assert entropy >= information_bound(mu, eps) - 1e-12


@solved
@given(st.data(), rewards, states)
def test_the_average_frontier_is_at_most_the_worst_case_one(
    data: st.DataObject, mu: Floats, k: int
) -> None:
    assert (
        average_frontier(mu, k, weights_of(data, len(mu))).value
        <= worst_case_frontier(mu, k).value + 1e-6
    )


@solved
@given(st.data(), rewards, states)
def test_no_memory_beats_the_average_frontier(data: st.DataObject, mu: Floats, k: int) -> None:
    weights = weights_of(data, len(mu))
    labels = data.draw(arrays(np.intp, len(mu), elements=st.integers(0, k - 1)))
    actions = data.draw(arrays(np.intp, k, elements=st.integers(0, mu.shape[1] - 1)))
    distortion = gaps(mu)[np.arange(len(mu)), actions[labels]] @ weights / weights.sum()
    assert average_frontier(mu, k, weights).value <= distortion + 1e-6


@solved
@given(rewards)
def test_frontiers_never_rise_with_more_states_and_end_at_zero(mu: Floats) -> None:
    worst = [worst_case_frontier(mu, k).value for k in range(1, min(mu.shape) + 1)]
    mean = [average_frontier(mu, k).value for k in range(1, min(mu.shape) + 1)]
    assert worst == sorted(worst, reverse=True)
    assert all(now <= before + 1e-6 for before, now in pairwise(mean))
    assert worst[-1] == 0
    assert mean[-1] <= 1e-6


# Hardness: a set cover instance is a memory instance

shapes = st.tuples(st.integers(1, 7), st.integers(1, 5))
# An element in no set joins all: every one is in some.
covers = shapes.flatmap(lambda shape: arrays(np.bool_, shape)).map(
    lambda table: table | ~table.any(axis=1, keepdims=True)
)


@solved
@given(covers, states, st.floats(0.0, 1.0, exclude_max=True))
def test_solving_the_memory_instance_solves_the_set_cover(
    table: NDArray[np.bool_], k: int, eps: float
) -> None:
    sets = range(table.shape[1])
    coverable = any(
        table[:, list(c)].any(axis=1).all() for n in range(1, k + 1) for c in combinations(sets, n)
    )
    found = worst_case_frontier(table.astype(np.float64), k)
    assert (found.value <= eps) == coverable
    if coverable:
        assert table[:, list(found.actions)].any(axis=1).all()


@solved
@given(covers)
def test_the_covering_number_of_the_memory_instance_is_that_of_the_set_cover(
    table: NDArray[np.bool_],
) -> None:
    sets = range(table.shape[1])
    fewest = min(
        n
        for n in range(1, len(sets) + 1)
        for c in combinations(sets, n)
        if table[:, list(c)].any(axis=1).all()
    )
    assert covering_number(table.astype(np.float64), 0.5).number == fewest


# Intervals


@solved
@given(st.data(), rewards, states, units)
def test_intervals_contain_the_exact_values(
    data: st.DataObject, mu: Floats, k: int, eps: float
) -> None:
    weights = weights_of(data, len(mu))
    worst, mean = worst_case_interval(mu, k), average_interval(mu, k, weights)
    cover, pack = covering_interval(mu, eps), packing_interval(mu, eps)
    assert worst.lower <= worst_case_frontier(mu, k).value <= worst.upper
    assert mean.lower - 1e-6 <= average_frontier(mu, k, weights).value <= mean.upper + 1e-6
    assert cover.lower <= covering_number(mu, eps).number <= cover.upper
    assert pack.lower <= packing_number(mu, eps).number <= pack.upper


@given(rewards, states)
def test_small_worst_case_intervals_are_exact(mu: Floats, k: int) -> None:
    assert worst_case_interval(mu, k).exact


def test_intervals_enclose_larger_instances_without_being_trivial() -> None:
    mu = np.random.default_rng(3).random((60, 12))
    mean, cover = average_interval(mu, 4), covering_interval(mu, 0.3)
    assert mean.lower <= average_frontier(mu, 4).value <= mean.upper + 1e-9
    assert 0 < mean.upper - mean.lower < 0.3 * mean.upper
    assert 1 < cover.lower <= covering_number(mu, 0.3).number <= cover.upper < 12


@pytest.mark.parametrize("seed", range(3))
def test_two_hundred_contexts_are_solved_exactly(seed: int) -> None:
    # The solver alone, at this level and at the one below, is asked about a value found with the
    # interval's help.
    mu = np.random.default_rng(seed).random((200, 20))
    found = worst_case_frontier(mu, 5)
    assert found.verify(mu)
    assert (
        covering_number(mu, found.value).number
        <= 5
        < covering_number(mu, math.nextafter(found.value, 0)).number
    )


def test_a_gap_that_the_interval_leaves_is_closed_by_the_solver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import demem_agent.decision.frontier as frontier

    mu = np.random.default_rng(1).random((30, 8))
    exact = worst_case_frontier(mu, 3).value
    monkeypatch.setattr(frontier, "_ruled_out", lambda covers, k: False)
    monkeypatch.setattr(frontier, "bottleneck_actions", lambda losses, k: [0])
    monkeypatch.setattr(frontier, "exchange", lambda losses, actions, k: actions)
    wide = worst_case_interval(mu, 3)
    assert wide.lower < exact < wide.upper
    assert worst_case_frontier(mu, 3).value == exact


# Certificates that can be wrong, and what is needed for them

MU = np.array([[1.0, 0.0, 0.75], [1.0, 0.25, 0.75], [0.0, 1.0, 0.75]])


def test_verify_refuses_a_frontier_that_is_not_attained() -> None:
    found = worst_case_frontier(MU, 2)
    assert found.verify(MU)
    assert not replace(found, value=0.125).verify(MU)
    assert not replace(found, actions=(0, 2)).verify(MU)
    assert not replace(found, actions=(0, 3)).verify(MU)
    assert not replace(found, labels=np.array([0, 0])).verify(MU)
    assert not replace(found, labels=np.array([0, 0, 2])).verify(MU)
    assert not Frontier(0.0, (), np.array([0, 0, 0])).verify(MU)
    assert not replace(average_frontier(MU, 2), value=0.125).verify(MU)


def test_verify_refuses_a_covering_that_does_not_cover() -> None:
    found = covering_number(MU, 0.25)
    assert found.number == 1
    assert found.verify(MU)
    assert not replace(found, eps=0.125).verify(MU)
    assert not replace(found, number=2).verify(MU)


def test_verify_refuses_a_packing_whose_members_can_share() -> None:
    found = packing_number(MU, 0.125)
    assert (found.number, found.verify(MU)) == (2, True)
    assert not replace(found, eps=0.25).verify(MU)
    assert not Packing(2, 0.125, (0, 1)).verify(MU)
    assert not Packing(2, 0.125, (2, 2)).verify(MU)
    assert not Packing(2, 0.125, (0, 3)).verify(MU)
    assert not Packing(3, 0.125, found.members).verify(MU)


def test_labels_of_a_frontier_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        worst_case_frontier(MU, 2).labels[0] = 1


@pytest.mark.parametrize(
    "solve",
    [
        lambda: worst_case_frontier(MU, 1),
        lambda: average_frontier(MU, 1),
        lambda: covering_number(MU, 0.0),
        lambda: packing_number(MU, 0.0),
    ],
)
def test_exact_values_without_scipy_name_the_install_command(
    solve: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"pip install 'demem-agent\[lab\]'"):
        solve()


def test_the_kernel_loads_no_scipy_until_an_exact_value_is_asked_for() -> None:
    script = """
import sys, numpy as np
from demem_agent.decision import *
mu = np.eye(3)
worst_case_interval(mu, 2), average_interval(mu, 2)
covering_interval(mu, 0.5), packing_interval(mu, 0.5)
cover_partition(Envelope(mu, mu), 2)
assert not any(name.startswith("scipy") for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no states": (lambda: worst_case_frontier(MU, 0), "^k must be a whole number >= 1, got 0"),
    "half a state": (lambda: average_frontier(MU, 1.5), "^k must be"),  # type: ignore[arg-type]
    "a negative distortion": (lambda: covering_number(MU, -0.5), "^eps must be finite and >= 0"),
    "a distortion that is NaN": (lambda: packing_number(MU, math.nan), "^eps must be"),
    "a weight too few": (
        lambda: average_frontier(MU, 1, [1, 1]),
        "^weights must be 3 finite numbers",
    ),
    "a negative weight": (lambda: average_frontier(MU, 1, [1, 1, -1]), "^weights must be"),
    "no weight": (lambda: average_interval(MU, 1, [0, 0, 0]), "^weights must be"),
    "a weight that is NaN": (lambda: average_interval(MU, 1, [1, 1, math.nan]), "^weights must be"),
    "a reward above 1": (lambda: worst_case_interval([[1.5]], 1), "^mu must be in"),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_out_of_range_is_named_with_its_range(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call()
