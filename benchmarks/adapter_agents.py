"""One turn through each framework of agents, with its adapter and without.

Agents are made once, and each turn is a conversation of its own. Models are the frameworks' own
fakes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from adapter_talk import Case, Talk

from demem_adapters.common import Memories

__all__ = ["AGENTS"]


def openai_agents(talk: Talk, memories: Memories) -> Case:
    """Make an agent of the OpenAI Agents SDK with a session that remembers."""
    from agents import Agent, Runner, SQLiteSession
    from agents.testing import ModelStep, ScriptedModel, assistant_message

    from demem_adapters.openai_agents import MemorySession

    def say(_: Any) -> ModelStep:
        return ModelStep([assistant_message(talk.said, item_id=f"m{talk.number}")])

    async def turn(session: Any, **config: Any) -> None:
        await session.clear_session()
        model = ScriptedModel([ModelStep.respond(say)])
        await Runner.run(Agent("Helper", model=model), talk.asked, session=session, **config)

    bare = SQLiteSession("bare")
    ours = MemorySession(SQLiteSession("ours"), memories, namespace="default")
    return Case(
        lambda: talk.run(turn(ours, run_config=ours.run_config())), lambda: talk.run(turn(bare))
    )


def pydantic_ai(talk: Talk, memories: Memories) -> Case:
    """Make an agent of Pydantic AI with memory as a capability."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from demem_adapters.pydantic_ai import LongTermMemory

    async def say(*_: Any) -> ModelResponse:
        return ModelResponse([TextPart(talk.said)])

    bare: Any = Agent(FunctionModel(say))
    ours: Any = Agent(FunctionModel(say), capabilities=[LongTermMemory(memories)])
    return Case(lambda: talk.run(ours.run(talk.asked)), lambda: talk.run(bare.run(talk.asked)))


def google_adk(talk: Talk, memories: Memories) -> Case:
    """Make a runner of the ADK whose agent preloads memory and remembers its session."""
    from google.adk.agents import LlmAgent
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.adk.tools.preload_memory_tool import PreloadMemoryTool
    from google.genai import types

    from demem_adapters.google_adk import MemoryService

    async def keep(callback_context: Any) -> None:
        await callback_context.add_session_to_memory()

    async def turn(runner: Runner) -> None:
        session = await runner.session_service.create_session(app_name="house", user_id="ana")
        new = types.UserContent(talk.asked)
        async for _ in runner.run_async(user_id="ana", session_id=session.id, new_message=new):
            pass

    def runner(memory: Any = None, **about: Any) -> Runner:
        agent = LlmAgent(name="bot", model=_google_model(talk), **about)
        sessions = InMemorySessionService()
        return Runner(
            app_name="house", agent=agent, session_service=sessions, memory_service=memory
        )

    service = MemoryService(memories)
    ours = runner(service, tools=[PreloadMemoryTool()], after_agent_callback=keep)
    bare = runner()
    return Case(
        lambda: talk.run(turn(ours)), lambda: talk.run(turn(bare)), namespace='["house", "ana"]'
    )


def _google_model(talk: Talk) -> Any:
    """Return a model of the ADK that says what the assistant says in a talk."""
    from google.adk.models import BaseLlm, LlmResponse
    from google.genai import types

    class Fake(BaseLlm):
        async def generate_content_async(self, *_: Any, **__: Any) -> Any:
            used = types.GenerateContentResponseUsageMetadata(
                prompt_token_count=1, candidates_token_count=1
            )
            about: Any = {"finish_reason": types.FinishReason.STOP, "usage_metadata": used}
            yield LlmResponse(content=types.ModelContent(talk.said), **about)

    return Fake(model="fake")


