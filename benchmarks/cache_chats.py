"""One turn of a chat whose history grows, through each framework, with memory and without.

What each keeps of the talk is what a user of it would write down: an application that calls a model
keeps a list of messages, an agent keeps its own session.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from adapter_talk import Talk

from demem_adapters.common import Memories
from demem_agent.testing import Provider

__all__ = ["CHATS", "Chat", "Kind"]

#: What the application tells its model of itself: the beginning of every prompt.
INSTRUCTIONS = (
    "You are the caretaker of a large house. You know its rooms, what stands in them and what was "
    "repaired, and you keep a list of jobs that are still to be done. Answer in one or two "
    "sentences, in plain words, and name the room whenever you speak of a thing in it. Where you "
    "do not know something, say so and offer to look. Never promise a day for a repair: a plumber "
    "comes on Tuesdays and a carpenter on Fridays, and both are booked for weeks. Prices are given "
    "in euros, without cents. Speak to the owner as to a friend of many years."
)


class Chat:
    """A talk, and what a model is sent in it.

    Attributes:
        talk: what is said in it, turn by turn.
        sent: the prompts of the model, each as one text.
        provider: of models that are called over a network; none but this machine's.
    """

    def __init__(self, runner: asyncio.Runner, provider: Provider) -> None:
        self.talk = Talk(runner)
        self.provider = provider
        self.sent: list[str] = []

    def hear(self, parts: Iterable[object]) -> str:
        """Note what a model is sent, in the order of its prompt, and return what it says."""
        self.sent.append("\n".join(map(str, parts)))
        return self.talk.said

    def hear_request(self) -> None:
        """Note what the provider was sent last."""
        body = self.provider.requests[-1].body
        told = body.get("input") or body["messages"]
        shown = [{"role": "user", "content": told}] if isinstance(told, str) else told
        self.hear([body.get("instructions") or "", *map(_line, shown)])


class Kind(NamedTuple):
    """A way to put what was recalled before a model.

    Attributes:
        make: makes what runs a turn of a chat; without memories where they are None.
        place: where it goes: "" where there is no choice.
        default: whether it goes there unless told otherwise.
    """

    make: Callable[[Chat, Memories | None, str], Callable[[], None]]
    place: str
    default: bool = True


def _line(message: Mapping[str, Any]) -> str:
    """Return a message as a line of a prompt, whatever its parts are."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", part)) for part in content)
    return f"{message.get('role')}: {content}"


