"""The decision kernel: what sharing a memory state costs, and what evidence certifies of that.

Arrays in, arrays out: rows are contexts, columns are actions, rewards lie in [0, 1]. Numpy is all
it needs; it knows no text, no store and no clock, so a simulation and a deployed memory run the
same code.

* ``gaps``: the exact quantities, when the rewards are known;
* ``envelopes``: intervals that hold the rewards, each with the conditions under which it does;
* ``sequences``: envelopes that hold at every count of rewards at once;
* ``certificates``: what an envelope proves about gaps, distances and radii;
* ``partition``: contexts into K states, from certificates;
* ``frontier``: what K states cost at best, when the rewards are known. Exact values need scipy, on
  demand;
* ``learner``: what online learners share; ``splits``: the paper's, as written and practical;
  ``correction``: one that starts from descriptions and corrects them (``prior``: its rules);
  ``growing``: the same for contexts and actions that come and go; ``restarts``: for rewards that
  change.
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
from demem_agent.decision.frontier import (
    Covering,
    Frontier,
    Interval,
    Packing,
    average_frontier,
    average_interval,
    covering_interval,
    covering_number,
    information_bound,
    packing_interval,
    packing_number,
    worst_case_frontier,
    worst_case_interval,
)
from demem_agent.decision.gaps import can_share, gaps, pairwise_distance, radius
from demem_agent.decision.learners.correction import CorrectedPrior
from demem_agent.decision.learners.growing import Choice, GrowingPrior
from demem_agent.decision.learners.learner import Assignment, Confidence, Learner, Tally
from demem_agent.decision.learners.prior import Role
from demem_agent.decision.learners.restarts import AdaptiveRestarts, Restarting
from demem_agent.decision.learners.splits import CertifiedSplits, PracticalSplits
from demem_agent.decision.partition import Partition, cover_partition, fallback, greedy_partition
from demem_agent.decision.sequences import (
    BernsteinSequence,
    betting,
    empirical_bernstein,
    growing_shares,
    histories,
)

__all__ = [
    "AdaptiveRestarts",
    "Assignment",
    "BernsteinSequence",
    "CandidateRadius",
    "CertifiedSplits",
    "Choice",
    "Confidence",
    "CorrectedPrior",
    "Covering",
    "Envelope",
    "Frontier",
    "GrowingPrior",
    "Interval",
    "Learner",
    "Packing",
    "Partition",
    "PracticalSplits",
    "Restarting",
    "Role",
    "Tally",
    "average_frontier",
    "average_interval",
    "betting",
    "can_share",
    "candidate_radius",
    "cannot_link",
    "cover_partition",
    "covering_interval",
    "covering_number",
    "distance_bounds",
    "empirical_bernstein",
    "fallback",
    "gaps",
    "greedy_partition",
    "growing_shares",
    "guard_band",
    "histories",
    "hoeffding",
    "information_bound",
    "lower_gaps",
    "lower_losses",
    "packing_interval",
    "packing_number",
    "pairwise_distance",
    "radius",
    "radius_bounds",
    "unknown",
    "upper_gaps",
    "worst_case_frontier",
    "worst_case_interval",
]
