"""Which sentences of a reading are quoted as the answer, and how probably they are right.

Logistic models over what :mod:`~demem_agent.answering.signals` sees: a softmax over the sentences,
and two of the answer that quotes them. Their parameters are data, ``answers.json`` beside
this module, made by ``benchmarks/fit_answers.py``; docs/use/answers.md says how well they do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.answering.signals import ANSWER, SENTENCE, Seen
from demem_agent.later import dataclass
from demem_agent.scoring.odds import logistic
from demem_agent.shipped import shipped

__all__ = ["MOST", "AnswerModel", "Chosen", "Odds", "default_answer_model"]

#: Sentences that are quoted at most.
MOST = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sentences that are quoted.

    Attributes:
        places: which of the sentences, the likeliest first; at least one.
        answerable: probability in [0, 1] that any sentence answers the question; at even odds, as
            if as many questions had an answer as had none.
        probability: the same that one of those that are quoted does, and none is outdated.
    """

    places: tuple[int, ...]
    answerable: float
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class Odds:
    """A logistic model of an answer.

    Attributes:
        weights: of each of :data:`ANSWER`.
    """

    intercept: float
    weights: Floats

    def probability(self, signals: Floats) -> float:
        """Return the probability in [0, 1] by the signals of an answer."""
        return logistic(self.intercept + float(signals @ self.weights))


@dataclass(frozen=True, slots=True, eq=False)
class AnswerModel:
    """The parameters.

    Attributes:
        sentence: weight of each of :data:`SENTENCE`.
        share: a further sentence is quoted from this share of the first one's probability on, in
            (0, 1].
        answerable: of whether any sentence answers.
        right: of whether those that are quoted do, where any does.
        least: nothing is quoted where it is less probable that any answers, in [0, 1].
        known: an answer is known from this probability on, in [0, 1]; below it no further sentence
            is quoted.
    """

    sentence: Floats
    share: float
    answerable: Odds
    right: Odds
    least: float
    known: float

    def choose(self, seen: Seen, among: Sequence[int]) -> Chosen:
        """Return what is quoted of some sentences, at least one.

        Args:
            among: which of the sentences may be.
        """
        odds = seen.table[list(among)] @ self.sentence
        share = odds - np.logaddexp.reduce(odds)
        order = np.argsort(-np.round(share, 4), kind="stable")
        first = order[0]
        close = [n for n in order[:MOST].tolist() if share[n] - share[first] >= np.log(self.share)]
        signals = seen.answer(among[first], float(share[first]))
        answerable = self.answerable.probability(signals)
        probability = answerable * self.right.probability(signals)
        if probability < self.known:
            close = close[:1]
        places = tuple(among[n] for n in close)
        return Chosen(places, round(answerable, 4), round(probability, 4))


@cache
def default_answer_model() -> AnswerModel:
    """Return the model that ships with DeMem, loaded at the first use.

    Raises:
        KeyError: if the file lacks a parameter.
    """
    found = json.loads(shipped("answering/answers.json"))
    return AnswerModel(
        sentence=np.array([found["sentence"][name] for name in SENTENCE]),
        share=found["share"],
        answerable=_odds(found["answerable"]),
        right=_odds(found["right"]),
        least=found["least"],
        known=found["known"],
    )


def _odds(found: Mapping[str, float]) -> Odds:
    return Odds(found["intercept"], np.array([found[name] for name in ANSWER]))
