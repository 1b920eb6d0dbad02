"""The AutoGen adapter keeps the contract of all adapters, in the framework's agents and teams with
its fake model.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending, blocks_among
from adapter_contract import texts as texts_of
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip(
    "autogen_core", reason="the autogen adapter: pip install 'demem-agent[autogen]'"
)
pytest.importorskip(
    "autogen_agentchat", reason="the autogen adapter: pip install 'demem-agent[autogen]'"
)
pytest.importorskip("autogen_ext", reason="the autogen adapter: pip install 'demem-agent[autogen]'")

from autogen_agentchat.agents import AssistantAgent, UserProxyAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import MemoryQueryEvent, MultiModalMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import FunctionCall, Image
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    LLMMessage,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL.Image import new as picture

from demem_adapters.common import DECLARED, Memories, block
from demem_adapters.contrib.autogen import LongTermMemory
from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput, StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder
from demem_agent.where import Where


def blocks_of(seen: Sequence[LLMMessage]) -> list[str]:
    return blocks_among(str(message.content) for message in seen)


ABLE = ModelInfo(
    vision=True, function_calling=True, json_output=True, family="unknown", structured_output=True
)
USED = RequestUsage(prompt_tokens=1, completion_tokens=1)


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


@pytest.fixture
def memory(memories: Memories) -> LongTermMemory:
    return LongTermMemory(memories, "ana")


class Watched(ReplayChatCompletionClient):
    """A model that notes what it is sent; the text "fails" is made an error, and "Noted." follows
    the last.
    """

    def __init__(self, *replies: str | CreateResult) -> None:
        super().__init__(replies, ABLE)
        self.seen: list[list[LLMMessage]] = []
        self.offered: list[list[str]] = []
        self.closed = 0

    def note(self, messages: Sequence[LLMMessage], call: dict[str, Any]) -> None:
        self.seen.append(list(messages))
        self.offered.append([str(tool["name"]) for tool in call.get("tools", [])])
        if self._current_index >= len(self.chat_completions):
            self.chat_completions.append("Noted.")
        if self.chat_completions[self._current_index] == "fails":
            self._current_index += 1
            raise ConnectionError("reset")

    async def create(self, messages: Sequence[LLMMessage], **call: Any) -> CreateResult:
        self.note(messages, call)
        return await super().create(messages, **call)

    async def create_stream(
        self, messages: Sequence[LLMMessage], **call: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        self.note(messages, call)
        try:
            async for piece in super().create_stream(messages, **call):
                yield piece
        finally:
            self.closed += 1

    async def close(self) -> None:
        self.closed += 1

    @property
    def last(self) -> list[str]:
        return [str(message.content) for message in self.seen[-1]]


def answer(content: str | list[FunctionCall], reason: Any = "stop") -> CreateResult:
    return CreateResult(finish_reason=reason, content=content, usage=USED, cached=False)


def calls(name: str, call_id: str = "t1") -> CreateResult:
    return answer([FunctionCall(id=call_id, name=name, arguments="{}")], "function_calls")


def look() -> str:
    """Look at the boiler."""
    return "a photograph"


class Numbered(UnboundedChatCompletionContext):
    """A context with a state of its own, that counts how often one was loaded."""

    loaded = 0

    async def save_state(self) -> dict[str, Any]:
        return {**await super().save_state(), "loaded": self.loaded}

    async def load_state(self, state: Any) -> None:
        self.loaded = state["loaded"] + 1
        await super().load_state(state)


def bot(memory: LongTermMemory, client: Any, /, **more: Any) -> AssistantAgent:
    return AssistantAgent(
        "bot", model_client=memory.wrap(client), **{"system_message": "Be brief.", **more}
    )


def run(agent: Any, *tasks: Any) -> Any:
    async def turns() -> Any:
        return [await agent.run(task=task) for task in tasks][-1]

    return asyncio.run(turns())


def texts(memory: LongTermMemory) -> list[str]:
    return texts_of(memory.memories, memory.namespace)


def found(memory: LongTermMemory, query: str = ASKED) -> list[Any]:
    return [item.content for item in asyncio.run(memory.query(query)).results]


class Agents(Driver):
    """An agent for each user, which keeps its conversation; an event is carried out by an agent of
    its own.
    """

    tells_reason = False  # AutoGen makes "unknown" of what it does not know, as of broken streams

    given: ClassVar[bool] = False

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self.agents: dict[str, tuple[Watched, AssistantAgent]] = {}

    def agent(self, who: str) -> tuple[Watched, AssistantAgent]:
        client, memory = Watched(), LongTermMemory(self.memories, who, **self.asking)
        return client, bot(memory, client, **({"memory": [memory]} if self.given else {}))

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        client, agent = self.agent(who) if event else self.agents.setdefault(who, self.agent(who))
        made = {"whole": reply, "cut": answer(reply, "length"), "fails": "fails"}
        client.chat_completions.append(made[ending])
        with contextlib.suppress(ConnectionError):
            run(agent, text)
        return client.last

    def say_all(self, said: Sequence[str]) -> None:
        _, agent = self.agent("ana")
        messages = [TextMessage(content=text, source="user") for text in said]
        asyncio.run(agent.run(task=messages))

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        self.say(asks, reply=answers)
        self.say(asked)

    def parts(self) -> list[Any]:
        memory = LongTermMemory(self.memories, "ana")
        return [memory, memory.wrap(Watched())]


class AgentsGivenIt(Agents):
    given = True


class TestContract(AdapterContract):
    name = "autogen"
    driver = Agents

    def after_page(self, namespace: dict[str, Any]) -> None:
        assert texts(namespace["memory"])[0] == VALVE


class TestContractWithMemoryGivenToTheAgentAsWell(TestContract):
    driver = AgentsGivenIt


def test_what_is_recalled_stands_as_data_before_the_question(memory: LongTermMemory) -> None:
    client = Watched()
    memory.memories.remember("ana", VALVE)
    run(bot(memory, client), ASKED)
    brief, block, asked = client.seen[0]
    assert isinstance(block, UserMessage)
    assert str(block.content).startswith(DECLARED)
    assert VALVE in block.content
    assert [brief.content, asked.content] == ["Be brief.", ASKED]


def test_it_follows_the_systems_first_messages_where_it_is_to_go_to_the_system(
    memories: Memories,
) -> None:
    client = Watched()
    memories.remember("ana", VALVE)
    run(bot(LongTermMemory(memories, "ana", inject="system"), client), "Hello.", ASKED)
    assert [message.type for message in client.seen[-1]][:3] == [
        "SystemMessage",
        "SystemMessage",
        "UserMessage",
    ]
    assert client.last[1].startswith(DECLARED)


def test_the_state_of_an_agent_keeps_what_was_said_alone(memory: LongTermMemory) -> None:
    memory.memories.remember("ana", VALVE)
    agent = bot(memory, Watched())
    run(agent, ASKED, "Is it of brass?")
    kept = asyncio.run(agent.save_state())["llm_context"]["messages"]
    assert [message["content"] for message in kept] == [
        ASKED,
        "Noted.",
        "Is it of brass?",
        "Noted.",
    ]


@pytest.mark.parametrize("inject", ["user", "system"])
def test_a_memory_given_to_an_agent_keeps_one_block_the_newest(
    memories: Memories, inject: Any
) -> None:
    client, memory = Watched(), LongTermMemory(memories, "ana", inject=inject)
    memories.remember("ana", VALVE)
    agent = AssistantAgent("bot", model_client=client, memory=[memory])
    run(agent, ASKED)
    memories.remember("ana", "The dog is called Rex.")
    run(agent, "How is the dog called?", ASKED)
    blocks = [*map(blocks_of, client.seen)]
    assert [len(found) for found in blocks] == [1, 1, 1]
    assert ["Rex" in found[0] for found in blocks][:2] == [False, True]


@pytest.mark.parametrize("inject", ["user", "system"])
def test_thanks_are_given_no_block_and_take_the_one_before_away(
    memories: Memories, inject: Any
) -> None:
    client, memory = Watched(), LongTermMemory(memories, "ana", inject=inject)
    memories.remember("ana", VALVE)
    run(AssistantAgent("bot", model_client=client, memory=[memory]), ASKED, "Thanks.")
    assert [len(blocks_of(seen)) for seen in client.seen] == [1, 0]


messages = st.lists(
    st.one_of(
        st.builds(
            lambda text: UserMessage(content=text, source="user"),
            st.sampled_from([ASKED, "Hello.", "ß\n"]),
        ),
        st.builds(
            lambda text: AssistantMessage(content=text, source="bot"),
            st.sampled_from(["Noted.", "No."]),
        ),
        st.just(SystemMessage(content="Be brief.")),
    ),
    max_size=6,
)
contexts = st.sampled_from(
    [
        UnboundedChatCompletionContext,
        lambda told: BufferedChatCompletionContext(2, told),
        lambda told: HeadAndTailChatCompletionContext(1, 1, told),
    ]
)


@given(messages, contexts, st.sampled_from(["user", "system"]))
def test_a_context_loses_nothing_however_often_it_is_updated(
    told: list[LLMMessage], made: Any, inject: Any
) -> None:
    memory = LongTermMemory(Memories(encoder=BagEncoder()), inject=inject)
    memory.memories.remember("default", VALVE)
    context = made(told)

    async def update() -> list[dict[str, Any]]:
        for _ in range(2):
            await memory.update_context(context)
        return list((await context.save_state())["messages"])

    after = asyncio.run(update())
    blocks = [message for message in after if str(message["content"]).startswith(DECLARED)]
    assert [message for message in after if message not in blocks] == [
        message.model_dump() for message in told
    ]
    assert len(blocks) <= 1


def test_a_context_is_left_alone_where_nothing_changes_and_keeps_the_rest_of_its_state(
    memory: LongTermMemory,
) -> None:
    context = Numbered([UserMessage(content=ASKED, source="user")])

    async def update() -> int:
        await memory.update_context(context)
        return context.loaded

    assert asyncio.run(update()) == 0
    memory.memories.remember("ana", VALVE)
    assert [asyncio.run(update()) for _ in range(2)] == [1, 1]


def test_what_a_user_quotes_of_a_block_still_reaches_the_model(memory: LongTermMemory) -> None:
    client, quoted = Watched(), f"{DECLARED} Is that so?"
    run(bot(memory, client), quoted)
    assert client.last[-1] == quoted


def test_what_an_earlier_version_of_the_agent_put_into_its_state_is_not_remembered(
    memory: LongTermMemory,
) -> None:
    memory.memories.remember("ana", VALVE)
    before = AssistantAgent("bot", model_client=Watched(), memory=[memory])
    run(before, ASKED)
    client = Watched()
    agent = bot(memory, client)
    asyncio.run(agent.load_state(asyncio.run(before.save_state())))
    run(agent, "Is it old?")
    assert texts(memory) == [VALVE, "Is it old?", "Noted."]
    assert sum(DECLARED in text for text in client.last) == 1


def test_what_is_recalled_says_how_probably_it_bears_on_the_query(memory: LongTermMemory) -> None:
    memory.memories.remember("ana", VALVE)
    (found,) = asyncio.run(memory.query(ASKED)).results
    assert 0.0 < found.metadata["score"] <= 1.0


def test_an_agent_shows_what_its_memory_recalled(memory: LongTermMemory) -> None:
    memory.memories.remember("ana", VALVE, speaker="user")
    result = run(bot(memory, Watched(), memory=[memory]), ASKED)
    (event,) = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
    assert [(item.content, item.metadata["speaker"]) for item in event.content] == [(VALVE, "user")]


def test_a_stream_passes_through_and_is_remembered_at_its_end(memory: LongTermMemory) -> None:
    agent = bot(memory, Watched("It is of brass."), model_client_stream=True)

    async def pieces() -> list[str]:
        return [
            e.content
            async for e in agent.run_stream(task=ASKED)
            if type(e).__name__.endswith("ChunkEvent")
        ]

    assert "".join(asyncio.run(pieces())) == "It is of brass."
    assert texts(memory) == [ASKED, "It is of brass."]


@pytest.mark.parametrize("reason", ["unknown", "length", "content_filter"])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_is_not_whole_is_not_remembered(
    memory: LongTermMemory, reason: str, stream: bool
) -> None:
    run(bot(memory, Watched(answer("It is", reason)), model_client_stream=stream), ASKED)
    assert texts(memory) == [ASKED]


def test_of_a_stream_that_was_left_the_answer_is_not_remembered(memory: LongTermMemory) -> None:
    client = Watched("It is of brass.")

    async def leave() -> None:
        stream = memory.wrap(client).create_stream([UserMessage(content=ASKED, source="user")])
        assert await anext(stream) == "It "
        await stream.aclose()
        assert client.closed == 1

    asyncio.run(leave())
    assert texts(memory) == [ASKED]


@pytest.mark.parametrize("size", [2, 100])
def test_a_question_is_recalled_for_once_and_stays_when_tools_were_called(
    memory: LongTermMemory, size: int
) -> None:
    client = Watched(calls("look", "t1"), calls("look", "t2"), "It is of brass.")
    memory.memories.remember("ana", VALVE)
    context = BufferedChatCompletionContext(size)
    run(bot(memory, client, tools=[look], max_tool_iterations=3, model_context=context), ASKED)
    blocks = [*map(blocks_of, client.seen)]
    assert len(blocks) == 3
    assert blocks == [blocks[0]] * 3
    assert blocks[0]
    assert ASKED not in blocks[0][0]
    assert texts(memory) == [VALVE, ASKED, "It is of brass."]


def test_of_a_turn_that_a_tool_ends_the_users_message_is_remembered(memory: LongTermMemory) -> None:
    run(bot(memory, Watched(calls("look")), tools=[look]), ASKED)
    assert texts(memory) == [ASKED]


def test_in_a_team_each_says_its_own_and_the_user_is_remembered_once(
    memory: LongTermMemory,
) -> None:
    drafts, doubts = Watched("A draft.", "A better one."), Watched("It is long.", "It is good.")
    agents = [
        AssistantAgent(name, model_client=memory.wrap(client))
        for name, client in (("writer", drafts), ("critic", doubts))
    ]
    run(RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(5)), VALVE)
    said = [(item.speaker, item.text) for item in memory.memories.of("ana").evidence()]
    answers = [
        ("assistant", text) for text in ("A draft.", "It is long.", "A better one.", "It is good.")
    ]
    assert said == [("user", VALVE), *answers]


def test_a_user_of_another_name_is_known_where_several_speak(memories: Memories) -> None:
    told = [
        TextMessage(content=VALVE, source="ana"),
        TextMessage(content="I doubt it.", source="critic"),
    ]
    memory = LongTermMemory(memories, "ana", user="ana")
    run(bot(memory, Watched()), told)
    assert texts(memory) == [VALVE, "Noted."]


def test_what_a_human_says_in_a_team_is_recalled_for_and_remembered_as_the_users(
    memory: LongTermMemory,
) -> None:
    memory.memories.remember("ana", VALVE)
    client, replies = Watched("A1", "A2", "A3"), iter([ASKED, "It leaks."])
    human = UserProxyAgent("user_proxy", input_func=lambda _: next(replies))
    run(RoundRobinGroupChat([bot(memory, client), human], max_turns=5), "Help me.")
    said = [(item.speaker, item.text) for item in memory.memories.of("ana").evidence()][1:]
    assert said[::2] == [("user", text) for text in ("Help me.", ASKED, "It leaks.")]
    assert said[1::2] == [("assistant", text) for text in ("A1", "A2", "A3")]
    assert any(
        DECLARED in str(message.content) and VALVE in str(message.content)
        for message in client.seen[1]
    )
    contexts = memory.memories.of("ana").contexts()
    assert [(context.query, context.answer) for context in contexts] == [
        ("Help me.", "A1"),
        (ASKED, "A2"),
        ("It leaks. [about: a2 valve boiler]", "A3"),
    ]


@pytest.mark.parametrize("user", ["boss", ["boss"], ("user", "boss")])
def test_the_user_may_have_one_name_or_several(memories: Memories, user: Any) -> None:
    told = [
        TextMessage(content=VALVE, source="boss"),
        TextMessage(content="I doubt it.", source="critic"),
    ]
    memory = LongTermMemory(memories, "ana", user=user)
    run(bot(memory, Watched()), told)
    assert texts(memory) == [VALVE, "Noted."]


@pytest.mark.parametrize(
    "made", [UnboundedChatCompletionContext, lambda: HeadAndTailChatCompletionContext(1, 1)]
)
def test_a_user_who_is_alone_with_an_agent_may_have_any_name(
    memory: LongTermMemory, made: Any
) -> None:
    agent = bot(memory, Watched(), model_context=made())
    run(agent, *(TextMessage(content=text, source="anna") for text in (VALVE, "It leaks.", ASKED)))
    assert texts(memory) == [VALVE, "Noted.", "It leaks.", "Noted.", ASKED, "Noted."]


def test_the_same_words_later_in_a_conversation_are_remembered_again(
    memory: LongTermMemory,
) -> None:
    run(bot(memory, Watched()), "Yes.", "Yes.")
    assert texts(memory) == ["Yes.", "Noted."] * 2


@pytest.mark.parametrize("also", [[], ["The house is old."]], ids=["alone", "with another memory"])
def test_what_was_changed_and_changed_back_is_remembered_by_agents_made_anew(
    memory: LongTermMemory, also: list[str]
) -> None:
    listed = ListMemory(
        memory_contents=[MemoryContent(content=text, mime_type="text/plain") for text in also]
    )
    for said in ("I live in Rome.", "I live in Oslo.", "I live in Rome.", "I live in Rome."):
        run(
            bot(memory, Watched(), memory=[listed]), said
        )  # the last one is the turn before it, carried out again
    assert texts(memory)[::2] == ["I live in Rome.", "I live in Oslo.", "I live in Rome."]


def test_what_was_changed_and_changed_back_is_remembered_by_an_agent_that_keeps_one_message(
    memory: LongTermMemory,
) -> None:
    said = ["I live in Rome.", "I live in Oslo.", "I live in Rome."]
    run(bot(memory, Watched(), model_context=BufferedChatCompletionContext(1)), *said)
    assert texts(memory)[::2] == said


def test_a_team_remembers_its_question_once_though_the_user_speaks_elsewhere_meanwhile(
    memory: LongTermMemory,
) -> None:
    async def elsewhere() -> str:
        await bot(memory, Watched("Hello.")).run(task="Good morning.")
        return "looked"

    memory.memories.remember("ana", "I am Ana.", speaker="user")
    writer = bot(memory, Watched(calls("elsewhere"), "A draft."), tools=[elsewhere])
    critic = AssistantAgent(
        "critic", model_client=memory.wrap(Watched("It is long.", "It is good."))
    )
    run(RoundRobinGroupChat([writer, critic], max_turns=3), VALVE)
    assert texts(memory).count(VALVE) == 1


def test_a_turn_with_a_pasted_block_is_remembered_once_in_a_team(memory: LongTermMemory) -> None:
    memory.memories.remember("ana", VALVE)
    pasted = f"You said\n{block(memory.memories.recall('ana', ASKED))}\nbut it leaks."
    agents = [
        AssistantAgent(name, model_client=memory.wrap(Watched(f"{name}.", f"{name} again.")))
        for name in ("writer", "critic")
    ]
    run(RoundRobinGroupChat(agents, max_turns=4), pasted)
    assert sum("leaks" in text for text in texts(memory)) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("namespace", 7),
        ("namespace", " "),
        ("session", 7),
        ("inject", "System"),
        ("user", 7),
        ("user", ["user", 7]),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(
    memories: Memories, field: str, value: Any
) -> None:
    with pytest.raises(InvalidInput) as refused:
        LongTermMemory(memories, **{field: value})
    assert refused.value.field == field


def test_the_session_is_kept_with_what_was_said(memories: Memories) -> None:
    run(bot(LongTermMemory(memories, "ana", session="monday"), Watched()), VALVE)
    assert {item.session for item in memories.of("ana").evidence()} == {"monday"}


def test_pictures_in_a_question_are_left_out_of_the_text(memory: LongTermMemory) -> None:
    shown = MultiModalMessage(
        content=[VALVE, Image(picture("RGB", (1, 1))), "Here it is."], source="user"
    )
    run(bot(memory, Watched()), shown)
    assert texts(memory) == [f"{VALVE}\nHere it is.", "Noted."]


def test_feedback_is_of_the_last_answer(memory: LongTermMemory) -> None:
    memory.memories.remember("ana", VALVE)
    client = memory.wrap(Watched("It is of brass.", answer("It", "length")))
    agent = AssistantAgent("bot", model_client=client)
    run(agent, ASKED)
    assert asyncio.run(client.feedback(thumbs=False)).reward == 0.0
    assert [read[0] for read in memory.memories.of("ana").contexts()[-1].read] == ["e1"]
    run(agent, "And then?")
    with pytest.raises(InvalidInput, match="answer was remembered"):
        asyncio.run(client.feedback(thumbs=True))


def test_everything_else_is_the_clients(memory: LongTermMemory) -> None:
    inner = Watched("One two.")
    client = memory.wrap(inner)
    run(AssistantAgent("bot", model_client=client), "Say it.")
    question = [UserMessage(content="Say it.", source="user")]
    assert client.total_usage() == inner.total_usage() == client.actual_usage()
    assert client.count_tokens(question) == inner.count_tokens(question)
    assert client.remaining_tokens(question) == inner.remaining_tokens(question)
    assert client.model_info == ABLE
    asyncio.run(client.close())
    assert inner.closed == 1


@pytest.mark.parametrize("stream", [False, True])
def test_the_tools_of_an_agent_are_offered_to_the_model(
    memory: LongTermMemory, stream: bool
) -> None:
    client = Watched()
    run(bot(memory, client, tools=[look], model_client_stream=stream), ASKED)
    assert client.offered == [["look"]]


def test_an_agent_goes_through_its_component_form(tmp_path: Path) -> None:
    memory = LongTermMemory.open(
        f"sqlite:///{tmp_path}/bot.db", "ana", slots=3, user=["user", "boss"]
    )
    client = ReplayChatCompletionClient(["Noted.", "Of brass."], ABLE)
    dumped = bot(memory, client, memory=[memory]).dump_component().model_dump_json()
    again = AssistantAgent.load_component(json.loads(dumped))
    assert LongTermMemory.load_component(memory.dump_component()).user == ("user", "boss")
    run(again, VALVE, ASKED)
    assert texts(memory) == [VALVE, "Noted.", ASKED, "Of brass."]
    asyncio.run(memory.close())


def test_shared_memories_are_not_dumped(memory: LongTermMemory) -> None:
    with pytest.raises(InvalidInput, match=r"LongTermMemory\.open"):
        memory.dump_component()


def test_memories_made_with_an_object_are_not_dumped() -> None:
    with pytest.raises(InvalidInput, match="plain values"):
        LongTermMemory.open(encoder=BagEncoder()).dump_component()


def test_what_an_application_adds_is_found_with_what_is_known_of_it(memory: LongTermMemory) -> None:
    about = {"speaker": "ana", "source_id": "m1", "colour": "red"}
    asyncio.run(memory.add(MemoryContent(content=VALVE, mime_type="text/plain", metadata=about)))
    (result,) = asyncio.run(
        memory.query(MemoryContent(content=ASKED, mime_type="text/plain"))
    ).results
    assert result.content == VALVE
    assert about.items() <= (result.metadata or {}).items()


def test_the_same_added_at_each_start_is_there_once_and_again_after_it_was_cleared(
    memory: LongTermMemory,
) -> None:
    content = MemoryContent(content={"valve": "brass"}, mime_type="application/json")
    for _ in range(2):
        asyncio.run(memory.add(content))
    assert texts(memory) == ['{"valve": "brass"}']
    asyncio.run(memory.clear())
    assert (texts(memory), found(memory)) == ([], [])
    asyncio.run(memory.add(content))
    assert texts(memory) == ['{"valve": "brass"}']


def test_clearing_takes_what_is_of_any_date_or_none_and_leaves_others() -> None:
    store = MemoryStore()
    with SlotMemory.open(store, memory_id="ana", encoder=BagEncoder()) as undated:
        undated.ingest(VALVE)
        undated.ingest("It leaks.", at="2999-01-01T00:00:00+00:00")
    memories = Memories(store, encoder=BagEncoder())
    memories.remember("ben", VALVE)
    for name in ("ana", "nobody"):
        asyncio.run(LongTermMemory(memories, name).clear())
    assert (texts_of(memories, "ana"), texts_of(memories, "ben")) == ([], [VALVE])
    assert memories.known("nobody") is None


def test_pictures_and_bytes_are_not_added(memory: LongTermMemory) -> None:
    with pytest.raises(InvalidInput, match="text or JSON"):
        asyncio.run(
            memory.add(MemoryContent(content=b"\x00", mime_type="application/octet-stream"))
        )


@given(st.lists(st.text(max_size=80), max_size=12), st.integers(20, 200))
def test_what_a_query_finds_is_within_its_limit(told: list[str], limit: int) -> None:
    memory = LongTermMemory(Memories(encoder=BagEncoder()))
    for n, text in enumerate(told):
        memory.memories.remember("default", f"valve {n} {text}")
    results = asyncio.run(memory.query("valve", limit=limit)).results
    assert sum(len(str(item.content)) for item in results) <= limit


def test_a_memory_of_its_own_is_closed_and_a_shared_one_is_not(tmp_path: Path) -> None:
    own = LongTermMemory.open(f"sqlite:///{tmp_path}/bot.db", "ana")
    shared = LongTermMemory(own.memories, "ben")
    asyncio.run(shared.close())
    shared.memories.remember("ben", VALVE)
    asyncio.run(own.close())
    with pytest.raises(StoreError, match="closed"):
        own.memories.remember("ana", VALVE)


def test_turns_whose_tool_results_never_come_do_not_pile_up(
    memory: LongTermMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_adapters.contrib.autogen.client._MOST_WAITING", 2)
    client = memory.wrap(Watched(*(calls("look", f"t{n}") for n in range(4))))
    run(
        AssistantAgent("bot", model_client=client, tools=[look]), *(f"Look, {n}." for n in range(4))
    )
    assert [*client._waiting] == ["t2", "t3"]


def test_who_asks_may_be_the_name_on_a_message(memories: Memories) -> None:
    memory = LongTermMemory(memories, "home", user=("ana", "ben"), asker=lambda source: source)
    for name in ("ana", "ben"):
        run(bot(memory, Watched()), TextMessage(content=f"I am {name}.", source=name))
    assert [item.speaker for item in memories.of("home").evidence()][::2] == ["ana", "ben"]
    assert [context.asker for context in memories.of("home").contexts()] == ["ana", "ben"]


def test_who_asks_is_dumped_and_loaded_unless_it_is_a_function() -> None:
    memory = LongTermMemory.open(asker="ana", conditions=["rain"])
    again = LongTermMemory.load_component(memory.dump_component())
    assert again.situation == memory.situation
    with pytest.raises(InvalidInput, match="memory"):
        LongTermMemory.open(asker=lambda _: "ana").dump_component()


def test_a_filter_is_dumped_and_loaded_where_it_is_a_plain_mapping() -> None:
    memory = LongTermMemory.open(where={"speaker": ["ana"], "since": "2024"})
    again = LongTermMemory.load_component(memory.dump_component())
    assert again.situation == memory.situation
    for where in (Where(speaker="ana"), lambda _: None):
        with pytest.raises(InvalidInput, match="memory"):
            LongTermMemory.open(where=where).dump_component()
