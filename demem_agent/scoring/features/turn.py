"""Features of the turn that a passage is part of, and of the turns beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features.passage import ASKS, LENGTH
from demem_agent.scoring.features.work import Feature, Values, Work

__all__ = ["FEATURES"]


def _behind(work: Work) -> NDArray[np.float32]:
    """Return how far a passage is behind the best of its turn."""
    best = work.turns.best(work.hybrid)
    behind: NDArray[np.float32] = best[work.turns.of[work.rows]] - work.hybrid[work.rows]
    return behind


def _turn_length(work: Work) -> Values:
    characters = work.turns.total(work.every(LENGTH))
    return _of_rows(work, np.log1p(characters / 50.0))


def _opens(work: Work) -> Values:
    """Mark the first passage of each turn."""
    opens: Values = work.turns.starts[work.turns.of[work.rows]] == work.rows
    return opens


def _turn_share(work: Work) -> Values:
    """Return the share in [0, 1] of the query's idf mass that the whole turn holds."""
    lexical = work.passages.lexical
    held = np.zeros(len(work.turns.starts), np.float32)
    mass = 0.0
    for word in dict.fromkeys(work.words.stems):
        weight = lexical.idf(word)
        mass += weight
        held[work.turns.of[lexical.rows(word)]] += weight  # once for a turn that is there twice
    return _of_rows(work, held / np.float32(max(mass, 1e-9)))


def _turn_before(work: Work) -> Values:
    """Return the best hybrid score of the turn before, 0 where the session begins."""
    return _of_rows(work, _shifted(work, work.turns.best(work.hybrid), 1))


def _turn_after(work: Work) -> Values:
    """Return the best hybrid score of the turn after, 0 where the session ends."""
    return _of_rows(work, _shifted(work, work.turns.best(work.hybrid), -1))


def _replies(work: Work) -> Values:
    """Return what the question scores that somebody else asked in the turn before; 0 without one.

    "Super good!" tells nothing of what was good; the question before it does.
    """
    ends = work.turns.ends
    asked = np.where(work.every(ASKS)[ends], np.maximum(work.hybrid[ends], 0), 0)
    asked = _shifted(work, asked.astype(np.float32), 1)
    speaker = work.passages.speaker.view()[work.turns.starts]
    other = np.diff(speaker, prepend=speaker[0]) != 0
    return _of_rows(work, np.where(other, asked, np.float32(0)))


def _of_rows(work: Work, values: Values) -> Values:
    """Return the value of its turn for each row that is scored; ``values`` has one a turn."""
    return values[work.turns.of[work.rows]]


def _shifted(work: Work, values: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Return for each turn the value of the one ``step`` before, 0 from another session."""
    session = work.passages.session.view()[work.turns.starts]
    shifted = np.roll(values, step)
    same = np.roll(session, step) == session
    edge = 0 if step > 0 else -1
    same[edge] = False
    return np.where(same, shifted, np.float32(0))


FEATURES = (
    Feature("behind", _behind),
    Feature("turn_length", _turn_length, kept=(LENGTH,)),
    Feature("opens", _opens),
    Feature("turn_share", _turn_share),
    Feature("turn_before", _turn_before),
    Feature("turn_after", _turn_after),
    Feature("replies", _replies, kept=(ASKS,)),
)
