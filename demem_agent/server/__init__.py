"""Memories served over HTTP: ``demem serve``, or :func:`make_app` within a program of one's own.

It needs an extra: ``pip install 'demem-agent[server]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.errors import MissingExtra
from demem_agent.later import members_of

try:
    import msgspec as _msgspec  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as error:
    raise MissingExtra("a server of memories", "server") from error

if TYPE_CHECKING:
    from demem_agent.server.admission import Room
    from demem_agent.server.app import App
    from demem_agent.server.keys import Key, KeyRing
    from demem_agent.server.receiving import Limits
    from demem_agent.server.serving import make_app, serve
else:
    __getattr__ = members_of(
        __name__,
        {
            "App": "demem_agent.server.app",
            "Key": "demem_agent.server.keys",
            "KeyRing": "demem_agent.server.keys",
            "Limits": "demem_agent.server.receiving",
            "Room": "demem_agent.server.admission",
            "make_app": "demem_agent.server.serving",
            "serve": "demem_agent.server.serving",
        },
    )

__all__ = ["App", "Key", "KeyRing", "Limits", "Room", "make_app", "serve"]
