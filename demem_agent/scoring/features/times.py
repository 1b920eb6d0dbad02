"""Features of time: when a passage was said, and the times that it speaks of."""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features.work import Feature, Kept, Said, Values, Work
from demem_agent.scoring.query import Query
from demem_agent.text.times.dates import Span, find

__all__ = ["DAY", "FEATURES", "TIMED"]

#: Share of the passages that may be of the time asked for, and it still tells something.
_NEARLY_ALL = 0.95


def _day_said(said: Said) -> int:
    """Return the day as an ordinal number, 0 where it is not known."""
    at = said.evidence.at
    return at.toordinal() if at else 0


def _has_relative_time(said: Said) -> bool:
    at = said.evidence.at
    return bool(at and find(said.text, at.date()))


DAY = Kept("day", np.int32, _day_said)
TIMED = Kept("timed", np.bool_, _has_relative_time)


def _dated(work: Work) -> NDArray[np.bool_]:
    """Mark the passages said in a time that the query speaks of.

    Unless nearly all are, since then it tells nothing.
    """
    days = work.every(DAY)
    marked = np.zeros(len(days), np.bool_)
    for span in _asked_for(work.query, days):
        marked |= (days >= span.first.toordinal()) & (days <= span.last.toordinal())
    if marked.mean() > _NEARLY_ALL:
        return work.nothing()
    return marked[work.rows]


def _asked_for(query: Query, days: NDArray[np.int32]) -> tuple[Span, ...]:
    """Return the times that a query speaks of.

    "In May" is the last one before the query is asked, or, where that is not known, before the
    newest passage.
    """
    newest = int(days.max(initial=0))
    return query.intent.times(date.fromordinal(newest) if newest else None)


def _timed(work: Work) -> Values:
    return work.scored(TIMED) if work.query.intent.is_of_time else work.nothing()


FEATURES = (
    Feature("dated", _dated, kept=(DAY,)),
    Feature("timed", _timed, kept=(TIMED,)),
)
