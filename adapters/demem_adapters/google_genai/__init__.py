"""Memory for the ``google-genai`` client: ``wrap(client)`` gives one that recalls and remembers."""

from __future__ import annotations

from demem_adapters.google_genai.client import wrap

__all__ = ["wrap"]
