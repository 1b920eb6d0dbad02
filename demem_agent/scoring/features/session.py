"""Features of what stands around a passage: the passages beside it, and its session."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features.work import Feature, Work
from demem_agent.scoring.lexical import share_of

__all__ = ["FEATURES"]


def _neighbour(work: Work) -> NDArray[np.float32]:
    return np.maximum(work.before.values(work.share), work.after.values(work.share))


def _before(work: Work) -> NDArray[np.float32]:
    return work.before.values(work.hybrid)


def _after(work: Work) -> NDArray[np.float32]:
    return work.after.values(work.hybrid)


def _session(work: Work) -> NDArray[np.float32]:
    """Return the best hybrid score among the scored passages of the session."""
    sessions: NDArray[np.int32] = work.passages.session.view()
    best = np.full(int(sessions.max()) + 1, -np.inf, np.float32)
    np.maximum.at(best, sessions[work.seen], work.hybrid[work.seen])
    return best[sessions[work.rows]]


def _coverage(work: Work) -> NDArray[np.float32]:
    """Return the share in [0, 1] of the query's idf mass that the whole session holds."""
    sessions: NDArray[np.int32] = work.passages.session.view()
    lexical = work.passages.lexical
    count = int(sessions.max()) + 1
    covered = np.zeros(count, np.float32)
    mass = 0.0
    for word in dict.fromkeys(work.words.stems):
        weight = lexical.idf(word)
        mass += weight
        holding = np.zeros_like(covered)
        in_sessions = sessions[lexical.rows(word)]
        holding[in_sessions] = weight * work.words.trust(word)
        covered += holding
    return share_of(covered, mass)[sessions[work.rows]]


FEATURES = (
    Feature("neighbour", _neighbour),
    Feature("before", _before),
    Feature("after", _after),
    Feature("session", _session),
    Feature("coverage", _coverage),
)
