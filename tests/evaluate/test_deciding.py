"""Decisions replayed under other policies: by hand, by simulation, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from demem_agent import InvalidInput, SlotMemory
from demem_agent.evaluate import Policy, replay_decisions
from demem_agent.evaluate.deciding.estimates import mean_reward, self_normalised, weighted
from demem_agent.evaluate.deciding.policies import player_of
from demem_agent.evaluate.deciding.replaying import choices_of
from demem_agent.settings import DecideSettings
from demem_agent.slots.choosing import DecisionLog
from demem_agent.slots.choosing.playbook import Offer, Playbook
from demem_agent.slots.records import StoredSituation
from demem_agent.types import Decision, Situation

SLOTS, WIDTH = 3, 8
ACTIONS = ("a", "b", "c")
#: As uniform as a memory can be made.
UNIFORM = 1 - 1e-9


@dataclass(frozen=True)
class World:
    """Situations that come at random, of which each wants one of three actions.

    Attributes:
        expected: shape (N, 3).
    """

    expected: np.ndarray
    situations: tuple[StoredSituation, ...]

    @classmethod
    def drawn(cls, seed: int, situations: int = 12) -> World:
        rng = np.random.default_rng([7, seed])
        kinds = np.arange(situations) % SLOTS
        centres = rng.normal(size=(SLOTS, WIDTH))
        found = []
        for n, kind in enumerate(kinds):
            vector = centres[kind] + 0.3 * rng.normal(size=WIDTH)
            unit = (vector / np.linalg.norm(vector)).astype(np.float32)
            found.append(StoredSituation(Situation(f"x{n + 1}", f"kind {kind} {n}"), unit))
        wants = np.where(np.arange(situations) % 5 == 0, (kinds + 1) % 3, kinds)
        expected = np.full((situations, 3), 0.2)
        expected[np.arange(situations), wants] = 0.8
        return cls(expected, tuple(found))

    def reward(self, situation: int, action: str, rng: np.random.Generator) -> float:
        return float(rng.random() < self.expected[situation, ACTIONS.index(action)])

    def log(self, settings: DecideSettings, decisions: int, seed: int) -> DecisionLog:
        """Let the policy of a memory decide so often."""
        rng = np.random.default_rng([1, seed])
        book = Playbook(SLOTS, settings, WIDTH)
        made: list[Decision] = []
        met: dict[int, StoredSituation] = {}
        for n in range(decisions):
            situation = int(rng.integers(len(self.situations)))
            stored = self.situations[situation]
            if situation not in met:
                seen = replace(stored.situation, seen=2 * n + 1)
                met[situation] = StoredSituation(seen, stored.vector)
                book.meet(met[situation])
            draw = float(rng.random())
            action, choice = book.choice(met[situation], Offer(ACTIONS, draw=draw))
            decision = Decision(
                id=f"d{n + 1}",
                situation=stored.situation.id,
                action=action,
                actions=ACTIONS,
                slot=None,
                why="",
                cost=choice.cost,
                probability=choice.probability,
                taken=2 * n + 1,
                reward=self.reward(situation, action, rng),
                judged=2 * n + 2,
            )
            book.take(decision)
            book.judge(decision)
            made.append(decision)
        return DecisionLog(SLOTS, settings, WIDTH, tuple(met.values()), tuple(made))

    def truth(self, log: DecisionLog, wanted: dict[str, str]) -> float:
        """Return what the choices that a policy would have made are expected to bring."""
        found = []
        for one in log.decisions:
            situation = int(one.situation[1:]) - 1
            found.append(self.expected[situation, ACTIONS.index(wanted[one.id])])
        return float(np.mean(found))


def lone(action: str, probability: float | None, reward: float | None, n: int) -> Decision:
    """Return a decision by hand; all are of one situation."""
    return Decision(
        id=f"d{n}",
        situation="x1",
        action=action,
        actions=("a", "b"),
        slot=None,
        why="",
        probability=probability,
        taken=2 * n,
        reward=reward,
        judged=None if reward is None else 2 * n + 1,
    )


def log_of(chance: float, *decisions: Decision) -> DecisionLog:
    stored = StoredSituation(Situation("x1", "a case", seen=1), np.eye(WIDTH, dtype=np.float32)[0])
    settings = DecideSettings(chance=chance)
    return DecisionLog(SLOTS, settings, WIDTH, (stored,), decisions)


# By hand


def test_inverse_propensities_are_what_they_are_by_hand() -> None:
    weights, rewards = np.array([2.0, 0.0, 4.0, 0.0]), np.array([1.0, 1.0, 0.5, 0.0])
    assert weighted(weights, rewards, 4.0).mean == pytest.approx((2 + 2) / 4)
    assert self_normalised(weights, rewards).mean == pytest.approx((2 + 2) / 6)
    assert mean_reward(rewards).mean == pytest.approx(2.5 / 4)


def test_intervals_hold_their_means_and_stay_within_what_rewards_can_be() -> None:
    rng = np.random.default_rng(0)
    for count in (1, 2, 30, 1000):
        rewards = rng.random(count)
        for found in (mean_reward(rewards), self_normalised(np.ones(count), rewards)):
            assert 0 <= found.low <= found.mean <= found.high <= 1


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_an_interval_of_few_equal_outcomes_is_no_certainty(sure: float) -> None:
    found = self_normalised(np.full(4, 3.0), np.full(4, sure))
    assert found.high - found.low > 0.3


def test_intervals_narrow_as_decisions_become_more() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for count in (100, 1000, 10_000):
        weights = 3.0 * (rng.random(count) < 1 / 3)
        found = weighted(weights, (rng.random(count) < 0.7).astype(float), 3.0)
        widths.append(found.high - found.low)
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] < 0.15


def test_the_interval_of_inverse_propensities_misses_seldom_where_expectations_drift() -> None:
    rng = np.random.default_rng(3)
    missed = 0
    expected = np.linspace(0.2, 0.9, 400)
    for _ in range(200):
        weights = 5.0 * (rng.random(400) < 0.2)
        rewards = (rng.random(400) < expected).astype(float)
        found = weighted(weights, rewards, 5.0)
        missed += not found.low <= expected.mean() <= found.high
    assert missed <= 10


# By simulation


def run(world: World, policy: Policy, decisions: int, seed: int) -> float:
    """Return what a policy is expected to bring on average in decisions of its own."""
    rng = np.random.default_rng([2, seed])
    settings = DecideSettings()
    slots = policy.slots or SLOTS
    book = Playbook(slots, settings, WIDTH, corrections=policy.corrections)
    total = 0.0
    for n in range(decisions):
        situation = int(rng.integers(len(world.situations)))
        stored = world.situations[situation]
        action, choice = book.choice(stored, Offer(ACTIONS))
        if not book.knows(stored.situation.id):
            book.meet(stored)
        reward = world.reward(situation, action, rng)
        decision = replace(lone(action, choice.probability, reward, n), actions=ACTIONS)
        decision = replace(decision, situation=stored.situation.id)
        book.take(decision)
        book.judge(decision)
        total += world.expected[situation, ACTIONS.index(action)]
    return total / decisions


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("policy", "logs", "decisions"),
    [
        (Policy(slots=1), 3, 600),
        pytest.param(Policy(slots=1), 8, 900, marks=SLOW),
        pytest.param(Policy(), 8, 900, marks=SLOW),
        pytest.param(Policy(corrections=False), 8, 900, marks=SLOW),
    ],
)
def test_a_uniform_log_estimates_what_a_policy_brings_when_it_is_run(
    policy: Policy, logs: int, decisions: int
) -> None:
    world = World.drawn(0)
    found = []
    values = []
    for seed in range(logs):
        log = world.log(DecideSettings(chance=UNIFORM), decisions, seed)
        replay = replay_decisions(log, [policy])
        assert replay.uniform
        found.append(replay.policies[0])
        values.append(run(world, policy, replay.policies[0].matches, seed))
    value = np.mean(values)
    for one in found:
        assert one.ips is not None
        assert one.ips.low <= value <= one.ips.high
    means = [(one.ips.mean, one.snips.mean) for one in found if one.ips and one.snips]
    assert np.mean(means, axis=0) == pytest.approx([value, value], abs=0.05)


@pytest.mark.parametrize("learns_from", ["matches", "all"])
@pytest.mark.parametrize(
    ("chance", "logs"),
    [(0.5, 12), pytest.param(0.3, 60, marks=SLOW), pytest.param(UNIFORM, 60, marks=SLOW)],
)
def test_inverse_propensities_are_unbiased_where_the_log_learns_as_well(
    chance: float, logs: int, learns_from: Any
) -> None:
    differences = []
    for seed in range(logs):
        world = World.drawn(seed)
        log = world.log(DecideSettings(chance=chance), 100, seed)
        player = player_of(Policy(slots=1), log)
        assert not isinstance(player, str)
        wanted, _ = choices_of(log, player, learns_from)
        found = replay_decisions(log, [Policy(slots=1)], learns_from=learns_from).policies[0]
        assert found.ips is not None
        truth = world.truth(log, wanted)
        assert found.ips.low <= truth <= found.ips.high
        differences.append(found.ips.mean - truth)
    error = np.std(differences) / np.sqrt(logs)
    assert abs(np.mean(differences)) < 3 * error
    assert error < 0.05


def test_the_policy_of_the_log_chooses_as_it_did_where_nothing_was_left_to_chance() -> None:
    log = World.drawn(1).log(DecideSettings(), 200, 1)
    player = player_of(Policy(), log)
    assert not isinstance(player, str)
    wanted, taught = choices_of(log, player)
    assert [wanted[one.id] for one in log.decisions] == [one.action for one in log.decisions]
    assert taught == 200


def test_the_paper_s_form_can_be_replayed() -> None:
    log = World.drawn(0).log(DecideSettings(chance=UNIFORM), 300, 0)
    found = replay_decisions(log, [Policy(paper=True)]).policies[0]
    assert found.ips is not None
    assert 60 < found.matches < 140
    assert found.taught == found.matches


def test_a_policy_is_taught_nothing_of_choices_that_it_does_not_share() -> None:
    log = World.drawn(2).log(DecideSettings(chance=UNIFORM), 120, 2)
    player = player_of(Policy(), log)
    assert not isinstance(player, str)
    wanted, _ = choices_of(log, player)
    kept = [one for one in log.decisions if wanted[one.id] == one.action]
    again = player_of(Policy(), log)
    assert not isinstance(again, str)
    first = {one.situation for one in kept}
    situations = tuple(one for one in log.situations if one.situation.id in first)
    wanted_again, taught = choices_of(replace(log, decisions=tuple(kept)), again)
    assert situations
    assert taught == len(kept)
    assert all(wanted_again[one.id] == one.action for one in kept)


# What is left out


def test_without_chance_there_is_no_estimate_and_it_is_said_why() -> None:
    log = World.drawn(0).log(DecideSettings(), 50, 0)
    replay = replay_decisions(log)
    assert (replay.compared, replay.support, replay.logged) == (0, 0.0, None)
    for one in replay.policies:
        assert (one.ips, one.snips) == (None, None)
        assert "chance" in one.why_none
    assert replay.conditions == ()


def test_what_is_left_out_is_counted() -> None:
    log = log_of(
        0.4,
        lone("a", None, 1.0, 1),  # the agent's own
        lone("a", 0.8, None, 2),  # no outcome
        lone("b", 0.2, 1.0, 3),
        lone("b", 1.0, 1.0, 4),  # not to explore
        lone("a", 0.8, 0.0, 5),
    )
    replay = replay_decisions(log, [Policy()])
    assert (replay.decisions, replay.own, replay.untold) == (5, 1, 1)
    assert (replay.unsupported, replay.compared) == (1, 2)
    assert replay.support == pytest.approx(3 / 4)
    assert replay.logged is not None
    assert replay.logged.mean == 0.5
    assert not replay.uniform


def test_where_an_action_was_not_to_be_tried_there_is_no_support() -> None:
    memory = SlotMemory(decide=DecideSettings(chance=0.5))
    for _ in range(10):
        made = memory.decide("a case", ACTIONS, never=["c"])
        memory.feedback(made, reward=0.5)
    assert replay_decisions(memory.decision_log()).compared == 0
    memory.feedback(memory.decide("a case", ACTIONS), reward=0.5)
    assert replay_decisions(memory.decision_log()).compared == 1


def test_once_a_budget_may_keep_from_exploring_there_is_no_support() -> None:
    memory = SlotMemory(decide=DecideSettings(chance=0.5, budget=4.0))
    for _ in range(30):
        made = memory.decide("a case", ACTIONS)
        memory.feedback(made, outcome=made.action == "a")
    spent = np.cumsum([one.cost for one in memory.decisions()])
    free = 1 + int((spent <= 3).sum())
    assert 2 < free < 30
    assert replay_decisions(memory.decision_log()).compared == free


def test_a_policy_spends_of_a_budget_what_its_own_exploring_costs() -> None:
    log = World.drawn(1).log(DecideSettings(budget=6.0), 120, 1)
    player = player_of(Policy(), log)
    assert not isinstance(player, str)
    wanted, _ = choices_of(log, player)
    assert [wanted[one.id] for one in log.decisions] == [one.action for one in log.decisions]


def test_what_an_agent_chose_itself_teaches_every_policy() -> None:
    own = [lone("b", None, 1.0, n) for n in range(1, 9)]
    others = [lone("a", None, 0.0, n) for n in range(9, 17)]
    log = log_of(0.4, *own, *others, lone("b", 0.8, 1.0, 17))
    found = replay_decisions(log, [Policy()]).policies[0]
    assert (found.matches, found.taught) == (1, 17)


def test_a_policy_that_never_chose_alike_has_no_estimate() -> None:
    own = [lone("b", None, 1.0, n) for n in range(1, 9)]
    others = [lone("a", None, 0.0, n) for n in range(9, 17)]
    log = log_of(0.4, *own, *others, lone("a", 0.2, 1.0, 17))
    found = replay_decisions(log, [Policy()]).policies[0]
    assert (found.matches, found.ips, found.snips) == (0, None, None)
    assert "otherwise" in found.why_none


def test_the_paper_s_form_says_why_it_cannot_play_where_offers_differ() -> None:
    log = log_of(0.4, lone("a", 0.8, 1.0, 1), replace(lone("a", 1.0, 1.0, 2), actions=("a",)))
    found = replay_decisions(log, [Policy(paper=True)]).policies[0]
    assert found.ips is None
    assert "offered differs" in found.why_none


def test_an_outcome_that_came_late_teaches_late() -> None:
    late = replace(lone("a", 1.0, 1.0, 1), judged=99)
    log = log_of(0.0, late, *[lone("b", 1.0, 0.0, n) for n in range(2, 5)])
    player = player_of(Policy(), log)
    assert not isinstance(player, str)
    _, taught = choices_of(log, player, "all")
    assert taught == 4


def test_a_log_without_decisions_is_replayed_to_nothing() -> None:
    replay = replay_decisions(SlotMemory().decision_log())
    assert (replay.decisions, replay.support, replay.logged) == (0, 0.0, None)


def bad() -> Iterator[tuple[Callable[[], object], str]]:
    log = log_of(0.4, lone("a", 0.8, 1.0, 1))
    yield lambda: Policy(slots=0), "slots"
    yield lambda: Policy(slots=True), "slots"
    yield lambda: Policy(delta=0.0), "delta"
    yield lambda: Policy(delta=float("nan")), "delta"
    yield lambda: Policy(paper=True, corrections=False), "corrections"
    yield lambda: replay_decisions(log, []), "policies"
    yield lambda: replay_decisions(log, learns_from="some"), "learns_from"  # type: ignore[arg-type]


@pytest.mark.parametrize(("call", "field"), [*bad()])
def test_bad_input_names_its_field(call: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        call()


def test_a_replay_changes_nothing_and_is_the_same_again() -> None:
    log = World.drawn(0).log(DecideSettings(chance=0.2), 80, 0)
    assert replay_decisions(log) == replay_decisions(log)
