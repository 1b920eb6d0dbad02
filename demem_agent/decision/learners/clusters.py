"""Descriptions into groups: k-means that gives the same answer for the same descriptions."""

from __future__ import annotations

import numpy as np

from demem_agent.decision._arrays import Floats
from demem_agent.decision.learners.learner import Labels

__all__ = ["centres_of", "nearest_centre"]

STARTS, TRIALS, STEPS = 6, 4, 25
#: Centres are found on at most as many descriptions; all are then put to the nearest centre.
SAMPLE = 2_000


def centres_of(vectors: Floats, clusters: int) -> Floats:
    """Find at most ``clusters`` centres of descriptions, shape (n, d), that lie close to them.

    Lloyd's steps from k-means++ centres, the best of a few starts; the draws are fixed. Fewer
    centres come back only where there are fewer different descriptions. Source: Arthur and
    Vassilvitskii 2007.
    """
    stride = -(-len(vectors) // SAMPLE)
    sample = vectors[::stride]
    best = _lloyd(sample, _spread(sample, clusters, seed=0))
    for seed in range(1, STARTS):
        found = _lloyd(sample, _spread(sample, clusters, seed=seed))
        if found[0] < best[0]:
            best = found
    return best[1]


def nearest_centre(vectors: Floats, centres: Floats) -> Labels:
    """Return the place of the nearest centre for each description, shape (n,)."""
    labels: Labels = _squares(vectors, centres).argmin(axis=1)
    return labels


def _spread(vectors: Floats, clusters: int, *, seed: int) -> Floats:
    """Draw centres far from each other, k-means++: each the best of a few draws."""
    rng = np.random.default_rng(seed)
    chosen = [int(rng.integers(len(vectors)))]
    left = _squares(vectors, vectors[chosen])[:, 0]
    while len(chosen) < clusters and left.max() > 1e-9:
        drawn = rng.choice(len(vectors), size=TRIALS, p=left / left.sum())
        trials = np.minimum(left, _squares(vectors, vectors[drawn]).T)
        best = int(trials.sum(axis=1).argmin())
        chosen.append(int(drawn[best]))
        left = trials[best]
    return vectors[chosen]


def _lloyd(vectors: Floats, centres: Floats) -> tuple[float, Floats]:
    """Return the sum of squares that is left, and the centres."""
    squares = _squares(vectors, centres)
    labels = squares.argmin(axis=1)
    for _ in range(STEPS):
        centres = _moved(vectors, labels, centres)
        squares = _squares(vectors, centres)
        moved = squares.argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
    return float(squares.min(axis=1).sum()), centres


def _moved(vectors: Floats, labels: Labels, centres: Floats) -> Floats:
    """Move each centre to the mean of its cluster; an empty one stays."""
    sizes = np.bincount(labels, minlength=len(centres))
    starts = np.cumsum(sizes) - sizes
    held = sizes > 0
    in_order = vectors[np.argsort(labels, kind="stable")]
    moved = centres.copy()
    moved[held] = np.add.reduceat(in_order, starts[held], axis=0) / sizes[held, None]
    return moved


def _squares(vectors: Floats, centres: Floats) -> Floats:
    """Compute squared distances, shape (n, centres)."""
    products = vectors @ centres.T
    lengths = (vectors**2).sum(axis=1)[:, None]
    squares: Floats = lengths - 2 * products + (centres**2).sum(axis=1)
    return np.maximum(squares, 0.0)
