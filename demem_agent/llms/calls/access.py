"""Where a provider is and what opens it; shown nowhere."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from demem_agent.errors import InvalidInput
from demem_agent.llms.calls.background import loop
from demem_agent.turns import text_field

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Access", "Connection"]

#: Servers on one's own machine ask for no key, but the client does.
_NO_KEY = "none"
_THIS_MACHINE = ("localhost", "::1", "0.0.0.0", "host.docker.internal")


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a provider.

    Attributes:
        base_url: up to and with ``/v1``; None for OpenAI, or what the environment names in
            OPENAI_BASE_URL.
        api_key: None for that of the environment, OPENAI_API_KEY; a server with a ``base_url`` may
            need none.
        headers, query: sent with every request, such as ``api-version`` for Azure.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.base_url is not None and not _is_address(text_field("base_url", self.base_url)):
            raise InvalidInput(
                "base_url", "another", "an address that begins with http:// or https://"
            )
        named = self.base_url or os.environ.get("OPENAI_BASE_URL")
        if not (named or self.api_key or os.environ.get("OPENAI_API_KEY")):
            raise InvalidInput(
                "api_key", None, "given, or set in the environment as OPENAI_API_KEY"
            )

    @property
    def host(self) -> str:
        """The address without user, password, path and query, any of which may hold a secret."""
        if self.base_url is None:
            return "default"
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}"

    @property
    def is_local(self) -> bool:
        """Whether the provider is on this machine."""
        named = self.base_url or os.environ.get("OPENAI_BASE_URL") or ""
        host = urlsplit(named).hostname or ""
        return host in _THIS_MACHINE or host.startswith("127.") or host.endswith(".localhost")

    def __repr__(self) -> str:
        return f"Access({self.host})"

    def connect(self) -> Connection:
        """Return a connection, shared by all that reach the same provider in the same way."""
        key = self.api_key or os.environ.get("OPENAI_API_KEY") or _NO_KEY
        way = (loop(), self.base_url, key, tuple(self.headers.items()), tuple(self.query.items()))
        with _CONNECTING:
            found = _CONNECTIONS.get(way)
            if found is None:
                found = _CONNECTIONS[way] = Connection(self._client(key))
            return found

    def _client(self, key: str) -> AsyncOpenAI:
        """Make a client that never retries and never gives up.

        Both are decided in one place, which is not here.
        """
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            base_url=self.base_url,
            api_key=key,
            default_headers=dict(self.headers),
            default_query=dict(self.query),
            max_retries=0,
            timeout=None,
        )


class Connection:
    """A client on the loop of this package, closed once nobody holds it any more."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client
        weakref.finalize(self, _close, client, loop()).atexit = False


_CONNECTIONS: weakref.WeakValueDictionary[object, Connection] = weakref.WeakValueDictionary()
_CONNECTING = threading.Lock()


def _close(client: AsyncOpenAI, of: asyncio.AbstractEventLoop) -> None:
    asyncio.run_coroutine_threadsafe(client.close(), of)


def _is_address(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
