"""How probably two sentences exclude each other: a logistic model of their signals."""

from __future__ import annotations

import math

from demem_agent.slots.successions.claims import Claim
from demem_agent.slots.successions.signals import (
    Compared,
    Signals,
    compared,
    never_exclude,
    signals,
)
from demem_agent.slots.successions.worth import Worth

__all__ = ["EXCLUDES", "INTERCEPT", "WEIGHTS", "exclusion", "judged", "probability"]

#: Two sentences count as rivals from this probability on: whoever takes them for rivals looks
#: further, so that a miss costs more than a mistake. Readings ask for more (``lineage.HOLDS``).
EXCLUDES = 0.35
#: The model: the log-odds of each signal. Fitted by ``benchmarks/fit_supersession.py``.
WEIGHTS = Signals(
    alike=1.73,
    cosine=0.89,
    count=0.51,
    begins=0.04,
    number=2.88,
    name=5.11,
    swapped=0.53,
    switched=4.92,
    denies=3.77,
    changed=4.92,
    adds=-0.2,
    depends=-0.28,
    happened=-0.56,
    apart=-0.71,
    many=-1.89,
    soon=-1.57,
    exclaims=0.65,
    told=2.71,
    replaced=-2.82,
    measured=1.21,
    renewed=2.19,
    fresh=4.36,
    framed=6.77,
    closed=1.87,
    refuted=2.76,
    turned=7.14,
    withdrawn=7.78,
)
INTERCEPT = -4.93
#: How far each signal can speak for an exclusion; 0.0 for one that speaks against it.
_FOR = Signals(*(max(weight, 0.0) for weight in WEIGHTS.values))
#: The most that those can come to that are looked at last, with the intercept; more by what sums in
#: another order differ by.
_MOST_BESIDE = (
    INTERCEPT
    + _FOR.begins
    + _FOR.adds
    + _FOR.depends
    + _FOR.happened
    + _FOR.apart
    + _FOR.many
    + _FOR.soon
    + _FOR.exclaims
    + 1e-6
)


def judged(pair: Compared, worth: Worth, least: float = 0.0) -> Signals | None:
    """Return the signals of two sentences; None where they never exclude each other, or the model
    cannot give them a probability.

    Args:
        least: that probability, in [0, 1]; it saves most work.
    """
    if least and _at_most(pair) < least:  # first, as it takes less
        return None
    return None if never_exclude(pair) else signals(pair, worth)


def _at_most(pair: Compared) -> float:
    """Return the most that the model can give two sentences, by what is soon told of them."""
    signs = pair.later.signs
    number = pair.number
    changed = "changed" in signs
    values = WEIGHTS.alike + _FOR.swapped + _FOR.name * pair.name
    values += (_FOR.number + _FOR.measured + _FOR.fresh * ("renews" in signs)) * number
    values += _FOR.switched * ("negates" in pair.earlier.signs or "negates" in signs)
    values += _FOR.denies * ("denies" in signs) + _FOR.changed * changed
    if pair.told:
        values += _FOR.told + _FOR.replaced + _FOR.framed
        values += _FOR.closed * ("closes" in signs) + _FOR.refuted * ("refuses" in signs)
    logit = values * pair.alike + _FOR.renewed * (number and changed)
    logit += _FOR.turned * pair.turned + _FOR.withdrawn * pair.withdrawn
    logit += WEIGHTS.cosine * pair.cosine + WEIGHTS.count * pair.count
    return _probability(logit + _MOST_BESIDE)


def probability(found: Signals) -> float:
    """Return how probably two sentences exclude each other, in [0, 1].

    0.0 where they set no other value.
    """
    return _probability(_logit(found)) if found.sets_another else 0.0


def _logit(found: Signals) -> float:
    logit = INTERCEPT
    for weight, value in zip(WEIGHTS.values, found.values, strict=True):
        logit += weight * value
    return logit


def _probability(logit: float) -> float:
    return round((1 + math.tanh(logit / 2)) / 2, 4)


def exclusion(
    earlier: Claim,
    later: Claim,
    worth: Worth,
    cosine: float,
    *,
    soon: bool = False,
    told: bool = False,
    least: float = 0.0,
) -> float:
    """Return how probably two sentences exclude each other, in [0, 1], if of one owner.

    0.0 where they share too little or set no other value, and where it is less than ``least``.
    Other arguments are those of :func:`compared`.
    """
    pair = compared(earlier, later, worth, cosine, soon=soon, told=told)
    found = None if pair is None else judged(pair, worth, least)
    if found is None:
        return 0.0
    likely = probability(found)
    return likely if likely >= least else 0.0
