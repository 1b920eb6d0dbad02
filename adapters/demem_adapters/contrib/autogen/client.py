"""A model client for AutoGen that recalls before each call and remembers after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self, Unpack

from demem_adapters.common import Heard, Memories, Recent, digest, ending_of, in_conversation
from demem_adapters.contrib.autogen.messages import (
    asked_in,
    before,
    goes_on,
    last,
    said_in,
    said_last_of,
    texts_of,
    who_asks,
    with_recalled,
)
from demem_agent import FeedbackReport, InvalidInput, Reading
from demem_agent.feedback import Told
from demem_agent.reading import Asking

try:
    from autogen_core import Component, ComponentModel
    from autogen_core.memory import Memory
    from autogen_core.models import (
        ChatCompletionClient,
        CreateResult,
        FunctionExecutionResultMessage,
        LLMMessage,
        ModelInfo,
        RequestUsage,
    )
    from pydantic import BaseModel
except ImportError as error:
    raise ImportError(
        "the autogen adapter needs AutoGen: pip install 'demem-agent[autogen]'"
    ) from error

__all__ = ["RememberingClient", "RememberingClientConfig"]

#: Turns that wait for the results of tools; the oldest goes when there are more.
_MOST_WAITING = 1_000


class RememberingClientConfig(BaseModel):
    """The client and the memory of a :class:`RememberingClient`."""

    client: ComponentModel
    memory: ComponentModel


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the user asked, how it is remembered, and what was recalled for it."""

    asked: str
    texts: list[str]
    heard: Heard
    reading: Reading | None
    asking: Asking


class RememberingClient(ChatCompletionClient, Component[RememberingClientConfig]):
    """A model client that recalls before each call and remembers after it; the rest it passes on.

    What is recalled reaches the model in that call alone: the agent's context and its state keep
    what was said. What the user has said since the last answer is remembered as the model is
    called, the answer once it has come to its end. What cannot be remembered (a store that fails)
    is logged by kind, and the answer is given all the same.

    Args:
        client: any model client.
        memory: a ``LongTermMemory``: whose memory, and where what was recalled goes.
    """

    component_type = "model"
    component_config_schema = RememberingClientConfig

    def __init__(self, client: ChatCompletionClient, memory: Any) -> None:
        self.client = client
        self.memory = memory
        self._waiting: Recent[str, _Turn] = Recent(_MOST_WAITING)
        #: Of the last answer, for ``memories.feedback(call, ...)`` later on; None if it was not
        #: remembered.
        self.call: str | None = None

    @property
    def memories(self) -> Memories:
        """Where it is remembered."""
        return self.memory.memories

    async def create(self, messages: Sequence[LLMMessage], **call: Any) -> CreateResult:
        """Call the model, with what was recalled among the messages; the rest is passed on."""
        said = said_in(messages)
        turn = await self._begin(said)
        put = with_recalled(said, turn.reading, self.memory.inject)
        result = await self.client.create(put, **call)
        await self._end(turn, result)
        return result

    async def create_stream(
        self, messages: Sequence[LLMMessage], **call: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Call the model as :meth:`create` does; the pieces come as the client gives them."""
        said = said_in(messages)
        turn = await self._begin(said)
        put = with_recalled(said, turn.reading, self.memory.inject)
        async with contextlib.aclosing(self.client.create_stream(put, **call)) as pieces:
            async for piece in pieces:
                if isinstance(piece, CreateResult):
                    await self._end(turn, piece)
                yield piece

    async def feedback(self, **told: Unpack[Told]) -> FeedbackReport:
        """Tell how the last answer of this client did; arguments as in ``SlotMemory.feedback``.

        Raises:
            InvalidInput: if the last call gave no answer that was remembered.
            DeMemError: what ``SlotMemory.feedback`` raises.
        """
        if self.call is None:
            raise InvalidInput("feedback", told, "given after a call whose answer was remembered")
        return await asyncio.to_thread(
            self.memories.feedback, self.call, namespace=self.memory.namespace, **told
        )

    async def _begin(self, said: Sequence[LLMMessage]) -> _Turn:
        self.call = None
        waited = self._waited(said)
        if waited is not None:
            return waited
        memory = self.memory
        asked = asked_in(said, memory.user)
        question = last(asked)
        asking = in_conversation(memory.situation.asking(who_asks(asked)), before(said, asked))
        reading = await self.memories.aprepare(memory.namespace, question, **asking)
        earlier, texts = said_last_of(said, asked)
        heard = await self.memories.aheard(
            memory.namespace,
            texts,
            before=earlier,
            session=memory.session,
            asker=asking.get("asker"),
            goes_on=goes_on(said, asked),
            one_answer=False,  # each agent of a team may give one
        )
        return _Turn(question, texts_of(asked), heard, reading, asking)

    def _waited(self, said: Sequence[LLMMessage]) -> _Turn | None:
        """Return the turn that results of tools belong to: the same question again with them."""
        end = said[-1] if said else None
        if not isinstance(end, FunctionExecutionResultMessage):
            return None
        for result in end.content:
            if result.call_id in self._waiting:
                return self._waiting[result.call_id]
        return None

    async def _end(self, turn: _Turn, result: CreateResult) -> None:
        # "unknown" is what a stream that breaks off ends with.
        ending = ending_of(result.finish_reason, unsaid="cut")
        if ending == "waits":
            self._wait(turn, result)
        if not isinstance(result.content, str) or ending != "whole":
            return
        namespace = self.memory.namespace
        today = date.today().isoformat()
        # The same when the turn is carried out again; another when it is asked later.
        call = digest(namespace, self.memory.session, today, turn.texts, result.content)
        answer = await asyncio.to_thread(
            self.memories.converse,
            namespace,
            turn.asked,
            result.content,
            key=turn.heard,
            reading=turn.reading,
            session=self.memory.session,
            call=call,
            **turn.asking,
        )
        self.call = call if answer else None

    def _wait(self, turn: _Turn, result: CreateResult) -> None:
        """Know the turn again by the calls of tools that it waits for."""
        for asked in () if isinstance(result.content, str) else result.content:
            if asked.id:
                self._waiting[asked.id] = turn

    async def close(self) -> None:
        """Close the client; the memory stays open."""
        await self.client.close()

    def actual_usage(self) -> RequestUsage:
        """Return the client's usage."""
        return self.client.actual_usage()

    def total_usage(self) -> RequestUsage:
        """Return the client's usage in all."""
        return self.client.total_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], **call: Any) -> int:
        """Count as the client does; what will be recalled is not counted."""
        return self.client.count_tokens(messages, **call)

    def remaining_tokens(self, messages: Sequence[LLMMessage], **call: Any) -> int:
        """Count as the client does; what will be recalled is not counted."""
        return self.client.remaining_tokens(messages, **call)

    @property
    def capabilities(self) -> Any:
        """The client's capabilities, as AutoGen called its model info."""
        return self.client.capabilities

    @property
    def model_info(self) -> ModelInfo:
        """The client's model info."""
        return self.client.model_info

    def _to_config(self) -> RememberingClientConfig:
        return RememberingClientConfig(
            client=self.client.dump_component(), memory=self.memory.dump_component()
        )

    @classmethod
    def _from_config(cls, config: RememberingClientConfig) -> Self:
        client = ChatCompletionClient.load_component(config.client)
        return cls(client, Memory.load_component(config.memory))
