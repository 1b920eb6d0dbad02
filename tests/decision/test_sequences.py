"""Confidence sequences: by hand, covering as often as they say, narrower where they should.

Whether an interval is ever wrong is read off its end: the intervals only shrink, so one that holds
at the end of a history has held at every count before.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demem_agent.decision import (
    BernsteinSequence,
    Envelope,
    betting,
    cannot_link,
    empirical_bernstein,
    growing_shares,
    histories,
    hoeffding,
    pairwise_distance,
)

Floats = NDArray[np.float64]
Sequence = Callable[..., Envelope]
both = pytest.mark.parametrize("sequence", [empirical_bernstein, betting])
units = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 1.0)


@st.composite
def tables(draw: st.DrawFn) -> Floats:
    """Draw histories of up to 2 x 2 pairs, of different lengths, some empty."""
    shape = draw(st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 8)))
    table = draw(arrays(np.float64, shape, elements=units))
    lengths = draw(arrays(np.intp, shape[:2], elements=st.integers(0, shape[2])))
    table[np.arange(shape[2]) >= lengths[:, :, None]] = math.nan
    return table


def allowed(delta: float, runs: int = 1000) -> float:
    """Return the most failures that a rate of delta explains: mean and 3 standard deviations."""
    return delta * runs + 3 * math.sqrt(runs * delta * (1 - delta))


def wrong(envelope: Envelope, mu: Floats) -> bool:
    return bool(((envelope.lower > mu) | (envelope.upper < mu)).any())


def width(envelope: Envelope) -> float:
    return float((envelope.upper - envelope.lower).mean())


# Worked by hand


def test_the_first_step_of_the_bernstein_sequence_worked_by_hand() -> None:
    # One pair, so log(2 / delta) = 1 at delta = 2 / e. The first bet is cut to 1/2, the first guess
    # is 1/2, and the reward 1/2 is no surprise: penalty 0, so the half-width is log(2 / delta) /
    # bet = 2, past [0, 1].
    sequence = BernsteinSequence((1, 1), delta=2 / math.e)
    sequence.observe(0, 0, 0.5)
    assert (sequence.envelope().lower.item(), sequence.envelope().upper.item()) == (0.0, 1.0)
    for _ in range(
        7
    ):  # bets stay at 1/2 while variance falls: 8 equal rewards give 1 / (8 / 2) either side
        sequence.observe(0, 0, 0.5)
    assert sequence.envelope().lower.item() == pytest.approx(0.25)
    assert sequence.envelope().upper.item() == pytest.approx(0.75)


def test_the_first_step_of_betting_worked_by_hand() -> None:
    # At delta = 1/2 the capital has to reach 4. The first bet is 4, cut to .5 / m: after the reward
    # 1 it has grown to 1 + .5 / m * (1 - m), which is 4 at m = 1/7 (there the cut is 3.5). The bet
    # against high rewards has lost.
    found = betting([[[1.0]]], delta=0.5)
    assert found.lower.item() == pytest.approx(1 / 7, abs=1e-8)
    assert found.upper.item() == 1.0


@both
def test_a_pair_never_observed_has_the_whole_unit_interval(sequence: Sequence) -> None:
    found = sequence([[[math.nan] * 300, [0.5] * 300]], delta=0.1)
    assert (found.lower[0, 0], found.upper[0, 0]) == (0.0, 1.0)
    assert 0.4 < found.lower[0, 1] < 0.5 < found.upper[0, 1] < 0.6


# What always holds


@both
@settings(deadline=None)
@given(table=tables())
def test_more_rewards_narrow_an_interval_or_show_it_to_be_void(
    sequence: Sequence, table: Floats
) -> None:
    whole = sequence(table, delta=0.9)
    for length in range(1, table.shape[2]):
        part = sequence(table[:, :, :length], delta=0.9)
        inside = (part.lower <= whole.lower) & (whole.upper <= part.upper)
        assert (inside | ((whole.lower == 0) & (whole.upper == 1))).all()


@both
def test_rewards_that_contradict_each_other_leave_nothing_known(sequence: Sequence) -> None:
    drifted = sequence([[[1.0] * 500 + [0.0] * 5000]], delta=0.5)
    assert (drifted.lower.item(), drifted.upper.item()) == (0.0, 1.0)


@both
@settings(deadline=None)
@given(table=tables())
def test_mirrored_rewards_have_mirrored_intervals(sequence: Sequence, table: Floats) -> None:
    found, mirrored = sequence(table, delta=0.3), sequence(1.0 - table, delta=0.3)
    assert mirrored.lower == pytest.approx(1.0 - found.upper, abs=1e-6)
    assert mirrored.upper == pytest.approx(1.0 - found.lower, abs=1e-6)


@both
def test_each_of_several_pairs_gets_its_share_of_delta(sequence: Sequence) -> None:
    row = np.random.default_rng(2).random(50)
    alone = sequence(row[None, None], delta=0.1 / 6)
    shared = sequence(np.broadcast_to(row, (2, 3, 50)), delta=0.1)
    assert shared.lower == pytest.approx(np.full((2, 3), alone.lower.item()))
    assert shared.upper == pytest.approx(np.full((2, 3), alone.upper.item()))


@settings(deadline=None)
@given(tables())
def test_rewards_one_by_one_give_what_their_histories_give(table: Floats) -> None:
    sequence = BernsteinSequence(table.shape[:2], delta=0.2)
    for x, a in np.ndindex(table.shape[:2]):  # pair by pair, where the histories go count by count
        for reward in table[x, a][~np.isnan(table[x, a])]:
            sequence.observe(x, a, float(reward))
    found = empirical_bernstein(table, delta=0.2)
    assert sequence.envelope().lower == pytest.approx(found.lower, abs=1e-9)
    assert sequence.envelope().upper == pytest.approx(found.upper, abs=1e-9)


def test_long_histories_give_what_their_rewards_give_one_by_one() -> None:
    # Long enough for the bets to follow the variance: short ones are all cut.
    rewards = np.random.default_rng(6).random((1, 2, 400)) ** [[[1], [4]]]
    sequence = BernsteinSequence((1, 2), delta=0.1)
    for first, second in rewards[0].T:
        sequence.observe(0, 0, float(first))
        sequence.observe(0, 1, float(second))
    found = empirical_bernstein(rewards, delta=0.1)
    assert sequence.envelope().lower == pytest.approx(found.lower, abs=1e-9)
    assert sequence.envelope().upper == pytest.approx(found.upper, abs=1e-9)


def test_a_log_is_sorted_into_histories_in_order_of_observation() -> None:
    found = histories([0, 1, 0, 0], [1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4], (2, 2))
    nan = math.nan
    assert np.array_equal(
        found, [[[0.3, nan], [0.1, 0.4]], [[0.2, nan], [nan, nan]]], equal_nan=True
    )
    assert histories([], [], [], (1, 2)).shape == (1, 2, 1)


# Coverage

RUNS = 1000


def coin(mu: float, count: int) -> list[Floats]:
    """Toss a coin ``count`` times in each of the runs: histories of one pair."""
    rng = np.random.default_rng(11)
    return [(rng.random((1, 1, count)) < mu).astype(np.float64) for _ in range(RUNS)]


def wrong_runs(sequence: Sequence, mu: float, count: int, delta: float) -> int:
    return sum(
        wrong(sequence(rewards, delta=delta), np.array([[mu]])) for rewards in coin(mu, count)
    )


@both
@pytest.mark.parametrize(("mu", "delta"), [(0.5, 0.1), (0.9, 0.3)])
def test_an_interval_is_ever_wrong_in_at_most_delta_of_a_thousand_runs(
    sequence: Sequence, mu: float, delta: float
) -> None:
    assert wrong_runs(sequence, mu, 100, delta) <= allowed(delta)


def test_an_interval_made_for_one_count_fails_the_same_test_when_looked_at_every_time() -> None:
    delta, count = 0.1, np.arange(1, 301)
    band = np.sqrt(math.log(2 / delta) / (2 * count))  # Hoeffding at a fixed count
    means = [np.cumsum(rewards[0, 0]) / count for rewards in coin(0.5, 300)]
    assert sum(bool((abs(mean - 0.5) > band).any()) for mean in means) > allowed(delta)


def test_a_sequence_that_spends_too_much_delta_fails_the_same_test() -> None:
    assert wrong_runs(betting, 0.5, 100, 0.75) > allowed(0.1)


def test_certificates_of_betting_envelopes_are_wrong_in_at_most_delta_of_a_thousand_runs() -> None:
    rng, mu, delta, failures = np.random.default_rng(4), np.array([[0.6, 0.5], [0.5, 0.55]]), 0.2, 0
    true = pairwise_distance(mu)
    for _ in range(RUNS):
        rewards = (rng.random((2, 2, 60)) < mu[:, :, None]).astype(np.float64)
        envelope = betting(rewards, delta=delta)
        failures += bool((cannot_link(envelope, float(true[0, 1])) & (true <= true[0, 1])).any())
    assert failures <= allowed(delta)


def test_coverage_holds_where_rewards_decide_what_is_observed_next() -> None:
    rng, mu, delta, failures = np.random.default_rng(9), np.array([[0.5, 0.6]]), 0.5, 0
    for _ in range(60):
        sequence = BernsteinSequence((1, 2), delta=delta)
        for _ in range(150):
            action = int(sequence.envelope().upper.argmax())  # optimism
            sequence.observe(0, action, float(rng.random() < mu[0, action]))
        failures += wrong(sequence.envelope(), mu)
    assert failures <= allowed(delta, 60)


# Width, beside Hoeffding's envelope after as many rounds as there are rewards


@pytest.mark.parametrize("count", [20, 100, 1000])
@pytest.mark.parametrize("draw", ["coin", "rare", "even", "narrow"])
def test_betting_is_narrower_than_hoeffding_and_so_is_bernstein_from_a_hundred_on(
    draw: str, count: int
) -> None:
    rng = np.random.default_rng(count)
    rewards = {
        "coin": (rng.random((2, 3, count)) < 0.5).astype(np.float64),
        "rare": (rng.random((2, 3, count)) < 0.1).astype(np.float64),
        "even": rng.random((2, 3, count)),
        "narrow": 0.3 + 0.1 * rng.random((2, 3, count)),
    }[draw]
    shape = rewards.shape[:2]
    hoeffdings = width(
        hoeffding(rewards.mean(axis=2), np.full(shape, count), t=6 * count, delta=0.05)
    )
    assert width(betting(rewards, delta=0.05)) < 0.8 * hoeffdings
    assert width(empirical_bernstein(rewards, delta=0.05)) < (
        1.0 if count < 100 else 0.9 * hoeffdings
    )


def test_rewards_of_little_variance_are_told_apart_by_a_tenth_of_the_samples() -> None:
    rewards = 0.3 + 0.05 * np.random.default_rng(0).random((1, 1, 200))
    few = betting(rewards, delta=0.05)
    many = hoeffding([[0.325]], [[2000]], t=2000, delta=0.05)
    assert width(few) < 0.5 * width(many)


# Arguments

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a reward above 1": (
        lambda: betting([[[1.5]]], delta=0.1),
        r"^rewards must be in \[0, 1\], or NaN",
    ),
    "a gap in a history": (
        lambda: betting([[[0.5, math.nan, 0.5]]], delta=0.1),
        "^rewards must be without NaN",
    ),
    "no axis of counts": (
        lambda: empirical_bernstein([[0.5]], delta=0.1),
        r"^rewards must be a non-empty \(N, A, n\)",
    ),
    "certain failure": (
        lambda: empirical_bernstein([[[0.5]]], delta=1.0),
        r"^delta must be in \(0, 1\)",
    ),
    "no failure allowed": (lambda: betting([[[0.5]]], delta=0.0), "^delta must be"),
    "a shape without pairs": (lambda: BernsteinSequence((0, 1), delta=0.1), "^shape must be"),
    "one reward above 1": (
        lambda: BernsteinSequence((1, 1), delta=0.1).observe(0, 0, 1.5),
        "^reward must be in",
    ),
    "one reward that is NaN": (
        lambda: BernsteinSequence((1, 1), delta=0.1).observe(0, 0, math.nan),
        "^reward must",
    ),
    "a context outside": (
        lambda: BernsteinSequence((1, 1), delta=0.1).observe(1, 0, 0.5),
        "^context must be in",
    ),
    "an action below 0": (
        lambda: BernsteinSequence((1, 1), delta=0.1).observe(0, -1, 0.5),
        "^action must be in",
    ),
    "a log out of range": (
        lambda: histories([2], [0], [0.5], (2, 1)),
        "^contexts must be one row of whole",
    ),
    "a log of two lengths": (
        lambda: histories([0, 1], [0, 0], [0.5], (2, 1)),
        "^rewards must be as long as",
    ),
    "a log of rewards above 1": (lambda: histories([0], [0], [1.5], (1, 1)), "^rewards must be in"),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_argument_out_of_range_is_named_with_its_range(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("count", [1, 2, 3, 40, 1000])
def test_the_shares_of_actions_that_turn_up_never_sum_to_more_than_one(count: int) -> None:
    shares = growing_shares(count)
    assert len(shares) == count
    assert (shares > 0).all()
    assert shares.sum() <= 1


def test_a_share_does_not_depend_on_how_many_actions_turn_up_later() -> None:
    assert (growing_shares(3) == growing_shares(30)[:3]).all()


def test_equal_shares_are_those_of_a_number_of_actions_that_is_known() -> None:
    rewards = np.random.default_rng(1).random((2, 4, 30))
    known, shared = betting(rewards, delta=0.1), betting(rewards, delta=0.1, shares=[0.25] * 4)
    assert np.allclose(known.lower, shared.lower)
    assert np.allclose(known.upper, shared.upper)


@pytest.mark.parametrize("shares", [[0.5], [0.7, 0.7], [1.0, 0.0], [[0.5, 0.5]]])
def test_shares_that_are_none_are_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="shares must be 2 numbers"):
        betting(np.full((2, 2, 3), 0.5), delta=0.1, shares=shares)
