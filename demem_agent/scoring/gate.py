"""How probable it is that anything remembered bears on a message: "Thanks!" needs nothing.

A logistic model of what the ranking tells, what the words of the message tell, and their products.
Its parameters are data, ``gate.json`` beside this module, made by ``benchmarks/fit_gate.py``;
docs/scoring.md says how often it is wrong.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.bearing import Standing, default_bearing
from demem_agent.scoring.intent import intent_of
from demem_agent.scoring.odds import logistic, logit
from demem_agent.shipped import shipped

__all__ = ["SIGNALS", "Gate", "default_gate", "gate_signals"]

#: What the model sees: in log-odds how probably the memory holds what is asked, how probably the
#: best line bears on it, and by the words of the message how probably it needs memory; the share of
#: its words that those of the best line stand for; and the last with each of the two before it.
SIGNALS = ("held", "best", "met", "of_memory", "of_memory and best", "of_memory and met")


@dataclass(frozen=True, slots=True)
class Gate:
    """The parameters of the model.

    Attributes:
        weights: one for each of :data:`SIGNALS`.
        threshold: a message is read for from this probability on; in (0, 1).
    """

    intercept: float
    weights: tuple[float, ...]
    threshold: float

    def probability(self, signals: NDArray[np.float64]) -> float:
        """Return the probability in [0, 1], to four digits, that anything remembered bears."""
        odds = self.intercept + float(np.dot(self.weights, signals))
        return round(logistic(odds), 4)


def gate_signals(message: str, held: float, standing: Standing) -> NDArray[np.float64]:
    """Return :data:`SIGNALS` of a message, shape (len(SIGNALS),).

    Args:
        message: as it was written.
        held: probability that the memory holds what is asked, in [0, 1].
        standing: of the ranking of a memory's passages for it.
    """
    best = next(default_bearing().by_score(held, standing)(standing.scores[:1]))
    of_best, met = logit(best), float(standing.met[0])
    of_memory = intent_of(message).message.of_memory
    return np.array([logit(held), of_best, met, of_memory, of_memory * of_best, of_memory * met])


@cache
def default_gate() -> Gate:
    """Return the model that ships with DeMem, loaded at the first use.

    Raises:
        KeyError: if the file lacks a parameter.
    """
    found = json.loads(shipped("scoring/gate.json"))
    weights = tuple(float(found["weights"][name]) for name in SIGNALS)
    return Gate(float(found["intercept"]), weights, float(found["threshold"]))
