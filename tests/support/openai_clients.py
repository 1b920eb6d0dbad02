"""How the contract of adapters drives a wrapped client of OpenAI's; other drivers build on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import openai
from adapter_contract import Driver, Ending

from demem_adapters.common import Memories
from demem_adapters.openai import wrap
from demem_agent.testing import Provider

__all__ = ["MODELS", "Clients"]

#: Models of the provider's, by how their answers end.
MODELS = {
    "whole": "good",
    "cut": "fault-length",
    "fails": "fault-500",
    "odd": "fault-other-reason",
}


class Clients(Driver):
    """Chat completions of a wrapped async client."""

    field = "messages"

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self._turns = 0

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        self._turns += 1
        # A client has no name for a call: the same call again is one with the same messages.
        messages = [
            {"role": "system", "content": event or f"Turn {self._turns}."},
            {"role": "user", "content": text},
        ]
        model = MODELS[ending]
        return self._seen(messages, model, who, reply)

    def go_on(self, before: Sequence[str], asked: str) -> None:
        roles = ("user", "assistant", "user")
        said = zip(roles, [*before, asked], strict=True)
        self._seen([{"role": role, "content": text} for role, text in said])

    def say_all(self, said: Sequence[str]) -> None:
        self._turns += 1
        self._seen([{"role": "user", "content": text} for text in said])

    def _seen(
        self,
        messages: list[dict[str, str]],
        model: str = "good",
        who: str = "ana",
        reply: str = "Noted.",
    ) -> list[str]:
        """Call the model with messages, and return the texts that reached it."""

        async def run(url: str) -> None:
            async with openai.AsyncOpenAI(base_url=url, api_key="unused", max_retries=0) as plain:
                wrapped = wrap(
                    plain, self.memories, namespace=lambda call: call["user"], **self.asking
                )
                with contextlib.suppress(openai.OpenAIError):
                    await self.call(wrapped, model=model, user=who, **{self.field: messages})

        with Provider(lambda _: reply) as provider:
            asyncio.run(run(provider.url))
            return [message["content"] for message in provider.requests[-1].body[self.field]]

    def call(self, wrapped: openai.AsyncOpenAI, **call: Any) -> Any:
        """Call the model by the protocol under test."""
        return wrapped.chat.completions.create(**call)
