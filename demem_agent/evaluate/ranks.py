"""What the order of values tells: rank correlation, and the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["area", "spearman"]


def area(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Return the share of pairs in which the positive one has the higher value.

    Equal ones count half: the area under the ROC curve, in [0, 1]. None without a pair.
    """
    if not len(positive) or not len(negative):
        return None
    sorted_others = np.sort(np.asarray(negative))
    below = np.searchsorted(sorted_others, positive, "left")
    up_to = np.searchsorted(sorted_others, positive, "right")
    pairs = len(positive) * len(negative)
    return float((below + up_to).sum() / 2 / pairs)


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the rank correlation of two measures, equal values sharing their mean rank.

    None where one of them is the same throughout.
    """
    ranks = _ranks(np.asarray(first)), _ranks(np.asarray(second))
    if any(np.ptp(one) == 0 for one in ranks):
        return None
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: NDArray[np.generic]) -> NDArray[np.float64]:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: NDArray[np.float64] = (last - (counts - 1) / 2)[place]
    return shared
