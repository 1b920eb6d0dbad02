"""Runs of an agent of LangChain's that is shown the conversation, whose model is a function."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from client_conversations import Answer, ClientConversation
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool

from demem_adapters.common import Spoken
from demem_adapters.langchain import MemoryMiddleware

__all__ = ["Model", "Talk", "messages_of"]

REASONS = {"whole": "stop", "cut": "length", "tools": "tool_calls"}
USE: Any = {"name": "weigh", "args": {}, "id": "t1", "type": "tool_call"}


class Talk(ClientConversation):
    """Have a conversation with an agent; what the application shows has no ids."""

    def wrapped(self) -> Any:
        middleware = MemoryMiddleware(self.memories, namespace=self.namespace)
        return create_agent(Model(talk=self), [_weigh], middleware=[middleware])

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        given = {"messages": messages_of(visible, answer)}
        with contextlib.suppress(ConnectionError):
            if answer.stream:
                list(self.client.stream(given, stream_mode="messages", interrupt_before=["tools"]))
            else:
                self.client.invoke(given, interrupt_before=["tools"])


@tool
def _weigh() -> str:
    """Weigh it."""
    return "A kilo."


class Model(BaseChatModel):
    """Answers as a conversation wants it to."""

    talk: Any

    @property
    def _llm_type(self) -> str:
        return "talk"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        answer = self._asked(messages)
        told = {"finish_reason": REASONS[answer.outcome]}
        if answer.outcome == "tools":
            said = AIMessage("", tool_calls=[USE], response_metadata=told)
        else:
            said = AIMessage(answer.text, response_metadata=told)
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._asked(messages)
        told = {"finish_reason": REASONS[answer.outcome]}
        if answer.outcome == "tools":
            use: Any = {"name": "weigh", "args": "{}", "id": "t1", "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[use]))
        else:
            yield ChatGenerationChunk(message=AIMessageChunk(answer.text))
        yield ChatGenerationChunk(message=AIMessageChunk("", response_metadata=told))

    def _asked(self, messages: Sequence[BaseMessage]) -> Answer:
        answer: Answer = self.talk.asked_with([message.text for message in messages])
        if answer.outcome == "fails":
            raise ConnectionError("reset")
        return answer


def messages_of(visible: Sequence[Spoken], answer: Answer) -> list[BaseMessage]:
    """Return a conversation as messages, with the result of a tool where that is the answer's."""
    messages: list[BaseMessage] = []
    for one in visible:
        made = HumanMessage(one.text) if one.by_user else AIMessage(one.text)
        messages.append(made)
    if answer.result:
        messages += [AIMessage("", tool_calls=[USE]), ToolMessage("A kilo.", tool_call_id="t1")]
    return messages
