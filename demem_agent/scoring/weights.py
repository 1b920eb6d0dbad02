"""The weights of Score_theta, as data.

They are ``weights.json`` beside this module, made by ``benchmarks/fit_weights.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from demem_agent.later import dataclass
from demem_agent.scoring.features import FEATURES
from demem_agent.shipped import shipped

__all__ = ["Weights", "default_weights", "weights_from"]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each feature of :data:`~demem_agent.scoring.features.FEATURES`, in their order.

    Attributes:
        values: where people speak among themselves, or nobody is named.
        chat: where a user speaks with a model; the same when None.
    """

    values: tuple[float, ...]
    chat: tuple[float, ...] | None = None

    def of(self, chat: bool) -> tuple[float, ...]:
        """Return those for a memory of a user with a model, or of people."""
        return self.values if self.chat is None or not chat else self.chat


@cache
def default_weights() -> Weights:
    """Return the weights that ship with DeMem, loaded at the first use.

    Raises:
        LookupError: if the file lacks a feature; the text names it.
    """
    found = json.loads(shipped("scoring/weights.json"))
    return weights_from(found["weights"], found["chat"])


def weights_from(people: Mapping[str, float], chat: Mapping[str, float]) -> Weights:
    """Put weights by name in the order of the features; names that are none are left out.

    Raises:
        LookupError: if a feature has no weight; the text names it.
    """
    return Weights(_ordered(people), _ordered(chat))


def _ordered(found: Mapping[str, float]) -> tuple[float, ...]:
    missing = [name for name in FEATURES if name not in found]
    if missing:
        raise LookupError(f"weights.json has no weight for the features {', '.join(missing)}")
    return tuple(float(found[name]) for name in FEATURES)
