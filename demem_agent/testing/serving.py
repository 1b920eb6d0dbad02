"""The HTTP of the provider for tests: requests in, sound replies out.

And every way in which these can break.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from demem_agent.errors import InvalidInput
from demem_agent.testing.faults import BODY_FAULTS, STATUS_FAULTS
from demem_agent.testing.forms import events_of, form_of, is_streamed, model_in
from demem_agent.testing.replies import Body

if TYPE_CHECKING:
    from demem_agent.testing.provider import Provider

__all__ = ["Handler", "Seen", "Server"]

_EMBEDDINGS = "/embeddings"


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came.

    Attributes:
        key: what came as the bearer's key, or in the header of its API.
        at: seconds of ``time.monotonic``.
    """

    path: str
    model: str
    body: Body
    key: str
    at: float

    @property
    def streams(self) -> bool:
        """Whether a stream was asked for."""
        return is_streamed(self.path, self.body)


class Server(ThreadingHTTPServer):
    """A server of the loopback interface that knows which connections are open."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    provider: Provider

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note that a connection is open."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Note that a connection is closed."""
        self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """Close what clients keep open, as a server that ends does."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it was closed in the meantime

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that give up are what this is for."""


class Handler(BaseHTTPRequestHandler):
    """Reply to one connection's requests, as soundly as the provider is asked to."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # so that a reply goes out whole
    server: Server

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Reply to a request, or fail to in the way that its model is asked for."""
        provider = self.server.provider
        seen = self._seen()
        try:
            fault = provider.take(seen)
        except InvalidInput as error:
            return self._send(400, _error({"message": str(error)}))
        if not provider.pause(provider.delay_ms / 1000):
            return self._hang_up()
        if fault == "reset":
            return self._reset()
        if fault == "stall":
            return self._stall()
        if fault == "error-event" and not seen.streams:
            fault = "overloaded"
        if fault in STATUS_FAULTS:
            return self._refuse(fault, seen)
        if form_of(seen.path) is None and not seen.path.endswith(_EMBEDDINGS):
            return self._send(404, _error({"message": "no such path"}))
        self._reply(seen, fault)

    def _reply(self, seen: Seen, fault: str) -> None:
        """Send what the provider answers, in the form of the path and spoilt by the fault."""
        reply = self.server.provider.body(seen, fault)
        if seen.streams and fault not in ("html", "wrong-schema"):
            return self._stream(reply, seen, fault)
        form = form_of(seen.path)
        if form is not None:
            reply = form.whole(reply)
        body, kind = BODY_FAULTS.get(fault, _sound)(json.dumps(reply))
        self._send(200, body, kind, fault)

    def _seen(self) -> Seen:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length))
        path = urlsplit(self.path).path
        return Seen(
            path=path,
            model=str(body.get("model") or model_in(path)),
            body=body,
            key=self._key(),
            at=time.monotonic(),
        )

    def _key(self) -> str:
        """Return the key that came with a request, however its API has it sent."""
        for name in ("x-api-key", "x-goog-api-key"):
            if self.headers.get(name):
                return str(self.headers[name])
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def _refuse(self, fault: str, seen: Seen) -> None:
        status, code, param, message = STATUS_FAULTS[fault]
        said = message.format(key=seen.key)
        form = form_of(seen.path)
        if form is not None and form.error is not None:
            return self._send(status, json.dumps(form.error(status, said)))
        error = {"message": said, "type": "error", "param": param, "code": code}
        self._send(status, _error(error))

    def _send(
        self, status: int, body: str, kind: str = "application/json", fault: str = ""
    ) -> None:
        raw = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        if status == 429:
            self.send_header("Retry-After", f"{self.server.provider.retry_after:g}")
        self.end_headers()
        if fault == "cut-body":
            self._write(raw[: len(raw) // 2], fault)
            self._hang_up()
        else:
            self._write(raw, fault)

    def _stream(self, reply: Body, seen: Seen, fault: str) -> None:
        events = _joined(events_of(reply, seen.path, seen.body, fault))
        half = events[: len(events) // 2]
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        if fault == "cut-body":
            # One chunk, and then no last one: so the client can tell that there should be more.
            self.send_header("Transfer-Encoding", "chunked")
            size = len(half.encode())
            events = f"{size:x}\r\n{half}\r\n"
        if fault == "cut-json":
            events = half
        self.end_headers()
        self._write(events.encode(), fault)

    def _write(self, raw: bytes, fault: str) -> None:
        if fault != "slow-drip":
            self.wfile.write(raw)
            return
        provider = self.server.provider
        for byte in raw:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if not provider.pause(provider.drip):
                return self._hang_up()

    def _stall(self) -> None:
        while self.server.provider.pause(1.0):
            pass
        self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True

    def _reset(self) -> None:
        """Close at once, which the client sees as a reset and not as an end."""
        self.close_connection = True
        at_once = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.connection.close()


def _error(said: Body) -> str:
    return json.dumps({"error": said})


def _sound(body: str) -> tuple[str, str]:
    return body, "application/json"


def _joined(events: Iterator[str]) -> str:
    return "".join(f"{event}\n\n" for event in events)
