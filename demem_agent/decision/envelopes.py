"""Envelopes: for each context and action an interval that is held to contain the reward.

Each constructor says when its intervals do contain it, and where that stops. What is not known has
the interval [0, 1], which is always right and certifies nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from demem_agent.decision._arrays import Bools, Floats, matrix, numbers, require


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Hold lower and upper bounds on the rewards of N contexts under A actions.

    Both arrays have shape (N, A), with 0 <= lower <= upper <= 1; they are copied and read-only. Two
    envelopes are equal only when they are the same object. Raises ValueError naming the array at
    fault.
    """

    lower: Floats
    upper: Floats

    def __post_init__(self) -> None:
        lower = matrix("lower", self.lower).copy()
        upper = matrix("upper", self.upper).copy()
        _require_shape("upper", upper, "lower", lower)
        excess = (lower - upper).max()
        require(bool(excess <= 0), "lower", "<= upper everywhere", f"an excess of {excess:g}")
        self._set("lower", lower)
        self._set("upper", upper)

    def _set(self, name: str, array: Floats) -> None:
        array.setflags(write=False)
        object.__setattr__(self, name, array)


def _require_shape(name: str, array: Floats, other_name: str, other: Floats) -> None:
    allowed = f"of the shape of {other_name}, {other.shape}"
    require(array.shape == other.shape, name, allowed, f"shape {array.shape}")


def unknown(shape: tuple[int, int]) -> Envelope:
    """Build the envelope [0, 1] of shape (N, A), which is always valid and certifies nothing."""
    require(len(shape) == 2 and min(shape) >= 1, "shape", "(N, A) with N, A >= 1", shape)
    return Envelope(np.zeros(shape), np.ones(shape))


def guard_band(scores: ArrayLike, *, c_beta: float, sigma_0: float, eta_cal: float) -> Envelope:
    """Build the guard band of one-pass scores: their mean, give or take the scorers' disagreement.

    The half-width is ``c_beta * sqrt((dispersion + sigma_0**2) / B) + eta_cal``, the dispersion
    unbiased; the band is clipped to [0, 1].

    This is NOT a probability statement: the scores of one deterministic answer are no independent
    sample, and B is small. The band holds the expected reward only where ``c_beta`` and ``eta_cal``
    were calibrated on held-out instances of the same kind, with the same scorers and answerer. It
    does not cover an error that all scorers share, and stops to apply when scorers, answerer or
    kind of question change.

    Args:
        scores: shape (N, A, B), B >= 2 scores in [0, 1] for each context and action; (A, B) and
            (B,) are one context. All B scores NaN means unknown, and gives [0, 1].
        c_beta: safety multiplier, finite and >= 0.
        sigma_0: floor of the dispersion, finite and > 0.
        eta_cal: calibration slack, finite and >= 0.

    Raises ValueError for any of these out of range, and where only some of the B scores are NaN.
    Source: appendix "Practical split trigger".
    """
    require(0 <= c_beta < math.inf, "c_beta", "finite and >= 0", c_beta)
    require(0 < sigma_0 < math.inf, "sigma_0", "finite and > 0", sigma_0)
    require(0 <= eta_cal < math.inf, "eta_cal", "finite and >= 0", eta_cal)
    filled, known = _known_scores(numbers("scores", scores))
    spread = np.hypot(filled.std(axis=-1, ddof=1), sigma_0)
    width = c_beta * spread / math.sqrt(filled.shape[-1]) + eta_cal
    return _band(filled.mean(axis=-1), width, known)


def hoeffding(means: ArrayLike, counts: ArrayLike, *, t: int, delta: float) -> Envelope:
    """Build the envelope of empirical means after ``t`` rounds, by Hoeffding's inequality.

    The half-width is ``sqrt(log(4 N A t**2 / delta) / (2 count))``, clipped to [0, 1]; a count of 0
    gives [0, 1]. With probability at least 1 - delta all N * A intervals hold the expected rewards
    at all rounds together, also when earlier rewards decided which pair was observed next.
    Conditions: rewards lie in [0, 1]; those of one pair are independent draws with one fixed mean;
    N, A and delta are the same at every round, fixed beforehand; no count exceeds ``t``. It stops
    to apply when rewards drift, when the same answer is merely scored again, and when contexts or
    actions are added that N and A did not count from the start.

    Args:
        means: shape (N, A), in [0, 1] where the count is positive; ignored, NaN allowed, elsewhere.
        counts: shape (N, A), whole numbers in [0, t].
        t: round, >= 1.
        delta: probability of any failure, in (0, 1).

    Raises ValueError for any of these out of range.
    Source: appendix "Confidence bounds and distance certificates".
    """
    require(t >= 1 and t % 1 == 0, "t", "a whole number >= 1", t)
    require(0 < delta < 1, "delta", "in (0, 1)", delta)
    pulls = _whole_counts(counts, t)
    given = numbers("means", means)
    _require_shape("means", given, "counts", pulls)
    known = pulls > 0
    centre = matrix("means", np.where(known, given, 0.5))
    log_term = math.log(4 * pulls.size) + 2 * math.log(t) - math.log(delta)
    width = np.sqrt(log_term / (2 * np.maximum(pulls, 1)))
    return _band(centre, width, known)


def _whole_counts(counts: ArrayLike, t: int) -> Floats:
    # Counts above t would void the guarantee: the union over random counts rests on count <= t.
    pulls = matrix("counts", counts, 0, t)
    whole = bool((pulls == np.floor(pulls)).all())
    require(whole, "counts", "whole numbers", "fractions")
    return pulls


def _known_scores(scores: Floats) -> tuple[Floats, Bools]:
    """Split scores into numbers, filled where unknown, and the mask of what is known.

    Of shapes (N, A, B) and (N, A).
    """
    table = _with_contexts(scores)
    missing = np.isnan(table)
    known: Bools = np.logical_not(missing.all(axis=-1))
    mixed = bool(missing[known].any())
    allowed = "all NaN or all numbers for one context and action"
    require(not mixed, "scores", allowed, "a mixture")
    filled: Floats = np.where(missing, 0.5, table)
    outside = filled[(filled < 0) | (filled > 1)]
    require(outside.size == 0, "scores", "in [0, 1], or NaN when unknown", outside[:1])
    return filled, known


def _with_contexts(scores: Floats) -> Floats:
    """Put the axes of contexts and actions before those of scores that lack them."""
    shaped = 1 <= scores.ndim <= 3 and scores.size > 0 and scores.shape[-1] >= 2
    allowed = "a non-empty (contexts, actions, B) array with B >= 2"
    require(shaped, "scores", allowed, f"shape {scores.shape}")
    ones = (1,) * (3 - scores.ndim)
    return scores.reshape(ones + scores.shape)


def _band(centre: Floats, width: Floats, known: Bools) -> Envelope:
    lower = np.maximum(0.0, centre - width)
    upper = np.minimum(1.0, centre + width)
    return Envelope(np.where(known, lower, 0.0), np.where(known, upper, 1.0))
