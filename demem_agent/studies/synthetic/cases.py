"""One run of one method in one world, and what is measured of it. A case is data, so that any
process can run it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from demem_agent.decision.learner import Assignment, Learner
from demem_agent.studies.synthetic.environment import Block, Floats, World, make_world, play, redraw
from demem_agent.studies.synthetic.methods import METHODS, RESTARTS

POINTS = 100  # of a regret curve that are kept


@dataclass(frozen=True, slots=True)
class Case:
    """Name a run: the world follows from ``seed`` and ``alpha`` alone, so that methods meet the
    same one.
    """

    method: str
    seed: int
    alpha: float
    slots: int
    rounds: int
    blocks: int = 1


def run_case(case: Case) -> dict[str, Any]:
    """Play a case; give its regret curve and what its states cost in the end."""
    world = make_world(case.alpha, np.random.default_rng([case.seed, 0]))
    blocks = _blocks(world, case)
    build = (METHODS if case.blocks == 1 else RESTARTS)[case.method]
    learner = build(world, case.slots, np.random.default_rng([case.seed, 1]))
    regret = np.cumsum(play(learner, blocks, case.rounds, np.random.default_rng([case.seed, 2])))
    at = np.linspace(0, case.rounds, POINTS + 1).astype(int)[1:] - 1
    return {
        "method": case.method,
        "seed": case.seed,
        "alpha": case.alpha,
        "slots": case.slots,
        "regret": float(regret[-1]),
        "curve": np.round(regret[at], 2).tolist(),
        "explored": _explored(learner) / case.rounds,
        "restarts": getattr(learner, "restarts", 0),
        **measure(learner.partition(), blocks[-1].world.gaps),
    }


def measure(found: Assignment, gaps: Floats) -> dict[str, float]:
    """Measure an assignment against the true gaps, contexts weighing alike.

    ``wrong``: share of contexts whose state shows another than the best action; ``loss``: what that
        costs on average;
    ``d_star`` and ``d_star_worst``: what the partition costs with the best action in each state, on
        average and at
    worst. Source: eqs. (induced-partition-distortion), (induced-partition-distortion-worst).
    """
    labels = np.maximum(found.labels, 0)
    loss = gaps[np.arange(len(gaps)), np.maximum(found.actions, 0)[labels]]
    groups = [gaps[labels == label] for label in np.unique(labels)]
    return {
        "wrong": float((loss > 0).mean()),
        "loss": float(loss.mean()),
        "d_star": float(sum(group.sum(axis=0).min() for group in groups) / len(gaps)),
        "d_star_worst": float(max(group.max(axis=0).min() for group in groups)),
        "states": float(len(groups)),
    }


def _blocks(world: World, case: Case) -> list[Block]:
    rng = np.random.default_rng([case.seed, 3])
    blocks = [Block(0, world)]
    later = range(1, case.blocks)
    return blocks + [Block(case.rounds * i // case.blocks, redraw(world, rng)) for i in later]


def _explored(learner: Learner) -> int:
    return int(getattr(learner, "rounds_alone", getattr(learner, "rounds_explored", 0)))
