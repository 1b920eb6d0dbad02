"""The Decoupled Bandit: descriptions and best actions agree only as far as ``alpha`` allows.

M decision identities have reward vectors drawn uniformly from [0, 1]. Each of N contexts has a
description near the centre of one group, and there are as many groups as identities. With
probability 1 - alpha a context has the identity of its own group, otherwise that of the context
which a fixed permutation of the contexts maps it to. The permutation is over contexts: a
permutation of identities would leave alpha = 1 as well aligned as alpha = 0.

Source: appendix "Synthetic Diagnostic Environment".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from demem_agent.decision.learners.learner import Learner

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

NOISE = 0.1  # standard deviation of rewards; uniform noise of this deviation is NOISE-sub-Gaussian
SPREAD, CENTRES, DIMENSIONS = 0.25, 1.5, 8  # descriptions: k-means finds the groups without error


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Hold what is true, and what describes it.

    Not hashable, as its arrays are not.

    Attributes:
        mu: mean rewards, shape (N, A).
        identity: shape (N,).
        features: descriptions, shape (N, d).
    """

    mu: Floats
    identity: Labels
    features: Floats

    @property
    def contexts(self) -> int:
        """N, how many contexts there are."""
        return len(self.mu)

    @property
    def actions(self) -> int:
        """A, how many actions there are."""
        return len(self.mu[0])

    @property
    def gaps(self) -> Floats:
        """What each action loses, (N, A)."""
        best: Floats = self.mu.max(axis=1, keepdims=True)
        return best - self.mu


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A stretch of rounds from ``start`` on in which one world is true."""

    start: int
    world: World


def make_world(
    alpha: float, rng: Generator, *, contexts: int = 60, identities: int = 8, actions: int = 10
) -> World:
    """Draw a world.

    The same generator state gives the same rewards and descriptions at every ``alpha``.
    """
    rewards = rng.uniform(size=(identities, actions))
    group = np.arange(contexts) % identities
    centres = CENTRES * rng.normal(size=(identities, DIMENSIONS))
    off_centre = SPREAD * rng.normal(size=(contexts, DIMENSIONS))
    features = centres[group] + off_centre
    moved = rng.permutation(contexts)
    mismatched = rng.uniform(size=contexts) < alpha
    identity = np.where(mismatched, group[moved], group).astype(np.intp)
    return World(rewards[identity], identity, features)


def redraw(world: World, rng: Generator) -> World:
    """Change the rewards of every context, and keep descriptions and who shares an identity."""
    identities = int(world.identity.max()) + 1
    rewards = rng.uniform(size=(identities, world.actions))
    return World(rewards[world.identity], world.identity, world.features)


def play(learner: Learner, blocks: list[Block], rounds: int, rng: Generator) -> Floats:
    """Play contexts drawn uniformly, and return the regret of each round, shape (rounds,).

    Noise is uniform with deviation NOISE, less where the mean is so near 0 or 1 that a reward could
    leave [0, 1].
    """
    contexts = rng.integers(blocks[0].world.contexts, size=rounds)
    noise = rng.uniform(-1.0, 1.0, size=rounds)
    regret = np.empty(rounds)
    for block, stretch in _stretches(blocks, rounds):
        met = contexts[stretch]
        chosen = _play_block(learner, block.world, met, noise[stretch])
        regret[stretch] = block.world.gaps[met, chosen]
    return regret


def _stretches(blocks: list[Block], rounds: int) -> Iterator[tuple[Block, slice]]:
    """Yield each block with its rounds: a block ends where the next one starts."""
    for block, after in zip_longest(blocks, blocks[1:]):
        end = rounds if after is None else after.start
        yield block, slice(block.start, end)


def noise_reach(mu: Floats) -> Floats:
    """Return how far uniform noise of deviation NOISE goes; less where it would leave [0, 1]."""
    room = np.minimum(mu, 1.0 - mu)
    reach: Floats = np.minimum(NOISE * np.sqrt(3.0), room)
    return reach


def _play_block(learner: Learner, world: World, contexts: Labels, noise: Floats) -> Labels:
    """Return the actions that were chosen, shape (rounds,)."""
    mu = world.mu
    reach = noise_reach(mu)
    chosen = np.empty(len(contexts), dtype=np.intp)
    for t, context in enumerate(contexts.tolist()):
        action = learner.choose(context)
        reward = float(mu[context, action] + reach[context, action] * noise[t])
        # Rounding may leave [0, 1] by 1e-17.
        learner.learn(context, action, min(max(reward, 0.0), 1.0))
        chosen[t] = action
    return chosen
