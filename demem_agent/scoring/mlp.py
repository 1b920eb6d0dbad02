"""Score_theta as a small network: the linear score, and what one hidden layer adds to it.

    score(x) = w . x + v . tanh(x U + a)

Its numbers are ``mlp.json`` beside this module, made by ``benchmarks/fit_mlp.py``
(docs/scorers.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.features import FEATURES
from demem_agent.scoring.weights import Weights, ordered, weights_from
from demem_agent.shipped import shipped

__all__ = ["Hidden", "Mlp", "default_mlp", "mlp_from"]

Floats = NDArray[np.float64]
Table = NDArray[np.float32]

FILE = "mlp.json"
#: What the hidden layer adds, where a score is told by its parts: it is of no one feature.
LAYER = "hidden layer"


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """A hidden layer of h units.

    Attributes:
        inner: what each unit makes of the features (U), shape (len(FEATURES), h).
        offset: of each unit (a), shape (h,).
        outer: what each unit adds to the score, from its negative to itself (v), shape (h,).

    Raises:
        ValueError: for arrays of other shapes, or that are not finite.
    """

    inner: Floats
    offset: Floats
    outer: Floats

    def __post_init__(self) -> None:
        units = len(self.outer)
        shapes = (self.inner.shape, self.offset.shape, self.outer.shape)
        if shapes != ((len(FEATURES), units), (units,), (units,)):
            expected = f"({len(FEATURES)}, h), (h,) and (h,)"
            raise ValueError(f"a hidden layer has the shapes {expected}, not {shapes}")
        if not all(np.isfinite(one).all() for one in (self.inner, self.offset, self.outer)):
            raise ValueError("a hidden layer has finite numbers alone")

    def adds(self, table: Table) -> Floats:
        """Return what the layer adds to the score of each passage, shape (n,)."""
        # Not "@": its threads wait for each other (as in ``directions``).
        reached = np.einsum("ij,jk->ik", table.astype(np.float64), self.inner)
        added: Floats = np.tanh(reached + self.offset) @ self.outer
        return added


@dataclass(frozen=True, slots=True, eq=False)
class Mlp:
    """A linear score and a hidden layer, of each for people and for a user with a model.

    It is a :class:`~demem_agent.scoring.weights.PassageScore`.
    """

    linear: Weights
    people: Hidden
    chat: Hidden

    def layer(self, chat: bool) -> Hidden:
        """Return the hidden layer for a memory of a user with a model, or of people."""
        return self.chat if chat else self.people

    def scores(self, table: Table, chat: bool) -> Floats:
        """Return the score of each passage, shape (n,), in log-odds."""
        return self.linear.scores(table, chat) + self.layer(chat).adds(table)

    def without(self, table: Table, chat: bool, scores: Floats, columns: Sequence[int]) -> Floats:
        """Return the scores as if some features were 0, shape (n,)."""
        blank = table.copy()
        blank[:, list(columns)] = 0.0
        return self.scores(blank, chat)

    def parts(self, row: Table, chat: bool) -> dict[str, float]:
        """Return what each feature adds to the linear part, and the hidden layer as one."""
        added = float(self.layer(chat).adds(row[None])[0])
        return {**self.linear.parts(row, chat), LAYER: added}


@cache
def default_mlp() -> Mlp:
    """Return the network that ships with DeMem, loaded at the first use.

    Raises:
        LookupError: if the file lacks a feature; the text names it.
        ValueError: if a layer has other shapes than it should.
    """
    found = json.loads(shipped(f"scoring/{FILE}"))
    return mlp_from(found["people"], found["chat"])


def mlp_from(people: Mapping[str, Any], chat: Mapping[str, Any]) -> Mlp:
    """Make a network from what its file has of each kind of memory.

    Args:
        people, chat: ``weights`` and ``inner``, by feature; ``offset`` and ``outer``, by unit.
    """
    linear = weights_from(people["weights"], chat["weights"])
    return Mlp(linear, _hidden(people), _hidden(chat))


def _hidden(found: Mapping[str, Any]) -> Hidden:
    return Hidden(
        inner=np.array(ordered(found["inner"], FILE), np.float64),
        offset=np.array(found["offset"], np.float64),
        outer=np.array(found["outer"], np.float64),
    )
