"""mem0's ``Memory`` over this library: the same calls, and results of the same shape.

It needs no mem0, no model and no database beside this one's: ``docs/adapters/mem0.md`` says what
becomes of what has no meaning here.
"""

from __future__ import annotations

from demem_adapters.mem0.async_memory import AsyncMemory
from demem_adapters.mem0.memory import Memory

__all__ = ["AsyncMemory", "Memory"]