def openai(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a list of messages, and call chat completions."""
    from openai import OpenAI

    from demem_adapters.openai import wrap

    client: Any = OpenAI(base_url=chat.provider.url, api_key="unused", max_retries=0)
    if memories is not None:
        client = wrap(client, memories, inject=place)  # type: ignore[arg-type]
    messages = [{"role": "system", "content": INSTRUCTIONS}]

    def turn() -> None:
        messages.append({"role": "user", "content": chat.talk.asked})
        client.chat.completions.create(model="good", messages=messages)
        chat.hear_request()
        messages.append({"role": "assistant", "content": chat.talk.said})

    return turn


def openai_responses(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a list of items, and call responses."""
    from openai import OpenAI

    from demem_adapters.openai import wrap

    client: Any = OpenAI(base_url=chat.provider.url, api_key="unused", max_retries=0)
    if memories is not None:
        client = wrap(client, memories, inject=place)  # type: ignore[arg-type]
    items: list[dict[str, str]] = []

    def turn() -> None:
        items.append({"role": "user", "content": chat.talk.asked})
        client.responses.create(model="good", input=items, instructions=INSTRUCTIONS)
        chat.hear_request()
        items.append({"role": "assistant", "content": chat.talk.said})

    return turn


def litellm(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a list of messages, and call ``completion``."""
    import litellm

    from demem_adapters.litellm import wrap

    create: Any = litellm.completion
    if memories is not None:
        create = wrap(create, memories, inject=place)  # type: ignore[arg-type]
    messages = [{"role": "system", "content": INSTRUCTIONS}]
    about = {"api_base": chat.provider.url, "api_key": "unused"}

    def turn() -> None:
        messages.append({"role": "user", "content": chat.talk.asked})
        create(model="openai/good", messages=messages, **about)
        chat.hear_request()
        messages.append({"role": "assistant", "content": chat.talk.said})

    return turn


def langchain(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a thread of an agent's."""
    from langchain.agents import create_agent
    from langchain_core.language_models import SimpleChatModel
    from langgraph.checkpoint.memory import InMemorySaver

    from demem_adapters.langchain import MemoryMiddleware

    class Fake(SimpleChatModel):
        @property
        def _llm_type(self) -> str:
            return "fake"

        def _call(self, messages: Any, *_: Any, **__: Any) -> str:
            return chat.hear(f"{message.type}: {message.text}" for message in messages)

    middleware: list[Any] = []
    if memories is not None:
        middleware.append(MemoryMiddleware(memories, inject=place))  # type: ignore[arg-type]
    agent: Any = create_agent(
        Fake(), system_prompt=INSTRUCTIONS, middleware=middleware, checkpointer=InMemorySaver()
    )

    def turn() -> None:
        said = {"messages": [{"role": "user", "content": chat.talk.asked}]}
        agent.invoke(said, {"configurable": {"thread_id": "monday"}})

    return turn


def openai_agents(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a session of the SDK's."""
    from agents import Agent, RunConfig, Runner, SQLiteSession, set_tracing_disabled
    from agents.testing import ModelStep, ScriptedModel, assistant_message

    from demem_adapters.openai_agents import MemorySession

    set_tracing_disabled(True)

    def say(request: Any) -> ModelStep:
        items = request.input if isinstance(request.input, list) else [request.input]
        said = chat.hear([request.system_instructions, *map(_line, items)])
        return ModelStep([assistant_message(said, item_id=f"m{chat.talk.number}")])

    session: Any = SQLiteSession("monday")
    config = RunConfig()
    if memories is not None:
        about: Any = {"namespace": "default", "inject": place, "turns": 1000}
        session = MemorySession(session, memories, **about)
        config = session.run_config()

    def turn() -> None:
        model = ScriptedModel([ModelStep.respond(say)])
        agent = Agent("Caretaker", instructions=INSTRUCTIONS, model=model)
        chat.talk.run(Runner.run(agent, chat.talk.asked, session=session, run_config=config))

    return turn


def pydantic_ai(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep the history that a run gives."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from demem_adapters.pydantic_ai import LongTermMemory

    def parts(messages: Any) -> Iterator[str]:
        for message in messages:
            for part in message.parts:
                yield f"{part.part_kind}: {part.content}"

    async def say(messages: Any, _: Any) -> ModelResponse:
        return ModelResponse([TextPart(chat.hear(parts(messages)))])

    given: list[Any] = []
    if memories is not None:
        given.append(LongTermMemory(memories, inject=place))  # type: ignore[arg-type]
    agent: Any = Agent(FunctionModel(say), system_prompt=INSTRUCTIONS, capabilities=given)
    history: list[Any] = []

    def turn() -> None:
        result = chat.talk.run(agent.run(chat.talk.asked, message_history=[*history]))
        history.extend(result.new_messages())

    return turn


def strands(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep the messages of an agent."""
    from strands import Agent
    from strands.models import Model

    from demem_adapters.strands import LongTermMemory

    class Fake(Model):
        async def stream(
            self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any
        ) -> AsyncIterator[Any]:
            said = chat.hear([system_prompt, *map(_line, messages)])
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockDelta": {"delta": {"text": said}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

        def structured_output(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        def update_config(self, **_: Any) -> None:
            """Nothing to set."""

        def get_config(self) -> dict[str, Any]:
            return {}

    about: dict[str, Any] = {"model": Fake(), "callback_handler": None}
    if memories is not None:
        about["memory_manager"] = LongTermMemory(memories)
    agent = Agent(system_prompt=INSTRUCTIONS, **about)
    return lambda: chat.talk.run(agent.invoke_async(chat.talk.asked))


def agent_framework(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a session of an agent's."""
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatResponse,
        FunctionInvocationLayer,
        InMemoryHistoryProvider,
        Message,
    )

    from demem_adapters.agent_framework import MemoryProvider

    class Fake(FunctionInvocationLayer[Any], BaseChatClient[Any]):
        async def _inner_get_response(self, *, messages: Any, options: Any, **_: Any) -> Any:
            lines = [f"{message.role}: {message.text}" for message in messages]
            said = Message("assistant", [chat.hear([options.get("instructions"), *lines])])
            about: Any = {"response_id": f"r{chat.talk.number}", "finish_reason": "stop"}
            return ChatResponse(messages=[said], **about)

    providers: list[Any] = [InMemoryHistoryProvider()]
    if memories is not None:
        about: Any = {"namespace": "default", "inject": place}
        providers.append(MemoryProvider(memories, **about))
    agent: Any = Agent(Fake(), instructions=INSTRUCTIONS, context_providers=providers)
    session = agent.create_session()
    return lambda: chat.talk.run(agent.run(chat.talk.asked, session=session))


def autogen(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep the context of an assistant."""
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.replay import ReplayChatCompletionClient

    from demem_adapters.contrib.autogen import LongTermMemory

    class Fake(ReplayChatCompletionClient):
        async def create(self, messages: Any, **call: Any) -> Any:
            said = chat.hear(f"{message.type}: {message.content}" for message in messages)
            self.chat_completions.append(said)
            return await super().create(messages, **call)

    client: Any = Fake([])
    if memories is not None:
        client = LongTermMemory(memories, inject=place).wrap(client)  # type: ignore[arg-type]
    agent = AssistantAgent("bot", model_client=client, system_message=INSTRUCTIONS)
    return lambda: chat.talk.run(agent.run(task=chat.talk.asked))


def haystack(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep the messages that an agent gives back."""
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.dataclasses import ChatMessage

    from demem_adapters.haystack import memory_hooks

    def say(messages: Any) -> str:
        return chat.hear(f"{message.role.value}: {message.text}" for message in messages)

    about: dict[str, Any] = {}
    if memories is not None:
        about["hooks"] = memory_hooks(memories, inject=place)  # type: ignore[arg-type]
    agent = Agent(
        chat_generator=MockChatGenerator(response_fn=say), system_prompt=INSTRUCTIONS, **about
    )
    said: list[Any] = []

    def turn() -> None:
        said.append(ChatMessage.from_user(chat.talk.asked))
        result = agent.run([message for message in said if not message.is_from("system")])
        said[:] = result["messages"]

    return turn


def llama_index(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a memory of LlamaIndex's, in a chat engine."""
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.chat_engine import SimpleChatEngine
    from llama_index.core.llms.mock import MockLLM
    from llama_index.core.memory import Memory

    from demem_adapters.llama_index import MemoryBlock

    class Fake(MockLLM):
        async def achat(self, messages: Any, **_: Any) -> ChatResponse:
            said = chat.hear(f"{message.role.value}: {message.content}" for message in messages)
            return ChatResponse(message=ChatMessage(role="assistant", content=said))

    blocks: list[Any] = [] if memories is None else [MemoryBlock(memories=memories)]
    memory = Memory.from_defaults(session_id="monday", memory_blocks=blocks)
    if blocks and place == "user":
        memory = blocks[0].history(session_id="monday")
    system = [ChatMessage(role="system", content=INSTRUCTIONS)]
    engine = SimpleChatEngine.from_defaults(llm=Fake(), memory=memory, prefix_messages=system)
    return lambda: chat.talk.run(engine.achat(chat.talk.asked))


def google_adk(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a session of the ADK's, whose agent preloads memory."""
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.adk.tools.preload_memory_tool import PreloadMemoryTool
    from google.genai import types

    from demem_adapters.google_adk import MemoryService, remember_session

    class Fake(BaseLlm):
        async def generate_content_async(self, request: Any, *_: Any, **__: Any) -> Any:
            said = chat.hear([request.config.system_instruction, *map(content, request.contents)])
            about: Any = {"finish_reason": types.FinishReason.STOP}
            yield LlmResponse(content=types.ModelContent(said), **about)

    def content(given: Any) -> str:
        return f"{given.role}: " + "\n".join(part.text or "" for part in given.parts)

    about: dict[str, Any] = {}
    service = None
    if memories is not None:
        service = MemoryService(memories)
        about = {"tools": [PreloadMemoryTool()], "after_agent_callback": remember_session}
    agent = LlmAgent(name="bot", model=Fake(model="fake"), instruction=INSTRUCTIONS, **about)
    runner = Runner(
        app_name="house",
        agent=agent,
        session_service=InMemorySessionService(),
        memory_service=service,
        auto_create_session=True,
    )

    async def said() -> None:
        new = types.UserContent(chat.talk.asked)
        async for _ in runner.run_async(user_id="ana", session_id="monday", new_message=new):
            pass

    return lambda: chat.talk.run(said())


def dspy(chat: Chat, memories: Memories | None, place: str) -> Callable[[], None]:
    """Keep a ``dspy.History``, and give it to a program."""
    import dspy
    from dspy.utils import DummyLM

    from demem_adapters.contrib.dspy import WithMemory

    class Fake(DummyLM):
        def forward(self, prompt: Any = None, messages: Any = None, **more: Any) -> Any:
            self.answers = iter([{"answer": chat.hear(map(_line, messages))}])
            return super().forward(prompt, messages, **more)

    program: Any = dspy.Predict(
        dspy.Signature("history: dspy.History, memory, question -> answer", INSTRUCTIONS)
    )
    if memories is not None:
        program = WithMemory(program, memories)
    turns: list[dict[str, str]] = []

    def turn() -> None:
        about: dict[str, Any] = {} if memories is not None else {"memory": ""}
        with dspy.context(lm=Fake([]), disable_history=False):
            history = dspy.History(messages=[*turns])
            program(question=chat.talk.asked, history=history, **about)
        turns.append({"question": chat.talk.asked, "answer": chat.talk.said})

    return turn


def _both(make: Any) -> list[Kind]:
    return [Kind(make, "user"), Kind(make, "system", default=False)]


CHATS: dict[str, list[Kind]] = {
    "openai": [*_both(openai), Kind(openai, "merged", default=False)],
    "openai, responses": [*_both(openai_responses), Kind(openai_responses, "merged", False)],
    "litellm": [*_both(litellm), Kind(litellm, "merged", default=False)],
    "langchain": _both(langchain),
    "openai_agents": _both(openai_agents),
    "pydantic_ai": _both(pydantic_ai),
    "agent_framework": _both(agent_framework),
    "autogen": _both(autogen),
    "haystack": _both(haystack),
    "strands": [Kind(strands, "")],
    "google_adk": [Kind(google_adk, "")],
    "dspy": [Kind(dspy, "")],
    "llama_index": _both(llama_index),
}
