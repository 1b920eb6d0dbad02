"""What reads the events of a memory, as a server sends them."""

from __future__ import annotations

import json
import socket
from typing import Any

__all__ = ["Listener"]


class Listener:
    """Reads the events of a memory over a socket."""

    def __init__(self, url: str, name: str, *lines: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self.sock = socket.create_connection((host, int(port)), timeout=10)
        head = [
            f"GET /v1/memories/{name}/events HTTP/1.1",
            "host: localhost",
            "connection: close",
            *lines,
        ]
        self.sock.sendall("\r\n".join([*head, "", ""]).encode())
        self._file = self.sock.makefile("rb")
        self.status = int(self._file.readline().split()[1])

    def event(self) -> dict[str, Any]:
        """Return the next event, with its id and kind."""
        told: dict[str, Any] = {}
        while True:
            line = self._file.readline().decode().strip()
            name, _, value = line.partition(": ")
            if name in ("id", "event"):
                told[name] = value
            elif name == "data":
                return told | json.loads(value)

    def rest(self) -> bytes:
        """Return what comes until the stream ends."""
        return self._file.read()

    def close(self) -> None:
        self._file.close()
        self.sock.close()
