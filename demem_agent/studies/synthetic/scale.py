"""How much of the laboratory is run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUICK", "Scale"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run: seeds are 0 to ``seeds`` - 1, and no setting was chosen on them."""

    seeds: int = 20
    rounds: int = 20_000
    alphas: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    budgets: tuple[int, ...] = (2, 3, 4, 5, 6, 8, 10, 12)
    audits: int = 1_000


#: A part of the full scale, in minutes.
QUICK = Scale(seeds=4, rounds=8_000, alphas=(0.0, 0.5, 1.0), budgets=(2, 4, 8), audits=100)
