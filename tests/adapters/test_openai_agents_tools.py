"""The choice of tools in the OpenAI Agents SDK keeps what it keeps in every framework."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from tool_choice_contract import TASK, TOOLS, Shown, ToolChoiceContract, ToolDriver, result_of

pytest.importorskip(
    "agents", reason="the openai_agents adapter: pip install 'demem-agent[openai-agents]'"
)

import agents
from agents import Agent, Runner, SQLiteSession, Tool, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from demem_adapters.common import DECLARED, HINT, Memories
from demem_adapters.openai_agents import MemorySession, ToolChoice
from demem_agent.testing import BagEncoder


@pytest.fixture(autouse=True)
def no_tracing() -> None:
    agents.set_tracing_disabled(True)


@dataclass
class User:
    name: str


def tool_named(name: str) -> Tool:
    def use() -> str:
        return result_of(name)

    return function_tool(use, name_override=name, description_override="Reset a password.")


def calling(tool: str) -> ScriptedModel:
    return ScriptedModel(
        [[function_call(tool, {}, call_id="call-1")], [assistant_message("Done.")]]
    )


def helper(model: ScriptedModel) -> Agent[Any]:
    return Agent(
        "Helper", instructions="Be brief.", model=model, tools=[tool_named(name) for name in TOOLS]
    )


class Agents(ToolDriver):
    def run(self, task: str, tool: str, *, who: str = "ana", coroutine: bool = False) -> Shown:
        return asyncio.run(self.arun(task, tool, User(who)))

    async def arun(self, task: str, tool: str, user: User) -> Shown:
        choice = ToolChoice(
            self.memories,
            self.worked,
            namespace=lambda context: context.name,
            **self.options,
        )
        model = calling(tool)
        agent = await choice.prepared(helper(model), task, user)
        await Runner.run(agent, task, context=user, hooks=choice, run_config=choice.run_config())
        first = model.calls[0]
        contents = [str(item.get("content")) for item in first.input]
        return Shown(contents, [offered.name for offered in first.tools])


class TestToolChoice(ToolChoiceContract):
    driver = Agents
    example = "openai_agents_tools.py"


def test_a_hint_goes_with_what_a_session_recalls_and_neither_is_kept() -> None:
    memories = Memories(encoder=BagEncoder())
    memories.remember("ana", "The password of accounting is kept by Omar.", speaker="user")
    memories.chosen("ana", TASK, "visit", outcome=True)
    session = MemorySession(SQLiteSession("monday"), memories, namespace="ana")
    choice = ToolChoice(memories, lambda *_: None, namespace="ana")
    model = calling("visit")

    async def scene() -> list[Any]:
        config = choice.run_config(session.run_config())
        await Runner.run(helper(model), TASK, session=session, hooks=choice, run_config=config)
        return await session.get_items()

    kept = asyncio.run(scene())
    shown = [str(item.get("content")) for item in model.calls[0].input]
    assert [text.split("\n")[0] for text in shown] == [DECLARED, HINT, TASK]
    assert not any("demem:memory" in str(item) for item in kept)


def test_the_agent_that_is_given_keeps_its_tools() -> None:
    memories = Memories(encoder=BagEncoder())
    memories.chosen("default", TASK, "visit", outcome=True)
    choice = ToolChoice(memories, lambda *_: None, most=1, drop_untried=True)
    agent = helper(calling("visit"))
    prepared = asyncio.run(choice.prepared(agent, TASK))
    assert [tool.name for tool in prepared.tools] == ["visit"]
    assert [tool.name for tool in agent.tools] == [*TOOLS]
