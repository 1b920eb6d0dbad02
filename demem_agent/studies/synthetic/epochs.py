"""Greedy-Partition in the paper's own world, epoch by epoch, against the exact frontier.

Paper: table "Greedy partition quality on the synthetic environment": the Decoupled Bandit at
mismatch .5 with 20 contexts. The practical learner plays; when an epoch begins, the contexts that
it has met are partitioned from its certificates, and what that partition truly costs is put beside
the exact frontier of the same contexts. The paper says neither which learner plays nor from which
certificates; beside it stands what the colouring makes of the rewards themselves, which is as good
as any certificates allow.

The world has as many reward vectors as decision identities, here eight: with that many states the
frontier is 0, where the paper has .028.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision._colouring import smallest_last
from demem_agent.decision.envelopes import Envelope
from demem_agent.decision.frontier import worst_case_frontier
from demem_agent.decision.gaps import gaps, pairwise_distance, radius
from demem_agent.decision.learners.learner import Confidence
from demem_agent.decision.learners.splits import PracticalSplits
from demem_agent.decision.partition import Partition, greedy_partition
from demem_agent.studies.synthetic.environment import (
    NOISE,
    Floats,
    World,
    make_world,
    noise_reach,
)
from demem_agent.studies.synthetic.rows import Row

__all__ = ["EpochCase", "run_epochs"]

CONTEXTS, ALPHA = 20, 0.5


@dataclass(frozen=True, slots=True)
class EpochCase:
    """Name a run: ``k`` states, a world from ``seed``, so many rounds."""

    k: int
    seed: int
    rounds: int


def run_epochs(case: EpochCase) -> Row:
    """Play a world and partition what was met at the beginning of each epoch.

    Returns:
        ``epochs``, one record an epoch: ``exact``, the frontier of the contexts met; ``level`` of
        the graph that the rewards themselves are coloured by, which is no radius; ``known``, the
        true radius of that colouring; ``sampled``, that of the colouring
        by certificates, ``certified`` what it claims; ``degeneracy``, of the true graph at the
        exact level.
    """
    world = make_world(ALPHA, np.random.default_rng([case.seed, 0]), contexts=CONTEXTS)
    epochs = [_measured(world, case.k, *met) for met in _played(world, case)]
    return {"k": case.k, "seed": case.seed, "epochs": epochs}


def _played(world: World, case: EpochCase) -> Iterator[tuple[NDArray[np.intp], Envelope]]:
    """Yield, as each epoch but the first begins, the contexts met and what is known of them."""
    rng = np.random.default_rng([case.seed, 5])
    confidence = Confidence(world.contexts, world.actions, delta=0.05, noise=NOISE)
    learner = PracticalSplits(case.k, confidence=confidence, rng=rng)
    reach = noise_reach(world.mu)
    for t in range(1, case.rounds + 1):
        if t > 1 and t & (t - 1) == 0:
            met = np.flatnonzero(learner.own.counts.any(axis=1))
            known = learner.envelope()
            yield met, Envelope(known.lower[met], known.upper[met])
        context = int(rng.integers(world.contexts))
        action = learner.choose(context)
        noisy = world.mu[context, action] + reach[context, action] * rng.uniform(-1.0, 1.0)
        learner.learn(context, action, min(max(float(noisy), 0.0), 1.0))


def _measured(world: World, k: int, met: NDArray[np.intp], sampled: Envelope) -> Row:
    mu = world.mu[met]
    exact = worst_case_frontier(mu, k).value
    from_rewards = greedy_partition(Envelope(mu, mu), k)
    from_samples = greedy_partition(sampled, k)
    _, degeneracy = smallest_last(pairwise_distance(mu) > exact)
    return {
        "exact": exact,
        "level": from_rewards.level,
        "known": realised(mu, from_rewards),
        "sampled": realised(mu, from_samples),
        "certified": from_samples.certified,
        "degeneracy": degeneracy,
    }


def realised(mu: Floats, partition: Partition) -> float:
    """Return the true radius of the worst state of a partition."""
    losses = gaps(mu)
    radii = []
    for label in np.unique(partition.labels):
        loss, _ = radius(losses, np.flatnonzero(partition.labels == label))
        radii.append(loss)
    return max(radii)
