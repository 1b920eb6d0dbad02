"""Understand a query: encode it, and have a reranker and a router say what they make of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import CollaboratorError
from demem_agent.flows.encode import encoded
from demem_agent.reading.ask import Ask
from demem_agent.reading.directing import directed
from demem_agent.requests import Flow, Rerank
from demem_agent.scoring import Query
from demem_agent.slots.filtering import within
from demem_agent.slots.reranking import best_passages
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean

__all__ = ["understood"]


def understood(state: State, ask: Ask) -> Flow[Query]:
    """Return a query as the scorer sees it, with what a reranker says of the best passages, and
    with the slot that a router chooses.

    The router is not asked where the caller has chosen the slot.

    Raises:
        InvalidInput, EncoderMismatch, StaleState: as for :func:`~demem_agent.flows.encode.encoded`.
    """
    query = yield from encoded(state, ask)
    query = yield from _reranked(state, ask, query)
    if ask.slot is not None:
        return query
    return (yield from directed(state, query, within(state, ask.where)))


def _reranked(state: State, ask: Ask, query: Query) -> Flow[Query]:
    """Return a query with what a reranker says, where the memory has one.

    Where that fails, the score orders them; it is counted, and the query says why.
    """
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
