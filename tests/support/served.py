"""A server of memories called within the process, and what comes back as JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from demem_agent.server import App, KeyRing, Room, make_app
from demem_agent.server.serving import Server
from demem_agent.testing import BagEncoder, InProcess

__all__ = ["MEMORY", "Ask", "Came", "Listening", "calling", "listening", "served"]

MEMORY = "/v1/memories/ana"


@dataclass(frozen=True, slots=True)
class Came:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The document."""
        return json.loads(self.body)

    @property
    def problem(self) -> str:
        """The name of the problem; it is asserted to be a whole problem document."""
        assert self.headers["content-type"] == "application/problem+json"
        told = self.json
        assert told["status"] == self.status >= 400
        assert told["title"]
        assert told["detail"]
        prefix, _, name = told["type"].rpartition(":")
        assert prefix == "urn:demem:problem"
        return str(name)


class Ask:
    """Asks a server."""

    def __init__(self, server: InProcess, app: App, key: str | None = None) -> None:
        self.server = server
        self.app = app
        self._key = key

    def __call__(self, method: str, path: str, body: Any = None, /, **headers: str) -> Came:
        """Ask; an underscore in the name of a header is a hyphen.

        A body that is bytes goes as it is, anything else as JSON.
        """
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        if self._key is not None:
            told.setdefault("authorization", f"Bearer {self._key}")
        if body is not None:
            told.setdefault("content-type", "application/json")
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        came = self.server.send(method, path, told, data)
        return Came(came.status, came.headers, came.body)

    def by(self, key: str | None) -> Ask:
        """Ask with another key."""
        return Ask(self.server, self.app, key)


@contextmanager
def served(
    *, client: str = "127.0.0.1", rooms: Mapping[str, Room] | None = None, **options: Any
) -> Iterator[Ask]:
    """Serve memories in RAM, quick ones without a clock unless options say otherwise."""
    ring = options.pop("ring", None) or KeyRing()
    quick: dict[str, Any] = {"clock": None, "encoder": BagEncoder(), **options}
    app = make_app(keys=ring, rooms=rooms, **quick)
    with InProcess(app, client) as server:
        yield Ask(server, app)


@contextmanager
def calling(**options: Any) -> Iterator[Ask]:
    """Serve a memory that three things have been said in."""
    with served(**options) as ask:
        assert ask("PUT", MEMORY).status == 201
        for text, speaker in (
            ("I moved to Lisbon.", "Ana"),
            ("The cat is called Minka.", "Ana"),
            ("The plumber comes on Fridays.", "Ben"),
        ):
            said = {"text": text, "speaker": speaker, "at": "2024-03-02"}
            assert ask("POST", f"{MEMORY}/items", said).status == 201
        yield ask


@dataclass(frozen=True, slots=True)
class Listening:
    """A server that listens, and where."""

    url: str
    app: App


@contextmanager
def listening(**options: Any) -> Iterator[Listening]:
    """Serve memories in RAM over a socket, in a thread."""
    began = threading.Event()
    found: list[str] = []

    def on_start(url: str) -> None:
        found.append(url)
        began.set()

    quick: dict[str, Any] = {"clock": None, "encoder": BagEncoder(), **options}
    app = make_app(**quick)
    server = Server(app, port=0, on_start=on_start)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert began.wait(30)
        yield Listening(found[0], app)
    finally:
        server.should_exit = True
        thread.join()
