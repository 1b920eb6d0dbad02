"""Calls of an MCP server's tools, which a client makes again until one is answered."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from generated_conversations import Conversation

from demem_adapters.common import Memories
from demem_adapters.mcp import make_server
from demem_agent import SlotMemory

__all__ = ["Talk"]


class Talk(Conversation):
    """Have a client remember a conversation, correct some of it and take some back."""

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        super().__init__(rng, opened, **about)
        self.style = "tools"
        self.runner = asyncio.Runner()
        self._ids: list[str] = []  # of what was said, in its order
        self._calls = 0
        self.server = make_server(self.memories, namespace=self.namespace)

    def close(self) -> None:
        self.runner.close()

    def _restart(self) -> None:
        super()._restart()
        self.server = make_server(self.memories, namespace=self.namespace)

    @classmethod
    def held_by(cls, memory: SlotMemory) -> list[str]:
        return [item.text for item in memory.evidence()]

    def _turn(self) -> None:
        text = self._message()
        self._remember(text, "user")
        drawn = self.rng.random()
        if drawn < 0.1:
            self._update()
        elif drawn < 0.2:
            self._forget()
        if self.rng.random() < 0.7:
            common = not self.name and self.rng.random() < 0.3
            self._remember("Noted." if common else self._new("This is answer"), "assistant")

    def _remember(self, text: str, speaker: str) -> None:
        self._calls += 1
        # What is said again and again is told apart by a key; the rest needs none.
        told = {"text": text, "speaker": speaker, "key": f"{self.name}m{self._calls}"}
        if text.startswith("This") and self.rng.random() < 0.5:
            del told["key"]
        done = self._call_tool("remember", told)
        self.said.append(text)
        self._ids.append(done["evidence_id"])

    def _update(self) -> None:
        text = self._new("This is edit")
        told = {"evidence_id": self.rng.choice(self._ids), "text": text, "key": text}
        self._ids.append(self._call_tool("update", told)["evidence_id"])
        self.said.append(text)

    def _forget(self) -> None:
        place = self.rng.randrange(len(self._ids))
        self._call_tool("forget", {"evidence_id": self._ids[place]}, gone=True)
        del self._ids[place], self.said[place]

    def _call_tool(self, name: str, told: dict[str, Any], gone: bool = False) -> Any:
        """Call a tool until it has done what it is to; then, now and then, once more."""
        done = None
        while done is None or self.rng.random() < 0.15:
            result = self.runner.run(self._called(name, told))
            if not result["isError"]:
                done = result["structuredContent"]
            elif gone and "no evidence" in str(result["content"]):
                return None  # done before, though it seemed to fail
        return done

    async def _called(self, name: str, told: dict[str, Any]) -> dict[str, Any]:
        async with _connected(self.server) as client:
            result = await client.call_tool(name, told)
        found: dict[str, Any] = result.model_dump(by_alias=True)
        return found


def _connected(server: Any) -> AbstractAsyncContextManager[Any]:
    """Connect a client to a server in this process, with mcp 2.x or 1.x."""
    try:
        from mcp import Client
    except ImportError:
        from mcp.shared.memory import create_connected_server_and_client_session

        return create_connected_server_and_client_session(server)
    return Client(server)
