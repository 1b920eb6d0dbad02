"""Features of how the passages of one turn stand to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features.work import Feature, Work

__all__ = ["FEATURES"]


def _behind(work: Work) -> NDArray[np.float32]:
    """Return how far a passage is behind the best of its item: the rest of one seldom adds much."""
    items = work.passages.item.view()[work.rows]
    hybrid = work.hybrid[work.rows]
    starts = np.flatnonzero(np.diff(items, prepend=items[0] - 1))
    best = np.maximum.reduceat(hybrid, starts)
    lengths = np.diff(starts, append=len(items))
    behind: NDArray[np.float32] = np.repeat(best, lengths) - hybrid
    return behind


FEATURES = (Feature("behind", _behind, by_hand=True),)
