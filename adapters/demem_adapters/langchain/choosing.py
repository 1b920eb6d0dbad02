"""Middleware that tells an agent which of its tools worked in situations like this."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AnyMessage
from langgraph.errors import GraphBubbleUp

from demem_adapters.common import (
    Advised,
    Inject,
    Memories,
    ToolAdvice,
    ToolOptions,
    Worked,
    checked,
)
from demem_adapters.langchain.messages import Request, put_into, said

__all__ = ["ToolChoiceMiddleware"]

Handler = Callable[[Request], ModelResponse]
AsyncHandler = Callable[[Request], Awaitable[ModelResponse]]


class ToolChoiceMiddleware(AgentMiddleware[Any, Any, Any]):
    """Have an agent of ``create_agent`` learn which of its tools works where, sync and async.

    Before each call of the model it is told how its tools did in situations like this, in a block
    that does not go into the agent's state; they may be put in order or cut as well. After each
    call of a tool, what it came to is remembered. The situation is what the user said last. A
    memory that fails costs no answer: what goes wrong is logged by kind.

    Args:
        worked: what a tool came to, by its name and what it gave: a ``ToolMessage``, a ``Command``,
            or the exception that it raised. None means that it is not known.
        inject: where the block goes: a "user" message before what was asked, or the end of the
            "system" message.
        options: of :class:`~demem_adapters.common.ToolOptions`; functions get the runtime.

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
        super().__init__()
        self.advice = ToolAdvice(memories=memories, worked=worked, **options)
        self.inject: Inject = checked(inject)

    def wrap_model_call(self, request: Request, handler: Handler) -> ModelResponse:
        """Call the model with a hint, and with the tools as they are to be offered."""
        return handler(self._with(request, self._advised(request)))

    async def awrap_model_call(self, request: Request, handler: AsyncHandler) -> ModelResponse:
        """Call the model as :meth:`wrap_model_call` does, without blocking the event loop."""
        advised = await asyncio.to_thread(self._advised, request)
        return await handler(self._with(request, advised))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool, and remember what it came to."""
        try:
            result = handler(request)
        except GraphBubbleUp:  # it was interrupted, and has come to nothing yet
            raise
        except Exception as error:
            self._report(request, error)
            raise
        self._report(request, result)
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call a tool as :meth:`wrap_tool_call` does, without blocking the event loop."""
        try:
            result = await handler(request)
        except GraphBubbleUp:  # it was interrupted, and has come to nothing yet
            raise
        except Exception as error:
            await asyncio.to_thread(self._report, request, error)
            raise
        await asyncio.to_thread(self._report, request, result)
        return result

    def _advised(self, request: Request) -> Advised:
        names = filter(None, map(_name_of, request.tools))
        return self.advice.advise(_asked(request.messages), names, request.runtime)

    def _with(self, request: Request, advised: Advised) -> Request:
        tools = advised.arranged(request.tools, _name_of)
        if tools != request.tools:
            request = request.override(tools=tools)
        return put_into(request, advised.hint, self.inject)

    def _report(self, request: Any, result: Any) -> None:
        asked = _asked(request.state["messages"])
        self.advice.report(asked, request.tool_call["name"], result, request.runtime)


def _asked(messages: Sequence[AnyMessage]) -> str:
    """Return what the user said last."""
    return next(reversed(said(messages).values()), "")


def _name_of(tool: Any) -> str | None:
    """Return the name of a tool; None for one of the provider's own, which has none."""
    if not isinstance(tool, Mapping):
        return str(tool.name)
    function = tool.get("function")
    name = function.get("name") if isinstance(function, Mapping) else tool.get("name")
    return name if isinstance(name, str) else None
