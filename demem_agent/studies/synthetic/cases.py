"""One run of one method in one world, and what is measured of it.

A case is data, so that any process can run it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from demem_agent.decision.learners.learner import Assignment, Learner
from demem_agent.studies.synthetic.environment import (
    Block,
    Floats,
    Labels,
    World,
    make_world,
    play,
    redraw,
)
from demem_agent.studies.synthetic.methods import METHODS, RESTARTS
from demem_agent.studies.synthetic.rows import Row

__all__ = ["Case", "measure_assignment", "run_case"]

POINTS = 100  # of a regret curve that are kept


@dataclass(frozen=True, slots=True)
class Case:
    """Name a run: its world follows from ``seed`` and ``alpha`` alone, the same for all methods."""

    method: str
    seed: int
    alpha: float
    slots: int
    rounds: int
    blocks: int = 1


def run_case(case: Case) -> Row:
    """Play a case; return its regret curve and what its states cost in the end."""
    world = make_world(case.alpha, _generator(case, 0))
    blocks = _blocks(world, case)
    learner = _learner(world, case)
    of_rounds = play(learner, blocks, case.rounds, _generator(case, 2))
    final = blocks[-1].world
    return {
        "method": case.method,
        "seed": case.seed,
        "alpha": case.alpha,
        "slots": case.slots,
        **_regret(of_rounds),
        "explored": _explored(learner) / case.rounds,
        "restarts": getattr(learner, "restarts", 0),
        **measure_assignment(learner.partition(), final.gaps),
    }


def _regret(of_rounds: Floats) -> Row:
    """Return the regret of all rounds, and its curve."""
    regret = np.cumsum(of_rounds)
    return {"regret": float(regret[-1]), "curve": _thinned(regret)}


def _generator(case: Case, purpose: int) -> Generator:
    return np.random.default_rng([case.seed, purpose])


def _learner(world: World, case: Case) -> Learner:
    methods = METHODS if case.blocks == 1 else RESTARTS
    build = methods[case.method]
    return build(world, case.slots, _generator(case, 1))


def measure_assignment(found: Assignment, gaps: Floats) -> dict[str, float]:
    """Measure an assignment against the true gaps, contexts weighing alike.

    Args:
        gaps: what each action loses, shape (N, A).

    Returns:
        * ``wrong``: share of contexts whose state shows another than the best action;
        * ``loss``: what that costs on average;
        * ``d_star`` and ``d_star_worst``: what the partition costs with the best action in each
          state, on average and at worst;
        * ``states``: how many are in use.

    Source: eqs. (induced-partition-distortion), (induced-partition-distortion-worst).
    """
    labels = np.maximum(found.labels, 0)
    shown = np.maximum(found.actions, 0)[labels]
    loss = gaps[np.arange(len(gaps)), shown]
    return {
        "wrong": float((loss > 0).mean()),
        "loss": float(loss.mean()),
        **_distortion(labels, gaps),
    }


def _distortion(labels: Labels, gaps: Floats) -> dict[str, float]:
    """Return what a partition costs with the best action in each state."""
    totals = []
    worst = []
    for label in np.unique(labels):
        losses = gaps[labels == label]
        totals.append(losses.sum(axis=0).min())
        worst.append(losses.max(axis=0).min())
    return {
        "d_star": float(sum(totals) / len(gaps)),
        "d_star_worst": float(max(worst)),
        "states": float(len(totals)),
    }


def _blocks(world: World, case: Case) -> list[Block]:
    rng = _generator(case, 3)
    blocks = [Block(0, world)]
    for number in range(1, case.blocks):
        start = case.rounds * number // case.blocks
        blocks.append(Block(start, redraw(world, rng)))
    return blocks


def _thinned(regret: Floats) -> list[float]:
    """Return a curve at ``POINTS`` rounds, the last among them."""
    ends = np.linspace(0, len(regret), POINTS + 1).astype(int)[1:]
    thinned: list[float] = np.round(regret[ends - 1], 2).tolist()
    return thinned


def _explored(learner: Learner) -> int:
    explored = getattr(learner, "rounds_explored", 0)
    return int(getattr(learner, "rounds_alone", explored))
