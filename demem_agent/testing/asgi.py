"""An ASGI application called within the process, as a client of memories calls a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

if TYPE_CHECKING:
    from demem_agent.client import Response

__all__ = ["InProcess"]

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


class InProcess:
    """What takes requests to an application without a network; a context manager.

    Args:
        app: the application; it begins and ends with the block.
        client: the address that requests are said to be from.

    Examples:
        >>> from demem_agent.server import make_app
        >>> with InProcess(make_app()) as server:
        ...     server.send("GET", "/health/live", {}, None).status
        200
    """

    def __init__(self, app: Application, client: str = "127.0.0.1") -> None:
        self._app = app
        self._client = client
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._life = _Life(app)

    def __enter__(self) -> Self:
        self._thread.start()
        self._wait(self._life.begin())
        return self

    def __exit__(self, *_: object) -> None:
        self._wait(self._life.end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Response:
        """Send a request, and return the response."""
        response: Response = self._wait(self._sent(method, path, headers, body or b""))
        return response

    def close(self) -> None:
        """Do nothing: the application ends with the block."""

    def _wait(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    async def _sent(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        from demem_agent.client import Response

        came: list[Message] = []
        coming = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            return coming.pop() if coming else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            came.append(message)

        await self._app(self._scope(method, path, headers, body), receive, send)
        start = came[0]
        raw = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
        content = b"".join(message.get("body", b"") for message in came[1:])
        return Response(start["status"], raw, content)

    def _scope(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Message:
        raw_path, _, query = path.partition("?")
        told = {"host": "localhost", "content-length": str(len(body))}
        told |= {name.lower(): value for name, value in headers.items()}
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told.items()]
        return {
            "type": "http",
            "method": method,
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": query.encode(),
            "headers": raw,
            "client": (self._client, 1),
        }


class _Life:
    """Has an application begin and end."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def begin(self) -> None:
        self._told: asyncio.Queue[str] = asyncio.Queue()
        self._done: asyncio.Queue[str] = asyncio.Queue()
        self._task = asyncio.ensure_future(
            self._app({"type": "lifespan"}, self._receive, self._send)
        )
        await self._told.put("lifespan.startup")
        await self._done.get()

    async def end(self) -> None:
        await self._told.put("lifespan.shutdown")
        await self._task

    async def _receive(self) -> Message:
        return {"type": await self._told.get()}

    async def _send(self, message: Message) -> None:
        await self._done.put(message["type"])
