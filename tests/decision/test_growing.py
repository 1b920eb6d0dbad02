"""The learner that grows: what holds for any calls in any order."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent.decision import GrowingPrior, Role
from demem_agent.decision.learners.growing import REASONS

SLOTS, WIDTH = 3, 4
Calls = list[tuple[Any, ...]]


def vector(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=WIDTH)
    return drawn / np.linalg.norm(drawn)


def grown(contexts: int, actions: int, **how: Any) -> GrowingPrior:
    learner = GrowingPrior(SLOTS, **how)
    for _ in range(actions):
        learner.add_action()
    for seed in range(contexts):
        learner.add_context(vector(seed % 5))
    return learner


def state(learner: GrowingPrior) -> list[Any]:
    """Everything that a choice rests on, as plain numbers."""
    arrays = (
        learner.slot,
        learner.role,
        learner.shown,
        learner.members,
        learner.own.counts,
        learner.own.sums,
        learner.pool.counts,
        learner.pool.sums,
        learner.vectors,
    )
    plain = [array.tolist() for array in arrays]
    return [*plain, list(learner._taken), learner.restarts, learner.left, learner.mistrusted]


def play(learner: GrowingPrior, mu: np.ndarray, rounds: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    regret = 0.0
    for _ in range(rounds):
        context = int(rng.integers(len(mu)))
        action = learner.choose(context, range(mu.shape[1])).action
        learner.take(context, action)
        reward = float(np.clip(mu[context, action] + 0.1 * rng.uniform(-1, 1), 0, 1))
        learner.learn(context, action, reward)
        regret += float(mu[context].max() - mu[context, action])
    return regret


@st.composite
def calls(draw: st.DrawFn) -> Calls:
    """Calls in any order; numbers are taken modulo what there is."""
    whole = st.integers(0, 10_000)
    kinds = st.one_of(
        st.tuples(st.just("context"), whole),
        st.tuples(st.just("action")),
        st.tuples(st.just("choose"), whole, st.sets(st.integers(0, 9), min_size=1)),
        st.tuples(st.just("learn"), whole, whole, st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])),
    )
    return draw(st.lists(kinds, max_size=120))


def follow(steps: Calls) -> tuple[GrowingPrior, list[Any]]:
    learner = grown(2, 2)
    chosen: list[Any] = []
    for kind, *given_values in steps:
        here = range(learner.contexts)
        if kind == "context":
            learner.add_context(vector(given_values[0] % 7))
        elif kind == "action":
            learner.add_action()
        elif not here:
            continue
        elif kind == "learn":
            context = here[given_values[0] % len(here)]
            learner.learn(context, given_values[1] % learner.actions, given_values[2])
        else:
            context = here[given_values[0] % len(here)]
            offered = sorted({action % learner.actions for action in given_values[1]})
            choice = learner.choose(context, offered)
            assert choice.action in offered
            assert choice.reason in REASONS
            assert 0 <= choice.cost <= 1
            assert choice.probability == 1
            learner.take(context, choice.action, offered)
            chosen.append(choice)
    return learner, chosen


@given(calls())
@settings(max_examples=often(40), deadline=None)
def test_any_calls_keep_to_the_slots_and_to_what_is_offered(steps: Calls) -> None:
    learner, _ = follow(steps)
    assert learner.shown.shape == (SLOTS,)
    assert ((learner.slot >= -1) & (learner.slot < SLOTS)).all()
    assert ((learner.shown >= -1) & (learner.shown < learner.actions)).all()
    placed = learner.role == Role.PLACED
    assert (learner.shown[learner.slot[placed]] >= 0).all()


@given(calls())
@settings(max_examples=often(40), deadline=None)
def test_slots_pool_what_their_members_were_rewarded(steps: Calls) -> None:
    learner, _ = follow(steps)
    for slot in range(SLOTS):
        members = (learner.slot == slot) & (learner.role == Role.MEMBER)
        assert learner.members[slot] == members.sum()
        assert learner.pool.counts[slot].tolist() == learner.own.counts[members].sum(0).tolist()
        assert learner.pool.sums[slot] == pytest.approx(learner.own.sums[members].sum(0))


@given(calls())
@settings(max_examples=often(30), deadline=None)
def test_the_same_calls_give_the_same_state_and_choices(steps: Calls) -> None:
    (first, one), (second, other) = follow(steps), follow(steps)
    assert one == other
    assert state(first) == state(second)


@given(calls(), st.booleans(), st.floats(0, 1), st.floats(0, 1, exclude_max=True))
@settings(max_examples=often(40), deadline=None)
def test_choosing_changes_nothing(steps: Calls, explore: bool, chance: float, draw: float) -> None:
    learner, _ = follow(steps)
    before = state(copy.deepcopy(learner))
    for context in range(learner.contexts):
        offered = range(learner.actions)
        one = learner.choose(context, offered, explore=explore, chance=chance, draw=draw)
        assert one == learner.choose(context, offered, explore=explore, chance=chance, draw=draw)
    assert state(learner) == before


@given(calls(), st.sets(st.integers(0, 9), min_size=1), st.floats(0, 1, exclude_max=True))
@settings(max_examples=often(40), deadline=None)
def test_what_may_never_be_explored_is_chosen_only_as_what_looks_best(
    steps: Calls, never: set[int], draw: float
) -> None:
    learner, _ = follow(steps)
    offered = range(learner.actions)
    for context in range(learner.contexts):
        try:
            choice = learner.choose(context, offered, never=never, chance=0.5, draw=draw)
        except ValueError:
            assert set(offered) <= never
            continue
        if choice.action in never:
            assert not choice.explores
            assert learner.own.counts[:, choice.action].any()


@given(calls(), st.floats(0.01, 1))
@settings(max_examples=often(40), deadline=None)
def test_probabilities_of_all_draws_sum_to_one(steps: Calls, chance: float) -> None:
    learner, _ = follow(steps)
    for context in range(min(learner.contexts, 3)):
        seen = {}
        for draw in np.linspace(0, 1, 101, endpoint=False):
            choice = learner.choose(
                context, range(learner.actions), chance=chance, draw=float(draw)
            )
            seen[choice.action] = choice.probability
        assert sum(seen.values()) <= 1 + 1e-9
        if chance > 0.5 and learner.actions <= 5:
            assert sum(seen.values()) == pytest.approx(1)


def test_without_exploring_the_best_known_is_chosen_and_costs_nothing() -> None:
    learner = grown(1, 3)
    assert learner.choose(0, [0, 1, 2], explore=False).reason == "guess"
    learner.learn(0, 1, 0.6)
    choice = learner.choose(0, [0, 1, 2], explore=False)
    assert (choice.action, choice.reason, choice.explores, choice.cost) == (1, "known", False, 0)


def test_awaited_rewards_keep_an_action_from_being_tried_again_and_again() -> None:
    learner = grown(1, 5)
    for _ in range(20):
        action = learner.choose(0, range(5)).action
        learner.take(0, action)
    tried = [action for _, action in learner._taken]
    assert np.bincount(tried, minlength=5).tolist() == [4] * 5


def test_rewards_that_never_come_are_awaited_for_a_hundred_takes() -> None:
    learner = grown(2, 2)
    learner.take(0, 0)
    for _ in range(100):
        learner.take(1, 1)
    assert (0, 0) not in learner._taken


def test_rewards_may_come_in_any_order() -> None:
    ahead, behind = grown(4, 3), grown(4, 3)
    told = [(0, 0, 0.5), (1, 1, 0.25), (2, 0, 0.75), (3, 2, 0.5)]
    for context, action, reward in told:
        ahead.learn(context, action, reward)
    for context, action, reward in reversed(told):
        behind.learn(context, action, reward)
    assert state(ahead) == state(behind)


def test_a_description_that_is_right_is_never_left() -> None:
    learner = GrowingPrior(5)
    for _ in range(4):
        learner.add_action()
    kinds = np.arange(15) % 5
    for kind in kinds.tolist():
        learner.add_context(vector(kind))
    play(learner, np.random.default_rng(0).uniform(size=(5, 4))[kinds], 1_500, 0)
    assert learner.left == 0
    assert (learner.role == Role.MEMBER).all()


def test_a_description_that_misleads_is_corrected() -> None:
    learner = GrowingPrior(SLOTS)
    for _ in range(4):
        learner.add_action()
    for _ in range(12):
        learner.add_context(vector(0))
    mu = np.tile([0.9, 0.1, 0.1, 0.1], (12, 1))
    mu[6:] = [0.1, 0.1, 0.1, 0.9]
    play(learner, mu, 1_500, 0)
    for context in range(12):
        assert learner.choose(context, range(4), explore=False).action == mu[context].argmax()


def test_late_rewards_of_an_action_that_is_gone_leave_no_follower_without_one() -> None:
    learner = grown(6, 2)
    play(learner, np.tile([0.9, 0.1], (6, 1)), 60, 0)
    new = learner.add_action()
    for step in range(150):
        learner.take(step % 6, new, [new])
    learner.learn(0, 0, 0.9)
    placed = learner.role == Role.PLACED
    assert (learner.shown[learner.slot[placed]] >= 0).all()
    assert all(learner.choose(context, [new]).action == new for context in range(6))


def test_an_action_that_is_gone_is_shown_no_more_and_a_new_one_is_found() -> None:
    learner = grown(10, 3)
    mu = np.tile([0.9, 0.5, 0.1, 0.8], (10, 1))
    play(learner, mu[:, :3], 600, 0)
    new = learner.add_action()
    rng = np.random.default_rng(1)
    for _ in range(600):
        context = int(rng.integers(10))
        action = learner.choose(context, [1, 2, new]).action
        learner.take(context, action, [1, 2, new])
        learner.learn(context, action, float(mu[context, action]))
    assert 0 not in learner.shown
    for context in range(10):
        assert learner.choose(context, [1, 2, new], explore=False).action == new


def test_a_change_of_the_world_starts_anew_and_nothing_else_does() -> None:
    learner = grown(10, 4)
    mu = np.random.default_rng(3).uniform(size=(5, 4))[np.arange(10) % 5]
    play(learner, mu, 1_500, 0)
    assert learner.restarts == 0
    play(learner, 1 - mu, 600, 1)
    assert learner.restarts >= 1


def test_a_profile_is_the_sum_over_whom_a_slot_serves() -> None:
    learner = grown(6, 3)
    play(learner, np.full((6, 3), 0.5), 60, 0)
    profiles = [learner.profile(slot) for slot in range(SLOTS)]
    assert sum(counts.sum() for counts, _ in profiles) == learner.own.counts.sum()


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_noise_is_that_of_zeros_and_ones_or_less(share: float) -> None:
    learner = grown(4, 2)
    rng = np.random.default_rng(0)
    for _ in range(400):
        context = int(rng.integers(4))
        reward = float(rng.uniform() < 0.7) if share else 0.7
        learner.learn(context, 0, reward)
    assert learner.dispersion.noise == 0.5 if share else learner.dispersion.noise < 0.1


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("offered", lambda learner: learner.choose(0, [])),
        ("offered", lambda learner: learner.choose(0, [2])),
        ("context", lambda learner: learner.choose(2, [0])),
        ("draw", lambda learner: learner.choose(0, [0], chance=0.5)),
        ("chance", lambda learner: learner.choose(0, [0], chance=1.5, draw=0.0)),
        ("never", lambda learner: learner.choose(0, [0, 1], never=[0, 1])),
        ("action", lambda learner: learner.take(0, 2)),
        ("reward", lambda learner: learner.learn(0, 0, 1.5)),
        ("vector", lambda learner: learner.add_context([1.0])),
        ("vector", lambda learner: learner.add_context([np.nan] * WIDTH)),
        ("slot", lambda learner: learner.profile(SLOTS)),
        ("slots", lambda _: GrowingPrior(0)),
        ("noise", lambda _: GrowingPrior(1, noise=0.6)),
        ("tolerance", lambda _: GrowingPrior(1, tolerance=0.0)),
    ],
)
def test_what_is_out_of_range_is_refused(name: str, call: Any) -> None:
    with pytest.raises(ValueError, match=name):
        call(grown(2, 2))


def odd_one(**how: Any) -> GrowingPrior:
    """Return a learner whose contexts are described alike, and of which the last is another."""
    learner = GrowingPrior(1, noise=0.1, **how)
    for _ in range(2):
        learner.add_action()
    for _ in range(4):
        learner.add_context(vector(0))
    for n in range(160):
        context = n % 4
        action = (n // 4) % 2
        better = 1 if context == 3 else 0
        learner.learn(context, action, 0.9 if action == better else 0.1)
    return learner


def test_every_parting_is_a_certificate_whose_numbers_hold() -> None:
    learner = odd_one()
    assert learner.partings
    for parting in learner.partings:
        apart = abs(parting.own.mean - parting.others.mean)
        assert parting.holds
        assert apart > parting.own.half_width + parting.others.half_width
        assert parting.own.count >= 1
        assert parting.others.count >= 1


def test_without_corrections_nobody_leaves_and_nobody_doubts() -> None:
    learner = odd_one(corrections=False)
    assert (learner.partings, learner.left) == ([], 0)
    assert (learner.role == Role.MEMBER).all()
    assert {learner.choose(context, [0, 1]).reason for context in range(4)} == {"slot"}
