"""What the learners are compared with: all play the same UCB index and know the same of the noise.

The paper lets several baselines choose greedily; with an exploring index they are the stronger for
it.

Source: appendix "Synthetic Diagnostic Environment".
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from demem_agent.decision.learner import Assignment, Confidence, Tally, upper_confidence
from demem_agent.studies.synthetic.environment import NOISE, Floats, Labels

__all__ = ["Club", "FeatureGreedy", "Grouped", "Neighbours", "k_means"]

Mask = NDArray[np.bool_]


class Grouped:
    """Play UCB on fixed groups.

    Of identities (Oracle), of descriptions (Feature-KMeans), or drawn (Random).
    """

    def __init__(self, labels: Labels, actions: int, rng: Generator) -> None:
        self.labels = labels
        self.pool = Tally(int(labels.max()) + 1, actions)
        self.order: Labels = rng.permutation(actions)

    def choose(self, context: int) -> int:
        """Play the group's index."""
        row = int(self.labels[context])
        return _best_action(self.pool, row, self.order)

    def learn(self, context: int, action: int, reward: float) -> None:
        """Count the reward for the group."""
        self.pool.add(int(self.labels[context]), action, reward)

    def partition(self) -> Assignment:
        """Return the groups with their leading actions."""
        return Assignment(self.labels, _leading(self.pool))


class Neighbours:
    """Feature-RAG: play UCB on the rewards of the nearest descriptions, weighed.

    Its memory bank holds every context: it is description-based, but not held to K states. What it
    plays in the end groups contexts by action, which is the partition it is measured by.
    """

    def __init__(self, features: Floats, actions: int, rng: Generator, *, nearest: int = 5) -> None:
        distance = _squares(features, features)
        order = np.argsort(distance, axis=1, kind="stable")
        self.near: Labels = order[:, :nearest]
        chosen = np.take_along_axis(distance, self.near, axis=1)
        scale = chosen.mean(axis=1, keepdims=True)
        self.weight: Floats = np.exp(-chosen / np.maximum(scale, 1e-12))
        self.own = Tally(len(features), actions)
        self.order: Labels = rng.permutation(actions)

    def choose(self, context: int) -> int:
        """Play the index of the weighed means and counts."""
        counts, sums = self._pooled(context)
        return upper_confidence(counts, sums, NOISE, self.order)

    def learn(self, context: int, action: int, reward: float) -> None:
        """Count the reward for the context alone."""
        self.own.add(context, action, reward)

    def partition(self) -> Assignment:
        """Return the contexts by the action that is best for them."""
        labels = list(map(self._best, range(len(self.near))))
        actions = self.own.counts.shape[1]
        return Assignment(np.array(labels, dtype=np.intp), np.arange(actions))

    def _pooled(self, context: int) -> tuple[Floats, Floats]:
        near = self.near[context]
        weight = self.weight[context]
        return weight @ self.own.counts[near], weight @ self.own.sums[near]

    def _best(self, context: int) -> int:
        counts, sums = self._pooled(context)
        means = np.where(counts > 0, sums / np.maximum(counts, 1e-12), -1.0)
        return int(means.argmax())


class FeatureGreedy:
    """Epsilon-greedy on clusters of descriptions that form online.

    A far context opens a cluster while fewer than K exist.
    """

    def __init__(
        self, features: Floats, actions: int, slots: int, rng: Generator, *, epsilon: float = 0.05
    ) -> None:
        self.features = features
        self.rng = rng
        self.epsilon = epsilon
        self.slots = slots
        self.centres: list[Floats] = []
        self.seen = np.zeros(slots)
        self.pool = Tally(slots, actions)
        self.labels = np.full(len(features), -1, dtype=np.intp)

    def choose(self, context: int) -> int:
        """Play the leading action of the nearest cluster, or any with probability epsilon."""
        slot = self._nearest(context)
        explores = self.rng.uniform() < self.epsilon
        if len(self.centres) < self.slots and (explores or not self.centres):
            slot = self._open(context)
        self.labels[context] = slot
        if explores:
            actions = self.pool.counts.shape[1]
            return int(self.rng.integers(actions))
        return max(self.pool.leading(slot), 0)

    def learn(self, context: int, action: int, reward: float) -> None:
        """Count the reward for the cluster, and move its centre."""
        slot = int(self.labels[context])
        self.pool.add(slot, action, reward)
        self.seen[slot] += 1
        step = (self.features[context] - self.centres[slot]) / self.seen[slot]
        self.centres[slot] = self.centres[slot] + step

    def partition(self) -> Assignment:
        """Return the contexts by their nearest cluster."""
        labels = list(map(self._nearest, range(len(self.features))))
        actions = np.maximum(_leading(self.pool), 0)
        return Assignment(np.array(labels, dtype=np.intp), actions)

    def _nearest(self, context: int) -> int:
        if not self.centres:
            return 0
        apart = np.array(self.centres) - self.features[context]
        return int((apart**2).sum(axis=1).argmin())

    def _open(self, context: int) -> int:
        self.centres.append(self.features[context].copy())
        return len(self.centres) - 1


