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
    from demem_agent.server.common import Shared
    from demem_agent.server.events import Event
    from demem_agent.server.guests import Guest, Invited, Outcome, Visit
    from demem_agent.server.house import House
    from demem_agent.server.keys import Key, KeyRing
    from demem_agent.server.receiving import Limits, body_of
    from demem_agent.server.refusals import Refusal
    from demem_agent.server.seats import Seats
    from demem_agent.server.sending import Response
    from demem_agent.server.serving import make_app, serve
    from demem_agent.server.workers import serve_workers
else:
    __getattr__ = members_of(
        __name__,
        {
            "App": "demem_agent.server.app",
            "Event": "demem_agent.server.events",
            "Guest": "demem_agent.server.guests",
            "House": "demem_agent.server.house",
            "Invited": "demem_agent.server.guests",
            "Key": "demem_agent.server.keys",
            "KeyRing": "demem_agent.server.keys",
            "Limits": "demem_agent.server.receiving",
            "Outcome": "demem_agent.server.guests",
            "Refusal": "demem_agent.server.refusals",
            "Response": "demem_agent.server.sending",
            "Room": "demem_agent.server.admission",
            "Seats": "demem_agent.server.seats",
            "Shared": "demem_agent.server.common",
            "Visit": "demem_agent.server.guests",
            "body_of": "demem_agent.server.receiving",
            "make_app": "demem_agent.server.serving",
            "serve": "demem_agent.server.serving",
            "serve_workers": "demem_agent.server.workers",
        },
    )

__all__ = [
    "App",
    "Event",
    "Guest",
    "House",
    "Invited",
    "Key",
    "KeyRing",
    "Limits",
    "Outcome",
    "Refusal",
    "Response",
    "Room",
    "Seats",
    "Shared",
    "Visit",
    "body_of",
    "make_app",
    "serve",
    "serve_workers",
]
