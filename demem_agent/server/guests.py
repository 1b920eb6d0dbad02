"""What is served beside the endpoints, under paths of its own: a proxy, a server of MCP.

A guest comes from outside of this package. The server asks it which key came, lets it answer
who may call, and has it say in its own shape what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from demem_agent.later import dataclass
from demem_agent.server.house import House
from demem_agent.server.keys import Key
from demem_agent.server.receiving import Limits, Receive, Scope, Send
from demem_agent.server.sending import Response

__all__ = ["Guest", "Invited", "Outcome", "Visit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request that a guest answers: its name, its page and its key were looked at. Not hashable.

    Attributes:
        path: as it came, percent signs and all.
        headers: by their names in small letters.
        key: who calls.
    """

    scope: Scope
    receive: Receive
    send: Send
    path: bytes
    headers: Mapping[str, str]
    key: Key


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request, for the logs: names and numbers, no text.

    Attributes:
        operation: what was done.
        memory: of which memory; None for none.
        problem: the name of what was wrong; "" for nothing.
    """

    operation: str
    status: int
    memory: str | None = None
    problem: str = ""


class Guest(Protocol):
    """Something that answers requests under paths of its own."""

    def takes(self, path: bytes) -> bool:
        """Whether a path, as it came, is one of its own."""
        ...

    def key_in(self, headers: Mapping[str, str]) -> str | None:
        """Return the key of this server as it came with a request; None for none."""
        ...

    async def begin(self) -> None:
        """Begin with the server, on its event loop."""
        ...

    async def answer(self, visit: Visit) -> Outcome:
        """Answer a request.

        What it raises before it has begun to send becomes the response, by :meth:`refused`.
        """
        ...

    def refused(self, path: bytes, response: Response) -> Response:
        """Return a problem document as those who call the guest understand it."""
        ...

    async def end(self) -> None:
        """End with the server: what was begun is done, and everything released."""
        ...


#: Makes a guest of a house, when the server is made.
Invited = Callable[[House, Limits], Guest]