def strands(talk: Talk, memories: Memories) -> Case:
    """Make an agent of Strands with a memory manager."""
    from strands import Agent
    from strands.models import Model

    from demem_adapters.strands import LongTermMemory

    class Fake(Model):
        async def stream(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockDelta": {"delta": {"text": talk.said}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

        def structured_output(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        def update_config(self, **_: Any) -> None:
            """Nothing to set."""

        def get_config(self) -> dict[str, Any]:
            return {}

    async def turn(agent: Agent) -> None:
        agent.messages.clear()
        await agent.invoke_async(talk.asked)

    bare = Agent(model=Fake(), callback_handler=None)
    ours = Agent(model=Fake(), callback_handler=None, memory_manager=LongTermMemory(memories))
    return Case(lambda: talk.run(turn(ours)), lambda: talk.run(turn(bare)))


def agent_framework(talk: Talk, memories: Memories) -> Case:
    """Make an agent of Agent Framework with a context provider."""
    from agent_framework import (
        Agent,
        AgentSession,
        BaseChatClient,
        ChatResponse,
        FunctionInvocationLayer,
        InMemoryHistoryProvider,
        Message,
    )

    from demem_adapters.agent_framework import MemoryProvider

    class Fake(FunctionInvocationLayer[Any], BaseChatClient[Any]):
        async def _inner_get_response(self, **_: Any) -> Any:
            said = Message("assistant", [talk.said])
            return ChatResponse(
                messages=[said], response_id=f"r{talk.number}", finish_reason="stop"
            )

    async def turn(agent: Any) -> None:
        await agent.run(talk.asked, session=AgentSession())

    memory = MemoryProvider(memories, namespace="default")
    ours = Agent(Fake(), context_providers=[InMemoryHistoryProvider(), memory])
    bare = Agent(Fake(), context_providers=[InMemoryHistoryProvider()])
    return Case(lambda: talk.run(turn(ours)), lambda: talk.run(turn(bare)))


def autogen(talk: Talk, memories: Memories) -> Case:
    """Make an assistant of AutoGen with a client that remembers."""
    from autogen_agentchat.agents import AssistantAgent
    from autogen_core import CancellationToken
    from autogen_ext.models.replay import ReplayChatCompletionClient

    from demem_adapters.contrib.autogen import LongTermMemory

    class Fake(ReplayChatCompletionClient):
        async def create(self, *given: Any, **call: Any) -> Any:
            self.chat_completions.append(talk.said)
            return await super().create(*given, **call)

    async def turn(agent: AssistantAgent) -> None:
        await agent.on_reset(CancellationToken())
        await agent.run(task=talk.asked)

    bare = AssistantAgent("bot", model_client=Fake([]))
    ours = AssistantAgent("bot", model_client=LongTermMemory(memories).wrap(Fake([])))
    return Case(lambda: talk.run(turn(ours)), lambda: talk.run(turn(bare)))


def crewai(talk: Talk, memories: Memories) -> Case:
    """Make a crew of one agent and one task, with memory."""
    from crewai import Agent, BaseLLM, Crew, Task

    from demem_adapters.contrib.crewai import LongTermMemory

    class Fake(BaseLLM):
        def call(self, *_: Any, **__: Any) -> str:
            return f"Thought: done\nFinal Answer: {talk.said}"

    def turn(memory: Any = False) -> None:
        helper = Agent(
            role="Helper",
            goal="Help",
            backstory="You help about the house.",
            llm=Fake(model="fake"),
        )
        task = Task(description=talk.asked, expected_output="An answer", agent=helper)
        Crew(agents=[helper], tasks=[task], memory=memory).kickoff()

    memory = LongTermMemory(memories=memories, root_scope="/user/ana")
    return Case(lambda: turn(memory), turn, namespace="/user/ana")


AGENTS: dict[str, Callable[[Talk, Memories], Case]] = {
    "openai_agents": openai_agents,
    "pydantic_ai": pydantic_ai,
    "google_adk": google_adk,
    "strands": strands,
    "agent_framework": agent_framework,
    "autogen": autogen,
    "crewai": crewai,
}
