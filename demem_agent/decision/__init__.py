"""The decision kernel: what sharing a memory state costs, and what evidence certifies about that cost.

Arrays in, arrays out: rows are contexts, columns are actions, rewards lie in [0, 1]. Numpy is all it
needs; it knows no text, no store and no clock, so a simulation and a deployed memory run the same code.

* ``gaps``: the exact quantities, when the rewards are known;
* ``envelopes``: intervals that hold the rewards, each with the conditions under which it does;
* ``certificates``: what an envelope proves about gaps, distances and radii.
"""

from __future__ import annotations

from demem_agent.decision.certificates import (
    CandidateRadius,
    candidate_radius,
    cannot_link,
    distance_bounds,
    lower_gaps,
    lower_losses,
    radius_bounds,
    upper_gaps,
)
from demem_agent.decision.envelopes import Envelope, guard_band, hoeffding, unknown
from demem_agent.decision.gaps import can_share, gaps, pairwise_distance, radius

__all__ = [
    "CandidateRadius",
    "Envelope",
    "can_share",
    "candidate_radius",
    "cannot_link",
    "distance_bounds",
    "gaps",
    "guard_band",
    "hoeffding",
    "lower_gaps",
    "lower_losses",
    "pairwise_distance",
    "radius",
    "radius_bounds",
    "unknown",
    "upper_gaps",
]
