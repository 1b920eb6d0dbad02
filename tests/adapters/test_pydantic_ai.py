"""The Pydantic AI adapter keeps the contract of all adapters, with the framework's fake models and
a real client.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip(
    "pydantic_ai", reason="the pydantic_ai adapter: pip install 'demem-agent[pydantic-ai]'"
)

from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
)
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider

from demem_adapters.common import DECLARED, Memories
from demem_adapters.pydantic_ai import LongTermMemory
from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.testing import BagEncoder, Provider


@pytest.fixture(autouse=True)
def event_loop() -> Iterator[None]:
    """Closes the event loop that ``run_sync`` would make and leave open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def parts_of(messages: list[ModelMessage]) -> list[Any]:
    parts: list[Any] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            parts += message.parts
    return parts


class Watched:
    """A model that notes what it is sent."""

    def __init__(self, *replies: ModelResponse, fails: bool = False) -> None:
        self.seen: list[list[ModelMessage]] = []
        self.replies, self.fails = list(replies), fails

    def reply(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        self.seen.append(messages)
        if self.fails:
            raise ConnectionError("reset")
        return self.replies.pop(0) if self.replies else ModelResponse(parts=[TextPart("Noted.")])

    async def stream(self, messages: list[ModelMessage], _: AgentInfo) -> AsyncIterator[str]:
        self.seen.append(messages)
        yield "No"
        yield "ted."

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.reply, stream_function=self.stream)

    @property
    def prompts(self) -> list[str]:
        return [str(part.content) for part in self.parts if isinstance(part, UserPromptPart)]

    @property
    def parts(self) -> list[Any]:
        return parts_of(self.seen[-1])


@dataclass
class User:
    name: str


def agent(model: Any, memories: Memories, **more: Any) -> Agent[Any, Any]:
    ours = ("namespace", "inject", "tools", "asker", "conditions", "where")
    about = {name: more.pop(name) for name in ours if name in more}
    return Agent(model, capabilities=[LongTermMemory(memories, **about)], **more)


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


class Agents(Driver):
    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        odd = {"finish_reason": "eos_reached"} if ending == "odd" else None
        response = ModelResponse(
            [TextPart(reply)],
            finish_reason="length" if ending == "cut" else None,
            provider_details=odd,
        )
        watched = Watched(response, fails=ending == "fails")
        about = {"namespace": lambda ctx: ctx.deps.name, **self.asking}
        bot = agent(watched.model, self.memories, deps_type=User, **about)
        with contextlib.suppress(ConnectionError):
            asyncio.run(bot.run(text, deps=User(who), conversation_id=event or "monday"))
        return watched.prompts

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        history = [ModelRequest([UserPromptPart(asks)]), ModelResponse([TextPart(answers)])]
        bot = agent(Watched().model, self.memories, namespace="ana")
        asyncio.run(bot.run(asked, message_history=history))

    def say_all(self, said: Sequence[str]) -> None:
        history = [ModelRequest([UserPromptPart(text)]) for text in said[:-1]]
        bot = agent(Watched().model, self.memories, namespace="ana")
        asyncio.run(bot.run(said[-1], message_history=history, conversation_id="monday"))

    def parts(self) -> list[Any]:
        return [LongTermMemory(self.memories), replace(LongTermMemory(self.memories))]


class TestContract(AdapterContract):
    name = "pydantic_ai"
    driver = Agents


def test_it_is_told_who_said_what(memories: Memories) -> None:
    agent(Watched().model, memories).run_sync(VALVE)
    assert [item.speaker for item in memories.of("default").evidence()] == ["user", "assistant"]


def test_what_was_said_before_reaches_the_model_as_data_before_the_prompt(
    memories: Memories,
) -> None:
    watched = Watched()
    memories.remember("default", VALVE)
    agent(watched.model, memories, system_prompt="Be brief.").run_sync(ASKED)
    block, asked = watched.prompts
    assert block.startswith(DECLARED)
    assert VALVE in block
    assert asked == ASKED


