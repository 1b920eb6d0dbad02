"""The weights of Score_theta, as data: ``weights.json`` beside this module, made by
``benchmarks/fit_weights.py``.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from demem_agent.scoring.score import FEATURES, Weights

__all__ = ["default_weights"]


@cache
def default_weights() -> Weights:
    """Give the weights that ship with DeMem, loaded at the first use.

    Raises:
        KeyError: if the file lacks a feature of :data:`~demem_agent.scoring.score.FEATURES`.
    """
    text = files("demem_agent.scoring").joinpath("weights.json").read_text(encoding="utf-8")
    weights = json.loads(text)["weights"]
    return Weights(tuple(float(weights[name]) for name in FEATURES))
