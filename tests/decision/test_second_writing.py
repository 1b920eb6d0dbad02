"""Algorithm "DeMem" against a second writing of it, line by line and without numpy.

Both play the same rounds and must choose the same actions. What the paper leaves open is settled
here as the library's docstrings say: equal actions follow one drawn order, of equal vertices the
first goes, of equal states the first is taken. Lower distances are cut at 0, below which none can
lie; the paper's proposition on the greedy gap needs that as well.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from often import often

from demem_agent.decision.learners.restarts import Restarting
from demem_agent.decision.learners.splits import CertifiedSplits

Rows = dict[int, list[float]]
#: (context, a uniform draw that a reward is made from), a round each.
Rounds = list[tuple[int, float]]


class Written:
    """The paper's algorithm as it stands there."""

    def __init__(
        self, contexts: int, actions: int, slots: int, delta: float, gamma: float, order: list[int]
    ) -> None:
        self.n_contexts, self.n_actions, self.k = contexts, actions, slots
        self.delta, self.gamma, self.order = delta, gamma, order
        self.t = 0
        self.counts: Rows = {}
        self.sums: Rows = {}
        self.home: dict[int, int] = {}
        self.epoch_ends = 1
        self.cluster_counts: Rows = {}
        self.cluster_sums: Rows = {}

    def choose(self, x: int) -> int:
        self.t += 1
        if self.t == self.epoch_ends:
            self.begin_epoch()
            self.epoch_ends *= 2
        if x not in self.counts:
            self.counts[x] = [0.0] * self.n_actions
            self.sums[x] = [0.0] * self.n_actions
            self.home[x] = self.fallback(x)
        needed = math.ceil(
            8
            * math.log(4 * self.n_contexts * self.n_actions * self.t**2 / self.delta)
            / self.gamma**2
        )
        if min(self.counts[x]) < needed:
            return min(self.order, key=lambda a: self.counts[x][a])
        return max(self.order, key=lambda a: self.index(self.home[x], a))

    def learn(self, x: int, action: int, reward: float) -> None:
        for counts, sums, row in (
            (self.counts, self.sums, x),
            (self.cluster_counts, self.cluster_sums, self.home[x]),
        ):
            counts.setdefault(row, [0.0] * self.n_actions)[action] += 1
            sums.setdefault(row, [0.0] * self.n_actions)[action] += reward

    def index(self, cluster: int, action: int) -> float:
        pulls = self.cluster_counts.get(cluster, [0.0] * self.n_actions)[action]
        total = self.cluster_sums.get(cluster, [0.0] * self.n_actions)[action]
        log_term = math.log(4 * self.n_actions * self.k * self.t**2 / self.delta)
        return total / max(1.0, pulls) + math.sqrt(2 * log_term / max(1.0, pulls))

    def begin_epoch(self) -> None:
        """Partition what was observed by smallest-last colouring at the first level that does."""
        self.cluster_counts, self.cluster_sums = {}, {}
        seen = sorted(self.counts)
        apart = {pair: self.lower_distance(*pair) for pair in combinations(seen, 2)}
        for level in sorted({0.0, *apart.values()}):
            edges = {frozenset(pair) for pair, distance in apart.items() if distance > level}
            order, degeneracy = smallest_last(seen, edges)
            if degeneracy + 1 <= self.k:
                self.home = coloured(order, edges)
                return

    def fallback(self, x: int) -> int:
        """Take the state whose certified radius is smallest with ``x`` in it."""
        radii = []
        for state in range(self.k):
            inside = [y for y, home in self.home.items() if home == state]
            radii.append(self.upper_radius([*inside, x]))
        return radii.index(min(radii))

    def bounds(self, x: int, action: int) -> tuple[float, float]:
        pulls = self.counts[x][action]
        if pulls == 0:
            return 0.0, 1.0
        width = math.sqrt(
            math.log(4 * self.n_contexts * self.n_actions * self.t**2 / self.delta) / (2 * pulls)
        )
        mean = self.sums[x][action] / pulls
        return max(0.0, mean - width), min(1.0, mean + width)

    def lower_gap(self, x: int, action: int) -> float:
        best = max(self.bounds(x, a)[0] for a in range(self.n_actions))
        return max(0.0, best - self.bounds(x, action)[1])

    def upper_gap(self, x: int, action: int) -> float:
        best = max(self.bounds(x, a)[1] for a in range(self.n_actions))
        return best - self.bounds(x, action)[0]

    def lower_distance(self, x: int, y: int) -> float:
        actions = range(self.n_actions)
        return min(max(self.lower_gap(x, a), self.lower_gap(y, a)) for a in actions)

    def upper_radius(self, members: list[int]) -> float:
        actions = range(self.n_actions)
        return min(max(self.upper_gap(x, a) for x in members) for a in actions)


