"""Online learners: what holds for any world, seed and budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent.decision.certificates import distance_bounds, lower_gaps, upper_gaps
from demem_agent.decision.envelopes import Envelope
from demem_agent.decision.gaps import gaps, pairwise_distance
from demem_agent.decision.learners.correction import CorrectedPrior, Role
from demem_agent.decision.learners.learner import Confidence, Learner
from demem_agent.decision.learners.restarts import AdaptiveRestarts, Restarting
from demem_agent.decision.learners.splits import CertifiedSplits, PracticalSplits

CONTEXTS, ACTIONS = 12, 4
NOISE = 0.1

Make = Callable[[int, int], Learner]


def confidence() -> Confidence:
    return Confidence(CONTEXTS, ACTIONS, noise=NOISE)


def written(slots: int, seed: int) -> CertifiedSplits:
    return CertifiedSplits(CONTEXTS, ACTIONS, slots, rng=np.random.default_rng(seed))


def practical(slots: int, seed: int) -> PracticalSplits:
    return PracticalSplits(slots, confidence=confidence(), rng=np.random.default_rng(seed))


def corrected(slots: int, seed: int) -> CorrectedPrior:
    prior = np.arange(CONTEXTS) % slots
    return CorrectedPrior(
        prior, ACTIONS, slots, confidence=confidence(), rng=np.random.default_rng(seed)
    )


def restarting(slots: int, seed: int) -> Restarting:
    return Restarting(lambda: corrected(slots, seed), 150)


def adaptive(slots: int, seed: int) -> AdaptiveRestarts:
    return AdaptiveRestarts(lambda: corrected(slots, seed), confidence())


MAKERS: list[Make] = [written, practical, corrected, restarting, adaptive]


def rewards(seed: int, identities: int = 4) -> np.ndarray:
    rng = np.random.default_rng([seed, 99])
    return rng.uniform(size=(identities, ACTIONS))[rng.integers(identities, size=CONTEXTS)]


def play(
    learner: Learner,
    mu: np.ndarray,
    rounds: int,
    seed: int,
    watch: Callable[[int, int], None] = lambda context, action: None,
) -> list[int]:
    """Play rounds with uniform noise that leaves no reward outside [0, 1]; give the actions."""
    rng, played = np.random.default_rng([seed, 7]), []
    reach = np.minimum(NOISE * np.sqrt(3), np.minimum(mu, 1 - mu))
    for _ in range(rounds):
        context = int(rng.integers(len(mu)))
        action = learner.choose(context)
        watch(context, action)
        reward = mu[context, action] + reach[context, action] * rng.uniform(-1, 1)
        learner.learn(context, action, float(np.clip(reward, 0, 1)))
        played.append(action)
    return played


@pytest.mark.parametrize("make", MAKERS)
@given(seed=st.integers(0, 2**20), slots=st.integers(1, 6))
@settings(max_examples=often(8), deadline=None)
def test_never_more_than_k_slots(make: Make, seed: int, slots: int) -> None:
    learner = make(slots, seed)

    def holds(context: int, action: int) -> None:
        found = learner.partition()
        assert found.actions.shape == (slots,)
        assert found.labels.shape == (CONTEXTS,)
        assert ((found.labels >= -1) & (found.labels < slots)).all()
        assert ((found.actions >= -1) & (found.actions < ACTIONS)).all()

    play(learner, rewards(seed), 300, seed, holds)


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_same_actions(make: Make) -> None:
    first, second = (play(make(3, 5), rewards(1), 600, 2) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("context", "action", "reward"),
    [(-1, 0, 0.5), (CONTEXTS, 0, 0.5), (0, ACTIONS, 0.5), (0, 0, 1.1), (0, 0, np.nan)],
)
def test_a_round_out_of_range_is_refused(
    make: Make, context: int, action: int, reward: float
) -> None:
    learner = make(3, 0)
    with pytest.raises(ValueError, match="must be"):
        learner.learn(context, action, reward)


class Watched(CorrectedPrior):
    """Know the truth, and compare every certified disagreement with it."""

    mu: np.ndarray
    certified = 0

    def _disagrees(self, context: int, slot: int, action: int) -> bool:
        found = super()._disagrees(context, slot, action)
        if found:
            self.certified += 1
            tried = (
                (self.slot == slot) & (self.role == Role.MEMBER) & (self.own.counts[:, action] > 0)
            )
            assert np.ptp(self.mu[tried, action]) > 0  # else it left a slot that is all like itself
        return found


def test_a_context_leaves_only_a_slot_that_truly_differs() -> None:
    certified = 0
    for seed in range(15):
        learner = Watched(
            np.arange(CONTEXTS) % 3,
            ACTIONS,
            3,
            confidence=confidence(),
            rng=np.random.default_rng(seed),
        )
        learner.mu = rewards(seed, identities=3)
        play(learner, learner.mu, 800, seed)
        certified += learner.certified
    assert certified > 0


def test_nothing_leaves_where_the_prior_is_right() -> None:
    for seed in range(10):
        mu = np.random.default_rng(seed).uniform(size=(4, ACTIONS))[np.arange(CONTEXTS) % 4]
        learner = corrected(4, seed)
        play(learner, mu, 2_000, seed)
        assert learner.left == 0
        assert learner.rounds_alone == 0


def test_a_wrong_prior_is_corrected() -> None:
    mu = np.tile([0.9, 0.1, 0.1, 0.1], (CONTEXTS, 1))
    mu[CONTEXTS // 2 :] = [0.1, 0.1, 0.1, 0.9]
    learner = CorrectedPrior(
        np.zeros(CONTEXTS), ACTIONS, 2, confidence=confidence(), rng=np.random.default_rng(0)
    )  # one slot holds everyone, the other is free
    play(learner, mu, 3_000, 0)
    found = learner.partition()
    assert (found.actions[found.labels] == mu.argmax(axis=1)).all()
    assert (learner.role != Role.ALONE).all()


def without_kin(slots: int, seed: int) -> CorrectedPrior:
    prior, rng = np.arange(CONTEXTS) % slots, np.random.default_rng(seed)
    return CorrectedPrior(prior, ACTIONS, slots, confidence=confidence(), rng=rng, kinship=np.inf)


def test_kin_share_their_rewards_and_strangers_do_not() -> None:
    learner = corrected(3, 0)
    for context, first in ((0, 0.9), (1, 0.9), (2, 0.1)):
        for action, reward in enumerate([first, 0.5, 0.3]):
            learner.learn(context, action, reward)
    assert learner._kin(0).nonzero()[0].tolist() == [
        0,
        1,
    ]  # whoever tried nothing agrees on nothing
    assert learner._kin_rewards(0)[0].tolist() == [2, 2, 2, 0]


@pytest.mark.slow
def test_kin_make_exploration_cheaper_and_change_nothing_where_the_prior_is_right() -> None:
    explored = np.zeros(2)
    for seed in range(5):
        mu = np.random.default_rng(seed).uniform(size=(2, ACTIONS))
        wrong, right = mu[np.arange(CONTEXTS) // 6], mu[np.arange(CONTEXTS) % 2]
        for i, make in enumerate((corrected, without_kin)):
            learner = make(2, seed)
            play(learner, wrong, 2_000, seed)
            explored[i] += learner.rounds_alone
        assert play(corrected(2, seed), right, 1_000, seed) == play(
            without_kin(2, seed), right, 1_000, seed
        )
    assert 0 < explored[0] < explored[1]


@pytest.mark.slow
def test_without_kin_a_placed_context_is_certified_within_tolerance_when_slots_suffice() -> None:
    placed = 0
    for seed in range(10):
        mu, learner = rewards(seed), without_kin(ACTIONS, seed)
        play(learner, mu, 3_000, seed)
        assert not learner.saturated  # as many slots as actions: a free one is always found
        found = learner.partition()
        for context in np.flatnonzero(learner.role == Role.PLACED):
            placed += 1
            assert gaps(mu)[context, found.actions[found.labels[context]]] <= learner.tolerance
    assert placed > 0


def test_fewer_slots_than_needed_still_place_everyone() -> None:
    learner = corrected(1, 0)
    mu = np.eye(ACTIONS)[np.arange(CONTEXTS) % ACTIONS] * 0.8 + 0.1
    play(learner, mu, 6_000, 0)
    assert learner.saturated
    assert (learner.role == Role.PLACED).all()


def test_practical_form_never_explores_what_cannot_change_the_partition() -> None:
    explored = 0
    for seed in range(5):
        learner = practical(3, seed)
        last = 0

        def watch(context: int, action: int, learner: PracticalSplits = learner) -> None:
            nonlocal explored, last
            if learner.rounds_explored > last:
                row = learner.envelope()
                row = Envelope(row.lower[context : context + 1], row.upper[context : context + 1])
                settled = (
                    upper_gaps(row)[0, action] <= learner.gamma
                    or lower_gaps(row)[0, action] > learner.gamma
                )
                shown = learner.pool.leading(int(learner.labels[context]))
                assert not settled
                assert shown < 0 or upper_gaps(row)[0, shown] > learner.gamma
                assert learner.own.counts[context, action] < learner.threshold()
                explored += 1
            last = learner.rounds_explored

        play(learner, rewards(seed), 1_500, seed, watch)
    assert explored > 0


def test_practical_form_explores_less_than_the_written_one() -> None:
    for seed in range(5):
        first, second = written(3, seed), practical(3, seed)
        for learner in (first, second):
            play(learner, rewards(seed), 1_000, seed)
        assert second.rounds_explored < first.rounds_explored


def test_written_form_explores_until_every_pair_reaches_its_threshold() -> None:
    learner = CertifiedSplits(2, 2, 2, delta=0.5, gamma=1.0, rng=np.random.default_rng(0))

    def watch(context: int, action: int) -> None:
        if learner.own.counts[context].min() < learner.threshold():
            assert learner.own.counts[context, action] == learner.own.counts[context].min()

    play(learner, np.array([[0.9, 0.1], [0.1, 0.9]]), 2_500, 0, watch)
    assert learner.own.counts.min() >= learner.threshold()
    assert learner.rounds_explored < 2_500
    found = learner.partition()
    assert found.actions[found.labels].tolist() == [0, 1]


def test_written_form_keeps_its_partition_within_an_epoch() -> None:
    learner = written(3, 0)
    frozen: list[np.ndarray] = []

    def watch(context: int, action: int) -> None:
        starts = learner.rounds & (learner.rounds - 1) == 0
        seen = [] if starts or not frozen else np.flatnonzero(frozen[-1] >= 0)
        assert all(learner.labels[x] == frozen[-1][x] for x in seen)
        frozen.append(learner.labels.copy())

    play(learner, rewards(0), 400, 0, watch)


@given(seed=st.integers(0, 2**20), delta=st.sampled_from([0.05, 0.5]))
@settings(max_examples=often(20), deadline=None)
def test_half_widths_shrink_with_counts_and_grow_with_freedom(seed: int, delta: float) -> None:
    known = Confidence(CONTEXTS, ACTIONS, delta, NOISE)
    count = int(np.random.default_rng(seed).integers(1, 10_000))
    assert known.single(count + 1) < known.single(count)
    assert known.single(count) < known.pooled(count, 2) < known.pooled(count, CONTEXTS // 2)
    assert known.singles(np.array([float(count)]))[0] == pytest.approx(known.single(count))


@pytest.mark.slow
def test_certificates_of_a_learner_that_adapts_are_wrong_in_at_most_delta_of_runs() -> None:
    delta, runs, wrong, proven = 0.2, 60, 0, 0
    for seed in range(runs):
        mu = rewards(seed)
        known = Confidence(CONTEXTS, ACTIONS, delta, NOISE)
        learner = PracticalSplits(3, confidence=known, rng=np.random.default_rng(seed))
        bad = False
        for part in range(4):
            play(learner, mu, 100, seed * 10 + part)
            lower = distance_bounds(learner.envelope())[0]
            bad |= bool((lower > pairwise_distance(mu)).any())
            proven += int((lower > 0).sum())
        wrong += bad
    assert proven > 0
    assert wrong <= delta * runs


def test_restarts_come_every_period() -> None:
    learner = restarting(3, 0)
    play(learner, rewards(0), 451, 0)
    assert learner.restarts == 3


def test_an_adaptive_restart_waits_for_a_change() -> None:
    mu = rewards(3)
    learner = adaptive(3, 0)
    play(learner, mu, 1_500, 0)
    assert learner.restarts == 0
    play(learner, 1 - mu, 600, 1)
    assert learner.restarts >= 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tolerance", 0.0),
        ("trust", 1.5),
        ("slot_trust", 0.0),
        ("tolerance", np.nan),
        ("kinship", 1.0),
    ],
)
def test_settings_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        CorrectedPrior(
            np.zeros(CONTEXTS),
            ACTIONS,
            2,
            confidence=confidence(),
            rng=np.random.default_rng(0),
            **{name: value},
        )


def test_confidence_out_of_range_is_refused() -> None:
    for given_values in ((0, 1, 0.1, 0.1), (1, 1, 0.0, 0.1), (1, 1, 0.1, 0.6), (1, 1, 0.1, 0.0)):
        with pytest.raises(ValueError, match="must be"):
            Confidence(*given_values)
