"""Have lines in another language than the question compete by how they stand among themselves.

A line in the question's own language shares small words with it whatever it is about; the right one
in another language shares none. So lines in other languages are raised by how far a high quantile
of their scores is below that of the others: what stands out among them then stands where what
stands out among the others does. Before that they gain by what tells across languages: the words
that are related, and the vectors of an encoder that is multilingual.

The numbers are set by hand, with the chats of ``benchmarks/written/bilingual`` and
``benchmarks/languages.py`` in view (docs/howto/languages.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features import FEATURES

__all__ = ["levels"]

#: The quantile that is raised, how much of the way, and how many lines there must be of both kinds
#: for half of all this: where there are few, they tell little.
QUANTILE, RAISED, FEW = 0.9, 1.0, 10
#: What the share of related words counts besides, and the cosine of a multilingual encoder, in
#: standard deviations among the lines in other languages.
BY_RELATED, BY_COSINE = 10.0, 2.0
_COSINE, _RELATED = FEATURES.index("cosine"), FEATURES.index("related")


def levels(
    scores: NDArray[np.float64],
    table: NDArray[np.float32],
    foreign: NDArray[np.bool_],
    *,
    multilingual: bool,
) -> NDArray[np.float64]:
    """Return what is added to scores, shape (n,): nothing where all lines are of one kind.

    Args:
        scores, table: of the lines, shapes (n,) and (n, features).
        foreign: marks those in another language than the question.
        multilingual: whether the vectors of one meaning are alike in any language.
    """
    added = np.zeros(len(scores))
    fewer = int(min(foreign.sum(), (~foreign).sum()))
    if not fewer:
        return added
    added[foreign] = BY_RELATED * table[foreign, _RELATED]
    if multilingual:
        cosines = table[foreign, _COSINE].astype(np.float64)
        added[foreign] += BY_COSINE * (cosines - cosines.mean()) / max(cosines.std(), 1e-6)
    high = float(np.quantile(scores[~foreign], QUANTILE))
    behind = high - float(np.quantile((scores + added)[foreign], QUANTILE))
    added[foreign] += RAISED * max(behind, 0.0)
    return added * (fewer / (fewer + FEW))
