"""What the learners are compared with. All play the same UCB index, with the same knowledge of the
noise.

The paper lets several baselines choose greedily; with an exploring index they are the stronger for
it.
Source: appendix "Synthetic Diagnostic Environment".
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from demem_agent.decision.learner import Assignment, Confidence, Tally, upper_confidence
from demem_agent.studies.synthetic.environment import NOISE, Floats, Labels

__all__ = ["Club", "FeatureGreedy", "Grouped", "Neighbours", "k_means"]


class Grouped:
    """Play UCB on fixed groups: of identities (Oracle), of descriptions (Feature-KMeans), or drawn
    (Random).
    """

    def __init__(self, labels: Labels, actions: int, rng: Generator) -> None:
        self.labels = labels
        self.pool = Tally(int(labels.max()) + 1, actions)
        self.order: Labels = rng.permutation(actions)

    def choose(self, context: int) -> int:
        row = self.labels[context]
        return upper_confidence(self.pool.counts[row], self.pool.sums[row], NOISE, self.order)

    def learn(self, context: int, action: int, reward: float) -> None:
        self.pool.add(int(self.labels[context]), action, reward)

    def partition(self) -> Assignment:
        return Assignment(self.labels, _leading(self.pool))


class Neighbours:
    """Feature-RAG: weigh the rewards of the nearest descriptions, by UCB on their weighted means
    and counts.

    Its memory bank holds every context: it is description-based, but not held to K states. What it
    plays in the end groups contexts by action, which is the partition it is measured by.
    """

    def __init__(self, features: Floats, actions: int, rng: Generator, *, nearest: int = 5) -> None:
        distance = ((features[:, None] - features[None]) ** 2).sum(axis=2)
        self.near: Labels = np.argsort(distance, axis=1, kind="stable")[:, :nearest]
        chosen = np.take_along_axis(distance, self.near, axis=1)
        self.weight: Floats = np.exp(
            -chosen / np.maximum(chosen.mean(axis=1, keepdims=True), 1e-12)
        )
        self.own = Tally(len(features), actions)
        self.order: Labels = rng.permutation(actions)

    def choose(self, context: int) -> int:
        counts, sums = self._pooled(context)
        return upper_confidence(counts, sums, NOISE, self.order)

    def learn(self, context: int, action: int, reward: float) -> None:
        self.own.add(context, action, reward)

    def partition(self) -> Assignment:
        labels = [self._best(context) for context in range(len(self.near))]
        return Assignment(np.array(labels, dtype=np.intp), np.arange(self.own.counts.shape[1]))

    def _pooled(self, context: int) -> tuple[Floats, Floats]:
        near, weight = self.near[context], self.weight[context]
        return weight @ self.own.counts[near], weight @ self.own.sums[near]

    def _best(self, context: int) -> int:
        counts, sums = self._pooled(context)
        return int(np.where(counts > 0, sums / np.maximum(counts, 1e-12), -1.0).argmax())


class FeatureGreedy:
    """Epsilon-greedy on clusters of descriptions that form online: a far context opens one while
    fewer than K exist.
    """

    def __init__(
        self, features: Floats, actions: int, slots: int, rng: Generator, *, epsilon: float = 0.05
    ) -> None:
        self.features, self.rng, self.epsilon = features, rng, epsilon
        self.centres: list[Floats] = []
        self.slots, self.seen = slots, np.zeros(slots)
        self.pool = Tally(slots, actions)
        self.labels = np.full(len(features), -1, dtype=np.intp)

    def choose(self, context: int) -> int:
        slot = self._nearest(context)
        explores = self.rng.uniform() < self.epsilon
        if len(self.centres) < self.slots and (explores or not self.centres):
            slot = self._open(context)
        self.labels[context] = slot
        if explores:
            return int(self.rng.integers(self.pool.counts.shape[1]))
        return max(self.pool.leading(slot), 0)

    def learn(self, context: int, action: int, reward: float) -> None:
        slot = int(self.labels[context])
        self.pool.add(slot, action, reward)
        self.seen[slot] += 1
        self.centres[slot] = (
            self.centres[slot] + (self.features[context] - self.centres[slot]) / self.seen[slot]
        )

    def partition(self) -> Assignment:
        labels = [self._nearest(context) for context in range(len(self.features))]
        return Assignment(np.array(labels, dtype=np.intp), np.maximum(_leading(self.pool), 0))

    def _nearest(self, context: int) -> int:
        if not self.centres:
            return 0
        return int(((np.array(self.centres) - self.features[context]) ** 2).sum(axis=1).argmin())

    def _open(self, context: int) -> int:
        self.centres.append(self.features[context].copy())
        return len(self.centres) - 1


class Club:
    """CLUB-style clustering: contexts stay linked until their rewards differ; components share
    their rewards.

    Only the K components with the most rounds keep a state; every other one uses the state whose
    means are nearest.
    """

    def __init__(self, confidence: Confidence, slots: int, rng: Generator) -> None:
        self.confidence, self.slots = confidence, slots
        self.own = Tally(confidence.contexts, confidence.actions)
        self.linked = np.ones((confidence.contexts, confidence.contexts), dtype=np.bool_)
        self.order: Labels = rng.permutation(confidence.actions)
        self.labels, self.pool = (
            np.zeros(confidence.contexts, dtype=np.intp),
            Tally(1, confidence.actions),
        )

    def choose(self, context: int) -> int:
        row = self.labels[context]
        return upper_confidence(self.pool.counts[row], self.pool.sums[row], NOISE, self.order)

    def learn(self, context: int, action: int, reward: float) -> None:
        self.own.add(context, action, reward)
        self.pool.add(int(self.labels[context]), action, reward)
        counts = self.own.counts[:, action]
        means = self.own.sums[:, action] / np.maximum(counts, 1.0)
        width = self.confidence.singles(counts)
        cut = self.linked[context] & (np.abs(means - means[context]) > width + width[context])
        if cut.any():
            self.linked[context, cut] = self.linked[cut, context] = False
            self._regroup()

    def partition(self) -> Assignment:
        return Assignment(self.labels, _leading(self.pool))

    def _regroup(self) -> None:
        component = _components(self.linked)
        rounds = np.bincount(component, weights=self.own.counts.sum(axis=1))
        kept = np.argsort(-rounds, kind="stable")[: self.slots]
        pools = self._pool(component, len(rounds))
        means, tried = pools.means(), pools.counts > 0
        both = tried[:, None] & tried[kept][None]
        apart = np.where(both, np.abs(means[:, None] - means[kept][None]), 0.0).max(axis=2)
        target = apart.argmin(axis=1)
        target[kept] = np.arange(len(kept))
        self.labels = target[component].astype(np.intp)
        self.pool = self._pool(self.labels, len(kept))

    def _pool(self, labels: Labels, size: int) -> Tally:
        pool = Tally(size, self.own.counts.shape[1])
        np.add.at(pool.counts, labels, self.own.counts)
        np.add.at(pool.sums, labels, self.own.sums)
        return pool


def k_means(
    features: Floats, clusters: int, rng: Generator, *, starts: int = 10, steps: int = 50
) -> Labels:
    """Cluster descriptions: Lloyd's steps from k-means++ centres, the best of ``starts``; (N,) in
    [0, clusters).
    """
    found = [
        _lloyd(features, _spread_centres(features, clusters, rng), steps) for _ in range(starts)
    ]
    return min(found, key=lambda result: result[0])[1]


def _spread_centres(features: Floats, clusters: int, rng: Generator) -> Floats:
    centres = [features[rng.integers(len(features))]]
    while len(centres) < clusters:
        nearest = _squares(features, np.array(centres)).min(axis=1)
        total = nearest.sum()
        chances = nearest / total if total > 0 else None
        centres.append(features[rng.choice(len(features), p=chances)])
    return np.array(centres)


def _lloyd(features: Floats, centres: Floats, steps: int) -> tuple[float, Labels]:
    labels = _squares(features, centres).argmin(axis=1)
    for _ in range(steps):
        centres = np.array(
            [
                features[labels == k].mean(axis=0) if (labels == k).any() else c
                for k, c in enumerate(centres)
            ]
        )
        moved = _squares(features, centres).argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
    return float(_squares(features, centres).min(axis=1).sum()), labels.astype(np.intp)


def _squares(features: Floats, centres: Floats) -> Floats:
    squares: Floats = ((features[:, None] - centres[None]) ** 2).sum(axis=2)
    return squares


def _components(linked: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Labels:
    component = np.full(len(linked), -1, dtype=np.intp)
    for seed in range(len(linked)):
        if component[seed] >= 0:
            continue
        inside = np.zeros(len(linked), dtype=np.bool_)
        front = inside.copy()
        front[seed] = True
        while front.any():
            inside |= front
            front = linked[front].any(axis=0) & ~inside
        component[inside] = component.max() + 1
    return component


def _leading(pool: Tally) -> Labels:
    return np.array([pool.leading(row) for row in range(len(pool.counts))], dtype=np.intp)