def test_it_goes_after_the_first_instructions_where_it_is_to_go_to_the_system(
    memories: Memories,
) -> None:
    watched = Watched()
    memories.remember("default", VALVE)
    agent(watched.model, memories, system_prompt="Be brief.", inject="system").run_sync(ASKED)
    assert watched.prompts == [ASKED]
    first, block = [part.content for part in watched.parts if isinstance(part, SystemPromptPart)]
    assert first == "Be brief."
    assert DECLARED in block
    assert VALVE in block


@pytest.mark.parametrize("inject", ["user", "system"])
def test_what_is_recalled_stays_out_of_the_history_and_of_the_memory(
    memories: Memories, inject: Any
) -> None:
    bot = agent(Watched().model, memories, inject=inject)
    first = bot.run_sync(VALVE)
    second = bot.run_sync(ASKED, message_history=first.all_messages())
    assert DECLARED.encode() not in second.all_messages_json()
    assert texts(memories) == [VALVE, "Noted.", ASKED, "Noted."]


def test_runs_at_the_same_time_keep_to_their_own(memories: Memories) -> None:
    async def echo(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        await asyncio.sleep(0.01)
        shown = str(parts_of(messages)[0].content)
        return ModelResponse(
            parts=[TextPart(" ".join(word for word in ("ana", "ben") if word in shown))]
        )

    for name in ("ana", "ben"):
        memories.remember(name, f"My name is {name}.")
    bot = agent(FunctionModel(echo), memories, deps_type=User, namespace=lambda ctx: ctx.deps.name)

    async def run() -> list[str]:
        runs = [bot.run("What is my name?", deps=User(name)) for name in ("ana", "ben") * 3]
        return [result.output for result in await asyncio.gather(*runs)]

    assert asyncio.run(run()) == ["ana", "ben"] * 3


@pytest.mark.parametrize("reason", ["content_filter", "error"])
def test_a_cut_off_answer_is_not_remembered(memories: Memories, reason: Any) -> None:
    agent(Watched(ModelResponse([TextPart("Not")], finish_reason=reason)).model, memories).run_sync(
        VALVE
    )
    assert texts(memories) == [VALVE]


def test_a_stream_passes_through_and_is_remembered_at_its_end(memories: Memories) -> None:
    async def run() -> str:
        async with agent(Watched().model, memories).run_stream(VALVE) as streamed:
            return str(await streamed.get_output())

    assert asyncio.run(run()) == "Noted."
    assert texts(memories) == [VALVE, "Noted."]


def test_a_stream_that_was_left_is_not_remembered(memories: Memories) -> None:
    async def run() -> None:
        async with agent(Watched().model, memories).run_stream(VALVE) as streamed:
            async for _ in streamed.stream_text(debounce_by=None):
                break

    asyncio.run(run())
    assert "No" not in texts(memories)


@pytest.mark.parametrize(
    ("model", "kept"), [("good", 2), ("fault-no-finish", 1), ("fault-length", 1)]
)
def test_with_a_provider_only_an_answer_with_its_finish_reason_is_remembered(
    memories: Memories, model: str, kept: int
) -> None:
    async def run(url: str) -> None:
        async with AsyncOpenAI(base_url=url, api_key="unused") as client:
            openai = OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))
            async with agent(openai, memories).run_stream(VALVE) as streamed:
                await streamed.get_output()

    with Provider(lambda messages: "Noted.") as provider:
        asyncio.run(run(provider.url))
    assert len(texts(memories)) == kept


def test_the_question_is_recalled_for_again_after_a_tool_was_called(memories: Memories) -> None:
    watched = Watched(ModelResponse([ToolCallPart("look", {})]))
    memories.remember("default", VALVE)
    bot = agent(watched.model, memories)
    bot.tool_plain(name="look")(lambda: "a photograph")
    bot.run_sync(ASKED)
    assert len(watched.seen) == 2
    for messages in watched.seen:
        assert any(VALVE in str(message) for message in messages)
    assert texts(memories) == [VALVE, ASKED, "Noted."]


