"""Say once what was said several times."""

from __future__ import annotations

from collections.abc import Iterator

from demem_agent.reading.ask import Ask
from demem_agent.scoring import Ranking
from demem_agent.slots.state import State
from demem_agent.text.dates import moment
from demem_agent.types import Evidence, Line

__all__ = ["folded"]


def folded(state: State, ask: Ask, ranking: Ranking) -> Iterator[Line]:
    """Yield the passages of a ranking as lines, but for those that say what an earlier line says.

    Left out as well is what was asked to be left out. Never folded is a line of an item of which
    something no longer holds, and a correction: when they were said is what they tell.
    """
    index = state.passage_index()
    told: set[int] = set()
    for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
        passage = index.passages[row]
        if row in told or passage.evidence_id in ask.without:
            continue
        alike = _alike(state, ask, row)
        again: tuple[Evidence, ...] = ()
        if len(alike) > 1:
            told.update(alike)
            again = _others(state, alike, passage.evidence_id)
        item = state.evidence[passage.evidence_id]
        yield Line(item, passage.start, passage.end, score, again=again)


def _alike(state: State, ask: Ask, row: int) -> list[int]:
    """Return the rows that can be folded into one, itself too."""
    index = state.passage_index()
    same = index.alike(row)
    if len(same) == 1 or not _can_fold(state, index.passages[row].evidence_id):
        return [row]
    found = []
    for other in same:
        id = index.passages[other].evidence_id
        if id not in ask.without and _can_fold(state, id):
            found.append(other)
    return found


def _can_fold(state: State, id: str) -> bool:
    is_stale = state.derived.current.superseded(id)
    return not is_stale and id not in state.derived.cards


def _others(state: State, rows: list[int], id: str) -> tuple[Evidence, ...]:
    """Return the items of rows but for one, each once, the latest last."""
    passages = state.passage_index().passages
    ids = dict.fromkeys(passages[row].evidence_id for row in rows)
    items = [state.evidence[other] for other in ids if other != id]
    return tuple(sorted(items, key=lambda one: moment(one.at)))
