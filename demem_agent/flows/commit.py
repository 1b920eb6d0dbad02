"""The one way in which a flow changes a memory: written first, then applied."""

from __future__ import annotations

from demem_agent.requests import Commit, Flow
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State

__all__ = ["committed"]


def committed(state: State, delta: Delta) -> Flow[None]:
    """Have a delta written, then move the state on; a write that fails leaves nothing behind."""
    yield Commit(delta)
    state.apply(delta)
