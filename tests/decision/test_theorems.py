"""Statements of the paper where a simulation could refute them, and where it does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from often import often

from demem_agent.decision import gaps, radius, worst_case_frontier
from demem_agent.decision.learners.learner import Assignment
from demem_agent.decision.learners.splits import CertifiedSplits
from demem_agent.studies.synthetic.cases import measure_assignment

Floats = NDArray[np.float64]

units = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0.0, 1.0)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 4))
rewards = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=units))


def whole(data: st.DataObject, size: int, below: int) -> NDArray[np.intp]:
    return data.draw(arrays(np.intp, size, elements=st.integers(0, below - 1)))


# Upper bound: its three terms


@settings(deadline=None, max_examples=often(20))
@given(rewards, st.integers(1, 3), st.integers(0, 999))
def test_exploration_takes_at_most_the_threshold_for_every_pair_that_was_met(
    mu: Floats, slots: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    contexts, actions = mu.shape
    learner = CertifiedSplits(contexts, actions, slots, delta=0.5, gamma=1.0, rng=rng)
    met = set()
    for _ in range(400):
        x = int(rng.integers(len(mu)))
        met.add(x)
        action = learner.choose(x)
        learner.learn(x, action, float(rng.random() < mu[x, action]))
    assert learner.rounds_explored <= mu.shape[1] * len(met) * learner.threshold()


def test_a_frozen_partition_costs_more_than_certified_in_at_most_delta_of_runs() -> None:
    delta, runs, wrong = 0.3, 20, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        mu = rng.random((3, 2))
        learner = CertifiedSplits(3, 2, 2, delta=delta, gamma=1.0, rng=rng)
        failed = False
        for t in range(1, 513):
            x = int(rng.integers(3))
            action = learner.choose(x)
            if t & (t - 1) == 0 and t > 1:  # an epoch began with this choice
                found = learner.epoch_partition
                failed |= true_radius(mu, found.labels) > found.certified
            learner.learn(x, action, float(rng.random() < mu[x, action]))
        wrong += failed
    assert wrong <= delta * runs


def true_radius(mu: Floats, labels: NDArray[np.intp]) -> float:
    losses = gaps(mu)
    states = np.unique(labels[labels >= 0])
    return max(radius(losses, np.flatnonzero(labels == state))[0] for state in states)


OPPOSED = np.array([[1.0, 0.0], [0.0, 1.0]])


def regret_and_bound(slots: int, rounds: int) -> tuple[float, float]:
    """Return the regret on two opposed contexts, and the bound with its constants written out.

    The theorem multiplies T by the worst certified price of all epochs, which is that of the first
    ones, when nothing is certified yet, and so nearly 1. Its proof charges each epoch its own
    price, and that is what is counted here. 4 sqrt(2 log(.) A K T_e) is the sum of twice the width
    of the index over an epoch.
    """
    delta = 0.1
    learner = CertifiedSplits(2, 2, slots, delta=delta, gamma=1.0, rng=np.random.default_rng(0))
    contexts = np.random.default_rng(1).integers(2, size=rounds).tolist()
    regret, bound = 0.0, 0.0
    for t, x in enumerate(contexts, 1):
        action = learner.choose(x)
        if t & (t - 1) == 0:
            length = min(t, rounds - t + 1)
            bound += length * learner.epoch_partition.certified
            log_term = math.log(4 * 2 * slots * rounds**2 / delta)
            bound += 4 * math.sqrt(2 * log_term * 2 * slots * length)
        regret += 1.0 - OPPOSED[x, action]
        learner.learn(x, action, float(OPPOSED[x, action]))
    return regret, bound + learner.rounds_explored


@pytest.mark.slow
def test_regret_stays_within_the_bound_where_the_bound_says_something() -> None:
    rounds = 2**17
    regret, bound = regret_and_bound(2, rounds)
    assert regret <= bound < 0.5 * rounds  # what a coin would lose


@pytest.mark.slow
def test_one_state_too_few_loses_half_of_the_frontier_s_loss_in_every_round() -> None:
    rounds = 2**14
    regret, _ = regret_and_bound(1, rounds)
    assert worst_case_frontier(OPPOSED, 1).value == 1.0
    assert regret >= 0.45 * rounds


# Lower bound


@settings(max_examples=often(50))
@given(st.data(), st.integers(1, 4))
def test_half_as_many_states_as_opposed_contexts_lose_half_whatever_is_played_when(
    data: st.DataObject, slots: int
) -> None:
    mu = np.eye(2 * slots)  # each context is served by an action of its own
    assert worst_case_frontier(mu, slots).value == 1.0
    lost = []
    for _ in range(data.draw(st.integers(1, 5))):  # the memory may be another in every round
        labels = whole(data, 2 * slots, slots)
        actions = whole(data, slots, 2 * slots)
        lost.append(gaps(mu)[np.arange(2 * slots), actions[labels]].mean())
    assert np.mean(lost) >= 0.5


def test_the_lower_bound_is_of_the_worst_instance_and_not_of_each() -> None:
    # Every action fails one context of ten: one state loses 1 in the worst case. Playing the
    # actions in turn, each with a deterministic rule of its own, loses a tenth of that whatever the
    # distribution, so no constant does for every instance.
    mu = 1 - np.eye(10)
    assert worst_case_frontier(mu, 1).value == 1.0
    each_context_loses = gaps(mu)[:, np.arange(1_000) % 10].mean(axis=1)
    assert each_context_loses.max() == pytest.approx(0.1)


# Average distortion of a partition


@given(st.data(), rewards, st.integers(1, 4))
def test_what_a_memory_loses_on_average_is_no_less_than_its_partition_must(
    data: st.DataObject, mu: Floats, slots: int
) -> None:
    found = Assignment(whole(data, len(mu), slots), whole(data, slots, mu.shape[1]))
    measured = measure_assignment(found, gaps(mu))
    inside = [np.flatnonzero(found.labels == state) for state in range(slots)]
    floor = sum(gaps(mu)[own].mean(axis=0).min() * len(own) for own in inside if len(own))
    assert measured["d_star"] == pytest.approx(floor / len(mu))
    assert measured["d_star"] <= measured["loss"] + 1e-12
    worst = max(radius(gaps(mu), own)[0] for own in inside if len(own))
    assert measured["d_star_worst"] == worst >= measured["d_star"] - 1e-12


# Approximation bridge


@given(st.data(), rewards, st.integers(1, 4))
def test_a_memory_loses_no_more_than_compression_routing_and_realisation(
    data: st.DataObject, mu: Floats, slots: int
) -> None:
    contexts = np.arange(len(mu))
    comparator, routed = whole(data, len(mu), slots), whole(data, len(mu), slots)
    ideal = mu[contexts, whole(data, slots, mu.shape[1])[comparator]]
    made = mu[contexts, whole(data, len(mu), mu.shape[1])]
    best = mu.max(axis=1)
    compression = float((best - ideal).max())
    agree = comparator == routed
    routing = float((~agree).mean())
    # It may be below 0, where the memory does better than the comparator.
    realisation = float((ideal - made)[agree].mean()) if agree.any() else 0.0
    assert (best - made).mean() <= compression + routing + realisation + 1e-12