class Club:
    """CLUB-style clustering: contexts stay linked until their rewards differ.

    Components share their rewards. Only the K components with the most rounds keep a state; every
    other one uses the state whose means are nearest.
    """

    def __init__(self, confidence: Confidence, slots: int, rng: Generator) -> None:
        contexts = confidence.contexts
        actions = confidence.actions
        self.confidence = confidence
        self.slots = slots
        self.own = Tally(contexts, actions)
        self.linked = np.ones((contexts, contexts), dtype=np.bool_)
        self.order: Labels = rng.permutation(actions)
        self.labels = np.zeros(contexts, dtype=np.intp)
        self.pool = Tally(1, actions)

    def choose(self, context: int) -> int:
        """Play the index of the context's state."""
        row = int(self.labels[context])
        return _best_action(self.pool, row, self.order)

    def learn(self, context: int, action: int, reward: float) -> None:
        """Count the reward, and cut the links to contexts that it tells apart."""
        self.own.add(context, action, reward)
        self.pool.add(int(self.labels[context]), action, reward)
        cut = self.linked[context] & self._apart(context, action)
        if cut.any():
            self.linked[context, cut] = False
            self.linked[cut, context] = False
            self._regroup()

    def partition(self) -> Assignment:
        """Return the states with their leading actions."""
        return Assignment(self.labels, _leading(self.pool))

    def _apart(self, context: int, action: int) -> Mask:
        """Return which contexts certainly have another mean reward for an action."""
        counts = self.own.counts[:, action]
        means = self.own.sums[:, action] / np.maximum(counts, 1.0)
        width = self.confidence.singles(counts)
        apart: Mask = np.abs(means - means[context]) > width + width[context]
        return apart

    def _regroup(self) -> None:
        component = _components(self.linked)
        rounds = np.bincount(component, weights=self.own.counts.sum(axis=1))
        kept = np.argsort(-rounds, kind="stable")[: self.slots]
        pools = self._pool(component, len(rounds))
        target = _nearest_of(pools, kept)
        self.labels = target[component].astype(np.intp)
        self.pool = self._pool(self.labels, len(kept))

    def _pool(self, labels: Labels, size: int) -> Tally:
        pool = Tally(size, self.own.counts.shape[1])
        np.add.at(pool.counts, labels, self.own.counts)
        np.add.at(pool.sums, labels, self.own.sums)
        return pool


def _nearest_of(pools: Tally, kept: Labels) -> Labels:
    """Return the place in ``kept`` whose means are nearest, for each row; its own where kept."""
    means = pools.means()
    tried = pools.counts > 0
    both = tried[:, None] & tried[kept][None]
    apart = np.abs(means[:, None] - means[kept][None])
    target: Labels = np.where(both, apart, 0.0).max(axis=2).argmin(axis=1)
    target[kept] = np.arange(len(kept))
    return target


def k_means(
    features: Floats, clusters: int, rng: Generator, *, starts: int = 10, steps: int = 50
) -> Labels:
    """Cluster descriptions, and return a label in [0, clusters) of each, shape (N,).

    Lloyd's steps from k-means++ centres, the best of ``starts``.
    """
    found = []
    for _ in range(starts):
        centres = _spread_centres(features, clusters, rng)
        found.append(_lloyd(features, centres, steps))
    _, labels = min(found, key=lambda result: result[0])
    return labels


def _spread_centres(features: Floats, clusters: int, rng: Generator) -> Floats:
    centres = [features[rng.integers(len(features))]]
    while len(centres) < clusters:
        nearest = _squares(features, np.array(centres)).min(axis=1)
        total = nearest.sum()
        chances = nearest / total if total > 0 else None
        chosen = rng.choice(len(features), p=chances)
        centres.append(features[chosen])
    return np.array(centres)


def _lloyd(features: Floats, centres: Floats, steps: int) -> tuple[float, Labels]:
    """Return the sum of squares that is left, and the labels."""
    labels = _squares(features, centres).argmin(axis=1)
    for _ in range(steps):
        centres = _moved(features, labels, centres)
        moved = _squares(features, centres).argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
    left = _squares(features, centres).min(axis=1).sum()
    return float(left), labels.astype(np.intp)


def _moved(features: Floats, labels: Labels, centres: Floats) -> Floats:
    """Move each centre to the mean of its cluster; an empty one stays."""
    moved = centres.copy()
    for cluster in range(len(centres)):
        members = features[labels == cluster]
        if len(members):
            moved[cluster] = members.mean(axis=0)
    return moved


def _squares(features: Floats, centres: Floats) -> Floats:
    """Return squared distances, shape (features, centres)."""
    apart = features[:, None] - centres[None]
    squares: Floats = (apart**2).sum(axis=2)
    return squares


def _components(linked: Mask) -> Labels:
    """Return the component of each vertex, numbered by their first ones."""
    component = np.full(len(linked), -1, dtype=np.intp)
    for seed in range(len(linked)):
        if component[seed] < 0:
            component[_reached(linked, seed)] = component.max() + 1
    return component


def _reached(linked: Mask, seed: int) -> Mask:
    inside = np.zeros(len(linked), dtype=np.bool_)
    front = inside.copy()
    front[seed] = True
    while front.any():
        inside |= front
        front = linked[front].any(axis=0) & ~inside
    return inside


def _best_action(pool: Tally, row: int, order: Labels) -> int:
    """Return the action with the highest UCB index of a row; ``order`` breaks ties."""
    return upper_confidence(pool.counts[row], pool.sums[row], NOISE, order)


def _leading(pool: Tally) -> Labels:
    leading = list(map(pool.leading, range(len(pool.counts))))
    return np.array(leading, dtype=np.intp)
