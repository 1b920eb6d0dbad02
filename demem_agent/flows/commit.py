"""The one way in which a flow changes a memory: written first, then applied."""

from __future__ import annotations

from dataclasses import replace

from demem_agent.requests import Commit, Flow
from demem_agent.slots.keeping import new_items, require_place
from demem_agent.slots.ledger import expired
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State

__all__ = ["committed"]


def committed(state: State, delta: Delta) -> Flow[None]:
    """Have a delta written, then move the state on; a write that fails leaves nothing behind.

    Raises:
        MemoryFull: for new items for which there is no place.
    """
    new = new_items(state, delta) if state.settings.is_bounded else []
    if new:
        require_place(state, delta, new)
        delta = replace(delta, tenant_items=state.settings.tenant_items)
    delta = replace(delta, expired=expired(state, delta))
    yield Commit(delta)
    state.apply(delta)