def test_what_is_in_the_history_is_not_recalled(memories: Memories) -> None:
    watched = Watched()
    memories.remember("default", "The valve of the boiler was fitted in 2019.")
    bot = agent(watched.model, memories)
    first = bot.run_sync(VALVE)
    bot.run_sync(ASKED, message_history=first.all_messages())
    (block,) = [prompt for prompt in watched.prompts if DECLARED in prompt]
    assert "2019" in block
    assert VALVE not in block


def test_the_same_question_later_in_a_conversation_is_remembered_again(memories: Memories) -> None:
    bot = agent(Watched().model, memories)
    first = bot.run_sync("Yes.")
    bot.run_sync("Yes.", message_history=first.all_messages())
    assert texts(memories) == ["Yes.", "Noted."] * 2


def test_what_was_recalled_stays_the_same_while_tools_answer_the_model(
    memories: Memories,
) -> None:
    memories.remember("default", VALVE)
    watched = Watched(ModelResponse([ToolCallPart("note", {}, tool_call_id="t1")]))
    bot = agent(watched.model, memories)

    @bot.tool_plain
    def note() -> str:
        memories.remember("default", "The valve of my boiler leaks.")
        return "noted"

    bot.run_sync(ASKED)
    first, second = ([part.content for part in parts_of(sent)] for sent in watched.seen)
    assert second[: len(first)] == first
    bot.run_sync(ASKED)
    assert "leaks" in str(watched.seen[-1])


def test_feedback_by_the_id_of_the_run(memories: Memories) -> None:
    memories.remember("default", VALVE)
    result = agent(Watched().model, memories).run_sync(ASKED)
    assert memories.feedback(result.run_id, namespace="default", thumbs=False).reward == 0.0
    assert memories.of("default").contexts()[-1].read[0][0] == "e1"


class Valve(BaseModel):
    metal: str


def test_a_structured_output_is_remembered_as_json(memories: Memories) -> None:
    agent(TestModel(custom_output_args={"metal": "brass"}), memories, output_type=Valve).run_sync(
        ASKED
    )
    assert texts(memories) == [ASKED, '{"metal":"brass"}']


def test_pictures_in_a_prompt_are_left_out_of_the_text(memories: Memories) -> None:
    agent(Watched().model, memories).run_sync(
        [VALVE, BinaryContent(b"png", media_type="image/png"), "Here it is."]
    )
    assert texts(memories)[0] == f"{VALVE}\nHere it is."


def test_a_run_that_waits_for_approval_is_remembered_when_it_has_ended(memories: Memories) -> None:
    watched = Watched(ModelResponse([ToolCallPart("order", {}, tool_call_id="t1")]))
    bot = agent(watched.model, memories, output_type=[str, DeferredToolRequests])

    @bot.tool
    def order(ctx: RunContext[Any]) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "ordered"

    waiting = bot.run_sync("Order a brass valve.")
    assert texts(memories) == ["Order a brass valve."]
    bot.run_sync(
        message_history=waiting.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"t1": True}),
    )
    assert texts(memories) == ["Order a brass valve.", "Noted."]


def test_the_tools_remember_and_recall(memories: Memories) -> None:
    calls = [ToolCallPart("remember", {"text": VALVE}), ToolCallPart("recall", {"query": ASKED})]
    watched = Watched(*(ModelResponse([call]) for call in calls))
    agent(watched.model, memories, tools=True).run_sync("Note it.")
    _, recalled = [part.content for part in watched.parts if isinstance(part, ToolReturnPart)]
    assert VALVE in recalled
    assert texts(memories) == ["Note it.", VALVE, "Noted."]


def test_what_a_model_remembers_again_as_its_output_is_turned_down_is_remembered_once(
    memories: Memories,
) -> None:
    calls = [ModelResponse([ToolCallPart("remember", {"text": VALVE})]) for _ in range(2)]
    bad, good = (ModelResponse([TextPart(text)]) for text in ("Bad.", "Good."))
    watched = Watched(calls[0], bad, calls[1], good)
    bot = agent(watched.model, memories, tools=True)

    @bot.output_validator
    def checked(output: str) -> str:
        if output == "Bad.":
            raise ModelRetry("Remember it, and say it better.")
        return output

    bot.run_sync("Note it.")
    assert texts(memories) == ["Note it.", VALVE, "Good."]


