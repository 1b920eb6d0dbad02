"""How often cannot-link certificates are wrong where a learner chooses what it samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from demem_agent.decision.certificates import distance_bounds
from demem_agent.decision.envelopes import Envelope, hoeffding
from demem_agent.decision.gaps import pairwise_distance
from demem_agent.decision.learners.learner import Confidence, Tally
from demem_agent.decision.learners.splits import PracticalSplits
from demem_agent.studies.synthetic.environment import NOISE, Block, Floats, World, make_world, play
from demem_agent.studies.synthetic.rows import Row

__all__ = ["DELTAS", "KINDS", "AuditCase", "run_audit"]

DELTAS = (0.01, 0.05, 0.1, 0.2, 0.5)
CONTEXTS, IDENTITIES, ACTIONS = 12, 4, 4
ROUNDS, STEP = 600, 20
KINDS = ("hoeffding", "all counts", "one at a time")


@dataclass(frozen=True, slots=True)
class AuditCase:
    """Name a run by its seed."""

    seed: int


def run_audit(case: AuditCase) -> Row:
    """Return for each delta and kind of envelope whether any certificate of the run was wrong."""
    wrong = {}
    proven = {}
    for delta, audit in _audits(case.seed).items():
        name = f"{delta:g}"
        wrong[name] = audit.wrong
        proven[name] = audit.proven
    return {"seed": case.seed, "wrong": wrong, "proven": proven}


@dataclass(slots=True)
class _Audit:
    """What was certified at one delta.

    Attributes:
        wrong: by kind, whether any certificate was ever wrong.
        proven: pairs that are certified apart by the last look, all counts used.
    """

    wrong: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(KINDS, False))
    proven: float = 0.0

    def note(self, lower: Mapping[str, Floats], truth: Floats) -> None:
        """Compare lower bounds by kind with the true distances."""
        for kind, bounds in lower.items():
            beyond = bounds > truth + 1e-12
            self.wrong[kind] |= bool(beyond.any())
        apart = lower["all counts"] > 0
        self.proven = float(apart.sum() / 2)


def _audits(seed: int) -> dict[float, _Audit]:
    """Play a run, and look at what is certified after every ``STEP`` rounds, by delta."""
    world = _world(seed)
    truth = pairwise_distance(world.mu)
    learner = _learner(seed)
    rng = np.random.default_rng([seed, 7])
    audits = {delta: _Audit() for delta in DELTAS}
    for _ in range(ROUNDS // STEP):
        play(learner, [Block(0, world)], STEP, rng)
        for delta, audit in audits.items():
            lower = _lower_bounds(learner, delta)
            audit.note(lower, truth)
    return audits


def _world(seed: int) -> World:
    rng = np.random.default_rng([seed, 5])
    return make_world(0.5, rng, contexts=CONTEXTS, identities=IDENTITIES, actions=ACTIONS)


def _learner(seed: int) -> PracticalSplits:
    confidence = Confidence(CONTEXTS, ACTIONS, noise=NOISE)
    return PracticalSplits(4, confidence=confidence, rng=np.random.default_rng([seed, 6]))


def _lower_bounds(learner: PracticalSplits, delta: float) -> dict[str, Floats]:
    """Return what each kind of envelope certifies of every pair of contexts."""
    found: dict[str, Floats] = {}
    for kind, envelope in _envelopes(learner.own, learner.rounds, delta).items():
        lower, _ = distance_bounds(envelope)
        found[kind] = lower
    return found


def _envelopes(tally: Tally, rounds: int, delta: float) -> dict[str, Envelope]:
    known_noise = Confidence(CONTEXTS, ACTIONS, delta=delta, noise=NOISE)
    return {
        "hoeffding": hoeffding(tally.means(), tally.counts, t=rounds, delta=delta),
        "all counts": known_noise.envelope(tally),
        "one at a time": _at_one_time(tally, delta),
    }


def _at_one_time(tally: Tally, delta: float) -> Envelope:
    """Return the interval that would hold for one pair at one time."""
    means = tally.means()
    quantile = NormalDist().inv_cdf(1 - delta / 2)
    width = quantile * NOISE / np.sqrt(np.maximum(tally.counts, 1.0))
    width = np.where(tally.counts > 0, width, 1.0)
    lower = np.clip(means - width, 0.0, 1.0)
    upper = np.clip(means + width, 0.0, 1.0)
    return Envelope(lower, upper)
