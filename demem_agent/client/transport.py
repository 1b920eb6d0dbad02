"""How a request reaches a server: HTTP/1.1 by the standard library, over connections that are
kept.
"""

from __future__ import annotations

import http.client
import selectors
import threading
import time
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlsplit

from demem_agent.errors import InvalidInput, RemoteError
from demem_agent.later import dataclass

__all__ = ["Http", "Response", "Transport"]

#: Seconds after which a connection that nobody used is not trusted to be open still.
_IDLE = 20.0
#: Connections that are kept for the next request.
_KEPT = 8
#: Bytes from which on a server may close the connection while they are still on their way.
_LARGE = 2**20


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. Not hashable, as headers are a mapping.

    Attributes:
        headers: by their names in small letters.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Anything that takes a request to a server and brings the response."""

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Response:
        """Send a request.

        Args:
            path: what comes after the server's address, percent signs and all.

        Raises:
            RemoteError: if nothing comes back.
        """
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


#: Knows sockets of any number; select knows those below 1,024.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class Http:
    """Connections to one server; safe to share between threads.

    Args:
        url: of the server, such as ``http://localhost:8000``.
        timeout: seconds to wait for a response.

    Raises:
        InvalidInput: for what is no such URL.
    """

    def __init__(self, url: str, timeout: float = 120.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput("url", url, "such as 'http://localhost:8000'")
        if parts.query or parts.fragment or parts.username:
            raise InvalidInput("url", "one with more", "an address and a path alone")
        self._is_secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = _port_of(url)
        self._base = parts.path.rstrip("/")
        self._timeout = timeout
        self._kept: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Response:
        """Send a request, and return the response."""
        connection = self._connection()
        try:
            connection.request(method, self._base + path, body, dict(headers))
            came = connection.getresponse()
            found = {name.lower(): value for name, value in came.getheaders()}
            response = Response(came.status, found, came.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _unreachable(f"{self._host}:{self._port}", error, len(body or b"")) from error
        if came.will_close:
            connection.close()
        else:
            self._keep(connection)
        return response

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._lock:
            for _, connection in self._kept:
                connection.close()
            self._kept.clear()

    def _connection(self) -> http.client.HTTPConnection:
        with self._lock:
            while self._kept:
                since, connection = self._kept.pop()
                if time.monotonic() - since < _IDLE and _is_open(connection):
                    return connection
                connection.close()
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        return kind(self._host, self._port, timeout=self._timeout)

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._kept) < _KEPT:
                self._kept.append((time.monotonic(), connection))
                return
        connection.close()


def _port_of(url: str) -> int:
    parts = urlsplit(url)
    try:
        return parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise InvalidInput("url", url, "one with a port from 1 to 65535, or without") from None


def _is_open(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has not closed a connection: there would be something to read."""
    sock = connection.sock
    if sock is None:
        return False
    with _Selector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return not selector.select(0)


def _unreachable(where: str, error: Exception, size: int) -> RemoteError:
    says = f"the server at {where} does not answer: {type(error).__name__}"
    if size > _LARGE:
        says += f"; it may take no request of {size:,} bytes (demem serve --max-body)"
    return RemoteError(says, problem="unreachable")
