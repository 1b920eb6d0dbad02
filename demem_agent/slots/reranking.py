"""The best passages of a ranking in the order of a reranker, where a memory has one.

They exchange their scores: the best one by the reranker gets the highest of these, and so on. So a
reranker on any scale moves them among themselves alone, and whatever is added to a score later
(what was decided before, the routed slot) counts as it does without one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from demem_agent.scoring import PassageIndex, Query, Ranking, rank
from demem_agent.scoring.index import Stretch
from demem_agent.slots.filtering import within
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean
from demem_agent.types import Evidence
from demem_agent.where import Where

__all__ = ["MOST", "best_passages", "reranked"]

#: Passages that a reranker is asked about.
MOST = 60


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
    """Return a ranking in which the passages that a reranker saw have exchanged their scores.

    Args:
        relevance: by passage; those that are gone meanwhile do not count.
    """
    seen = [index.passages[row].stretch in relevance for row in ranking.rows]
    places = np.flatnonzero(seen)
    rows = ranking.rows[places]
    told = np.array([relevance[index.passages[row].stretch] for row in rows], np.float64)
    moved = ranking.rows.copy()
    moved[places] = rows[np.argsort(-told, kind="stable")]
    return replace(ranking, rows=moved)
