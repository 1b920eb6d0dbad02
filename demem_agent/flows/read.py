"""Route a query to a slot, and fill a limit with what bears on it."""

from __future__ import annotations

from datetime import datetime

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import (
    NotFound,
)
from demem_agent.flows.encode import encoded
from demem_agent.reading.composing import read_for
from demem_agent.requests import Flow
from demem_agent.slots.records import Vector
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.types import (
    Mode,
    Reading,
    Route,
)

__all__ = ["read", "route"]


def route(
    state: State,
    encoder: EncoderInfo,
    query: str,
    at: datetime | None,
    vector: Vector | None = None,
) -> Flow[Route]:
    """Choose the slot for a query; ``vector`` as in :func:`encoded`."""
    asked = yield from encoded(state, encoder, query, at, vector)
    return slot_ranking(state, asked)[0]


def read(
    state: State,
    encoder: EncoderInfo,
    query: str,
    at: datetime | None,
    limit: int,
    mode: Mode,
    slot: int | None = None,
    vector: Vector | None = None,
    without: frozenset[str] = frozenset(),
) -> Flow[Reading]:
    """Fill a limit with what bears on a query.

    Args:
        slot: read it as if the query had been routed there.
        vector: as in :func:`encoded`.
        without: ids of the evidence to leave out; a summary is given as it is.
    """
    asked = yield from encoded(state, encoder, query, at, vector)
    if slot is not None and slot not in state.slots:
        raise NotFound("slot", str(slot))
    return read_for(state, asked, limit, mode, slot, without)[1]
