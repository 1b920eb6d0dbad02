"""The choice of tools in LangChain keeps what it keeps in every framework."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from tool_choice_contract import TOOLS, Shown, ToolChoiceContract, ToolDriver, result_of

pytest.importorskip(
    "langchain", reason="the langchain adapter: pip install 'demem-agent[langchain]'"
)

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from demem_adapters.common import HINT, Memories
from demem_adapters.langchain import MemoryMiddleware, ToolChoiceMiddleware
from demem_agent.testing import BagEncoder


class Model(GenericFakeChatModel):
    """Replies as told, and keeps what it was shown."""

    shown: list[list[BaseMessage]]
    offered: list[list[str]]

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        self.offered.append([tool.name if isinstance(tool, BaseTool) else "" for tool in tools])
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> Any:
        self.shown.append(messages)
        return super()._generate(messages, *given, **options)


def calling(tool: str) -> Model:
    call = {"name": tool, "args": {}, "id": "call-1"}
    return Model(messages=iter([AIMessage("", tool_calls=[call]), "Done."]), shown=[], offered=[])


def tool_named(name: str) -> BaseTool:
    def use() -> str:
        return result_of(name)

    return StructuredTool.from_function(use, name=name, description="Reset a password.")


class Agents(ToolDriver):
    def run(self, task: str, tool: str, *, who: str = "ana", coroutine: bool = False) -> Shown:
        choice = ToolChoiceMiddleware(
            self.memories,
            self.worked,
            namespace=lambda runtime: runtime.context["user"],
            **self.options,
        )
        model = calling(tool)
        agent = create_agent(
            model,
            [tool_named(name) for name in TOOLS],
            system_prompt="Be brief.",
            middleware=[choice],
            context_schema=dict,
        )
        said = {"messages": [HumanMessage(task)]}
        with contextlib.suppress(ConnectionError):
            if coroutine:
                asyncio.run(agent.ainvoke(said, context={"user": who}))
            else:
                agent.invoke(said, context={"user": who})
        return Shown([message.text for message in model.shown[0]], model.offered[0])


class TestToolChoice(ToolChoiceContract):
    driver = Agents
    example = "langchain_tools.py"


def test_the_hint_does_not_go_into_the_state_and_is_not_remembered() -> None:
    memories = Memories(encoder=BagEncoder())
    memories.chosen("default", "Reset it", "visit", outcome=True)
    agent = create_agent(
        calling("visit"),
        [tool_named("visit")],
        middleware=[
            MemoryMiddleware(memories),
            ToolChoiceMiddleware(memories, lambda *_: None),
        ],
    )
    state = agent.invoke({"messages": [HumanMessage("Reset it")]})
    assert not any(HINT in message.text for message in state["messages"])
    assert [item.text for item in memories.of("default").evidence()] == ["Reset it", "Done."]


def test_a_tool_that_waits_for_a_person_has_not_failed() -> None:
    memories = Memories(encoder=BagEncoder())

    def visit() -> str:
        return str(interrupt("May I?"))

    agent = create_agent(
        calling("visit"),
        [StructuredTool.from_function(visit, description="Reset a password.")],
        middleware=[ToolChoiceMiddleware(memories, lambda _, result: result.content == "done")],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [HumanMessage("Reset it")]}, thread)
    assert memories.known("default") is None
    agent.invoke(Command(resume="done"), thread)
    assert [one.mean for one in memories.tried("default", "Reset it")] == [1.0]


def test_a_tool_of_the_providers_own_stays_last() -> None:
    memories = Memories(encoder=BagEncoder())
    choice = ToolChoiceMiddleware(memories, lambda *_: None, order=True)
    memories.chosen("default", "Reset it", "visit", outcome=True)
    model = calling("visit")
    given: list[Any] = [{"type": "web_search"}, *map(tool_named, TOOLS)]
    create_agent(model, given, middleware=[choice]).invoke({"messages": [("user", "Reset it")]})
    assert model.offered[0] == ["visit", "directory", "mail_link", ""]
