"""Runs of an agent of Pydantic AI's, whose model is a function and whose history is passed on."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from client_conversations import Answer, ClientConversation
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from demem_adapters.common import Memories, Spoken
from demem_adapters.pydantic_ai import LongTermMemory

__all__ = ["Talk"]


class Talk(ClientConversation):
    """Have a conversation whose earlier messages are the history of each run."""

    def __init__(self, rng: random.Random, opened: Callable[[], Memories], **about: Any) -> None:
        self.runner = asyncio.Runner()
        self._waiting: list[ModelMessage] = []
        super().__init__(rng, opened, **about)

    def wrapped(self) -> Agent[None, Any]:
        return Agent(
            FunctionModel(self._reply, stream_function=self._stream),
            output_type=[str, DeferredToolRequests],
            toolsets=[ExternalToolset([ToolDefinition(name="weigh")])],
            capabilities=[LongTermMemory(self.memories, namespace=self.namespace)],
        )

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        with contextlib.suppress(ConnectionError, UnexpectedModelBehavior):
            self.runner.run(self._run(visible, answer))

    async def _run(self, visible: Sequence[Spoken], answer: Answer) -> None:
        history = [_message(one) for one in visible[:-1]]
        prompt: str | None = visible[-1].text
        more: dict[str, Any] = {}
        if answer.result:  # what a tool gave outside comes with the messages of the run before
            history, prompt = self._waiting, None
            more = {"deferred_tool_results": DeferredToolResults(calls={"t1": "A kilo."})}
        about = {"message_history": history, "conversation_id": "monday", **more}
        if answer.stream:
            async with self.client.run_stream(prompt, **about) as streamed:
                await streamed.get_output()
                self._waiting = streamed.all_messages()
        else:
            self._waiting = (await self.client.run(prompt, **about)).all_messages()

    def _reply(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        answer = self._asked(messages)
        if answer.outcome == "tools":
            return ModelResponse([ToolCallPart("weigh", {}, "t1")], finish_reason="tool_call")
        reason: Any = "length" if answer.outcome == "cut" else "stop"
        return ModelResponse([TextPart(answer.text)], finish_reason=reason)

    async def _stream(self, messages: list[ModelMessage], _: AgentInfo) -> AsyncIterator[Any]:
        answer = self._asked(messages)
        if answer.outcome == "tools":
            yield {0: DeltaToolCall("weigh", "{}", tool_call_id="t1")}
            return
        yield answer.text[: len(answer.text) // 2]
        if answer.outcome == "cut":  # a model that is a function gives no reason to end
            raise ConnectionError("reset")
        yield answer.text[len(answer.text) // 2 :]

    def _asked(self, messages: Sequence[ModelMessage]) -> Answer:
        shows: list[str] = []
        for message in messages:
            shows += [str(getattr(part, "content", "")) for part in message.parts]
        answer = self.asked_with(shows)
        if answer.outcome == "fails":
            raise ConnectionError("reset")
        return answer

    def close(self) -> None:
        self.runner.close()


def _message(one: Spoken) -> ModelMessage:
    if one.by_user:
        return ModelRequest([UserPromptPart(one.text)])
    return ModelResponse([TextPart(one.text)])
