"""How probable it is that a line bears on a query: that it holds some of what is asked for.

A score orders the lines of one reading. What it is worth differs with the question and the memory:
the best line of a memory that never spoke of something has a high score too. A logistic model tells
it from four signals, and no line is surer than one that ranks before it. Its parameters are data,
``bearing.json`` beside this module, made by ``benchmarks/fit_bearing.py``; docs/scoring.md says how
far it can be relied on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.forms import FILLER, QUESTION
from demem_agent.scoring.odds import logistic, logit
from demem_agent.shipped import shipped

__all__ = [
    "BEARINGS",
    "LOOKED",
    "Bearing",
    "Probable",
    "Standing",
    "default_bearing",
    "standing_of",
]

#: Passages whose place in the ranking is looked at; those behind count as the last of them.
LOOKED = 200
#: Yields how probable lines are by their scores, shape (n,).
Probable = Callable[[NDArray[np.float64]], Iterator[float]]


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How the best passages of a ranking stand, best first.

    Attributes:
        scores: shape (n,), descending, n from 1 to :data:`LOOKED`.
        behind: points of the score behind the best that is neither a filler nor a question, at
            least 0; shape (n,).
        met: the least ``related`` (share of the query's words that a passage's words stand for, by
            their idf) of each and of those before it, in [0, 1]; shape (n,).
        place: logarithm of the place of each, the first being 1, equal ones sharing theirs; shape
            (n,).
    """

    scores: NDArray[np.float64]
    behind: NDArray[np.float64]
    met: NDArray[np.float64]
    place: NDArray[np.float64]


def standing_of(
    scores: NDArray[np.float64], related: NDArray[np.float32], kind: NDArray[np.generic]
) -> Standing:
    """Return how passages stand, at least one.

    Args:
        scores, related: of the passages, best first, shape (n,).
        kind: what each is, as in :class:`~demem_agent.scoring.forms.Forms`, shape (n,).
    """
    best = scores[0]
    for counts in (kind == 0, kind == QUESTION, kind == FILLER):
        found = scores[counts]
        if len(found):
            best = found[0]
            break
    first = scores[:LOOKED]
    before = np.searchsorted(-first, -first)
    return Standing(
        scores=first,
        behind=np.maximum(best - first, 0.0),
        met=np.minimum.accumulate(related[:LOOKED].astype(np.float64)),
        place=np.log(before + 1),
    )


@dataclass(frozen=True, slots=True)
class Bearing:
    """The parameters of the model.

    Attributes:
        held: weight of the log-odds that the memory holds what is asked, ``Route.probability``.
        met: weight of the signal of that name in :class:`Standing`.
        behind: what a line loses with each point that it is behind, at least 0.
        place: weight of the logarithm of its place, which is taken off; at least 0.
    """

    intercept: float
    held: float
    met: float
    behind: float
    place: float

    def log_odds(self, held: float, standing: Standing) -> NDArray[np.float64]:
        """Return the log-odds that each passage bears on the query, best first, never rising.

        Args:
            held: probability that the memory holds what is asked, in [0, 1].
        """
        odds: NDArray[np.float64] = (
            self.intercept
            + self.held * logit(held)
            + self.met * standing.met
            - self.behind * standing.behind
            - self.place * standing.place
        )
        return odds

    def by_score(self, held: float, standing: Standing) -> Probable:
        """Return what yields the probabilities in [0, 1], to four digits, of lines by their scores.

        Between the scores of the ranking it is interpolated. What was moved ahead of all of them,
        as what proved right is, gains in log-odds what it is ahead by.

        Args:
            held: probability that the memory holds what is asked, in [0, 1].
        """
        scores = standing.scores[::-1]
        odds = self.log_odds(held, standing)[::-1]
        top = float(scores[-1])

        def probabilities(of: NDArray[np.float64]) -> Iterator[float]:
            all_odds = np.interp(of, scores, odds) + np.maximum(of - top, 0.0)
            for one in all_odds.tolist():
                yield round(logistic(one), 4)

        return probabilities


#: The names of the parameters.
BEARINGS = tuple(field.name for field in fields(Bearing))


@cache
def default_bearing() -> Bearing:
    """Return the model that ships with DeMem, loaded at the first use.

    Raises:
        KeyError: if the file lacks a parameter.
    """
    found = json.loads(shipped("scoring/bearing.json"))
    return Bearing(**{name: float(found[name]) for name in BEARINGS})
