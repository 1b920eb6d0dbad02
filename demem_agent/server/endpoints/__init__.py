"""The endpoints, a file for each thing they are about."""

from __future__ import annotations

from demem_agent.server.endpoints import about, arranging, asking, items, keys, memories
from demem_agent.server.endpoints.base import Call, Endpoint, Reply

__all__ = ["ENDPOINTS", "Call", "Endpoint", "Reply"]

ENDPOINTS: tuple[Endpoint, ...] = (
    *about.ENDPOINTS,
    *memories.ENDPOINTS,
    *items.ENDPOINTS,
    *asking.ENDPOINTS,
    *arranging.ENDPOINTS,
    *keys.ENDPOINTS,
)
