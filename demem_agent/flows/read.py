"""Route a query to a slot, and fill a limit with what bears on it."""

from __future__ import annotations

from demem_agent.errors import NotFound
from demem_agent.flows.understand import understood
from demem_agent.reading.ask import Ask
from demem_agent.reading.composing import read_for
from demem_agent.reading.weighing import weighed
from demem_agent.requests import Flow
from demem_agent.slots.filtering import within
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.types import Reading, Route, Weighed

__all__ = ["read", "route", "weigh"]


def route(state: State, ask: Ask) -> Flow[Route]:
    """Choose the slot for a query."""
    query = yield from understood(state, ask)
    return slot_ranking(state, query, within(state, ask.where))[0]


def read(state: State, ask: Ask) -> Flow[Reading]:
    """Fill a limit with what bears on a query.

    Raises:
        NotFound: if a slot is asked for that is not active.
    """
    query = yield from understood(state, ask)
    _require_slot(state, ask)
    return read_for(state, ask, query)[1]


def weigh(state: State, ask: Ask) -> Flow[Weighed]:
    """Read, and tell what each line has its score from.

    Raises:
        NotFound: if a slot is asked for that is not active.
    """
    query = yield from understood(state, ask)
    _require_slot(state, ask)
    return weighed(state, ask, query)


def _require_slot(state: State, ask: Ask) -> None:
    if ask.slot is not None and ask.slot not in state.slots:
        raise NotFound("slot", str(ask.slot))
