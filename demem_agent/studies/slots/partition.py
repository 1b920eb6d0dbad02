"""Partitions of the same items into K bounded slots: drawn, by description, a memory's own, and
from gold.

All are deterministic for a given generator. "features" and "sessions" are spherical k-means, of
items and of whole sessions. "oracle-support" is the paper's: questions whose gold overlaps,
directly or through others, share a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

__all__ = ["PARTITIONS", "Items", "Labels", "Partition", "bounded", "k_means", "supports"]

#: The slot of each item, shape (n,), in [0, K).
Labels = NDArray[np.intp]
Floats = NDArray[np.float32]
T = TypeVar("T")

#: Times that k-means is begun anew, and the most steps of each.
_STARTS, _STEPS = 10, 50


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What is to be divided: n items in order of ingestion, into ``slots`` of at most ``room``
    items each.

    Attributes:
        vectors: shape (n, d), of unit length.
        sessions: shape (n,), the number of each item's session, from 0.
        own: the slot that a memory has each in; these may be fewer or larger.
        gold: per question, the positions of its gold items.
        slots: K; ``room * slots >= n``.
    """

    vectors: Floats
    sessions: Labels
    own: Labels
    gold: tuple[frozenset[int], ...]
    slots: int
    room: int


Partition = Callable[[Items, Generator], Labels]


def at_random(items: Items, rng: Generator) -> Labels:
    """Draw slots of equal size."""
    return rng.permutation(len(items.own)) % items.slots


def by_features(items: Items, rng: Generator) -> Labels:
    """Cluster items by their vectors."""
    centres = k_means(items.vectors, items.slots, rng)
    return bounded(
        [[item] for item in range(len(items.own))], items.vectors @ centres.T, items.room
    )


def by_sessions(items: Items, rng: Generator) -> Labels:
    """Cluster whole sessions by the sum of their items' vectors."""
    totals = np.zeros((int(items.sessions.max()) + 1, items.vectors.shape[1]), np.float32)
    np.add.at(totals, items.sessions, items.vectors)
    centres = k_means(_unit(totals), items.slots, rng)
    members = [np.flatnonzero(items.sessions == session).tolist() for session in range(len(totals))]
    return bounded(members, _unit(totals) @ centres.T, items.room)


def own(items: Items, rng: Generator) -> Labels:
    """Take the memory's own slots, however many and however large."""
    return items.own


def by_support(items: Items, rng: Generator) -> Labels:
    """Put each group of gold items that belong together into one slot; the rest stays with its
    session.

    Groups go, the largest first, where most of their items are when whole sessions are clustered.
    """
    groups = [sorted(group) for group in supports(items.gold)]
    taken = {item for group in groups for item in group}
    units = [*groups, *([item] for item in range(len(items.own)) if item not in taken)]
    apart = np.eye(items.slots, dtype=np.float32)[by_sessions(items, rng)]
    return bounded(units, np.stack([apart[unit].mean(axis=0) for unit in units]), items.room)


#: By the names under which they are reported.
PARTITIONS: Mapping[str, Partition] = {
    "random": at_random,
    "features": by_features,
    "sessions": by_sessions,
    "own": own,
    "oracle-support": by_support,
}


def supports(gold: Sequence[frozenset[T]]) -> list[frozenset[T]]:
    """Join the gold of questions that overlap, directly or through others.

    Returns disjoint sets, none of them empty.
    """
    joined: list[frozenset[T]] = []
    for one in gold:
        if one:
            touching = [group for group in joined if group & one]
            joined = [group for group in joined if not group & one]
            joined.append(one.union(*touching))
    return joined


def bounded(units: Sequence[Sequence[int]], nearness: Floats, room: int) -> Labels:
    """Put units of items into slots of at most ``room`` items: larger units first, then those that
    fit best.

    A unit goes to the nearest slot with room for it; when there is none, its items go one by one to
    the emptiest.

    Args:
        units: every item once.
        nearness: shape (units, K); higher is nearer.
    """
    nearness = np.round(nearness, 4)
    left = np.full(nearness.shape[1], room)
    labels = np.empty(sum(map(len, units)), np.intp)
    for n in sorted(range(len(units)), key=lambda n: (-len(units[n]), -nearness[n].max(), n)):
        fits = left >= len(units[n])
        if fits.any():
            slot = int(np.where(fits, nearness[n], -np.inf).argmax())
            labels[list(units[n])] = slot
            left[slot] -= len(units[n])
        else:
            for item in units[n]:
                labels[item] = left.argmax()
                left[labels[item]] -= 1
    return labels


def k_means(vectors: Floats, clusters: int, rng: Generator) -> Floats:
    """Give the K centres, of unit length, of spherical k-means (by cosine); of ten starts the best.

    With fewer vectors than clusters some centres are equal.
    """
    found = [_improved(vectors, _spread(vectors, clusters, rng)) for _ in range(_STARTS)]
    return max(found, key=lambda centres: round(float((vectors @ centres.T).max(axis=1).sum()), 3))


def _spread(vectors: Floats, clusters: int, rng: Generator) -> Floats:
    """Choose first centres far from each other (k-means++)."""
    centres = [vectors[rng.integers(len(vectors))]]
    while len(centres) < clusters:
        apart = np.clip(
            np.round(1.0 - (vectors @ np.array(centres).T).max(axis=1).astype(np.float64), 5),
            0.0,
            None,
        )
        chances = apart / apart.sum() if apart.sum() > 0 else None
        centres.append(vectors[rng.choice(len(vectors), p=chances)])
    return np.array(centres)


def _improved(vectors: Floats, centres: Floats) -> Floats:
    labels: Labels = np.full(len(vectors), -1, np.intp)
    for _ in range(_STEPS):
        moved = np.round(vectors @ centres.T, 5).argmax(axis=1)
        if (moved == labels).all():
            break
        labels = moved
        totals = np.zeros_like(centres)
        np.add.at(totals, labels, vectors)
        filled = np.bincount(labels, minlength=len(centres)) > 0
        centres = np.where(filled[:, None], _unit(totals), centres)
    return centres


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(lengths, np.float32(1e-12))
    return unit
