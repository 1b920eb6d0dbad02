"""A capability that tells a model which tools worked in situations like this."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import ToolDefinition

from demem_adapters.common import (
    Inject,
    Memories,
    ToolAdvice,
    ToolOptions,
    Worked,
    checked,
    text_of,
)
from demem_adapters.pydantic_ai.messages import Run, prompts, put_into

__all__ = ["ToolChoice"]


class ToolChoice(AbstractCapability[Any]):
    """Have an agent learn which of its tools works where.

    Before each request the model is told how its tools did in situations like this, in a block that
    the message history does not keep; tools may be put in order or cut as well. After each call of
    a tool, what it came to is remembered. The situation is the user's prompt. A memory that fails
    costs no run: what goes wrong is logged by kind.

    Args:
        worked: what a tool came to, by its name and its result, or by what it raised. None means
            that it is not known.
        inject: where the block goes, "user" or "system"; see ``LongTermMemory``.
        options: of :class:`~demem_adapters.common.ToolOptions`; functions get the ``RunContext``.

    Raises:
        InvalidInput: for an option outside its range.
    """

    def __init__(
        self,
        memories: Memories,
        worked: Worked,
        *,
        inject: Inject = "user",
        **options: Unpack[ToolOptions],
    ) -> None:
        self.advice = ToolAdvice(memories=memories, worked=worked, **options)
        self.inject: Inject = checked(inject)

    async def prepare_tools(
        self, ctx: Run, tool_defs: list[ToolDefinition]
    ) -> list[ToolDefinition]:
        """Put the tools in order, or cut them, as the options say."""
        names = [tool.name for tool in tool_defs]
        advised = await self.advice.aadvise(_asked(ctx), names, ctx)
        return advised.arranged(tool_defs, lambda tool: tool.name)

    async def before_model_request(
        self, ctx: Run, request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the hint before the model in this request alone."""
        offered = request_context.model_request_parameters.function_tools
        names = [tool.name for tool in offered]
        advised = await self.advice.aadvise(_asked(ctx), names, ctx)
        if not advised.hint:
            return request_context
        messages = put_into(request_context.messages, advised.hint, self.inject)
        return replace(request_context, messages=messages)

    async def after_tool_execute(
        self,
        ctx: Run,
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: Any,
        result: Any,
    ) -> Any:
        """Remember what a tool came to."""
        await self.advice.areport(_asked(ctx), call.tool_name, result, ctx)
        return result

    async def on_tool_execute_error(
        self,
        ctx: Run,
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: Any,
        error: Exception,
    ) -> Any:
        """Remember that a tool raised an error, and pass it on."""
        await self.advice.areport(_asked(ctx), call.tool_name, error, ctx)
        raise error


def _asked(ctx: Run) -> str:
    """Return the prompt of a run, or else the last one of its history."""
    if ctx.prompt:
        return text_of(ctx.prompt)
    return ["", *prompts(ctx.messages)][-1]
