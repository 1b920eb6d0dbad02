"""The methods by name, each built from a world, a budget and a generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator

from demem_agent.decision.correction import CorrectedPrior
from demem_agent.decision.learner import Confidence, Learner
from demem_agent.decision.restarts import AdaptiveRestarts, Restarting
from demem_agent.decision.splits import CertifiedSplits, PracticalSplits
from demem_agent.studies.synthetic.baselines import (
    Club,
    FeatureGreedy,
    Grouped,
    Neighbours,
    k_means,
)
from demem_agent.studies.synthetic.environment import NOISE, World

__all__ = ["BUDGETED", "DESCRIPTION", "METHODS", "RESTARTS", "THIRD"]

THIRD = "DeMem, corrected prior"
Build = Callable[[World, int, Generator], Learner]


def _confidence(world: World) -> Confidence:
    return Confidence(world.contexts, world.actions, delta=0.05, noise=NOISE)


def _oracle(world: World, slots: int, rng: Generator) -> Learner:
    return Grouped(world.identity, world.actions, rng)


def _alone(world: World, slots: int, rng: Generator) -> Learner:
    return Grouped(np.arange(world.contexts), world.actions, rng)


def _features(world: World, slots: int, rng: Generator) -> Learner:
    labels = k_means(world.features, slots, rng)
    return Grouped(labels, world.actions, rng)


def _rag(world: World, slots: int, rng: Generator) -> Learner:
    return Neighbours(world.features, world.actions, rng)


def _greedy(world: World, slots: int, rng: Generator) -> Learner:
    return FeatureGreedy(world.features, world.actions, slots, rng)


def _club(world: World, slots: int, rng: Generator) -> Learner:
    return Club(_confidence(world), slots, rng)


def _random(world: World, slots: int, rng: Generator) -> Learner:
    labels = rng.integers(slots, size=world.contexts)
    return Grouped(labels, world.actions, rng)


def _written(world: World, slots: int, rng: Generator) -> Learner:
    return CertifiedSplits(world.contexts, world.actions, slots, rng=rng)


def _practical(world: World, slots: int, rng: Generator) -> Learner:
    return PracticalSplits(slots, confidence=_confidence(world), rng=rng)


def _corrected(world: World, slots: int, rng: Generator) -> Learner:
    prior = k_means(world.features, slots, rng)
    return CorrectedPrior(prior, world.actions, slots, confidence=_confidence(world), rng=rng)


#: "no budget" keeps a state for every context: how hard the world is when memory is free.
METHODS: Mapping[str, Build] = {
    THIRD: _corrected,
    "DeMem, practical": _practical,
    "DeMem, as written": _written,
    "Feature-KMeans": _features,
    "Feature-RAG": _rag,
    "eps-greedy features": _greedy,
    "CLUB": _club,
    "Random partition": _random,
    "Oracle": _oracle,
    "No budget": _alone,
}
BUDGETED = tuple(name for name in METHODS if name not in ("Oracle", "No budget"))
DESCRIPTION = ("Feature-KMeans", "Feature-RAG", "eps-greedy features")


def _every(period: int, build: Build) -> Build:
    return lambda world, slots, rng: Restarting(lambda: build(world, slots, rng), period)


def _on_change(build: Build) -> Build:
    return lambda world, slots, rng: AdaptiveRestarts(
        lambda: build(world, slots, rng), _confidence(world)
    )


#: For rewards that change; the oracle still knows who shares an identity, and restarts on change as
#: well.
RESTARTS: Mapping[str, Build] = {
    "never restarted": _corrected,
    "every 1000": _every(1000, _corrected),
    "every 2500": _every(2500, _corrected),
    "every 5000": _every(5000, _corrected),
    "on certified change": _on_change(_corrected),
    "practical, on certified change": _on_change(_practical),
    "Feature-KMeans, on certified change": _on_change(_features),
    "Oracle, on certified change": _on_change(_oracle),
}
