"""How probable it is that a memory holds what a query asks for.

It is told from the ranking of the memory's passages, and from what the best say. A logistic model
of a few signals. Its parameters are data, ``adequacy.json`` beside this module, made by
``benchmarks/fit_adequacy.py``; docs/scoring.md says how well it tells and where it does not.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from operator import attrgetter

from demem_agent.later import dataclass
from demem_agent.scoring.odds import logistic
from demem_agent.shipped import shipped

__all__ = ["NOTHING", "RUNNER_UP", "SIGNALS", "Adequacy", "Signals", "default_adequacy"]

#: The lead is that of the best passage over this one, or over the last where there are fewer.
RUNNER_UP = 20


@dataclass(frozen=True, slots=True)
class Signals:
    """What the ranking of a memory's passages tells about a query.

    Attributes:
        answered: for a question that names somebody, how well one of the best five passages answers
            it: how far it is about the one named, by the share of the idf mass of the other words
            that its words stand for, being the same or near, less where it lacks the kind of thing
            asked for; for any other question that share in the best passage. In [0, 1].
        lead: score of the best passage less that of the twentieth; at least 0.
        coverage: share of that mass that the best passage's session holds; in [0, 1].
        missing: mean over the query's words of the idf of those that no passage holds; at least 0.
            In a large memory a word that was never said tells more than in a small one.
        dated: 1 if the best passage was said in a time that the query speaks of, else 0.
        told: score by which the best that the one whom the query is about tells is ahead of the
            best that others tell, whoever speaks not counted; what has a question mark tells
            nothing, and what is behind the twentieth counts as that. 0 unless the query is about
            one of several people.
        held: the same by the share of the query's idf mass that each passage holds; in [-1, 1].
        timed: whether the best passage holds a time, for a question after one: the share of the
            query's idf mass that its words stand for where it does, since any other passage may
            hold one too, and -1 where it does not; 0 where that is open, and for any other
            question.
    """

    answered: float
    lead: float
    coverage: float
    missing: float
    dated: float = 0.0
    told: float = 0.0
    held: float = 0.0
    timed: float = 0.0


SIGNALS = tuple(field.name for field in fields(Signals))
_EACH = attrgetter(*SIGNALS)
#: The signals of a memory without passages.
NOTHING = Signals(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Adequacy:
    """The parameters of the model; the probability rises with every signal but ``missing``.

    Attributes:
        threshold: a query is adequate from this probability on; in [0, 1].
    """

    intercept: float
    weights: Signals
    threshold: float

    def probability(self, signals: Signals) -> float:
        """Return the probability in [0, 1], to four digits, that the memory holds what is asked.

        It is one at even odds: what it would be if as many questions could be answered from memory
        as could not.
        """
        parts = zip(_EACH(self.weights), _EACH(signals), strict=True)
        odds = self.intercept + sum(weight * value for weight, value in parts)
        return round(logistic(odds), 4)


@cache
def default_adequacy() -> Adequacy:
    """Return the model that ships with DeMem, loaded at the first use.

    Raises:
        KeyError: if the file lacks a parameter.
    """
    found = json.loads(shipped("scoring/adequacy.json"))
    weights = {name: float(found["weights"][name]) for name in SIGNALS}
    return Adequacy(
        intercept=float(found["intercept"]),
        weights=Signals(**weights),
        threshold=float(found["threshold"]),
    )
