"""From ranked passages to the text of a reading that stays within its limit."""

from __future__ import annotations

from demem_agent.reading.ask import Asking, Reads, Routes, Situated
from demem_agent.reading.packing import strip_rendered, wrap

__all__ = ["Asking", "Reads", "Routes", "Situated", "strip_rendered", "wrap"]
