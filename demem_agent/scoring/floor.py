"""How far behind the best one a passage may score and still be read.

A logistic model of the distance alone: how probable it is that a passage is what was asked for. Its
parameters are data, ``floor.json`` beside this module, made by ``benchmarks/fit_floor.py`` for the
weights that ship; docs/scoring.md says what it costs.
"""

from __future__ import annotations

import json
import math
from functools import cache

from demem_agent.later import dataclass
from demem_agent.shipped import shipped

__all__ = ["Floor", "default_floor"]


@dataclass(frozen=True, slots=True)
class Floor:
    """The parameters of the model.

    Attributes:
        intercept: log-odds that the best passage is evidence.
        slope: what these lose with each point of the score that a passage is behind, > 0.
    """

    intercept: float
    slope: float

    def distance(self, probability: float) -> float:
        """Return how far behind the best a passage is that is evidence with a probability.

        Args:
            probability: in (0, 1).

        Returns:
            points of the score, at least 0.
        """
        odds = math.log(probability / (1.0 - probability))
        return max((self.intercept - odds) / self.slope, 0.0)


@cache
def default_floor() -> Floor:
    """Return the model that ships with DeMem, loaded at the first use.

    Raises:
        KeyError: if the file lacks a parameter.
    """
    text = shipped("scoring/floor.json")
    found = json.loads(text)
    return Floor(float(found["intercept"]), float(found["slope"]))
