"""A reading ends where nothing bears on the question any more, however much room there is.

Left out is what scores so far behind the best line that it is hardly evidence, and what tells
nothing by itself, such as "ok" or "lol yes", unless it answers a question that is read. Small talk,
such as "so tired tho", has to be nearer than others: a short line with no number, no name and no
word of the question, unless what is asked right before it is read. What past decisions or
successions moved up stays, and so do corrections and the few lines that hold what is asked about by
its name, said by a person. Fillers are English ones.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.owners import narrates
from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Ranking, default_floor
from demem_agent.scoring.forms import FILLER, QUESTION
from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.state import State
from demem_agent.text.language.words import content_terms
from demem_agent.text.sameness import answers

__all__ = ["Near", "floored", "near_best"]

#: Probability of being evidence below which small talk is not read, where readings have a floor.
#: Set by hand, on the chat of ``benchmarks/messy.py`` that may be looked at.
SMALL_TALK = 0.05
#: Points of the score by which the best line counts as ahead of all other items at most. Set by
#: hand: few questions have a line that is further.
LEAD = 13.0
#: A word of a question that stands in no more passages names what it is about.
FEW = 10


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Which passages of a memory are near enough to what is asked, by row.

    Attributes:
        own: what each scored for the question; infinite where it was not scored.
        is_near: whether that is not far behind the best, or it holds what is asked about by name.
        tells: whether it tells something besides.
    """

    own: NDArray[np.float64]
    is_near: NDArray[np.bool_]
    tells: NDArray[np.bool_]


def near_best(state: State, ask: Ask, scored: Ranking, *, alone: bool = False) -> Near:
    """Return which passages are near enough to what is asked.

    Args:
        scored: as the passages scored for the question, before what is known of decisions.
        alone: whether what scores best is all that is asked for, as what was said on a day is.
    """
    index = state.passage_index()
    own = np.full(len(index), np.inf)  # what was not scored came in by what is known of it
    own[scored.rows] = scored.scores
    if not ask.floor:
        every = np.ones(len(index), np.bool_)
        return Near(own, every, every)
    best = _best(state, ask, scored, alone=alone)
    is_near = own >= best - default_floor().distance(ask.floor)
    is_near |= _names_it(state, ask)
    far = best - default_floor().distance(max(ask.floor, SMALL_TALK))
    is_chat = index.small.view() & (own < far) & ~_holds_word(state, ask)
    return Near(own, is_near, is_near & (index.kind.view() != FILLER) & ~is_chat)


def floored(state: State, ask: Ask, near: Near, ranking: Ranking) -> tuple[Ranking, int]:
    """Leave out of a ranking what is below the floor; return how many passages that are.

    Args:
        near: which passages are near enough to what is asked.
        ranking: as they are to be read.
    """
    if not ask.floor:
        return ranking, 0
    rows = ranking.rows
    own, is_near, tells = near.own[rows], near.is_near[rows], near.tells[rows]
    is_filler = state.passage_index().kind.view()[rows] == FILLER
    told = rows[tells]
    if not len(told):
        return ranking, 0
    is_moved = (ranking.scores > own) | _among(state, rows, state.derived.cards)
    kept = is_moved | tells
    for n in np.flatnonzero(is_near & ~kept & _follows(state, rows, told)).tolist():
        kept[n] = _answers(state, int(rows[n]), is_filler=bool(is_filler[n]))
    gone = rows[~kept]
    return ranking.without_rows(gone), len(gone)


def _names_it(state: State, ask: Ask) -> NDArray[np.bool_]:
    """Mark by row what holds the rarest word of a question, where few passages do.

    "judo is mon + fri" is far behind what Vera says of herself for "When does Vera have judo?".
    """
    index = state.passage_index()
    marked = np.zeros(len(index), np.bool_)
    words = [word for word in content_terms(ask.query) if not word.isdigit()]
    rarest = min(filter(index.lexical.holds, words), key=index.lexical.held, default=None)
    if rarest is not None and index.lexical.held(rarest) <= FEW:
        marked[index.lexical.rows(rarest)] = True
    model = [code for name, code in index.speakers.codes.items() if narrates(name)]
    return marked & ~np.isin(index.speaker.view(), model)


def _best(state: State, ask: Ask, scored: Ranking, *, alone: bool) -> float:
    """Return the score that others are compared with, of what may answer: no filler, no question.

    It is the best, or where that is far ahead of all other items, less: such a lead tells that one
    line is right, and nothing of whether what was said later in other words is as well. A question
    that was asked before scores higher than what answers it. Nor is it what is not to be read,
    such as the turn that asks.
    """
    index = state.passage_index()
    kind = index.kind.view()[scored.rows]
    can_be_read = ~_among(state, scored.rows, ask.without)
    for counts in (kind == 0, kind == QUESTION):
        found = np.flatnonzero(can_be_read & counts)
        if len(found):
            scores = scored.scores[found]
            if alone:
                return float(scores[0])
            return min(float(scores[0]), _next_item(index, scored.rows[found], scores) + LEAD)
    return -np.inf


def _next_item(index: PassageIndex, rows: NDArray[np.intp], scores: NDArray[np.float64]) -> float:
    """Return the best score of another item than that of the first row; best first."""
    first = index.passages[int(rows[0])].evidence_id
    for row, score in zip(rows[1:].tolist(), scores[1:].tolist(), strict=True):
        if index.passages[row].evidence_id != first:
            return float(score)
    return np.inf


def _among(state: State, rows: NDArray[np.intp], items: Iterable[str]) -> NDArray[np.bool_]:
    """Mark those of some rows that are passages of items, as far as these are remembered."""
    index = state.passage_index()
    of_items: list[int] = []
    for item in items:
        if item in state.evidence:
            found = index.rows(item)
            of_items += range(found.start, found.stop)
    return np.isin(rows, of_items) if of_items else np.zeros(len(rows), np.bool_)


def _holds_word(state: State, ask: Ask) -> NDArray[np.bool_]:
    """Mark by row what holds a word of the question."""
    index = state.passage_index()
    held = np.zeros(len(index), np.bool_)
    for word in content_terms(ask.query):
        held[index.lexical.rows(word)] = True
    return held


def _follows(state: State, rows: NDArray[np.intp], told: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark those of some rows that come right after one of ``told``, in its session."""
    sessions = state.passage_index().session.view()
    before = rows - 1
    marked: NDArray[np.bool_] = np.isin(before, told) & (sessions[before] == sessions[rows])
    return marked


def _answers(state: State, row: int, *, is_filler: bool) -> bool:
    """Whether a line answers what is asked right before it."""
    if not _text(state, row - 1).endswith(("?", "？")):
        return False
    return not is_filler or answers(_text(state, row))


def _text(state: State, row: int) -> str:
    passage = state.passage_index().passages[row]
    return state.evidence[passage.evidence_id].text[passage.start : passage.end].rstrip()