def test_what_a_model_remembers_in_another_turn_is_another_event(memories: Memories) -> None:
    said = ["I live in Rome.", "I live in Oslo.", "I live in Rome."]
    calls = [ModelResponse([ToolCallPart("remember", {"text": text})]) for text in said]
    noted = ModelResponse([TextPart("Noted.")])
    watched = Watched(*(reply for call in calls for reply in (call, noted)))
    bot = agent(watched.model, memories, tools=True)
    history: list[ModelMessage] = []
    for n in range(len(said)):
        history = bot.run_sync(f"Note {n}.", message_history=history).all_messages()
    assert [text for text in texts(memories) if text in said] == said


def test_what_a_model_remembers_while_the_store_fails_costs_no_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memories = Memories(encoder=BagEncoder())
    ingest, times = SlotMemory.ingest, iter([StoreError("busy")])

    def busy(memory: SlotMemory, text: str, **about: Any) -> Any:
        if text == VALVE:
            for error in times:
                raise error
        return ingest(memory, text, **about)

    monkeypatch.setattr(SlotMemory, "ingest", busy)
    watched = Watched(ModelResponse([ToolCallPart("remember", {"text": VALVE})]))
    assert agent(watched.model, memories, tools=True).run_sync("Note it.").output == "Noted."
    while memories.waiting:
        memories.names()
    assert texts(memories) == ["Note it.", VALVE, "Noted."]


class Hearing(Memories):
    """Memories that note what was said before each query that was recalled for."""

    def __init__(self) -> None:
        super().__init__(encoder=BagEncoder())
        self.told: dict[str, Any] = {}

    def recall(self, namespace: str | None, query: str, **about: Any) -> Any:
        self.told[query] = about.get("context")
        return super().recall(namespace, query, **about)


def test_the_tool_recall_is_told_what_was_said_in_its_run() -> None:
    memories = Hearing()
    first = agent(Watched().model, memories).run_sync(VALVE)
    watched = Watched(ModelResponse([ToolCallPart("recall", {"query": ASKED})]))
    bot = agent(watched.model, memories, tools=True)
    bot.run_sync("Which one was that?", message_history=first.all_messages())
    assert memories.told[ASKED] == [VALVE, "Noted.", "Which one was that?"]


def test_a_model_that_calls_every_tool_gets_an_answer_of_each(memories: Memories) -> None:
    result = agent(TestModel(), memories, tools=True).run_sync(VALVE)
    assert (
        '"recall":"Nothing is remembered."' in result.output
        or '"recall":"What is remembered' in result.output
    )
    assert '"remember":"Remembered."' in result.output


def test_recalling_from_a_namespace_never_written_finds_nothing(memories: Memories) -> None:
    calls = ModelResponse([ToolCallPart("recall", {"query": ASKED})])
    bot = agent(
        Watched(calls, ModelResponse([TextPart("?")], finish_reason="error")).model,
        memories,
        tools=True,
    )
    bot.run_sync(ASKED)
    assert texts(memories) == [ASKED]


def test_a_history_goes_through_json(memories: Memories) -> None:
    first = agent(Watched().model, memories).run_sync(VALVE)
    history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    agent(Watched().model, memories).run_sync(ASKED, message_history=history)
    assert len({item.session for item in memories.of("default").evidence()}) == 1


def test_it_can_be_made_from_a_file(tmp_path: Path) -> None:
    spec = {
        "model": "test",
        "capabilities": [{"LongTermMemory": {"url": f"sqlite:///{tmp_path}/bot.db", "slots": 3}}],
    }
    for _ in range(2):
        bot = Agent.from_spec(spec, custom_capability_types=[LongTermMemory])
        bot.run_sync(VALVE, conversation_id="c1")
    with Memories(f"sqlite:///{tmp_path}/bot.db") as memories:
        assert texts(memories)[0] == VALVE
        assert len(texts(memories)) == 2


def test_errors_of_the_framework_pass_through(memories: Memories) -> None:
    empty = [ModelResponse([], finish_reason="length")] * 3
    with pytest.raises(UnexpectedModelBehavior):
        agent(Watched(*empty).model, memories).run_sync(VALVE)
