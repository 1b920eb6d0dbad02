"""The weights of Score_theta, as data.

They are ``weights.json`` beside this module, made by ``benchmarks/fit_weights.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from demem_agent.scoring.features import FEATURES

__all__ = ["Weights", "default_weights", "weights_from"]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each feature of :data:`~demem_agent.scoring.features.FEATURES`, in their order.

    The unit of the cosine is one standard deviation in the memory.
    """

    values: tuple[float, ...]


@cache
def default_weights() -> Weights:
    """Return the weights that ship with DeMem, loaded at the first use.

    Raises:
        LookupError: if the file lacks a feature; the text names it.
    """
    text = files("demem_agent.scoring").joinpath("weights.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return weights_from(found["weights"])


def weights_from(found: Mapping[str, float]) -> Weights:
    """Put weights by name in the order of the features; names that are none are left out.

    Raises:
        LookupError: if a feature has no weight; the text names it.
    """
    missing = [name for name in FEATURES if name not in found]
    if missing:
        raise LookupError(f"weights.json has no weight for the features {', '.join(missing)}")
    return Weights(tuple(float(found[name]) for name in FEATURES))
