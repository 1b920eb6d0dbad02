"""The choice of tools in Pydantic AI keeps what it keeps in every framework."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tool_choice_contract import TASK, TOOLS, Shown, ToolChoiceContract, ToolDriver, result_of

pytest.importorskip(
    "pydantic_ai", reason="the pydantic_ai adapter: pip install 'demem-agent[pydantic-ai]'"
)

from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, ModelRetry, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from demem_adapters.common import HINT, Memories
from demem_adapters.pydantic_ai import LongTermMemory, ToolChoice
from demem_agent.testing import BagEncoder


@pytest.fixture(autouse=True)
def event_loop() -> Iterator[None]:
    """Closes the event loop that ``run_sync`` would make and leave open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@dataclass
class User:
    name: str


def tool_named(name: str) -> Tool[Any]:
    def use() -> str:
        return result_of(name)

    return Tool(use, takes_ctx=False, name=name, description="Reset a password.")


class Script:
    """A model that calls a tool and then says that it is done; it keeps what it was shown."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.shown: list[Shown] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        texts = [str(part.content) for part in messages[0].parts if hasattr(part, "content")]
        self.shown.append(Shown(texts, [tool.name for tool in info.function_tools]))
        if len(self.shown) == 1:
            return ModelResponse(parts=[ToolCallPart(self.tool, {})])
        return ModelResponse(parts=[TextPart("Done.")])


class Agents(ToolDriver):
    def run(self, task: str, tool: str, *, who: str = "ana", coroutine: bool = False) -> Shown:
        choice = ToolChoice(
            self.memories, self.worked, namespace=lambda ctx: ctx.deps.name, **self.options
        )
        script = Script(tool)
        agent = Agent(
            FunctionModel(script),
            deps_type=User,
            system_prompt="Be brief.",
            tools=[tool_named(name) for name in TOOLS],
            capabilities=[choice],
        )
        with contextlib.suppress(ConnectionError):
            if coroutine:
                asyncio.run(agent.run(task, deps=User(who)))
            else:
                agent.run_sync(task, deps=User(who))
        return script.shown[0]


class TestToolChoice(ToolChoiceContract):
    driver = Agents
    example = "pydantic_ai_tools.py"


def test_the_hint_is_neither_in_the_history_nor_remembered() -> None:
    memories = Memories(encoder=BagEncoder())
    memories.chosen("default", TASK, "visit", outcome=True)
    agent = Agent(
        FunctionModel(Script("visit")),
        tools=[tool_named("visit")],
        capabilities=[LongTermMemory(memories), ToolChoice(memories, lambda *_: None)],
    )
    result = agent.run_sync(TASK)
    assert HINT not in str(result.all_messages())
    assert [item.text for item in memories.of("default").evidence()] == [TASK, "Done."]


def test_a_tool_that_waits_for_approval_has_not_failed() -> None:
    memories = Memories(encoder=BagEncoder())

    def visit() -> str:
        raise ApprovalRequired

    agent = Agent(
        FunctionModel(Script("visit")),
        tools=[Tool(visit, takes_ctx=False)],
        output_type=[str, DeferredToolRequests],
        capabilities=[ToolChoice(memories, lambda _, result: result == "done")],
    )
    assert isinstance(agent.run_sync(TASK).output, DeferredToolRequests)
    assert memories.known("default") is None


def test_a_tool_that_asks_for_another_try_has_come_to_nothing_yet() -> None:
    memories = Memories(encoder=BagEncoder())

    def visit() -> str:
        raise ModelRetry("another day, please")

    agent = Agent(
        FunctionModel(Script("visit")),
        tools=[Tool(visit, takes_ctx=False)],
        capabilities=[ToolChoice(memories, lambda _, result: result == "done")],
    )
    assert agent.run_sync(TASK).output == "Done."
    assert memories.known("default") is None
