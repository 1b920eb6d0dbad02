"""From ranked passages to the text of a reading that stays within its limit."""

from __future__ import annotations

from demem_agent.reading.packing import strip_rendered

__all__ = ["strip_rendered"]
