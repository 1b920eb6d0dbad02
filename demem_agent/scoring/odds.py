"""Probabilities and log-odds."""

from __future__ import annotations

import math

__all__ = ["logistic", "logit"]

#: What keeps log-odds finite.
_LEAST = 0.0001


def logit(probability: float) -> float:
    """Return the log-odds of a probability in [0, 1], at most 9.3 either way."""
    kept = min(max(probability, _LEAST), 1.0 - _LEAST)
    return math.log(kept / (1.0 - kept))


def logistic(odds: float) -> float:
    """Return the probability in [0, 1] of log-odds."""
    return (1.0 + math.tanh(odds / 2.0)) / 2.0  # in a form without overflow
