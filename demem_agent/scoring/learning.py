"""What feedback teaches one memory about ranking: moved weights, and passages that served before.

A lesson is how the passages that a rewarded answer rested on differ, feature by feature, from the
others that were read. The weights are one step of logistic regression on all lessons. It is taken
from the default, which counts as :data:`CALM` lessons that say "stay", and kept in a box around it.
So they depend on the lessons alone, not on their order, and a lesson taken back leaves no trace.
Where the default is right, lessons contradict each other and little moves. docs/scoring.md has the
figures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features import BY_HAND, FEATURES
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.query import Query
from demem_agent.scoring.score import Ranking, feature_table
from demem_agent.scoring.weights import Weights
from demem_agent.types import Lesson

__all__ = ["ALIKE", "as_row", "box", "lesson", "lift", "moved_weights", "rows_of"]

#: How far, in half-widths of the box, the lessons move a weight per unit of their mean gradient.
STEP = 10.0
#: Lessons that the default weighs.
CALM = 50
#: Half-width of the box: this share of the default weight, and at least so much.
LEEWAY = 0.5
#: Cosine of two questions from which on what served the one is ahead for the other.
ALIKE = 0.75
#: By how much it is ahead when that cosine is 1.
SERVED = 6.0

#: Steps are summed as whole numbers of this part, since such sums do not depend on their order.
_GRAIN = 1e-9
#: Features of real passages differ by far less.
_FAR = 1e3

#: A stretch of an evidence item: (id, start, end).
Stretch = tuple[str, int, int]


def lesson(
    index: PassageIndex, query: Query, read: Iterable[Stretch], supports: Collection[str]
) -> Lesson:
    """Return what an answer teaches: how the features of what it rested on differ from the rest's.

    Args:
        read: the stretches of evidence in the reading.
        supports: ids of the items that the answer rested on.

    Returns:
        (feature, difference of the means, to four digits) for each feature of
        :data:`~demem_agent.scoring.features.FEATURES` that may move and in which there is one;
        nothing where all or none of what was read served.
    """
    resting: list[Stretch] = []
    spare: list[Stretch] = []
    for stretch in read:
        alike = resting if stretch[0] in supports else spare
        alike.append(stretch)
    if not resting or not spare:
        return ()
    rows, table = feature_table(index, query)
    served = np.isin(rows, rows_of(index, resting))
    others = np.isin(rows, rows_of(index, spare))
    if not served.any() or not others.any():
        return ()
    return _taught(_mean(table[served]) - _mean(table[others]))


def _mean(table: NDArray[np.float32]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = table.mean(axis=0, dtype=np.float64)
    return mean


def _taught(apart: NDArray[np.float64]) -> Lesson:
    """Return the differences by name, but for those of 0 and those whose weights do not move."""
    found: list[tuple[str, float]] = []
    for name, difference in zip(FEATURES, apart, strict=True):
        value = round(float(difference), 4)
        if value and name not in BY_HAND:
            found.append((name, value))
    return tuple(found)


def rows_of(index: PassageIndex, stretches: Iterable[Stretch]) -> list[int]:
    """Return the rows of the passages that the stretches of live items are in, each once."""
    found: dict[int, None] = {}
    for item, start, end in stretches:
        rows = index.rows(item)
        for row in range(rows.start, rows.stop):
            passage = index.passages[row]
            if passage.start < end and start < passage.end:
                found[row] = None
    return list(found)


def as_row(taught: Lesson) -> NDArray[np.float64]:
    """Put a lesson in the order of the features, shape (len(FEATURES),).

    Names that are none are left out.
    """
    known = dict(taught)
    return np.array([known.get(name, 0.0) for name in FEATURES])


def moved_weights(prior: Weights, lessons: NDArray[np.float64]) -> Weights:
    """Move weights as far from a prior as lessons agree, and no further than the :func:`box`.

    Args:
        lessons: shape (n, len(FEATURES)), in any order; n may be 0, which gives the prior.
    """
    if not len(lessons):
        return prior
    weights = np.asarray(prior.values)
    room = box(prior)
    steps = _steps(weights, room, np.clip(lessons, -_FAR, _FAR))
    grains = np.rint(steps / _GRAIN).astype(np.int64)
    total = grains.sum(axis=0) * _GRAIN
    share = np.clip(STEP * total / (len(lessons) + CALM), -1.0, 1.0)
    moved = weights + room * share
    return Weights(tuple(moved.tolist()))


def _steps(
    weights: NDArray[np.float64], room: NDArray[np.float64], lessons: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the step of each lesson, shape (n, len(FEATURES)), in half-widths of the box."""
    margin = (lessons * weights).sum(axis=1)
    # How far the prior is from having put what served ahead: 1 - sigmoid(margin), without overflow.
    surprise = 0.5 - 0.5 * np.tanh(margin / 2)
    wanted = surprise[:, None] * lessons * room
    steps: NDArray[np.float64] = np.clip(wanted, -1.0, 1.0)  # no single lesson decides
    return steps


def box(prior: Weights) -> NDArray[np.float64]:
    """Return how far each weight may move from the prior, shape (len(FEATURES),).

    Those set by hand may not: no data tells them well, and whom to trust is for the caller to say,
    not for rewards.
    """
    free = np.array([name not in BY_HAND for name in FEATURES])
    sizes = np.abs(np.asarray(prior.values))
    room: NDArray[np.float64] = np.maximum(LEEWAY * sizes, LEEWAY) * free
    return room


def lift(
    ranking: Ranking, index: PassageIndex, served: Iterable[tuple[float, Iterable[Stretch]]]
) -> Ranking:
    """Put passages ahead that served questions like this one.

    Args:
        served: for each such question its cosine to this one, at least :data:`ALIKE`, and what
            served it.
    """
    bonus = np.zeros(len(index))
    for cosine, stretches in served:
        rows = rows_of(index, stretches)
        earned = SERVED * (cosine - ALIKE) / (1 - ALIKE)
        bonus[rows] = np.maximum(bonus[rows], earned)
    scores = np.round(ranking.scores + bonus[ranking.rows], 4)
    order = np.argsort(-scores, kind="stable")
    return replace(ranking, rows=ranking.rows[order], scores=scores[order])
