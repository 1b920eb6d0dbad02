"""MCP on the server of memories, at ``/mcp``: with its keys, and for what they allow."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import unquote

import demem_agent
from demem_adapters.common import Namespace
from demem_adapters.common.served import ServedMemories
from demem_adapters.mcp.sdk import NEW, MCPServer, TransportSecuritySettings
from demem_adapters.mcp.server import INSTRUCTIONS, READ, mount
from demem_agent import InvalidInput
from demem_agent.server import (
    House,
    Key,
    Limits,
    Outcome,
    Refusal,
    Response,
    Seats,
    Visit,
    body_of,
)

__all__ = ["guest"]

_PATH = b"/mcp"
_MEMORY = "demem-memory"
#: Requests at once: those whose bodies are still coming count.
_MOST = 64
#: Under which the scope of a request has whose memory it is about, and the key.
_WHOSE, _KEY = "demem memory", "demem key"
#: Which scope a key needs, by what is used.
_SCOPES = {
    READ: "read",
    "recall": "read",
    "explain": "read",
    "history": "read",
    "remember": "write",
    "update": "write",
    "feedback": "feedback",
    "forget": "forget",
}


def guest(house: House, limits: Limits) -> _Served:
    """Return MCP as a guest of a house, for ``make_app(guests=[guest])``.

    Whose memory a request is about, its key says, if it is of one memory, or the header
    ``demem-memory``. A tool that the key does not allow is refused in one line.
    """
    return _Served(house, limits)


class _Served:
    """MCP in a house: each request stands for itself, so that no session is another's."""

    def __init__(self, house: House, limits: Limits) -> None:
        self._limits = limits
        self._seats = Seats(_MOST, "too many requests are at work")
        self._memories = ServedMemories(house, "mcp")
        about: dict[str, Any] = {"version": demem_agent.__version__} if NEW else {}
        server = MCPServer("demem", instructions=INSTRUCTIONS, log_level="WARNING", **about)
        mount(server, self._memories, by_use=_namespace_of)
        self._app = _app(server)
        self._life = AsyncExitStack()

    def takes(self, path: bytes) -> bool:
        """Whether a path is that of MCP."""
        return path == _PATH

    def key_in(self, headers: Mapping[str, str]) -> str | None:
        """Return what came as a bearer's token, which must be a key."""
        given = headers.get("authorization")
        if given is None:
            return None
        kind, _, written = given.partition(" ")
        return written if kind.casefold() == "bearer" else ""

    async def begin(self) -> None:
        """Begin with the server."""
        await self._life.enter_async_context(self._app.router.lifespan_context(self._app))

    async def answer(self, visit: Visit) -> Outcome:
        """Have the SDK answer a request of somebody who may ask."""
        if visit.scope["method"] != "POST":
            # Each request stands for itself: what listens by GET would never be told anything.
            raise Refusal("no-such-method", "the path has POST", {"Allow": "POST"}, closes=True)
        memory = _memory_of(visit)
        with self._seats.seat(visit.key.id):
            return await self._answered(visit, memory)

    async def _answered(self, visit: Visit, memory: str) -> Outcome:
        body = await body_of(visit.receive, self._limits.body, self._limits.seconds)
        coming = [{"type": "http.request", "body": body, "more_body": False}]
        status = 0

        async def receive() -> MutableMapping[str, Any]:
            return coming.pop() if coming else await visit.receive()

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await visit.send(message)

        scope = {**visit.scope, _WHOSE: memory, _KEY: visit.key}
        await self._app(scope, receive, send)
        return Outcome("mcp", status, memory)

    def refused(self, path: bytes, response: Response) -> Response:
        """Return a problem document as it is."""
        return response

    async def end(self) -> None:
        """End with the server."""
        await self._life.aclose()
        self._memories.close()


def _app(server: MCPServer) -> Any:
    """Return the SDK's application; Host and Origin were looked at by who invites it."""
    open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    if NEW:
        return server.streamable_http_app(transport_security=open_to_all, stateless_http=True)
    settings: Any = server.settings
    settings.transport_security = open_to_all
    settings.stateless_http = True
    return server.streamable_http_app()


def _memory_of(visit: Visit) -> str:
    """Return whose memory a request is about.

    Raises:
        Refusal: where none is named, or one that the key does not reach.
    """
    key = visit.key
    named = key.prefix if key.exact else unquote(visit.headers.get(_MEMORY, "").strip())
    if not named.strip():
        says = "name it in the header demem-memory, or use a key of one memory"
        raise Refusal("no-memory", says, closes=True)
    if not key.reaches(named):
        raise Refusal("forbidden", "the key does not reach this memory", closes=True)
    return named


def _namespace_of(use: str) -> Namespace:
    """Return what tells whose memory something is used of, if the key allows the use."""

    def whose(context: Any) -> str:
        scope = context.request_context.request.scope
        key: Key = scope[_KEY]
        needed = _SCOPES[use]
        if needed not in key.scopes:
            raise InvalidInput("key", "this one", f"a key with the scope {needed}")
        return str(scope[_WHOSE])

    return whose
