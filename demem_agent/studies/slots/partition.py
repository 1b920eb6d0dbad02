"""Partitions of the same items into K bounded slots.

They are drawn, by description, a memory's own, and from gold. All are deterministic for a given
generator. "features" and "sessions" are spherical k-means, of items and of whole sessions.
"oracle-support" is the paper's: questions whose gold overlaps, directly or through others, share a
cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

__all__ = ["PARTITIONS", "Floats", "Items", "Labels", "Partition", "bounded", "k_means", "supports"]

#: The slot of each item, shape (n,), in [0, K).
Labels = NDArray[np.intp]
Floats = NDArray[np.float32]
T = TypeVar("T")

#: Times that k-means is begun anew, and the most steps of each.
_STARTS = 10
_STEPS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What is to be divided: n items in order of ingestion, into K bounded slots.

    Attributes:
        vectors: shape (n, d), of unit length.
        sessions: shape (n,), the number of each item's session, from 0.
        own: the slot that a memory has each in; these may be fewer or larger.
        gold: per question, the positions of its gold items.
        slots: K.
        room: items that a slot holds at most; ``room * slots >= n``.
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
    units = [[item] for item in range(len(items.own))]
    nearness = items.vectors @ centres.T
    return bounded(units, nearness, items.room)


def by_sessions(items: Items, rng: Generator) -> Labels:
    """Cluster whole sessions by the sum of their items' vectors."""
    count = int(items.sessions.max()) + 1
    totals = np.zeros((count, items.vectors.shape[1]), np.float32)
    np.add.at(totals, items.sessions, items.vectors)
    sessions = _unit(totals)
    centres = k_means(sessions, items.slots, rng)
    nearness = sessions @ centres.T
    return bounded(_members(items.sessions, count), nearness, items.room)


def _members(sessions: Labels, count: int) -> list[list[int]]:
    """Return the items of each session, of so many."""
    members = []
    for session in range(count):
        inside = np.flatnonzero(sessions == session)
        members.append(inside.tolist())
    return members


def own(items: Items, rng: Generator) -> Labels:
    """Take the memory's own slots, however many and however large."""
    return items.own


def by_support(items: Items, rng: Generator) -> Labels:
    """Put each group of gold items that belong together into one slot.

    The rest stays with its session. Groups go, the largest first, where most of their items are
    when whole sessions are clustered.
    """
    units = _support_units(items)
    of_session = by_sessions(items, rng)
    one_hot = np.eye(items.slots, dtype=np.float32)[of_session]
    shares = [one_hot[unit].mean(axis=0) for unit in units]
    return bounded(units, np.stack(shares), items.room)


def _support_units(items: Items) -> list[list[int]]:
    """Return the groups of gold items, then each other item alone."""
    groups = supports(items.gold)
    taken = frozenset[int]().union(*groups)
    alone = [[item] for item in range(len(items.own)) if item not in taken]
    return [*map(sorted, groups), *alone]


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
        if not one:
            continue
        merged = one
        apart = []
        for group in joined:
            if group & one:
                merged |= group
            else:
                apart.append(group)
        joined = [*apart, merged]
    return joined


def bounded(units: Sequence[Sequence[int]], nearness: Floats, room: int) -> Labels:
    """Put units of items into slots of at most ``room`` items.

    Larger units go first, then those that fit best. A unit goes to the nearest slot with room for
    it. When there is none, its items go one by one to the emptiest.

    Args:
        units: every item once.
        nearness: shape (units, K); higher is nearer.
    """
    nearness = np.round(nearness, 4)
    left = np.full(nearness.shape[1], room)
    labels = np.empty(sum(map(len, units)), np.intp)
    for number in _largest_first(units, nearness):
        unit = list(units[number])
        fits = left >= len(unit)
        if fits.any():
            with_room = np.where(fits, nearness[number], -np.inf)
            slot = int(with_room.argmax())
            labels[unit] = slot
            left[slot] -= len(unit)
        else:
            _scatter(unit, labels, left)
    return labels


def _largest_first(units: Sequence[Sequence[int]], nearness: Floats) -> list[int]:
    """Return the numbers of units, of equally large ones first those that fit best."""
    best = nearness.max(axis=1)
    return sorted(range(len(units)), key=lambda n: (-len(units[n]), -best[n], n))


def _scatter(unit: Sequence[int], labels: Labels, left: Labels) -> None:
    """Put each item of a unit into the slot that is the emptiest then."""
    for item in unit:
        emptiest = left.argmax()
        labels[item] = emptiest
        left[emptiest] -= 1


def k_means(vectors: Floats, clusters: int, rng: Generator) -> Floats:
    """Return the K centres, of unit length, of spherical k-means (by cosine).

    Of ten starts the best is taken. With fewer vectors than clusters some centres are equal.
    """
    found = []
    for _ in range(_STARTS):
        first = _first_centres(vectors, clusters, rng)
        found.append(_improved(vectors, first))
    return max(found, key=lambda centres: _nearness_of_all(vectors, centres))


def _nearness_of_all(vectors: Floats, centres: Floats) -> float:
    """Return the sum of the cosines of vectors to their nearest centres."""
    nearest = _to_nearest(vectors, centres)
    return round(float(nearest.sum()), 3)


def _to_nearest(vectors: Floats, centres: Floats) -> Floats:
    """Return the cosine of each vector to its nearest centre."""
    nearest: Floats = (vectors @ centres.T).max(axis=1)
    return nearest


def _first_centres(vectors: Floats, clusters: int, rng: Generator) -> Floats:
    """Choose first centres far from each other (k-means++)."""
    centres = [vectors[rng.integers(len(vectors))]]
    while len(centres) < clusters:
        nearest = _to_nearest(vectors, np.array(centres)).astype(np.float64)
        apart = np.clip(np.round(1.0 - nearest, 5), 0.0, None)
        total = apart.sum()
        chances = apart / total if total > 0 else None
        chosen = rng.choice(len(vectors), p=chances)
        centres.append(vectors[chosen])
    return np.array(centres)


def _improved(vectors: Floats, centres: Floats) -> Floats:
    """Move centres to the means of their clusters until nothing moves."""
    labels: Labels = np.full(len(vectors), -1, np.intp)
    for _ in range(_STEPS):
        moved = np.round(vectors @ centres.T, 5).argmax(axis=1)
        if (moved == labels).all():
            break
        labels = moved
        centres = _means(vectors, labels, centres)
    return centres


def _means(vectors: Floats, labels: Labels, centres: Floats) -> Floats:
    """Return the direction of each cluster's vectors; the centre as it was where it has none."""
    totals = np.zeros_like(centres)
    np.add.at(totals, labels, vectors)
    filled = np.bincount(labels, minlength=len(centres)) > 0
    return np.where(filled[:, None], _unit(totals), centres)


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(lengths, np.float32(1e-12))
    return unit
