"""What feedback teaches one memory about ranking: weights moved from the default, and passages that
served before.

A lesson is how the passages that a rewarded answer rested on differ, feature by feature, from the
others that were read. The weights are one step of logistic regression on all lessons, taken from
the default, which counts as :data:`CALM` lessons that say "stay", and kept in a box around it. So
they depend on the lessons alone, not on their order; a lesson taken back leaves no trace; and where
the default is right, lessons contradict each other and little moves. docs/scoring.md has the
figures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.score import FEATURES, Query, Ranking, Weights, features
from demem_agent.types import Lesson

__all__ = ["ALIKE", "as_row", "box", "learned", "lesson", "lift", "rows_of"]

#: How far, in half-widths of the box, the lessons move a weight per unit of their mean gradient.
STEP = 10.0
#: Lessons that the default weighs.
CALM = 50
#: Half-width of the box: this share of the default weight, and at least so much.
LEEWAY = 0.5
#: Cosine of two questions from which on what served the one is ahead for the other, and by how much
#: when it is 1.
ALIKE, SERVED = 0.75, 6.0

#: Set by hand: no data tells them well, and whom to trust is for the caller to say, not for
#: rewards.
_HELD = frozenset(("trust", "behind"))
#: Steps are summed as whole numbers of this part, since such sums do not depend on their order.
_GRAIN = 1e-9
#: Features of real passages differ by far less.
_FAR = 1e3

#: A stretch of an evidence item: (id, start, end).
Stretch = tuple[str, int, int]


def lesson(
    index: PassageIndex, query: Query, read: Iterable[Stretch], supports: Collection[str]
) -> Lesson:
    """Tell what an answer teaches: mean features of what it rested on, less those of the rest that
    was read.

    Args:
        read: the stretches of evidence in the reading.
        supports: ids of the items that the answer rested on.

    Returns:
        (feature, difference) for each feature of :data:`~demem_agent.scoring.score.FEATURES` that
        may move and in which there is one; nothing where all or none of what was read served.
    """
    rows, table = features(index, query)
    spans = list(read)
    served = np.isin(rows, rows_of(index, (span for span in spans if span[0] in supports)))
    others = np.isin(rows, rows_of(index, (span for span in spans if span[0] not in supports)))
    if not served.any() or not others.any():
        return ()
    apart = table[served].mean(axis=0, dtype=np.float64) - table[others].mean(
        axis=0, dtype=np.float64
    )
    found = ((name, round(float(value), 4)) for name, value in zip(FEATURES, apart, strict=True))
    return tuple((name, value) for name, value in found if value and name not in _HELD)


def rows_of(index: PassageIndex, stretches: Iterable[Stretch]) -> list[int]:
    """Give the rows of the passages that the stretches of live items are in."""
    found: dict[int, None] = {}
    for item, start, end in stretches:
        rows = index.rows(item)
        inside = (row for row in range(rows.start, rows.stop) if _meets(index, row, start, end))
        found |= dict.fromkeys(inside)
    return list(found)


def _meets(index: PassageIndex, row: int, start: int, end: int) -> bool:
    passage = index.passages[row]
    return passage.start < end and start < passage.end


def as_row(taught: Lesson) -> NDArray[np.float64]:
    """Put a lesson in the order of the features, shape (len(FEATURES),); names that are none are
    left out.
    """
    known = dict(taught)
    return np.array([known.get(name, 0.0) for name in FEATURES])


def learned(prior: Weights, lessons: NDArray[np.float64]) -> Weights:
    """Move weights as far from a prior as lessons agree, and no further than the :func:`box`.

    Args:
        lessons: shape (n, len(FEATURES)), in any order; n may be 0, which gives the prior.
    """
    if not len(lessons):
        return prior
    weights, room = np.asarray(prior.values), box(prior)
    apart = np.clip(lessons, -_FAR, _FAR)
    # How far the prior is from having put what served ahead: 1 - sigmoid(margin), without overflow.
    surprise = 0.5 - 0.5 * np.tanh((apart * weights).sum(axis=1) / 2)
    steps = np.clip(surprise[:, None] * apart * room, -1.0, 1.0)  # no single lesson decides
    total = np.rint(steps / _GRAIN).astype(np.int64).sum(axis=0) * _GRAIN
    moved = room * np.clip(STEP * total / (len(lessons) + CALM), -1.0, 1.0)
    return Weights(tuple(float(value) for value in weights + moved))


def box(prior: Weights) -> NDArray[np.float64]:
    """Give how far each weight may move from the prior, shape (len(FEATURES),); 0 for those set by
    hand.
    """
    free = np.array([name not in _HELD for name in FEATURES])
    room: NDArray[np.float64] = np.maximum(LEEWAY * np.abs(np.asarray(prior.values)), LEEWAY) * free
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
        bonus[rows] = np.maximum(bonus[rows], SERVED * (cosine - ALIKE) / (1 - ALIKE))
    scores = np.round(ranking.scores + bonus[ranking.rows], 4)
    order = np.argsort(-scores, kind="stable")
    return replace(ranking, rows=ranking.rows[order], scores=scores[order])
