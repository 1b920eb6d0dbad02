"""Memory for the ``openai`` client: ``wrap(client)`` gives one that recalls and remembers."""

from __future__ import annotations

from demem_adapters.openai.client import wrap

__all__ = ["wrap"]
