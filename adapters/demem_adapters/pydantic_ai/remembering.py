"""A capability that recalls before each request of a model and remembers after a run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Unpack

from pydantic_ai import DeferredToolRequests, FunctionToolset
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_core import to_json

from demem_adapters.common import (
    BESIDE,
    Asker,
    Conditions,
    Ending,
    Filter,
    Heard,
    Inject,
    Memories,
    Namespace,
    Said,
    Situation,
    block,
    came_to_its_end,
    checked,
    digest,
    in_conversation,
    named,
    text_of,
)
from demem_adapters.pydantic_ai.messages import Run, prompts, put_into, said_before, said_last_of
from demem_agent import Reading
from demem_agent.options import Options
from demem_agent.reading import Asking

__all__ = ["LongTermMemory"]

#: Providers whose reason does not come as it was sent, or not at all.
_UNSAID = frozenset({"snowflake", "xai"})


@dataclass
class LongTermMemory(AbstractCapability[Any]):
    """Recall for the user's prompt before each model request; remember a run that ended well.

    What is recalled reaches the model only: the message history keeps what was said. What the user
    has said since the last answer is remembered before the first request. The output of a run that
    fails, is cut off, or waits for approval of a tool call is not; it is when it goes on to its
    end. An output that is no text is remembered as JSON. What cannot be remembered (a store
    that fails) is logged by kind, and the result is given.

    Args:
        memories: where it is remembered; ``memories.feedback(result.run_id, namespace="ana",
            thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the ``RunContext``, such as ``lambda ctx:
            ctx.deps.user_id``.
        inject: where the block goes, "user" or "system"; Pydantic AI advises against the latter for
            text of users.
        tools: give the model ``recall`` and ``remember`` as tools as well.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            ``RunContext`` as well.
        where: which items may be recalled; a function of it too.
    """

    memories: Memories
    namespace: Namespace = "default"
    inject: Inject = "user"
    tools: bool = False
    asker: Asker | None = None
    conditions: Conditions = ()
    where: Filter | None = None
    _reading: Reading | None = field(default=None, init=False, repr=False)
    _heard: Heard | None = field(default=None, init=False, repr=False)
    _asked_by: Asking | None = field(default=None, init=False, repr=False)
    _recalled_for: Sequence[str] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        checked(self.inject)
        Situation(self.asker, self.conditions, self.where)  # a mistake is told when it is made

    @classmethod
    def from_spec(
        cls,
        url: str = "memory://",
        *,
        namespace: str = "default",
        inject: Inject = "user",
        tools: bool = False,
        asker: str | None = None,
        where: Mapping[str, object] | None = None,
        limit: int | None = None,
        **options: Unpack[Options],
    ) -> LongTermMemory:
        """Make one from what a YAML or JSON file can say; arguments also as in ``Memories``."""
        memories = Memories(url, limit=limit, **options)
        return cls(memories, namespace, inject, tools, asker, where=where)

    async def for_run(self, ctx: Run) -> LongTermMemory:
        """Make a capability for one run, so that runs at the same time keep to what they read."""
        return replace(self)

    async def before_model_request(
        self, ctx: Run, request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Recall for the last prompt, and put it before the model in this request alone.

        It stays the same while tools answer the model.
        """
        messages = request_context.messages
        await self._read(ctx, messages)
        if self._heard is None:  # in the first request of the run
            self._heard = await asyncio.to_thread(self._hear, ctx, messages)
        if self._reading is None:
            return request_context
        return replace(
            request_context, messages=put_into(messages, block(self._reading), self.inject)
        )

    async def _read(self, ctx: Run, messages: Sequence[ModelMessage]) -> None:
        asked = ["", *prompts(messages)]
        if asked == self._recalled_for:
            return
        self._recalled_for = asked
        answers = [message.text or "" for message in messages if isinstance(message, ModelResponse)]
        self._asked_by = in_conversation(self._asking(ctx), said_before(messages))
        self._reading = await self.memories.aprepare(
            self._named(ctx), asked[-1], shown=[*asked, *answers], **self._asked_by
        )

    async def after_run(self, ctx: Run, *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Remember the prompt as the user wrote it and the output, if the model came to its end."""
        asked = [*prompts(result.all_messages())]
        waits = isinstance(result.output, DeferredToolRequests)
        if asked and _whole(result.response) and not waits:
            await asyncio.to_thread(self._remember, ctx, result, asked[-1])
        return result

    def _hear(self, ctx: Run, messages: Sequence[ModelMessage]) -> Heard:
        before, said = said_last_of(messages)
        asking = self._asked_by or self._asking(ctx)
        asker = asking.get("asker")
        session = ctx.conversation_id
        return self.memories.heard(
            self._named(ctx),
            said,
            before=before,
            session=session,
            asker=asker,
            goes_on=not ctx.prompt,  # with approvals or results of tools
        )

    def _remember(self, ctx: Run, result: AgentRunResult[Any], last: str) -> None:
        self.memories.converse(
            self._named(ctx),
            text_of(ctx.prompt) if ctx.prompt else last,
            _said(result.output),
            key=self._heard or self._hear(ctx, result.all_messages()),
            reading=self._reading,
            session=ctx.conversation_id,
            call=ctx.run_id,
            **(self._asked_by or self._asking(ctx)),
        )

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools for the model, None if it is to have none."""
        if not self.tools:
            return None
        return FunctionToolset([self.recall, self.remember], id=self.id)

    async def recall(self, ctx: Run, query: str) -> str:
        """Look up what is remembered of earlier conversations.

        Args:
            query: what to look for, as a question or in a few words.
        """
        spoken = [*said_before(ctx.messages), *[*prompts(ctx.messages)][-1:]]
        asking = in_conversation(self._asking(ctx), spoken)
        reading = await self.memories.arecall(self._named(ctx), query, beside=BESIDE, **asking)
        return block(reading) or "Nothing is remembered."

    async def remember(self, ctx: Run, text: str) -> str:
        """Remember something for later conversations. What is said in this one is remembered
        anyway.

        Args:
            text: a statement that can be understood on its own.
        """
        # A model that is asked for its output again calls its tools again as well.
        asked = [*prompts(ctx.messages)]
        key = digest("remember", text, asked, date.today().isoformat())
        said: Said = {"text": text, "speaker": "assistant", "source": "remember", "key": key}
        await self.memories.akeep(self._named(ctx), [said])
        return "Remembered."

    def _named(self, ctx: Run) -> str | None:
        return named(self.namespace, ctx)

    def _asking(self, ctx: Run) -> Asking:
        return Situation(self.asker, self.conditions, self.where).asking(ctx)


def _whole(response: ModelResponse) -> bool:
    """Whether the model came to its end; where it has called a tool, that gave the output."""
    if response.state != "complete":
        return False
    # A stream that breaks off looks like success: Pydantic AI then fills in "stop", and only what
    # was sent tells.
    sent = (response.provider_details or {}).get("finish_reason")
    can_be_cut_off = response.provider_url is not None
    if can_be_cut_off and not sent and response.provider_name not in _UNSAID:
        return False
    reason = sent or response.finish_reason
    unsaid: Ending = "cut" if can_be_cut_off else "whole"
    return came_to_its_end(reason, unsaid=unsaid, waits=True)


def _said(output: object) -> str:
    if isinstance(output, str):
        return output
    return to_json(output, fallback=str).decode()
