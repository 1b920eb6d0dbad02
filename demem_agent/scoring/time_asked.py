"""Whether a question asks for what held before, for what holds now, or says nothing of it.

A logistic model of the sum of the question's word vectors, in any language that these know; fitted
by ``benchmarks/fit_changes.py`` on questions written for it.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.wording import wording_of
from demem_agent.shipped import shipped

__all__ = ["TIMES", "asks_of_before", "sum_of_words"]

#: What a question may ask for, in the order of the model's weights.
TIMES = ("before", "now", "open")


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """Weights of each time, shape (3, WIDTH), its bias, and the least probability of "before"."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    least: float


def sum_of_words(question: str) -> NDArray[np.float32]:
    """Return the sum of a question's word vectors, by the root of how many, shape (WIDTH,)."""
    vectors = wording_of([question]).vectors
    found: NDArray[np.float32] = vectors.sum(axis=0) / np.float32(max(len(vectors), 1) ** 0.5)
    return found


def asks_of_before(question: str) -> bool:
    """Whether a question asks for what held before something else did."""
    model = _model()
    scores = model.weights @ sum_of_words(question) + model.bias
    odds = np.exp(scores - scores.max())
    return bool(odds[0] / odds.sum() >= model.least)


@cache
def _model() -> _Model:
    stored = json.loads(shipped("scoring/time_asked.json"))
    weights, bias = (np.array(stored[name], np.float32) for name in ("weights", "bias"))
    return _Model(weights, bias, stored["least"])
