"""A server with a proxy before a provider for tests, and an upstream that says what it is told."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from served import Listening, listening

from demem_adapters.proxy import Proxy, Upstream
from demem_agent import SlotMemory
from demem_agent.testing import Provider

__all__ = [
    "Proxied",
    "Raw",
    "Request",
    "Said",
    "Scripted",
    "in_time",
    "of_provider",
    "proxied",
    "raw_upstream",
    "sent",
]

#: Seconds that a recall may take here: the machine that tests run on may be busy.
_DEADLINE = 20.0


@dataclass(frozen=True, slots=True)
class Proxied:
    """A server with a proxy, and where it is."""

    at: Listening

    @property
    def url(self) -> str:
        return self.at.url

    def openai(self, memory: str = "ana") -> str:
        """The base URL for the client of OpenAI's."""
        return f"{self.url}/m/{memory}/openai/v1"

    def anthropic(self, memory: str = "ana") -> str:
        """The base URL for the client of Anthropic's."""
        return f"{self.url}/m/{memory}/anthropic"

    def memory(self, id: str = "ana") -> SlotMemory | None:
        return self.at.app.house.pool.known(id)

    def said(self, id: str = "ana") -> list[tuple[str | None, str]]:
        """Return who said what in a memory, oldest first."""
        memory = self.memory(id)
        return [] if memory is None else [(one.speaker, one.text) for one in memory.evidence()]

    def comes_to_hold(self, *said: tuple[str, str], id: str = "ana") -> None:
        """Wait until a memory holds this and nothing else: it is written in a thread."""
        in_time(lambda: self.said(id) == [*said])
        assert self.said(id) == [*said]


@contextmanager
def proxied(
    *upstreams: Upstream, proxy: Mapping[str, Any] | None = None, **options: Any
) -> Iterator[Proxied]:
    """Serve memories in RAM with a proxy before some upstreams."""
    about = {"deadline": _DEADLINE, **(proxy or {})}
    with listening(guests=[Proxy([*upstreams], **about)], **options) as at:
        yield Proxied(at)


def of_provider(provider: Provider) -> tuple[Upstream, Upstream]:
    """Return a provider for tests as an upstream of both protocols."""
    return Upstream("openai", provider.url), Upstream("anthropic", provider.root)


def in_time(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until something holds, and tell whether it does."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@dataclass(frozen=True, slots=True)
class Request:
    """A request as an upstream got it."""

    line: bytes
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes


@dataclass(slots=True)
class Said:
    """What an upstream says: the bytes of a response, in pieces with pauses between them.

    Attributes:
        waits: an event for which it waits before each piece but the first.
        closes: whether it closes the connection when all is said.
        is_gone: is set when the other side has hung up meanwhile.
    """

    pieces: Sequence[bytes]
    waits: threading.Event | None = None
    closes: bool = False
    is_gone: threading.Event = field(default_factory=threading.Event)


class Scripted:
    """An upstream that says what a test has put there."""

    def __init__(self) -> None:
        self.says = Said([b""])

    def reply(self, _: Request) -> Said:
        return self.says


class Raw:
    """An upstream over a socket of its own, which notes down every byte that comes."""

    def __init__(self, reply: Callable[[Request], Said]) -> None:
        self.requests: list[Request] = []
        self._reply = reply
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.add(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in [*self._open]:
            connection.close()

    def _talk(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as file:
            while True:
                try:
                    request = _request(file)
                except OSError:
                    return
                if request is None:
                    return
                self.requests.append(request)
                said = self._reply(request)
                if not self._say(connection, said) or said.closes:
                    return

    def _say(self, connection: socket.socket, said: Said) -> bool:
        for number, piece in enumerate(said.pieces):
            if number and said.waits is not None and not self._waited(connection, said):
                return False
            try:
                connection.sendall(piece)
            except OSError:
                said.is_gone.set()
                return False
        return True

    def _waited(self, connection: socket.socket, said: Said) -> bool:
        """Wait for the event of a response; False where the other side hangs up before."""
        assert said.waits is not None
        connection.settimeout(0.01)
        while not said.waits.is_set():
            try:
                if connection.recv(1, socket.MSG_PEEK) == b"":
                    said.is_gone.set()
                    return False
            except TimeoutError:
                continue
            except OSError:
                said.is_gone.set()
                return False
        connection.settimeout(None)
        return True


@contextmanager
def raw_upstream(reply: Callable[[Request], Said]) -> Iterator[Raw]:
    """Serve an upstream that says what a function gives for a request."""
    raw = Raw(reply)
    thread = threading.Thread(target=raw.serve, daemon=True)
    thread.start()
    try:
        yield raw
    finally:
        raw.close()
        thread.join()


def _request(file: Any) -> Request | None:
    line = file.readline().rstrip(b"\r\n")
    if not line:
        return None
    headers: list[tuple[bytes, bytes]] = []
    while (text := file.readline().rstrip(b"\r\n")) != b"":
        name, _, value = text.partition(b":")
        headers.append((name.lower(), value.strip()))
    about = dict(headers)
    if about.get(b"transfer-encoding") == b"chunked":
        return Request(line, headers, _chunks(file))
    return Request(line, headers, file.read(int(about.get(b"content-length", b"0"))))


def _chunks(file: Any) -> bytes:
    parts: list[bytes] = []
    while size := int(file.readline().strip(), 16):
        parts.append(file.read(size))
        file.readline()
    file.readline()
    return b"".join(parts)


def sent(
    url: str,
    method: str,
    path: str,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Send a request by hand; return the status, the headers and the body as they came."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        lines = [f"{method} {path} HTTP/1.1", f"host: {host}:{port}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers]
        if body is not None:
            lines.append(f"content-length: {len(body)}")
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))
        with connection.makefile("rb") as file:
            answer = _request(file)
            assert answer is not None
            about = dict(answer.headers)
            rest = b""
            if b"content-length" not in about and b"transfer-encoding" not in about:
                rest = file.read()
    return int(answer.line.split()[1]), [*answer.headers], answer.body + rest
