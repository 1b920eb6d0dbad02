"""What a question reads that asks for nothing but a time: what was said then, ahead of all else.

Such a question shares no words with what it asks for, so that its passages are ordered as summaries
order them, by how specific they are; those of whom the question names come first. Behind them
stands what speaks of these days on others, as "yesterday" does on the next. The rest of memory
bears on nothing asked: a floor of relevance leaves it out.

What somebody said is read in the same order where a question asks for that and nothing else; behind
it stands all else as it was, such as what was said of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Query, Ranking, default_floor
from demem_agent.scoring.features.speakers import asked_first
from demem_agent.slots.said_then import are_pasted, said_by, said_then, text_of
from demem_agent.slots.state import State
from demem_agent.summaries.compress import specificity
from demem_agent.text.times.asked_days import echoes

__all__ = ["ByDay", "by_day"]

#: What keeps a passage behind the one before it: the last digit of a score.
BEHIND = 0.0001
#: Passages of one speaker that are put ahead, and passages that are looked at: more are never read.
MOST = 200


@dataclass(frozen=True, slots=True, eq=False)
class ByDay:
    """A ranking, and which rows of it answer a question for days alone; None for any other."""

    ranking: Ranking
    rows: frozenset[int] | None = None


def by_day(state: State, ask: Ask, query: Query, ranking: Ranking) -> ByDay:
    """Return a ranking with what was said on the days asked for ahead.

    It is as it was where a question asks for anything else, and where nothing was said then.
    """
    then = said_then(state, query, ranking)
    if then is None:
        return ByDay(_by_speaker(state, query, ranking))
    if not len(then.rows):
        return ByDay(ranking)
    rows = [*_in_order(state, query, then.rows), *then.of_them]
    return ByDay(_ahead(ranking, rows, _gap(ask)), frozenset(rows))


def _by_speaker(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Put ahead what those said of whom nothing but that is asked; leave out what asks the same."""
    own = said_by(state, query, ranking)
    if own is None or not len(own):
        return ranking
    ranking = ranking.without_rows(_echoes(state, query, ranking))
    return _ahead(ranking, _in_order(state, query, own)[:MOST], 0.0)


def _echoes(state: State, query: Query, ranking: Ranking) -> NDArray[np.intp]:
    """Return the rows among the first that are the question itself."""
    first = ranking.rows[:MOST].tolist()
    rows = [row for row in first if echoes(text_of(state, row), query.text)]
    return np.array(rows, np.intp)


def _in_order(state: State, query: Query, rows: NDArray[np.intp]) -> list[int]:
    """Return rows, the first to be read first; those of documents passed on behind all others."""
    index = state.passage_index()
    wanted = asked_first(query, index.speakers.codes)
    is_wanted = np.isin(index.speaker.view()[rows], wanted)
    specific = [specificity(text_of(state, row)) for row in rows.tolist()]
    order = np.lexsort((rows, -np.array(specific), are_pasted(state, rows), ~is_wanted))
    ordered: list[int] = rows[order].tolist()
    return ordered


def _gap(ask: Ask) -> float:
    """Return how far behind all else must be for the floor to leave it out."""
    return default_floor().distance(ask.floor) + 1.0 if ask.floor else 1.0


def _ahead(ranking: Ranking, rows: Sequence[int], gap: float) -> Ranking:
    """Return a ranking with some rows ahead of all others, in their order."""
    given = np.array(rows, np.intp)
    best = float(ranking.scores.max(initial=0.0)) + gap
    ranking = ranking.with_rows(given)
    place = {row: n for n, row in enumerate(rows)}
    scores = ranking.scores.copy()
    for n, row in enumerate(ranking.rows.tolist()):
        if row in place:
            scores[n] = best + BEHIND * (len(rows) - place[row])
    return ranking.rescored(scores)
