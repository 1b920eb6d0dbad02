"""How often cannot-link certificates are wrong, over many runs of a learner that chooses what it
samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from demem_agent.decision.certificates import distance_bounds
from demem_agent.decision.envelopes import Envelope, hoeffding
from demem_agent.decision.gaps import pairwise_distance
from demem_agent.decision.learner import Confidence, Tally
from demem_agent.decision.splits import PracticalSplits
from demem_agent.studies.synthetic.environment import NOISE, Block, make_world, play

DELTAS = (0.01, 0.05, 0.1, 0.2, 0.5)
CONTEXTS, IDENTITIES, ACTIONS = 12, 4, 4
ROUNDS, STEP = 600, 20
KINDS = ("hoeffding", "all counts", "one at a time")


@dataclass(frozen=True, slots=True)
class AuditCase:
    """Name a run by its seed."""

    seed: int


def run_audit(case: AuditCase) -> dict[str, Any]:
    """Tell for each delta and kind of envelope whether any certificate of the run was ever wrong."""
    world = make_world(
        0.5,
        np.random.default_rng([case.seed, 5]),
        contexts=CONTEXTS,
        identities=IDENTITIES,
        actions=ACTIONS,
    )
    truth = pairwise_distance(world.mu)
    confidence = Confidence(CONTEXTS, ACTIONS, noise=NOISE)
    learner = PracticalSplits(4, confidence=confidence, rng=np.random.default_rng([case.seed, 6]))
    wrong: dict[str, dict[str, bool]] = {
        f"{delta:g}": dict.fromkeys(KINDS, False) for delta in DELTAS
    }
    proven = dict.fromkeys(wrong, 0.0)
    rng = np.random.default_rng([case.seed, 7])
    for _ in range(ROUNDS // STEP):
        play(learner, [Block(0, world)], STEP, rng)
        for delta in DELTAS:
            for kind, envelope in _envelopes(learner.own, learner.rounds, delta).items():
                lower = distance_bounds(envelope)[0]
                wrong[f"{delta:g}"][kind] |= bool((lower > truth + 1e-12).any())
                if kind == "all counts":
                    proven[f"{delta:g}"] = float((lower > 0).sum() / 2)
    return {"seed": case.seed, "wrong": wrong, "proven": proven}


def _envelopes(tally: Tally, rounds: int, delta: float) -> dict[str, Envelope]:
    means, counts = tally.means(), tally.counts
    naive = NormalDist().inv_cdf(1 - delta / 2) * NOISE / np.sqrt(np.maximum(counts, 1.0))
    naive = np.where(counts > 0, naive, 1.0)
    return {
        "hoeffding": hoeffding(means, counts, t=rounds, delta=delta),
        "all counts": Confidence(CONTEXTS, ACTIONS, delta=delta, noise=NOISE).envelope(tally),
        "one at a time": Envelope(
            np.clip(means - naive, 0.0, 1.0), np.clip(means + naive, 0.0, 1.0)
        ),
    }
