"""What a newer line does to an older one: a small network over a pair of lines.

Sums of word vectors are projected, and with the numbers of the pair go through one hidden layer to
seven verdicts. Its weights are ``network.npz`` beside this module, made by
``benchmarks/fit_changes.py`` from pairs written for it.
"""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.pairs import Pairs, product
from demem_agent.later import dataclass
from demem_agent.shipped import shipped

__all__ = ["VERDICTS", "Network", "default_network"]

Floats = NDArray[np.float32]

#: What a newer line may do to an older one, in the order of the network's outputs.
VERDICTS = ("replaces", "adds", "other", "refines", "unrelated", "hypothetical", "past")


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The weights, for F numbers and S sums of a pair, p projections of each and h hidden units.

    Attributes:
        mean, scale: of the numbers, shape (F,).
        projections: of the sums, shape (S, WIDTH, p).
        hidden, offset: shapes (F + S * p, h) and (h,).
        outer, bias: shapes (h, len(VERDICTS)) and (len(VERDICTS),).
    """

    mean: Floats
    scale: Floats
    projections: Floats
    hidden: Floats
    offset: Floats
    outer: Floats
    bias: Floats

    def verdicts(self, pairs: Pairs) -> Floats:
        """Return how probable each verdict is for each of P pairs, shape (P, len(VERDICTS))."""
        numbers = (pairs.numbers - self.mean) / self.scale
        sums = np.tanh(pairs.sums(self.projections)).reshape(len(numbers), -1)
        seen = np.concatenate([numbers, sums], axis=1)
        active = np.maximum(product(seen, self.hidden) + self.offset, 0)
        scores = product(active, self.outer) + self.bias
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        probable: Floats = odds / odds.sum(axis=1, keepdims=True)
        return probable


@cache
def default_network() -> Network:
    """Return the network that ships."""
    with np.load(io.BytesIO(shipped("changes/network.npz"))) as stored:
        return Network(**{name: stored[name] for name in stored.files})
