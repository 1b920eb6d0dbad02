"""The laboratory: the world, the baselines, and what one command writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from demem_agent.decision.learners.learner import Assignment, Confidence
from demem_agent.errors import InvalidInput
from demem_agent.studies.synthetic import EXPERIMENTS, Scale, make_world, run_lab
from demem_agent.studies.synthetic.baselines import Club, k_means
from demem_agent.studies.synthetic.cases import Case, measure_assignment, run_case
from demem_agent.studies.synthetic.environment import NOISE, Block, play, redraw
from demem_agent.studies.synthetic.epochs import EpochCase, run_epochs
from demem_agent.studies.synthetic.methods import METHODS
from demem_agent.studies.synthetic.partitions import BUDGETS
from demem_agent.studies.synthetic.scale import QUICK
from demem_agent.studies.synthetic.tables import epoch_tables

TINY = Scale(seeds=2, rounds=300, alphas=(0.0, 1.0), budgets=(2, 3), audits=2)
PNG = b"\x89PNG\r\n\x1a\n"


def same_group(labels: np.ndarray) -> np.ndarray:
    return labels[:, None] == labels[None, :]


def test_without_mismatch_descriptions_tell_identities() -> None:
    for seed in range(5):
        world = make_world(0.0, np.random.default_rng(seed))
        found = k_means(world.features, 8, np.random.default_rng(seed))
        assert (same_group(found) == same_group(world.identity)).all()


def test_with_full_mismatch_descriptions_tell_no_more_than_chance() -> None:
    agreement = []
    for seed in range(20):
        world = make_world(1.0, np.random.default_rng(seed))
        group = np.arange(60) % 8
        pairs = same_group(group) & ~np.eye(60, dtype=bool)
        agreement.append(same_group(world.identity)[pairs].mean())
    assert np.mean(agreement) == pytest.approx(1 / 8, abs=0.03)


def test_mismatch_changes_neither_rewards_nor_descriptions() -> None:
    first, second = (make_world(alpha, np.random.default_rng(3)) for alpha in (0.0, 0.5))
    assert (first.features == second.features).all()
    assert {tuple(row) for row in second.mu} <= {tuple(row) for row in first.mu}


def test_a_change_keeps_who_shares_an_identity() -> None:
    world = make_world(0.5, np.random.default_rng(0))
    after = redraw(world, np.random.default_rng(1))
    assert (after.identity == world.identity).all()
    assert not np.isclose(after.mu, world.mu).any()


class Scripted:
    """Plays one action after the other, and keeps what it is told."""

    def __init__(self, actions: int) -> None:
        self.actions = actions
        self.told: list[tuple[int, int, float]] = []

    def choose(self, context: int) -> int:
        return len(self.told) % self.actions

    def learn(self, context: int, action: int, reward: float) -> None:
        self.told.append((context, action, reward))

    def partition(self) -> Assignment:
        raise AssertionError("nobody asks for it")


def test_regret_is_what_the_actions_played_lose_and_rewards_have_their_means() -> None:
    world = make_world(0.5, np.random.default_rng(2), contexts=3, identities=2, actions=2)
    scripted = Scripted(2)
    regret = play(scripted, [Block(0, world)], 12_000, np.random.default_rng(3))
    best = [max(row) for row in world.mu.tolist()]
    assert regret.tolist() == [best[x] - world.mu[x, a] for x, a, _ in scripted.told]
    for x in range(3):
        for a in range(2):
            rewards = [reward for c, b, reward in scripted.told if (c, b) == (x, a)]
            assert np.mean(rewards) == pytest.approx(world.mu[x, a], abs=4 * NOISE / 2_000**0.5)
            assert all(0 <= reward <= 1 for reward in rewards)


def test_measures_of_a_hand_checkable_partition() -> None:
    gaps = np.array([[0.0, 0.4], [0.2, 0.0], [0.6, 0.0]])
    found = measure_assignment(Assignment(np.array([0, 0, 1]), np.array([1, 1])), gaps)
    assert found["wrong"] == pytest.approx(
        1 / 3
    )  # the first context is shown action 1, which loses 0.4
    assert found["loss"] == pytest.approx(0.4 / 3)
    assert found["d_star"] == pytest.approx(
        0.2 / 3
    )  # action 0 costs the first state 0.2 in all, action 1 0.4
    assert found["d_star_worst"] == pytest.approx(0.2)


def test_oracle_has_the_least_regret_where_descriptions_fail() -> None:
    for seed in range(3):
        regret = {m: run_case(Case(m, 100 + seed, 1.0, 8, 3_000))["regret"] for m in METHODS}
        assert min(regret, key=regret.__getitem__) == "Oracle"


@pytest.mark.parametrize("method", METHODS)
def test_a_case_depends_on_its_data_alone(method: str) -> None:
    case = Case(method, 100, 0.5, 4, 500)
    assert run_case(case) == run_case(case)


def test_methods_with_a_budget_hold_at_most_k_states() -> None:
    unbounded = {"Oracle", "No budget", "Feature-RAG"}
    for method in set(METHODS) - unbounded:
        for slots in (1, 3):
            assert run_case(Case(method, 100, 0.5, slots, 1_500))["states"] <= slots


def test_club_separates_what_differs_and_keeps_at_most_k_states() -> None:
    club = Club(Confidence(6, 2, noise=NOISE), 2, np.random.default_rng(0))
    value = np.array([0.9, 0.9, 0.5, 0.5, 0.1, 0.1])
    for i in range(1_200):
        context = i % 6
        action = club.choose(context)
        club.learn(context, action, float(value[context]) if action == 0 else 0.0)
    found = club.partition()
    assert found.labels[0] == found.labels[1]
    assert np.unique(found.labels).size == 2


def test_no_partition_of_an_epoch_is_better_than_the_frontier_or_worse_than_certified() -> None:
    found = run_epochs(EpochCase(3, seed=100, rounds=520))
    assert len(found["epochs"]) == 9  # from 2, 4, ..., 512 on
    for epoch in found["epochs"]:
        assert epoch["exact"] <= min(epoch["known"], epoch["sampled"])
        assert epoch["sampled"] <= epoch["certified"]
    assert found["epochs"][0]["exact"] == found["epochs"][0]["known"] == 0  # one context was met
    assert found["epochs"][-1]["exact"] > 0


def test_a_table_of_epochs_counts_those_that_are_exact() -> None:
    exact = {
        "exact": 0.2,
        "level": 0.1,
        "known": 0.2,
        "sampled": 0.3,
        "certified": 1.0,
        "degeneracy": 2,
    }
    off = {
        "exact": 0.2,
        "level": 0.1,
        "known": 0.4,
        "sampled": 0.2,
        "certified": 1.0,
        "degeneracy": 9,
    }
    rows = [{"k": k, "seed": 0, "epochs": [off, exact]} for k in BUDGETS]
    every, last = epoch_tables(rows, QUICK)
    assert every.rows[0]["by rewards exact"] == every.rows[0]["by certificates exact"] == "50%"
    assert every.rows[0]["by rewards / eps*"] == "1.50"
    assert (last.rows[0]["by rewards exact"], last.rows[0]["by certificates exact"]) == (
        "100%",
        "0%",
    )
    assert (every.rows[0]["zero-gap"], last.rows[0]["zero-gap"]) == ("50%", "100%")


def test_unknown_experiment_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="only"):
        run_lab(tmp_path / "out", names=["no such"])
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_every_experiment_writes_tables_and_a_figure(tmp_path: Path) -> None:
    ticks: list[tuple[int, int]] = []
    written = run_lab(
        tmp_path, scale=TINY, workers=1, tick=lambda done, total: ticks.append((done, total))
    )
    assert {path.name for path in written} == {
        f"{n}.{kind}" for n in EXPERIMENTS for kind in ("json", "txt", "png")
    }
    assert ticks[-1][0] == ticks[-1][1] == len(ticks)
    for name in EXPERIMENTS:
        document = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert document["runs"]
        assert all(table["rows"] for table in document["tables"])
        assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)
        text = (tmp_path / f"{name}.txt").read_text(encoding="utf-8")
        assert all(table["title"] in text for table in document["tables"])


@pytest.mark.slow
def test_processes_do_not_change_results(tmp_path: Path) -> None:
    for workers in (1, 2):
        run_lab(
            tmp_path / str(workers), scale=TINY, names=["changes", "partitions"], workers=workers
        )
    for name in ("changes.json", "partitions.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_quick_is_a_part_of_the_full_scale() -> None:
    full = Scale()
    assert set(QUICK.alphas) <= set(full.alphas)
    assert set(QUICK.budgets) <= set(full.budgets)
    assert QUICK.seeds < full.seeds
