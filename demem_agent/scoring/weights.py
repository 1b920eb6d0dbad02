"""The weights of Score_theta, as data."""

from __future__ import annotations

from functools import cache

from demem_agent.scoring.score import Weights

__all__ = ["default_weights"]


@cache
def default_weights() -> Weights:
    return Weights((1.0, 0.6, 1.0, 0.8, 0.15, 0.5, 0.3, -0.4, 0.2, 1.0, 0.5))
