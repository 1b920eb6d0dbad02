"""Completions of LiteLLM's with a callback, whose provider is a function."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import litellm
import openai
from client_conversations import Answer, ClientConversation

from demem_adapters.common import Memories, Spoken
from demem_adapters.litellm import MemoryLogger
from talks.openai import completion, messages_of

__all__ = ["Provided", "Talk"]


class Provided(ClientConversation):
    """A conversation in an event loop, with a provider of LiteLLM's own kind in the process."""

    #: The one that speaks now: LiteLLM asks its providers by their names.
    speaks: ClassVar[Provided]

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        self.runner = asyncio.Runner()
        litellm.suppress_debug_info = True
        litellm.custom_provider_map = [{"provider": "talk", "custom_handler": _Provider()}]
        super().__init__(rng, opened, **about)

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        Provided.speaks = self
        messages = messages_of(visible, answer)
        self.runner.run(self._ask(model="talk/good", messages=messages, stream=answer.stream))

    async def _ask(self, stream: bool, **given: Any) -> None:
        with contextlib.suppress(openai.APIError):
            reply = await self.client(**given, stream=stream)
            if stream:
                async for _ in reply:
                    pass
        # LiteLLM tells its callbacks of the end in tasks.
        while telling := [task for task in asyncio.all_tasks() if "_success_" in repr(task)]:
            await asyncio.wait(telling)

    def close(self) -> None:
        litellm.callbacks = []
        litellm.logging_callback_manager._reset_all_callbacks()
        self.runner.close()


class Talk(Provided):
    """Have a conversation with a callback."""

    def wrapped(self) -> Any:
        self.logger = MemoryLogger(self.memories, namespace=self.namespace)
        self._listen()
        return litellm.acompletion

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        if Provided.speaks is not self:
            self._listen()
        super().ask(visible, answer)

    def _listen(self) -> None:
        """Be the one whose callback is told; LiteLLM keeps one list for the process."""
        litellm.logging_callback_manager._reset_all_callbacks()
        litellm.callbacks = [self.logger]
        Provided.speaks = self


class _Provider(litellm.CustomLLM):
    """Answers as the conversation that speaks wants it to."""

    async def acompletion(self, *_: Any, **call: Any) -> Any:
        answer = self._asked(call)
        return litellm.ModelResponse(**completion(answer, Provided.speaks.rng.random()))

    async def astreaming(self, *_: Any, **call: Any) -> Any:
        answer = self._asked(call)
        about = {"index": 0, "usage": None, "tool_use": None}
        if answer.outcome == "tools":
            (choice,) = completion(answer, 0)["choices"]
            (use,) = choice["message"]["tool_calls"]
            yield {**about, "text": "", "is_finished": False, "finish_reason": None} | {
                "tool_use": use
            }
        else:
            yield {**about, "text": answer.text, "is_finished": False, "finish_reason": None}
        reasons = {"whole": "stop", "cut": "length", "tools": "tool_calls"}
        reason = reasons[answer.outcome]
        yield {**about, "text": "", "is_finished": True, "finish_reason": reason}

    def _asked(self, call: dict[str, Any]) -> Answer:
        shows = [str(message.get("content") or "") for message in call["messages"]]
        answer = Provided.speaks.asked_with(shows)
        if answer.outcome == "fails":
            raise litellm.APIConnectionError("No.", llm_provider="talk", model="good")
        return answer
