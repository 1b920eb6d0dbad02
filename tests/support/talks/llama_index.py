"""A conversation in a memory of LlamaIndex's, which lets go of what it has no room for and hands
over the rest at the end of the session.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable
from typing import Any

from generated_conversations import Conversation
from in_ram import IN_RAM
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from demem_adapters.common import Memories
from demem_adapters.llama_index import MemoryBlock

__all__ = ["Talk"]


class Talk(Conversation):
    """Have a conversation of a session, whose history is in a database."""

    shares = False  # the order is not looked at

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        super().__init__(rng, opened, **about)
        self.style = "session"
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(dir=IN_RAM)
        self._turns = 0  # of this conversation
        self._opening = ""
        self._begin()

    def close(self) -> None:
        self.runner.run(self._end())
        self.runner.close()
        self.folder.cleanup()

    async def _end(self) -> None:
        await self.history.sql_store._async_engine.dispose()

    def _begin(self) -> None:
        self.block = MemoryBlock(memories=self.memories, namespace=self.namespace)
        self.history: Memory = self.block.history(
            session_id="monday",
            token_limit=60,
            token_flush_size=20,
            tokenizer_fn=str.split,
            async_database_uri=f"sqlite+aiosqlite:///{self.folder.name}/chats.db",
        )

    def _restart(self) -> None:
        self.runner.run(self._end())
        super()._restart()
        self._begin()

    def _turn(self) -> None:
        if self._turns > 2 and self.rng.random() < 0.15:
            self._begin_anew()
        self._turns += 1
        last, self._last_of_user = self._last_of_user, ""  # the history tells them apart
        texts = [self._message()]
        if self._turns == 1 and self.rng.random() < 0.5:
            texts = [self._opening or texts[0]]  # as the conversation before it
            self._opening = texts[0]
        if self._turns == 1 and texts[0] == last:
            # What was said last and is said again at once is the same call, made again.
            texts = [self._new("This is fact")]
        while self.rng.random() < 0.2:
            texts.append(self._message())
        for text in texts:
            self._put("user", text)
        self._last_of_user = texts[-1]
        self.runner.run(self.history.aget())
        drawn = self.rng.random()
        if drawn < 0.7:  # else the model fails, and nothing is put
            self._put("assistant", "Noted." if drawn < 0.2 else self._new("This is answer"))
        if self.rng.random() < 0.1:
            self._hand_over()  # as an application does that is not sure when a session ends

    def _begin_anew(self) -> None:
        """Begin another conversation of the session, with an empty history."""
        self._hand_over()
        self.runner.run(self.history.areset())
        self._turns = 0

    def _put(self, role: str, text: str) -> None:
        self.said.append(text)
        self.runner.run(self.history.aput(ChatMessage(role=role, content=text)))

    def _hand_over(self) -> None:
        self.runner.run(self._handed_over())

    async def _handed_over(self) -> None:
        everything = await self.history.aget_all()
        await self.block.aput(everything, session_id="monday")

    def remembered(self) -> list[str]:
        self._hand_over()
        self.settle()
        self.said.sort()
        return sorted(super().remembered())