def smallest_last(vertices: list[int], edges: set[frozenset[int]]) -> tuple[list[int], int]:
    """Take the vertex with the fewest neighbours out, the first of equals; the reverse is it."""
    left = list(vertices)
    taken = []
    degeneracy = 0
    while left:
        degrees = [sum(frozenset((x, y)) in edges for y in left) for x in left]
        degeneracy = max(degeneracy, min(degrees))
        taken.append(left.pop(degrees.index(min(degrees))))
    return taken[::-1], degeneracy


def coloured(order: list[int], edges: set[frozenset[int]]) -> dict[int, int]:
    colours: dict[int, int] = {}
    for x in order:
        near = {colour for y, colour in colours.items() if frozenset((x, y)) in edges}
        colours[x] = next(colour for colour in range(len(order)) if colour not in near)
    return colours


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[list[float]], int, int, Rounds]:
    """Draw rewards, K, a seed and rounds, most of them in the first context."""
    contexts, actions = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    quarters = st.sampled_from([0.0, 0.25, 0.75, 1.0])
    rows = st.lists(quarters, min_size=actions, max_size=actions)
    mu = draw(st.lists(rows, min_size=contexts, max_size=contexts))
    slots, seed = draw(st.integers(1, 3)), draw(st.integers(0, 999))
    return mu, slots, seed, drawn_rounds(contexts, draw(st.integers(1, 450)), seed)


def drawn_rounds(contexts: int, count: int, seed: int) -> Rounds:
    rng = np.random.default_rng(seed)
    chances = 0.5 ** np.arange(contexts)
    met = rng.choice(contexts, size=count, p=chances / chances.sum())
    return list(zip(met.tolist(), rng.random(count).tolist(), strict=True))


def order_of(actions: int, seed: int) -> list[int]:
    """Return the order that the learner draws at its beginning."""
    drawn: list[int] = np.random.default_rng(seed).permutation(actions).tolist()
    return drawn


def library(mu: list[list[float]], slots: int, seed: int) -> CertifiedSplits:
    return CertifiedSplits(
        len(mu), len(mu[0]), slots, delta=0.5, gamma=1.0, rng=np.random.default_rng(seed)
    )


def written(mu: list[list[float]], slots: int, seed: int) -> Written:
    return Written(len(mu), len(mu[0]), slots, 0.5, 1.0, order_of(len(mu[0]), seed))


def played(
    learner: CertifiedSplits | Restarting | Written, mu: list[list[float]], rounds: Rounds
) -> list[int]:
    chosen = []
    for context, uniform in rounds:
        action = learner.choose(context)
        learner.learn(context, action, float(uniform < mu[context][action]))
        chosen.append(action)
    return chosen


OPPOSED = [[1.0, 0.0], [0.0, 1.0]]


@settings(deadline=None, max_examples=often(25))
@given(histories())
@example((OPPOSED, 2, 7, drawn_rounds(2, 1_100, 7)))
def test_the_learner_plays_what_a_second_writing_of_the_paper_s_algorithm_plays(
    history: tuple[list[list[float]], int, int, Rounds],
) -> None:
    mu, slots, seed, rounds = history
    ours, theirs = library(mu, slots, seed), written(mu, slots, seed)
    assert played(ours, mu, rounds) == played(theirs, mu, rounds)
    assert {x: home for x, home in enumerate(ours.labels.tolist()) if home >= 0} == theirs.home


def test_the_example_of_two_opposed_contexts_reaches_the_ucb_of_its_states() -> None:
    learner = library(OPPOSED, 2, 7)
    played(learner, OPPOSED, drawn_rounds(2, 1_100, 7))
    assert learner.rounds_explored < learner.rounds
    assert learner.labels[0] != learner.labels[1]


@settings(deadline=None, max_examples=often(25))
@given(histories(), st.integers(1, 120))
def test_fixed_restarts_play_every_interval_as_a_learner_that_begins_with_it(
    history: tuple[list[list[float]], int, int, Rounds], period: int
) -> None:
    mu, slots, seed, rounds = history
    restarting = Restarting(lambda: library(mu, slots, seed), period)
    alone: list[int] = []
    for start in range(0, len(rounds), period):
        alone += played(written(mu, slots, seed), mu, rounds[start : start + period])
    assert played(restarting, mu, rounds) == alone
    assert restarting.restarts + 1 == math.ceil(len(rounds) / period)


@pytest.mark.parametrize(("first", "period"), [(200, 100), (250, 100)])
def test_only_an_interval_with_a_change_in_it_holds_rewards_of_two_worlds(
    first: int, period: int
) -> None:
    # The first stretch pays the first action, the rest the second: means other than 0 and 1 are
    # those of an interval that holds the change.
    restarting = Restarting(lambda: library([[1.0, 0.0]], 1, 3), period)
    mixed = []
    for t in range(500):
        action = restarting.choose(0)
        restarting.learn(0, action, float((action == 0) == (t < first)))
        learner = restarting.learner
        assert isinstance(learner, CertifiedSplits)
        if (t + 1) % period == 0:
            means = learner.own.sums[0] / np.maximum(learner.own.counts[0], 1)
            mixed.append(bool(((means > 0) & (means < 1)).any()))
    assert sum(mixed) == (first % period > 0)
