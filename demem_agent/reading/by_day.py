"""What a question reads that asks for nothing but a time: what was said then, ahead of all else.

Such a question shares no words with what it asks for, so that its passages are ordered as summaries
order them, by how specific they are; those of whom the question names come first. Behind them
stands what speaks of these days on others, as "yesterday" does on the next. The rest of memory
bears on nothing asked: a floor of relevance leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.reading.ask import Ask
from demem_agent.scoring import Query, Ranking, default_floor
from demem_agent.scoring.features.speakers import asked_first, telling_names
from demem_agent.scoring.features.times import DAY, TIMED
from demem_agent.scoring.forms import FILLER
from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.state import State
from demem_agent.summaries.compress import specificity
from demem_agent.text.times.asked_days import asked_days
from demem_agent.text.times.dates import Span, absolute, find

__all__ = ["by_day"]

#: Days before and behind those asked for on which somebody may speak of them.
NEAR = 31
#: Passages that are looked at for whether they speak of these days: that many of each kind.
LOOKED = 200
#: What keeps a passage behind the one before it: the last digit of a score.
BEHIND = 0.0001


def by_day(state: State, ask: Ask, query: Query, ranking: Ranking) -> Ranking:
    """Return a ranking with what was said on the days asked for ahead.

    It is as it was where a question asks for anything else, and where nothing was said then.
    """
    asked = _asked(state, query)
    then = _within(_days(state), asked) if asked else np.zeros(0, np.bool_)
    if not then.any():
        return ranking
    first = _in_order(state, query, np.flatnonzero(then))
    behind = [row for row in _of_them(state, asked, ranking) if not then[row]]
    return _ahead(ranking, [*first, *behind], _gap(ask))


def _asked(state: State, query: Query) -> list[Span]:
    """Return the times that a question asks for and for nothing else."""
    newest = int(_days(state).max(initial=0))
    return asked_days(
        query.text,
        query.asked,
        date.fromordinal(newest) if newest else None,
        telling_names(state.passage_index().speakers.codes),
    )


def _days(state: State) -> NDArray[np.int32]:
    days: NDArray[np.int32] = state.passage_index().kept[DAY.name].view()
    return days


def _within(days: NDArray[np.int32], asked: Iterable[Span], more: int = 0) -> NDArray[np.bool_]:
    """Mark days that are among those asked for, or at most so many before or behind them."""
    marked = np.zeros(len(days), np.bool_)
    for span in asked:
        first = span.first.toordinal() - more
        marked |= (days >= max(first, 1)) & (days <= span.last.toordinal() + more)
    return marked


def _in_order(state: State, query: Query, rows: NDArray[np.intp]) -> list[int]:
    """Return rows that tell something, the first to be read first."""
    index = state.passage_index()
    rows = rows[index.kind.view()[rows] != FILLER]
    wanted = asked_first(query, index.speakers.codes)
    is_wanted = np.isin(index.speaker.view()[rows], wanted)
    specific = [specificity(_text(state, index, row)) for row in rows.tolist()]
    order = np.lexsort((rows, -np.array(specific), ~is_wanted))
    ordered: list[int] = rows[order].tolist()
    return ordered


def _text(state: State, index: PassageIndex, row: int) -> str:
    passage = index.passages[row]
    return state.evidence[passage.evidence_id].text[passage.start : passage.end]


def _of_them(state: State, asked: Sequence[Span], ranking: Ranking) -> list[int]:
    """Return rows of a ranking that speak of the days asked for.

    Looked at are the best, which may name a date, and those of relative times that were said near.
    """
    index = state.passage_index()
    is_near = _within(_days(state), asked, NEAR) & index.kept[TIMED.name].view()
    timed = ranking.rows[is_near[ranking.rows]]
    looked = dict.fromkeys([*timed[:LOOKED].tolist(), *ranking.rows[:LOOKED].tolist()])
    return [row for row in looked if _speaks_of(state, index, row, asked)]


def _speaks_of(state: State, index: PassageIndex, row: int, asked: Iterable[Span]) -> bool:
    """Whether a passage has a time that lies within one that is asked for."""
    at = state.evidence[index.passages[row].evidence_id].at
    if at is None:
        return False
    text = _text(state, index, row)
    times = [*find(text, at.date()), *absolute(text, at.date())]
    for span in asked:
        if any(span.first <= time.first and time.last <= span.last for time in times):
            return True
    return False


def _gap(ask: Ask) -> float:
    """Return how far behind all else must be for the floor to leave it out."""
    return default_floor().distance(ask.floor) + 1.0 if ask.floor else 1.0


def _ahead(ranking: Ranking, rows: Sequence[int], gap: float) -> Ranking:
    """Return a ranking with some rows ahead of all others, in their order."""
    best = float(ranking.scores[0]) + gap
    given = np.array(rows, np.intp)
    ranking = ranking.with_rows(given)
    place = {row: n for n, row in enumerate(rows)}
    scores = ranking.scores.copy()
    for n, row in enumerate(ranking.rows.tolist()):
        if row in place:
            scores[n] = best + BEHIND * (len(rows) - place[row])
    return ranking.rescored(scores)
