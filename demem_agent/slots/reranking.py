"""What a reranker says of the best passages of a ranking, where a memory has one.

It adds to their scores, as one more feature would: by how many standard deviations it puts a
passage above the mean of those it saw, so that its scale does not matter, times one weight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring import PassageIndex, Query, Ranking, rank
from demem_agent.scoring.index import Stretch
from demem_agent.slots.filtering import within
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean
from demem_agent.types import Evidence
from demem_agent.where import Where

__all__ = ["MOST", "RERANK_WEIGHT", "best_passages", "reranked"]

#: Passages that a reranker is asked about.
MOST = 60
#: What a standard deviation of a reranker's numbers adds to the score, in its log-odds. Chosen on
#: LoCoMo (``benchmarks/rerankers.py``): with three stand-ins for a reranker a reading of 2,000
#: characters has no less of the gold at .3 to .7, and with two of them less at 2.
RERANK_WEIGHT = 0.5


def best_passages(
    state: State, query: Query, without: Collection[str] = (), where: Where | None = None
) -> dict[Stretch, str]:
    """Return the text of the passages that score highest for a query, the best first.

    Each as "speaker: words", where it is known who speaks.

    Args:
        without: ids of items to leave out.
        where: a checked filter; what it does not leave is left out as well.
    """
    index = state.derived.index
    if index is None or not len(index):
        return {}
    found: dict[Stretch, str] = {}
    left = within(state, where)
    allowed = None if left is None else left.rows
    for row in rank(index, query, state.score_theta, allowed).rows.tolist():
        passage = index.passages[row]
        if passage.evidence_id in without:
            continue
        found[passage.stretch] = _text(state.evidence[passage.evidence_id], passage.stretch)
        if len(found) == MOST:
            break
    return found


def _text(item: Evidence, stretch: Stretch) -> str:
    _, start, end = stretch
    words = clean(item.text[start:end])
    return f"{clean(item.speaker)}: {words}" if item.speaker else words


def reranked(index: PassageIndex, ranking: Ranking, relevance: Mapping[Stretch, float]) -> Ranking:
    """Return a ranking with what a reranker says added to the scores of the passages it saw.

    Args:
        relevance: by passage, finite; those that are gone meanwhile do not count.
    """
    stretches = [index.passages[row].stretch for row in ranking.rows]
    places = np.flatnonzero([stretch in relevance for stretch in stretches])
    told = np.array([relevance[stretches[place]] for place in places], np.float64)
    scores = ranking.scores.copy()
    scores[places] += RERANK_WEIGHT * _standard(told)
    return ranking.rescored(scores)


def _standard(told: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard deviations each is above the mean; 0 where all are equal."""
    if not len(told) or told.min() == told.max():
        return np.zeros_like(told)
    scaled = told / np.abs(told).max()  # so that no square overflows
    from_mean = scaled - scaled.mean()
    standard: NDArray[np.float64] = from_mean / np.sqrt(np.square(from_mean).mean())
    return standard
