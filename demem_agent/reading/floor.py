"""A reading ends where nothing bears on the question any more, however much room there is.

Left out is what scores so far behind the best line that it is hardly evidence, and what tells
nothing by itself, such as "ok" or "lol yes", unless it answers a question that is read. What past
decisions or successions moved up stays, and so do corrections. Fillers are English ones.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demem_agent.reading.ask import Ask
from demem_agent.scoring import Ranking, default_floor
from demem_agent.scoring.forms import FILLER, QUESTION
from demem_agent.slots.state import State
from demem_agent.text.sameness import answers

__all__ = ["floored"]


def floored(state: State, ask: Ask, scored: Ranking, ranking: Ranking) -> tuple[Ranking, int]:
    """Leave out of a ranking what is below the floor; return how many passages that are.

    Args:
        scored: as the passages scored for the question, before what is known of decisions.
        ranking: as they are to be read.
    """
    if not ask.floor:
        return ranking, 0
    index = state.passage_index()
    rows = ranking.rows
    own = np.full(len(index), np.inf)  # what was not scored came in by what is known of it
    own[scored.rows] = scored.scores
    own = own[rows]
    is_filler = index.kind.view()[rows] == FILLER
    best = _best(state, ask, scored)
    is_near = own >= best - default_floor().distance(ask.floor)
    told = rows[is_near & ~is_filler]
    if not len(told):
        return ranking, 0
    is_moved = (ranking.scores > own) | _among(state, rows, state.derived.cards)
    kept = is_moved | (is_near & ~is_filler)
    for n in np.flatnonzero(is_near & is_filler & ~kept).tolist():
        kept[n] = _answers(state, int(rows[n]), told)
    gone = rows[~kept]
    return ranking.without_rows(gone), len(gone)


def _best(state: State, ask: Ask, scored: Ranking) -> float:
    """Return the best score of what may answer: neither a filler nor a question.

    A question that was asked before scores higher than what answers it. Nor is it what is not to be
    read, such as the turn that asks.
    """
    kind = state.passage_index().kind.view()[scored.rows]
    can_be_read = ~_among(state, scored.rows, ask.without)
    for counts in (kind == 0, kind == QUESTION):
        found = scored.scores[can_be_read & counts]
        if len(found):
            return float(found[0])
    return -np.inf


def _among(state: State, rows: NDArray[np.intp], items: Iterable[str]) -> NDArray[np.bool_]:
    """Mark those of some rows that are passages of items, as far as these are remembered."""
    index = state.passage_index()
    of_items: list[int] = []
    for item in items:
        if item in state.evidence:
            found = index.rows(item)
            of_items += range(found.start, found.stop)
    return np.isin(rows, of_items) if of_items else np.zeros(len(rows), np.bool_)


def _answers(state: State, row: int, told: NDArray[np.intp]) -> bool:
    """Whether a filler answers what is asked right before it, in a passage that is told."""
    index = state.passage_index()
    sessions = index.session.view()
    before = row - 1
    if before < 0 or sessions[before] != sessions[row] or before not in told:
        return False
    return _text(state, before).endswith(("?", "？")) and answers(_text(state, row))


def _text(state: State, row: int) -> str:
    passage = state.passage_index().passages[row]
    return state.evidence[passage.evidence_id].text[passage.start : passage.end].rstrip()
