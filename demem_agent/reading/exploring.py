"""What to try next where what stood first proved wrong, and nothing has proved right yet.

A rating of nothing says that a line is not right, and not which one is. Then what proved right for
the asker in a question that may be the same comes first, in the order of how probably it is the
same by its words: where that line stands now says little, since what stood near was wrong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.reading.ask import Ask
from demem_agent.reading.decided import BEHIND, RIGHT, WRONG, Decided
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import rows_of
from demem_agent.slots.recognition import Asked, best_line
from demem_agent.slots.state import State

__all__ = ["explored"]

#: A line is tried if it is right as likely as not: the next one by its score is right less often.
WORTH_TRYING = 0.5
#: Log-odds from which on a line that is known, if not surely, to be right is tried before those.
HALF_RIGHT = RIGHT / 2


def explored(state: State, ask: Ask, ranking: Ranking, found: Decided) -> Ranking:
    """Return a ranking with what may be right first, where what was tried has proved wrong.

    It is as it was where nothing was tried, and where it is known what is right.
    """
    if not _has_failed(found):
        return ranking
    likely = _likely(state, ask)
    likely[likely < WORTH_TRYING] = 0.0
    likely[found.foreign] = 0.0  # corrections are read for their own decision alone
    ranking = ranking.with_rows(np.flatnonzero(likely))
    odds = found.odds[ranking.rows]
    is_tried = odds < 0
    scores = ranking.scores
    least = float(scores.min())
    first = float(scores[~is_tried].max(initial=least))
    behind = np.minimum(scores, first - BEHIND)
    hope: NDArray[np.float64] = np.where(odds >= HALF_RIGHT, 1.0 + odds, likely[ranking.rows])
    ahead = np.where(hope > 0, first + hope, scores)
    return ranking.rescored(np.where(is_tried, behind, ahead))


def _has_failed(found: Decided) -> bool:
    """Whether a line was tried and is wrong, and none proved right."""
    least = float(found.odds.min(initial=0.0))
    most = float(found.odds.max(initial=0.0))
    return least <= -WRONG and most < RIGHT


def _likely(state: State, ask: Ask) -> NDArray[np.float64]:
    """Return by row how probably a line is right, as far as the asker's past questions tell."""
    index = state.passage_index()
    asked = Asked(ask.query, ask.asker, frozenset(ask.conditions))
    likely = np.zeros(len(index))
    for one in state.derived.decisions.perhaps(asked, index, WORTH_TRYING):
        line = best_line(state.contexts[one.id].context)
        if line is not None:
            rows = rows_of(index, [line])
            likely[rows] = np.maximum(likely[rows], one.probability)
    return likely
