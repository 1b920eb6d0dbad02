"""Keys: who may do what to which memories."""

from __future__ import annotations

from demem_agent.server.keys.records import SCOPES, Key, Scope
from demem_agent.server.keys.ring import KeyRing

__all__ = ["SCOPES", "Key", "KeyRing", "Scope"]
