"""Have a reranker order the best passages for a query, where the memory has one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import CollaboratorError
from demem_agent.flows.encode import encoded
from demem_agent.reading.ask import Ask
from demem_agent.requests import Flow, Rerank
from demem_agent.scoring import Query
from demem_agent.slots.reranking import best_passages
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean

__all__ = ["understood"]


def understood(state: State, ask: Ask) -> Flow[Query]:
    """Return a query as the scorer sees it, with what a reranker says of the best passages.

    Where that fails, the score orders them; it is counted, and the query says why.

    Raises:
        InvalidInput, EncoderMismatch, StaleState: as for :func:`~demem_agent.flows.encode.encoded`.
    """
    query = yield from encoded(state, ask)
    if state.reranking is None or not query.text.strip():
        return query
    best = best_passages(state, query, ask.without, ask.where)
    if len(best) < 2:
        return query
    try:
        relevance: NDArray[np.float64] = yield Rerank(clean(query.text), tuple(best.values()))
    except CollaboratorError as error:
        reason = str(error)
        state.reranking[reason] += 1
        return replace(query, unranked=reason)
    return replace(query, relevance=dict(zip(best, relevance.tolist(), strict=True)))
