"""Which tools worked in situations like this: told to an agent of the SDK's, and heard from it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from agents import Agent, RunConfig, RunHooks
from agents.run import CallModelData, ModelInputData

from demem_adapters.common import Inject, Memories, ToolAdvice, ToolOptions, Worked, checked
from demem_adapters.openai_agents.items import last_of_user, text_of

__all__ = ["ToolChoice"]


class ToolChoice(RunHooks[Any]):
    """Have agents learn which of their tools works where: the ``hooks`` of a run.

    After each call of a tool, what it came to is remembered. With :meth:`run_config` the model is
    told before each call how its tools did in situations like this, in a block that the session
    does not keep; :meth:`prepared` puts tools in order, or cuts them. The situation is what the
    user said last. A memory that fails costs no run: what goes wrong is logged by kind.

    The hint is of the agent's own tools: of those of MCP servers it says nothing. A tool whose
    ``failure_error_function`` is None ends the run with its error, and the SDK tells no hook of it.

    Args:
        worked: what a tool came to, by its name and its result, as the SDK gives it to hooks. None
            means that it is not known.
        inject: where the block goes, "user" or "system".
        options: of :class:`~demem_adapters.common.ToolOptions`; functions get the run's context, as
            ``Runner.run`` got it.

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

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """Make a ``RunConfig`` with a hint before each call of the model.

        Args:
            config: what it has besides, such as that of a ``MemorySession``; its own
                ``call_model_input_filter`` comes first.
        """
        given = RunConfig() if config is None else config
        first = given.call_model_input_filter

        async def filtered(data: CallModelData[Any]) -> ModelInputData:
            if first is not None:
                made = first(data)
                taken = await made if inspect.isawaitable(made) else made
                data = replace(data, model_data=taken)
            return await self.hint(data)

        return replace(given, call_model_input_filter=filtered)

    async def hint(self, data: CallModelData[Any]) -> ModelInputData:
        """Put a hint among the input of one call: a ``call_model_input_filter``."""
        items = data.model_data.input
        asked = _asked(items)
        advised = await self.advice.aadvise(asked, _names(data.agent.tools), data.context)
        if not advised.hint:
            return data.model_data
        last = last_of_user(items)
        place = last if last is not None and self.inject == "user" else 0
        told: Any = {"role": self.inject, "content": advised.hint}
        put = [*items[:place], told, *items[place:]]
        return ModelInputData(put, data.model_data.instructions)

    async def prepared(self, agent: Agent[Any], asked: str, context: object = None) -> Agent[Any]:
        """Return an agent for one run whose tools are in order or cut, as the options say.

        The one that is given is not changed.

        Args:
            asked: what the user says in the run.
            context: of the run, as ``Runner.run`` is to get it.
        """
        advised = await self.advice.aadvise(asked, _names(agent.tools), context)
        return agent.clone(tools=advised.arranged(agent.tools, _name_of))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        """Remember what a tool came to."""
        asked = _asked(context.turn_input)
        await self.advice.areport(asked, tool.name, result, context.context)


def _asked(items: Sequence[Any]) -> str:
    """Return what the user said last."""
    last = last_of_user(items)
    return "" if last is None else text_of(items[last])


def _names(tools: Sequence[Any]) -> list[str]:
    return [name for name in map(_name_of, tools) if name is not None]


def _name_of(tool: Any) -> str | None:
    name = getattr(tool, "name", None)
    return name if isinstance(name, str) else None
