"""Memory for the ``anthropic`` client: ``wrap(client)`` gives one that recalls and remembers."""

from __future__ import annotations

from demem_adapters.anthropic.client import wrap

__all__ = ["wrap"]
