"""Features of the turn that a passage is part of, and of the turns beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features.passage import ASKS, LENGTH, SHORT
from demem_agent.scoring.features.work import Feature, Kept, Said, Values, Work
from demem_agent.scoring.lexical import share_of

__all__ = ["FEATURES", "TURN_LENGTH"]


def _turn_characters(said: Said) -> int:
    return said.turn_length


#: Characters beyond which a turn counts as no longer than another.
_LONG = 1400
#: Characters from which on a turn is a document: its passages stand for themselves, and it is no
#: reply to what stands beside it. Set by hand: hardly any data here has one.
_DOCUMENT = 10_000

TURN_LENGTH = Kept("turn_length", np.int64, _turn_characters)


def _behind(work: Work) -> NDArray[np.float32]:
    """Return how far a passage is behind the best of its turn."""
    behind: NDArray[np.float32] = work.best_of_turn[work.turn] - work.hybrid[work.rows]
    return behind


def _turn_length(work: Work) -> Values:
    characters = work.scored(TURN_LENGTH)
    alone = np.where(characters >= _DOCUMENT, work.scored(LENGTH), characters)
    return np.log1p(np.clip(alone, SHORT, _LONG) / 50.0)


def _opens(work: Work) -> Values:
    """Mark the first passage of each turn."""
    opens: Values = work.passages.turns.starts[work.turn] == work.rows
    return opens


def _turn_share(work: Work) -> Values:
    """Return the share in [0, 1] of the query's idf mass that the whole turn holds."""
    lexical = work.passages.lexical
    turns = work.passages.turns
    held = np.zeros(len(turns.starts), np.float32)
    mass = 0.0
    for word in dict.fromkeys(work.words.stems):
        weight = lexical.idf(word)
        mass += weight
        worth = weight * work.words.trust(word)
        held[turns.of[lexical.rows(word)]] += worth  # once a turn, however often it is named
    return share_of(held, mass)[work.turn]


def _turn_before(work: Work) -> Values:
    """Return the best hybrid score of the turn before, 0 where the session begins."""
    turns, same = _beside(work, -1)
    return np.where(same, work.best_of_turn[turns], np.float32(0))


def _turn_after(work: Work) -> Values:
    """Return the best hybrid score of the turn after, 0 where the session ends."""
    turns, same = _beside(work, 1)
    return np.where(same, work.best_of_turn[turns], np.float32(0))


def _replies(work: Work) -> Values:
    """Return what the question scores that somebody else asked in the turn before; 0 without one.

    "Super good!" tells nothing of what was good; the question before it does.
    """
    before, same = _beside(work, -1)
    ends = work.passages.turns.ends(before)
    speaker = work.passages.speaker.view()
    other = speaker[ends] != speaker[work.rows]
    is_asked = work.every(ASKS)[ends] & other & same
    return np.where(is_asked, np.maximum(work.hybrid[ends], 0), np.float32(0))


def _beside(work: Work, step: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the turn ``step`` further for each row, and whether it is one of the same session.

    A document is none.
    """
    starts = work.passages.turns.starts
    session = work.passages.session.view()
    turns = np.clip(work.turn + step, 0, len(starts) - 1)
    same = (session[starts[turns]] == session[work.rows]) & (turns != work.turn)
    is_document = work.every(TURN_LENGTH)[starts[turns]] >= _DOCUMENT
    return turns, same & ~is_document


FEATURES = (
    Feature("behind", _behind),
    Feature("turn_length", _turn_length, kept=(TURN_LENGTH, LENGTH)),
    Feature("opens", _opens),
    Feature("turn_share", _turn_share),
    Feature("turn_before", _turn_before),
    Feature("turn_after", _turn_after),
    Feature("replies", _replies, kept=(ASKS,)),
)
