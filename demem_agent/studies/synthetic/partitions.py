"""How close partitions come to the exact frontier, on small instances where that can be told.

Source: appendix "Empirical validation of the greedy partition quality".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demem_agent.decision._colouring import smallest_last
from demem_agent.decision.envelopes import Envelope
from demem_agent.decision.frontier import worst_case_frontier
from demem_agent.decision.gaps import pairwise_distance
from demem_agent.decision.learners.learner import Confidence, Tally
from demem_agent.decision.partition import cover_partition, greedy_partition
from demem_agent.studies.synthetic.environment import NOISE, Floats, noise_reach
from demem_agent.studies.synthetic.epochs import realised
from demem_agent.studies.synthetic.rows import Row

__all__ = ["BUDGETS", "GapCase", "run_gap"]

CONTEXTS, ACTIONS, SAMPLES = 20, 12, 400
#: Numbers of states.
BUDGETS = (3, 5, 8, 10)


@dataclass(frozen=True, slots=True)
class GapCase:
    """Name an instance: ``k`` states, rewards from ``seed``."""

    k: int
    seed: int


def run_gap(case: GapCase) -> Row:
    """Partition one instance, with its rewards known and from samples."""
    rng = np.random.default_rng([case.seed, 4])
    mu = rng.uniform(size=(CONTEXTS, ACTIONS))
    sampled = _sampled(mu, rng)
    return {
        "k": case.k,
        "seed": case.seed,
        **_from_rewards(mu, case.k),
        **_from_samples(mu, sampled, case.k),
    }


def _from_rewards(mu: Floats, k: int) -> Row:
    """Partition by the rewards themselves, so that what is certified is what is realised."""
    known = Envelope(mu, mu)
    exact = worst_case_frontier(mu, k).value
    _, degeneracy = smallest_last(pairwise_distance(mu) > exact)
    greedy = greedy_partition(known, k)
    cover = cover_partition(known, k)
    return {
        "exact": exact,
        "level": greedy.level,
        "degeneracy": degeneracy,
        "greedy": greedy.certified,
        "cover": cover.certified,
    }


def _from_samples(mu: Floats, sampled: Envelope, k: int) -> Row:
    greedy = greedy_partition(sampled, k)
    cover = cover_partition(sampled, k)
    return {
        "greedy_certified": greedy.certified,
        "greedy_realised": realised(mu, greedy),
        "cover_certified": cover.certified,
        "cover_realised": realised(mu, cover),
    }


def _sampled(mu: Floats, rng: np.random.Generator) -> Envelope:
    tally = Tally(*mu.shape)
    tally.counts[:] = SAMPLES
    noise = rng.uniform(-1.0, 1.0, size=(SAMPLES, *mu.shape))
    rewards = np.clip(mu + noise_reach(mu) * noise, 0.0, 1.0)
    tally.sums[:] = rewards.sum(axis=0)
    return Confidence(CONTEXTS, ACTIONS, noise=NOISE).envelope(tally)
