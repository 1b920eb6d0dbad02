"""Certificates: what an envelope proves about gaps, distances and radii.

Everything here is a deterministic consequence of "the rewards lie inside the envelope": where that
holds, certified lower <= true <= certified upper, exactly. How far it can be trusted is the
envelope's own matter. Lower bounds on distance and radius are clipped at 0, where the true values
start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from demem_agent.decision._arrays import Bools, Floats, minimax, pairwise_minimax, require
from demem_agent.decision.envelopes import Envelope


def lower_gaps(envelope: Envelope) -> Floats:
    """Compute what each action loses at least.

    The best lower bound of its context less its own upper bound.

    Returns (N, A) in [-1, 1], unclipped; a negative entry proves nothing.
    Source: appendix "Confidence bounds and distance certificates".
    """
    best: Floats = envelope.lower.max(axis=1, keepdims=True)
    return best - envelope.upper


def upper_gaps(envelope: Envelope) -> Floats:
    """Compute what each action loses at most.

    The best upper bound of its context less its own lower bound.

    Returns (N, A) in [0, 1]. Source: appendix "Confidence bounds and distance certificates".
    """
    best: Floats = envelope.upper.max(axis=1, keepdims=True)
    return best - envelope.lower


def lower_losses(envelope: Envelope) -> Floats:
    """Compute ``lower_gaps`` clipped at 0, as the split trigger uses them.

    Returns (N, A) in [0, 1]. Source: appendix "Practical split trigger".
    """
    return np.maximum(lower_gaps(envelope), 0.0)


def radius_bounds(envelope: Envelope, members: Iterable[int] | None = None) -> tuple[float, float]:
    """Bound the radius of a cluster: at least ``lower``, at most ``upper``, both in [0, 1].

    ``members`` are row numbers (all rows when None). Raises ValueError for an empty or out-of-range
    cluster.
    Source: eq. (cluster-radius-bounds), its lower bound clipped at 0.
    """
    rows = None if members is None else list(members)  # read twice, so an iterator will not do
    lower, _ = minimax(lower_losses(envelope), rows)
    upper, _ = minimax(upper_gaps(envelope), rows)
    return lower, upper


def distance_bounds(envelope: Envelope) -> tuple[Floats, Floats]:
    """Bound the decision distance of every two contexts, from below and from above.

    Returns two symmetric (N, N) matrices in [0, 1]. The lower one has a zero diagonal; the upper
    one need not: on the diagonal it says how much a context may lose by the action that is safest
    for it.
    Source: eq. (ddec-bounds), its lower bound clipped at 0.
    """
    lower = pairwise_minimax(lower_losses(envelope))
    upper = pairwise_minimax(upper_gaps(envelope))
    return lower, upper


def cannot_link(envelope: Envelope, level: float) -> Bools:
    """Mark the pairs certified to lie further apart than ``level``.

    Returns a symmetric (N, N) graph without loops. An edge proves that no state of radius <=
    ``level`` holds both contexts. One-sided: that an edge is absent proves nothing, and a cluster
    without edges may still have a large radius. Raises ValueError for ``level`` that is not a
    finite number >= 0.
    Source: section "Online Learning with Certified Memory Splits", "Cannot-link graph".
    """
    require(0 <= level < math.inf, "level", "finite and >= 0", level)
    distance = pairwise_minimax(lower_losses(envelope))
    edges: Bools = distance > level
    return edges


@dataclass(frozen=True, slots=True, eq=False)
class CandidateRadius:
    """Say what sharing any one of U candidates costs a pair of contexts at least.

    Not hashable, as its array is not.

    Attributes:
        radius: smallest over the candidates of the larger of the pair's losses, in [0, 1].
        losses: shape (2, U), lower-bounded loss of each context under each candidate; read-only.
        candidate: the candidate that attains the radius, the smallest index on ties.
    """

    radius: float
    losses: Floats
    candidate: int


def candidate_radius(envelope_pair: Envelope) -> CandidateRadius:
    """Certify how much a pair of contexts loses whichever candidate both share.

    ``envelope_pair`` has shape (2, U). The pair conflicts when the radius exceeds the caller's
    threshold; a small radius is no proof that they agree. It speaks of these candidates alone: the
    best value of a context is the best among them, so that neither a better nor a shared action
    outside the set is considered. Raises ValueError for another number of contexts. Source:
    appendix "Practical split trigger".
    """
    shape = envelope_pair.lower.shape
    require(shape[0] == 2, "envelope_pair", "of shape (2, U)", f"shape {shape}")
    losses = lower_losses(envelope_pair)
    losses.setflags(write=False)
    radius, candidate = minimax(losses)
    return CandidateRadius(radius=radius, losses=losses, candidate=candidate)
