"""Memories behind a URL: a client of ``demem serve`` with the methods of a memory.

``SlotMemory.open("http://...", key=...)`` and ``AsyncSlotMemory.open`` give what is here. It needs
an extra: ``pip install 'demem-agent[client]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from demem_agent.errors import MissingExtra
from demem_agent.later import members_of

try:
    import msgspec as _msgspec  # noqa: F401
except ImportError as error:
    raise MissingExtra("a memory behind a URL", "client") from error

if TYPE_CHECKING:
    from demem_agent.client.asynchronous import AsyncRemoteMemory
    from demem_agent.client.sync import RemoteMemory
    from demem_agent.client.transport import Http, Response, Transport
else:
    __getattr__ = members_of(
        __name__,
        {
            "AsyncRemoteMemory": "demem_agent.client.asynchronous",
            "Http": "demem_agent.client.transport",
            "RemoteMemory": "demem_agent.client.sync",
            "Response": "demem_agent.client.transport",
            "Transport": "demem_agent.client.transport",
        },
    )

__all__ = ["AsyncRemoteMemory", "Http", "RemoteMemory", "Response", "Transport"]
