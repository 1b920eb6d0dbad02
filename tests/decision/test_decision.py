"""The decision kernel: exact quantities by brute force, certificates by the truth they bound."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray
from often import often

import demem_agent.decision as decision
from demem_agent.decision import (
    Envelope,
    can_share,
    candidate_radius,
    cannot_link,
    distance_bounds,
    gaps,
    guard_band,
    hoeffding,
    lower_gaps,
    lower_losses,
    pairwise_distance,
    radius,
    radius_bounds,
    unknown,
    upper_gaps,
)

Floats = NDArray[np.float64]
BAND = {"c_beta": 1.0, "sigma_0": 0.1, "eta_cal": 0.05}

# Quarters make ties and exact zeros common; the rest of the unit interval makes them rare.
units = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0.0, 1.0)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 5))
rewards = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=units))


def layers(count: int, rows: int | None = None) -> st.SearchStrategy[Floats]:
    """Draw ``count`` matrices of one shape, each entry in ascending order from matrix to matrix."""
    shape = shapes if rows is None else st.tuples(st.just(rows), st.integers(1, 5))
    stacks = shape.flatmap(lambda s: arrays(np.float64, (count, *s), elements=units))
    return stacks.map(lambda stack: np.sort(stack, axis=0))


def box(lower: ArrayLike, upper: ArrayLike) -> Envelope:
    return Envelope(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64))


def clusters(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, size - 1), min_size=1, unique=True)


def brute_gap(mu: Floats, x: int, a: int) -> float:
    return max(float(value) for value in mu[x]) - float(mu[x, a])


def brute_radius(mu: Floats, members: list[int]) -> float:
    return min(max(brute_gap(mu, x, a) for x in members) for a in range(mu.shape[1]))


# Exact quantities


def test_gaps_of_a_matrix_worked_by_hand() -> None:
    assert gaps([[0.75, 0.5, 0.25], [0.0, 0.5, 1.0]]).tolist() == [
        [0.0, 0.25, 0.5],
        [1.0, 0.5, 0.0],
    ]


@given(rewards)
def test_gaps_agree_with_brute_force(mu: Floats) -> None:
    n, actions = mu.shape
    assert gaps(mu).tolist() == [[brute_gap(mu, x, a) for a in range(actions)] for x in range(n)]


@given(rewards)
def test_every_context_has_an_action_without_gap(mu: Floats) -> None:
    assert (gaps(mu).min(axis=1) == 0).all()


@given(rewards)
def test_pairwise_distance_agrees_with_brute_force(mu: Floats) -> None:
    distance = pairwise_distance(mu)
    for x, y in permutations(range(len(mu)), 2):
        assert distance[x, y] == brute_radius(mu, [x, y])


@given(rewards)
def test_pairwise_distance_is_symmetric_with_a_zero_diagonal(mu: Floats) -> None:
    distance = pairwise_distance(mu)
    assert (distance == distance.T).all()
    assert (np.diag(distance) == 0).all()


def test_pairwise_distance_breaks_the_triangle_inequality() -> None:
    # The middle context is indifferent, so it is near to both; the outer two want opposite actions.
    assert pairwise_distance([[1, 0], [1, 1], [0, 1]]).tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


@given(st.data(), rewards)
def test_radius_agrees_with_brute_force_and_its_action_attains_it(
    data: st.DataObject, mu: Floats
) -> None:
    members = data.draw(clusters(len(mu)))
    value, action = radius(gaps(mu), members)
    losses = [max(brute_gap(mu, x, a) for x in members) for a in range(mu.shape[1])]
    assert value == brute_radius(mu, members)
    assert action == losses.index(value)  # index finds the first


def test_radius_prefers_the_smallest_action_on_ties() -> None:
    assert radius([[0.5, 0.25, 0.25], [0.0, 0.0, 0.25]]) == (0.25, 1)


@given(rewards)
def test_radius_of_no_members_given_is_that_of_all(mu: Floats) -> None:
    assert radius(gaps(mu)) == radius(gaps(mu), range(len(mu)))


@given(st.data(), rewards)
def test_radius_never_falls_when_a_cluster_grows(data: st.DataObject, mu: Floats) -> None:
    small, more = data.draw(clusters(len(mu))), data.draw(clusters(len(mu)))
    assert radius(gaps(mu), small)[0] <= radius(gaps(mu), small + more)[0]


def test_pairwise_near_contexts_can_be_far_apart_as_a_cluster() -> None:
    mu = 1.0 - np.eye(
        3
    )  # each context rejects one action: two have a third in common, three have none
    assert (pairwise_distance(mu) == 0).all()
    assert radius(gaps(mu))[0] == 1.0


@given(st.data(), rewards, units)
def test_a_cluster_can_share_exactly_when_some_action_is_near_optimal_in_all(
    data: st.DataObject, mu: Floats, eps: float
) -> None:
    members = data.draw(clusters(len(mu)))
    fitting = [a for a in range(mu.shape[1]) if all(brute_gap(mu, x, a) <= eps for x in members)]
    witness = can_share(gaps(mu), members, eps)
    assert (witness is None) == (not fitting)
    assert witness is None or witness in fitting


@given(st.data(), rewards)
def test_the_forgetting_boundary_is_the_radius(data: st.DataObject, mu: Floats) -> None:
    members = data.draw(clusters(len(mu)))
    boundary, action = radius(gaps(mu), members)
    assert can_share(gaps(mu), members, boundary) == action
    below = math.nextafter(boundary, -1.0)
    assert below < 0 or can_share(gaps(mu), members, below) is None


# Envelopes


def test_guard_band_of_scores_worked_by_hand() -> None:
    # mean .5, unbiased dispersion .08, with the floor .1 over B = 2: sqrt(.09) = .3, and a slack of
    # .05
    band = guard_band([[[0.3, 0.7]]], c_beta=1.0, sigma_0=math.sqrt(0.1), eta_cal=0.05)
    assert band.lower == pytest.approx(0.15)
    assert band.upper == pytest.approx(0.85)


def test_guard_band_divides_the_dispersion_by_the_number_of_scorers() -> None:
    # four equal scores: 2 * sqrt(.2**2 / 4) = .2
    band = guard_band([[[0.5] * 4]], c_beta=2.0, sigma_0=0.2, eta_cal=0.0)
    assert (band.lower.item(), band.upper.item()) == pytest.approx((0.3, 0.7))


@given(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(2, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=units)
))  # fmt: skip
def test_guard_band_is_the_clipped_formula(scores: Floats) -> None:
    band = guard_band(scores, **BAND)
    for x, a in np.ndindex(scores.shape[:2]):
        row = [float(s) for s in scores[x, a]]
        mean = sum(row) / len(row)
        dispersion = sum((s - mean) ** 2 for s in row) / (len(row) - 1)
        beta = 1.0 * math.sqrt((dispersion + 0.1**2) / len(row)) + 0.05
        assert band.lower[x, a] == pytest.approx(max(0.0, mean - beta))
        assert band.upper[x, a] == pytest.approx(min(1.0, mean + beta))


def test_guard_band_of_missing_scores_is_the_whole_unit_interval() -> None:
    nan = math.nan
    band = guard_band([[[nan, nan], [0.5, 0.5]]], **BAND)
    assert (band.lower[0, 0], band.upper[0, 0]) == (0.0, 1.0)
    assert 0.0 < band.lower[0, 1] < 0.5 < band.upper[0, 1] < 1.0


def test_guard_band_reads_fewer_axes_as_one_context() -> None:
    several, one = guard_band([[0.1, 0.3], [0.9, 0.7]], **BAND), guard_band([0.1, 0.3], **BAND)
    assert several.lower.shape == (1, 2)
    assert one.lower.shape == (1, 1)
    assert one.upper[0, 0] == several.upper[0, 0]


def test_hoeffding_of_counts_worked_by_hand() -> None:
    # N A = 4, t = 50: log(4 * 4 * 50**2 / delta) is 16 at this delta, so that 50 pulls give sqrt(16
    # / 100) = .4
    envelope = hoeffding(
        np.full((2, 2), 0.5), np.full((2, 2), 50), t=50, delta=40_000 * math.exp(-16)
    )
    assert envelope.lower == pytest.approx(np.full((2, 2), 0.1))
    assert envelope.upper == pytest.approx(np.full((2, 2), 0.9))


def test_hoeffding_is_clipped_to_the_unit_interval() -> None:
    envelope = hoeffding([[0.1, 0.9]], [[500, 500]], t=1000, delta=0.05)
    assert envelope.lower[0, 0] == 0.0 < envelope.upper[0, 0] < 1.0
    assert 0.0 < envelope.lower[0, 1] < envelope.upper[0, 1] == 1.0


def test_hoeffding_ignores_the_mean_of_a_pair_never_observed() -> None:
    envelope = hoeffding([[math.nan, 7.0]], [[0, 0]], t=1, delta=0.1)
    assert (envelope.lower.tolist(), envelope.upper.tolist()) == ([[0.0, 0.0]], [[1.0, 1.0]])


@given(st.integers(1, 500), st.integers(0, 500), units)
def test_hoeffding_narrows_with_counts_and_widens_with_rounds(
    count: int, later: int, mean: float
) -> None:
    now = hoeffding([[mean]], [[count]], t=1000, delta=0.1)
    more = hoeffding([[mean]], [[count + 1]], t=1000, delta=0.1)
    stale = hoeffding([[mean]], [[count]], t=1000 + later, delta=0.1)
    assert now.lower[0, 0] <= more.lower[0, 0] <= more.upper[0, 0] <= now.upper[0, 0]
    assert stale.lower[0, 0] <= now.lower[0, 0] <= now.upper[0, 0] <= stale.upper[0, 0]


def test_hoeffding_fails_at_any_round_in_at_most_delta_of_adaptive_runs() -> None:
    rng, delta, runs, rounds = np.random.default_rng(7), 0.9, 200, 60
    mu, failures = np.array([[0.5, 0.6]]), 0
    for _ in range(runs):
        sums, counts, failed = np.zeros((1, 2)), np.zeros((1, 2)), False
        for t in range(1, rounds + 1):
            envelope = hoeffding(sums / np.maximum(counts, 1), counts, t=t, delta=delta)
            failed |= bool(((envelope.lower > mu) | (envelope.upper < mu)).any())
            arm = int(envelope.upper.argmax())  # optimism: what is pulled depends on what was seen
            sums[0, arm] += rng.random() < mu[0, arm]
            counts[0, arm] += 1
        failures += failed
    assert failures <= delta * runs


def test_an_envelope_keeps_a_copy_that_cannot_be_written() -> None:
    source = np.zeros((1, 2))
    envelope = Envelope(source, np.ones((1, 2)))
    source[:] = 0.5
    assert envelope.lower.tolist() == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="read-only"):
        envelope.upper[0, 0] = 0.5


# Certificates


def test_gap_bounds_of_an_envelope_worked_by_hand() -> None:
    envelope = box([[0.5, 0.25]], [[1.0, 0.25]])
    assert lower_gaps(envelope).tolist() == [[-0.5, 0.25]]
    assert lower_losses(envelope).tolist() == [[0.0, 0.25]]
    assert upper_gaps(envelope).tolist() == [[0.5, 0.75]]


# Nothing below allows for rounding: rounding keeps order, so the bounds hold exactly in floating
# point too.


@given(layers(3))
def test_certified_gaps_contain_the_truth(stack: Floats) -> None:
    lower, mu, upper = stack
    envelope = Envelope(lower, upper)
    assert (lower_gaps(envelope) <= lower_losses(envelope)).all()
    assert (lower_losses(envelope) <= gaps(mu)).all()
    assert (gaps(mu) <= upper_gaps(envelope)).all()


@given(layers(3))
def test_certified_distances_contain_the_truth(stack: Floats) -> None:
    lower, mu, upper = stack
    low, high = distance_bounds(Envelope(lower, upper))
    assert (low <= pairwise_distance(mu)).all()
    assert (pairwise_distance(mu) <= high).all()


@given(st.data(), layers(3))
def test_certified_radii_contain_the_truth(data: st.DataObject, stack: Floats) -> None:
    lower, mu, upper = stack
    members = data.draw(clusters(len(mu)))
    low, high = radius_bounds(Envelope(lower, upper), members)
    assert low <= radius(gaps(mu), members)[0] <= high


@given(st.data(), layers(2))
def test_radius_bounds_agree_with_brute_force(data: st.DataObject, stack: Floats) -> None:
    lower, upper = stack
    members = data.draw(clusters(len(lower)))
    actions = range(lower.shape[1])
    low = min(max(max(lower[x]) - upper[x, a] for x in members) for a in actions)
    high = min(max(max(upper[x]) - lower[x, a] for x in members) for a in actions)
    assert radius_bounds(Envelope(lower, upper), iter(members)) == (max(0.0, low), high)


@given(layers(2))
def test_distance_bounds_of_a_pair_are_its_radius_bounds(stack: Floats) -> None:
    envelope = Envelope(*stack)
    low, high = distance_bounds(envelope)
    for x, y in combinations(range(len(stack[0])), 2):
        assert (low[x, y], high[x, y]) == radius_bounds(envelope, [x, y])


@given(layers(2))
def test_distance_bounds_are_symmetric_and_never_part_a_context_from_itself(stack: Floats) -> None:
    low, high = distance_bounds(Envelope(*stack))
    assert (low == low.T).all()
    assert (high == high.T).all()
    assert (np.diag(low) == 0).all()


@given(rewards)
def test_an_envelope_without_width_gives_the_exact_quantities(mu: Floats) -> None:
    exact = Envelope(mu, mu)
    assert all((bound == pairwise_distance(mu)).all() for bound in distance_bounds(exact))
    assert radius_bounds(exact) == (radius(gaps(mu))[0],) * 2


@given(layers(4))
def test_widening_an_envelope_never_certifies_more(stack: Floats) -> None:
    wide, narrow = Envelope(stack[0], stack[3]), Envelope(stack[1], stack[2])
    (wide_low, wide_high), (narrow_low, narrow_high) = radius_bounds(wide), radius_bounds(narrow)
    assert wide_low <= narrow_low <= narrow_high <= wide_high
    assert (distance_bounds(wide)[0] <= distance_bounds(narrow)[0]).all()
    assert (distance_bounds(wide)[1] >= distance_bounds(narrow)[1]).all()


@given(layers(4, rows=2))
def test_widening_an_envelope_never_raises_the_candidate_radius(stack: Floats) -> None:
    wide, narrow = Envelope(stack[0], stack[3]), Envelope(stack[1], stack[2])
    assert candidate_radius(wide).radius <= candidate_radius(narrow).radius


@given(shapes)
def test_an_unknown_envelope_certifies_nothing(shape: tuple[int, int]) -> None:
    assert radius_bounds(unknown(shape)) == (0.0, 1.0)
    assert not cannot_link(unknown(shape), 0.0).any()


@given(st.data(), layers(2, rows=2))
def test_a_context_of_which_nothing_is_known_conflicts_with_none(
    data: st.DataObject, stack: Floats
) -> None:
    lower, upper = stack
    blank = data.draw(st.integers(0, 1))
    lower[blank], upper[blank] = 0.0, 1.0
    assert candidate_radius(Envelope(lower, upper)).radius == 0.0


def test_candidate_radius_of_a_conflict_worked_by_hand() -> None:
    # each context is served by its own candidate: the first loses .75 - .25 by the other's, the
    # second .75 - 0
    pair = box([[0.75, 0.0], [0.0, 0.75]], [[1.0, 0.25], [0.0, 1.0]])
    found = candidate_radius(pair)
    assert found.losses.tolist() == [[0.0, 0.5], [0.75, 0.0]]
    assert (found.radius, found.candidate) == (0.5, 1)


def test_the_losses_of_a_candidate_radius_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        candidate_radius(unknown((2, 1))).losses[0, 0] = 1.0


def test_one_candidate_that_serves_both_contexts_ends_the_conflict() -> None:
    lower = [[0.75, 0.0, 0.5], [0.0, 0.75, 0.5]]
    upper = [[1.0, 0.25, 0.75], [0.0, 1.0, 0.75]]
    found = candidate_radius(box(lower, upper))
    assert (found.radius, found.candidate) == (0.0, 2)


@given(layers(2, rows=2))
def test_candidate_radius_is_the_certified_distance_and_its_losses_show_it(stack: Floats) -> None:
    envelope = Envelope(*stack)
    found = candidate_radius(envelope)
    worst = [max(column) for column in found.losses.T.tolist()]
    assert found.radius == distance_bounds(envelope)[0][0, 1] == min(worst)
    assert found.candidate == worst.index(found.radius)


@given(layers(3), units)
def test_a_cannot_link_edge_proves_the_distance_exceeds_the_level(
    stack: Floats, level: float
) -> None:
    lower, mu, upper = stack
    graph = cannot_link(Envelope(lower, upper), level)
    assert (pairwise_distance(mu)[graph] > level).all()
    assert (graph == graph.T).all()
    assert not np.diag(graph).any()


def test_cannot_link_needs_more_than_the_level() -> None:
    exact = box([[0.5, 0.0], [0.0, 0.5]], [[0.5, 0.0], [0.0, 0.5]])
    assert cannot_link(exact, math.nextafter(0.5, 0.0)).tolist() == [[False, True], [True, False]]
    assert not cannot_link(exact, 0.5).any()


# Arguments out of range, and the shape of the package

ONE = box([[0.0, 0.0]], [[1.0, 1.0]])
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a reward above 1": (
        lambda: gaps([[0.5, 1.5]]),
        r"^mu must be in \[0, 1\] everywhere, got \[1.5\]",
    ),
    "a reward that is NaN": (lambda: gaps([[0.5, math.nan]]), r"^mu must be in \[0, 1\]"),
    "one context without its axis": (
        lambda: pairwise_distance([0.5, 0.5]),
        r"^mu must be .* matrix, got shape \(2,\)",
    ),
    "no actions": (lambda: gaps(np.zeros((2, 0))), "^mu must be a non-empty"),
    "words for rewards": (lambda: gaps([["good"]]), "^mu must be an array of numbers"),
    "ragged rewards": (lambda: gaps([[0.5], [0.5, 0.5]]), "^mu must be an array of numbers"),
    "a negative gap": (lambda: radius([[-0.5]]), "^gaps must be in"),
    "an empty cluster": (lambda: radius([[0.0]], []), "^members must be one or more"),
    "a member out of range": (lambda: radius([[0.0]], [1]), r"^members must be .* in \[0, 0\]"),
    "a negative member": (lambda: radius([[0.0]], [-1]), "^members must be"),
    "a mask of members": (lambda: radius([[0.0]], [False]), "^members must be"),
    "a negative distortion": (
        lambda: can_share([[0.0]], None, -0.1),
        "^eps must be finite and >= 0",
    ),
    "a distortion that is NaN": (lambda: can_share([[0.0]], None, math.nan), "^eps must be"),
    "bounds of two shapes": (
        lambda: box([[0.0]], [[1.0, 1.0]]),
        "^upper must be of the shape of lower",
    ),
    "bounds that cross": (
        lambda: box([[0.5]], [[0.25]]),
        "^lower must be <= upper everywhere, got .* 0.25",
    ),
    "a lower bound below 0": (lambda: box([[-0.5]], [[0.5]]), "^lower must be in"),
    "an upper bound above 1": (lambda: box([[0.5]], [[1.5]]), "^upper must be in"),
    "an upper bound that is NaN": (lambda: box([[0.5]], [[math.nan]]), "^upper must be in"),
    "a shape without actions": (lambda: unknown((2, 0)), "^shape must be"),
    "one scorer": (lambda: guard_band([[[0.5]]], **BAND), "^scores must be .* B >= 2"),
    "no candidate": (
        lambda: guard_band(np.zeros((2, 0, 2)), **BAND),
        "^scores must be a non-empty",
    ),
    "four axes of scores": (lambda: guard_band(np.zeros((1, 1, 1, 2)), **BAND), "^scores must be"),
    "a score above 1": (
        lambda: guard_band([0.5, 1.5], **BAND),
        r"^scores must be in \[0, 1\].*1.5",
    ),
    "a score that is missing": (
        lambda: guard_band([0.5, math.nan], **BAND),
        "^scores must be all NaN or all numbers",
    ),
    "a negative multiplier": (
        lambda: guard_band([0.5, 0.5], **BAND | {"c_beta": -1.0}),
        "^c_beta must be",
    ),
    "no floor": (
        lambda: guard_band([0.5, 0.5], **BAND | {"sigma_0": 0.0}),
        "^sigma_0 must be finite and > 0",
    ),
    "a negative slack": (
        lambda: guard_band([0.5, 0.5], **BAND | {"eta_cal": -0.1}),
        "^eta_cal must be",
    ),
    "a slack that is NaN": (
        lambda: guard_band([0.5, 0.5], **BAND | {"eta_cal": math.nan}),
        "^eta_cal must be",
    ),
    "round 0": (
        lambda: hoeffding([[0.5]], [[0]], t=0, delta=0.1),
        "^t must be a whole number >= 1",
    ),
    "no failure allowed": (
        lambda: hoeffding([[0.5]], [[1]], t=1, delta=0.0),
        r"^delta must be in \(0, 1\)",
    ),
    "certain failure": (lambda: hoeffding([[0.5]], [[1]], t=1, delta=1.0), "^delta must be"),
    "a negative count": (lambda: hoeffding([[0.5]], [[-1]], t=1, delta=0.1), "^counts must be in"),
    "more counts than rounds": (
        lambda: hoeffding([[0.5]], [[9]], t=8, delta=0.1),
        r"^counts must be in \[0, 8\]",
    ),
    "half a count": (
        lambda: hoeffding([[0.5]], [[1.5]], t=2, delta=0.1),
        "^counts must be whole numbers",
    ),
    "an observed mean above 1": (
        lambda: hoeffding([[1.5]], [[1]], t=1, delta=0.1),
        "^means must be in",
    ),
    "an observed mean that is NaN": (
        lambda: hoeffding([[math.nan]], [[1]], t=1, delta=0.1),
        "^means must be in",
    ),
    "means of another shape": (
        lambda: hoeffding([0.5], [[1]], t=1, delta=0.1),
        "^means must be of the shape of",
    ),
    "a cluster outside an envelope": (lambda: radius_bounds(ONE, [1]), "^members must be"),
    "a negative level": (lambda: cannot_link(ONE, -0.5), "^level must be finite and >= 0"),
    "a pair of one context": (
        lambda: candidate_radius(ONE),
        r"^envelope_pair must be of shape \(2, U\)",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_out_of_range_is_named_with_its_range(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@settings(max_examples=often(25))
@given(rewards)
def test_arguments_are_never_changed(mu: Floats) -> None:
    before, values = mu.copy(), gaps(mu)
    kept = values.copy()
    radius(values, [0])
    pairwise_distance(mu)
    hoeffding(mu, np.ones(mu.shape), t=1, delta=0.1)
    assert (mu == before).all()
    assert (values == kept).all()


def test_the_public_names_are_sorted_and_there() -> None:
    assert decision.__all__ == sorted(set(decision.__all__))
    assert all(hasattr(decision, name) for name in decision.__all__)


def test_the_kernel_imports_numpy_and_itself_only() -> None:
    allowed = {*sys.stdlib_module_names, "numpy", "demem_agent.decision"}
    sources = sorted(Path(str(decision.__file__)).parent.rglob("*.py"))
    imported = {name for source in sources for name in _imports(source)}
    assert imported <= allowed


def _imports(source: Path) -> set[str]:
    """Name what a file imports: top-level packages, or the sub-package for our own."""
    nodes = list(ast.walk(ast.parse(source.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {
        ".".join(name.split(".")[: 2 if name.startswith("demem_agent") else 1]) for name in names
    }
