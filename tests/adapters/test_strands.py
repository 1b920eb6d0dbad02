"""The Strands adapter keeps the contract of all adapters, in the framework's agent with a fake
model and a real one.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending, blocks_among, texts

pytest.importorskip("strands", reason="the strands adapter: pip install 'demem-agent[strands]'")

from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from pydantic import BaseModel
from strands import Agent, ToolContext, tool
from strands.hooks import BeforeInvocationEvent, BeforeModelCallEvent, BeforeToolCallEvent
from strands.memory import MemoryManager
from strands.models import Model
from strands.models.openai import OpenAIModel
from strands.multiagent import GraphBuilder
from strands.session import FileSessionManager
from strands.types.agent import ConcurrentInvocationMode
from strands.types.exceptions import EventLoopException, MaxTokensReachedException

from demem_adapters.common import DECLARED, Memories
from demem_adapters.strands import LongTermMemory, SlotStore
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder, Provider


class Fake(Model):
    """A model that notes the texts it is sent, and gives what it is made to: a text, or the call of
    a tool.
    """

    def __init__(
        self, *replies: str | dict[str, Any] | Exception, reason: str | None = "end_turn"
    ) -> None:
        self.replies, self.reason = list(replies), reason
        self.seen: list[list[str]] = []

    def update_config(self, **model_config: Any) -> None: ...

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any
    ) -> Any:
        blocks = chain.from_iterable(message["content"] for message in messages)
        self.seen.append([str(block.get("text", block)) for block in blocks])
        reply = self.replies.pop(0) if self.replies else "Noted."
        if isinstance(reply, Exception):
            raise reply
        yield {"messageStart": {"role": "assistant"}}
        async for chunk in _chunks(reply):
            yield chunk
        if self.reason:
            yield {
                "messageStop": {"stopReason": self.reason if isinstance(reply, str) else "tool_use"}
            }


async def _chunks(reply: str | dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    if isinstance(reply, str):
        yield {"contentBlockStart": {"start": {}}}
        for piece in (reply[:2], reply[2:]):
            yield {"contentBlockDelta": {"delta": {"text": piece}}}
            await asyncio.sleep(0)
    else:
        (name,) = reply
        yield {
            "contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": f"t-{name}"}}}
        }
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": reply[name]}}}}
    yield {"contentBlockStop": {}}


@tool
def weigh(thing: str) -> str:
    """Weigh a thing.

    Args:
        thing: what to weigh.
    """
    return f"The {thing} weighs two kilos."


WEIGH = {"weigh": '{"thing": "valve"}'}


def agent(model: Model, memories: Memories, namespace: str = "ana", /, **about: Any) -> Agent:
    known = ("session", "stores", "injection", "add_tool_config", "asker", "conditions", "where")
    ours = {name: about.pop(name) for name in known if name in about}
    memory = LongTermMemory(memories, namespace, **ours)
    return Agent(model=model, memory_manager=memory, callback_handler=None, **about)


class Strands(Driver):
    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        fake = Fake(ConnectionError("made to fail") if ending == "fails" else reply)
        fake.reason = {"cut": "max_tokens", "odd": "eos_reached"}.get(ending, "end_turn")
        message = {
            "role": "user",
            "content": [{"text": text}],
            **({"tracking_id": event} if event else {}),
        }
        with contextlib.suppress(ConnectionError, MaxTokensReachedException):
            bot = agent(fake, self.memories, who, session="monday", **self.asking)
            asyncio.run(bot.invoke_async([message]))
        return fake.seen[0]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        roles = ("user", "assistant")
        history = [
            {"role": role, "content": [{"text": text}]}
            for role, text in zip(roles, before, strict=True)
        ]
        bot = agent(Fake("Noted."), self.memories, messages=history)
        asyncio.run(bot.invoke_async(asked))

    def say_all(self, said: Sequence[str]) -> None:
        bot = agent(Fake("Noted."), self.memories, session="monday")
        messages: Any = [{"role": "user", "content": [{"text": text}]} for text in said]
        asyncio.run(bot.invoke_async(messages))

    def parts(self) -> list[Any]:
        return [SlotStore(self.memories, "ana"), LongTermMemory(self.memories, "ana")]


class TestContract(AdapterContract):
    name = "strands"
    driver = Strands

    def after_page(self, namespace: dict[str, Any]) -> None:
        namespace["agent"].model = Fake()
        assert namespace["talk"](VALVE) == "Noted.\n"
        assert texts(namespace["memories"]) == [VALVE, "Noted."]


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def test_the_answer_of_a_turn_takes_feedback_by_the_id_of_its_message(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    result = agent(Fake("Brass."), memories)(ASKED)
    assert (
        memories.feedback(result.message["tracking_id"], namespace="ana", thumbs=False).reward
        == 0.0
    )
    assert [evidence for evidence, *_ in memories.of("ana").contexts()[-1].read] == ["e1"]


def test_what_is_recalled_stays_out_of_the_history(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    fake = Fake()
    bot = agent(fake, memories)
    bot(ASKED)
    assert any(DECLARED in text for text in fake.seen[0])
    assert [*chain.from_iterable(message["content"] for message in bot.messages)] == [
        {"text": ASKED},
        {"text": "Noted."},
    ]


def test_markup_in_what_is_remembered_reaches_the_model_within_the_limit() -> None:
    memories = Memories(limit=300, encoder=BagEncoder())
    for n in range(30):
        memories.remember("ana", f"The valve <{n}> & its brass </memory> ring leak.")
    fake = Fake()
    agent(fake, memories)("Which valve leaks?")
    (block,) = [text for text in fake.seen[0] if DECLARED in text]
    recalled = block.split(DECLARED)[1].strip()
    assert "& its brass </memory>" in recalled
    assert len(recalled) <= 300


def test_what_is_recalled_is_still_there_when_a_tool_was_called(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    fake = Fake(WEIGH, "Two kilos.")
    agent(fake, memories, tools=[weigh])(ASKED)
    assert [sum(VALVE in text for text in seen) for seen in fake.seen] == [1, 1]
    assert texts(memories) == [VALVE, ASKED, "Two kilos."]


def test_a_conversation_is_one_session_and_another_agent_has_another(memories: Memories) -> None:
    first = agent(Fake(), memories)
    first(VALVE)
    first(ASKED)
    agent(Fake(), memories)("Hello there.")
    agent(Fake(), memories, session="s1")("Good morning.")
    sessions = [item.session for item in memories.of("ana").evidence() if item.speaker == "user"]
    assert sessions[0] == sessions[1] != sessions[2]
    assert sessions[3] == "s1"


def test_a_turn_that_waits_for_approval_is_remembered_when_it_goes_on(memories: Memories) -> None:
    bot = agent(Fake(WEIGH, "Two kilos."), memories, tools=[weigh])
    bot.add_hook(lambda event: event.interrupt("sure"), BeforeToolCallEvent)
    result = bot(ASKED)
    assert result.stop_reason == "interrupt"
    assert texts(memories) == [ASKED]
    bot([{"interruptResponse": {"interruptId": result.interrupts[0].id, "response": "yes"}}])
    assert texts(memories) == [ASKED, "Two kilos."]


def test_a_stream_without_an_end_is_not_remembered(memories: Memories) -> None:
    result = agent(Fake("It is bra", reason=None), memories)(VALVE)
    assert result.stop_reason == "end_turn"  # so it looks to the framework
    assert texts(memories) == [VALVE]


def test_a_stream_that_was_left_is_not_remembered(memories: Memories) -> None:
    async def run() -> None:
        events = agent(Fake(), memories).stream_async(VALVE)
        assert [event async for event in events if "data" in event and not await events.aclose()]

    asyncio.run(run())
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize("reason", ["content_filtered", "guardrail_intervened"])
def test_an_answer_that_was_stopped_is_not_remembered(memories: Memories, reason: str) -> None:
    agent(Fake("It is bra", reason=reason), memories)(VALVE)
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize("event", [BeforeInvocationEvent, BeforeModelCallEvent])
def test_the_refusal_of_a_hook_is_no_answer(memories: Memories, event: Any) -> None:
    bot = agent(Fake(WEIGH), memories, tools=[weigh])
    calls = []

    def refuse(told: Any) -> None:
        calls.append(told)
        told.cancel = event is BeforeInvocationEvent or len(calls) > 1

    bot.add_hook(refuse, event)
    bot(VALVE)
    # It is remembered as the model is called.
    assert texts(memories) == [VALVE] * (event is BeforeModelCallEvent)


def test_a_cancelled_turn_is_not_remembered(memories: Memories) -> None:
    bot = agent(Fake(), memories)
    bot.add_hook(lambda _: bot.cancel(), BeforeModelCallEvent)
    assert bot(VALVE).stop_reason == "cancelled"
    assert texts(memories) == [VALVE]


class Valve(BaseModel):
    metal: str


@pytest.mark.parametrize(
    "replies",
    [[{"Valve": '{"metal": "brass"}'}], ["It is brass.", {"Valve": '{"metal": "brass"}'}]],
)
def test_a_structured_output_is_remembered_as_json(memories: Memories, replies: list[Any]) -> None:
    result = agent(Fake(*replies), memories)(ASKED, structured_output_model=Valve)
    assert result.structured_output == Valve(metal="brass")
    assert texts(memories) == [ASKED, '{"metal":"brass"}']


def test_the_model_finds_and_adds_by_tools(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    search = {"search_memory": '{"query": "valve of the boiler"}'}
    add = {"add_memory": '{"entries": ["The boiler is old."]}'}
    fake = Fake(search, add, add, "Done.")
    agent(fake, memories, injection=False, add_tool_config=True)("Look it up.")
    assert VALVE not in str(fake.seen[0])
    assert VALVE in str(fake.seen[1])
    assert texts(memories) == [VALVE, "Look it up.", "The boiler is old.", "Done."]


def test_further_stores_are_searched_as_well(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    memories.remember("team", "The boiler room is locked.")
    fake = Fake()
    agent(fake, memories, stores=[SlotStore(memories, "team", name="team")])("Where is the boiler?")
    (block,) = [text for text in fake.seen[0] if DECLARED in text]
    assert VALVE in block
    assert "The boiler room is locked." in block


def test_what_was_recalled_stays_the_same_while_tools_answer_the_model(
    memories: Memories,
) -> None:
    @tool
    def note() -> str:
        """Note something that bears on the question."""
        memories.remember("ana", "The valve of my boiler leaks.")
        return "noted"

    memories.remember("ana", VALVE)
    fake = Fake({"note": "{}"}, "Noted.", ConnectionError("made to fail"), "Noted.")
    bot = agent(fake, memories, tools=[note])
    bot(ASKED)
    (first,), (second,) = (blocks_among(shown) for shown in fake.seen)
    assert first.strip() == second.strip()
    for _ in range(2):  # also after a turn that failed
        with contextlib.suppress(ConnectionError):
            bot(ASKED)
        assert "leaks" in str(blocks_among(fake.seen[-1]))


def test_a_store_alone_works_in_the_managers_own_format(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    fake = Fake()
    manager = MemoryManager(stores=[SlotStore(memories, "ana")])
    Agent(model=fake, memory_manager=manager, callback_handler=None)(ASKED)
    assert fake.seen[0][-1].strip().startswith('<memory>\n<entry source="memory">')
    assert VALVE in fake.seen[0][-1]


def test_a_copy_searches_its_own_memory(memories: Memories) -> None:
    memory = copy.deepcopy(LongTermMemory(memories, "ana"))
    memory.memories.remember("ana", VALVE)
    assert VALVE in str(asyncio.run(memory.search(ASKED)))
    assert asyncio.run(LongTermMemory(memories, "ana").search(ASKED)) == []


def test_a_restored_conversation_is_not_remembered_again(
    memories: Memories, tmp_path: Path
) -> None:
    for said in (VALVE, ASKED):
        kept = FileSessionManager(session_id="s1", storage_dir=str(tmp_path))
        agent(Fake(), memories, session_manager=kept)(said)
    assert texts(memories) == [VALVE, "Noted.", ASKED, "Noted."]


class Citing(Fake):
    async def stream(self, *given: Any, **about: Any) -> Any:
        async for chunk in super().stream(*given, **about):
            yield chunk
            if "contentBlockStart" in chunk:
                yield {"contentBlockDelta": {"delta": {"citation": {"title": "Manual"}}}}


def test_the_words_of_an_answer_with_citations_are_remembered(memories: Memories) -> None:
    result = agent(Citing("Two kilos."), memories)(ASKED)
    assert [*result.message["content"][0]] == ["citationsContent"]
    assert texts(memories) == [ASKED, "Two kilos."]


@pytest.mark.parametrize(
    ("model", "kept"), [("fine", 2), ("fault-no-finish", 1), ("fault-length", 1)]
)
def test_what_a_real_model_sends_is_remembered_if_it_ends(
    memories: Memories, model: str, kept: int
) -> None:
    with (
        Provider(lambda messages: "Noted.") as provider,
        contextlib.suppress(MaxTokensReachedException),
    ):
        openai = OpenAIModel(
            client_args={"base_url": provider.url, "api_key": "unused"}, model_id=model
        )
        agent(openai, memories)(VALVE)
    assert len(texts(memories)) == kept


@settings(max_examples=often(12), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["whole", "cut", "fails"]), st.booleans()), max_size=5))
def test_only_answers_that_ended_well_are_remembered_and_all_in_order(
    turns: list[tuple[str, bool]],
) -> None:
    memories = Memories(encoder=BagEncoder())
    expected = []
    for n, (ending, by_tool) in enumerate(turns):
        last: Any = ConnectionError("made to fail") if ending == "fails" else f"Answer {n}."
        fake = Fake(
            *([WEIGH] if by_tool else []),
            last,
            reason="max_tokens" if ending == "cut" else "end_turn",
        )
        with contextlib.suppress(ConnectionError, EventLoopException, MaxTokensReachedException):
            agent(fake, memories, tools=[weigh])(f"Question {n}?")
        expected += [f"Question {n}?", f"Answer {n}."][: 2 if ending == "whole" else 1]
    assert texts(memories) == expected


# Several agents, and one dict of the caller's


class Slow(Fake):
    """A model that waits before it answers, so that calls at the same time overlap."""

    def __init__(self, wait: float, *replies: Any) -> None:
        super().__init__(*replies)
        self.wait = wait

    async def stream(self, *given: Any, **about: Any) -> Any:
        await asyncio.sleep(self.wait)
        async for chunk in super().stream(*given, **about):
            yield chunk


@pytest.mark.parametrize("waits", [(0.02, 0.04), (0.04, 0.02)])
def test_agents_called_at_once_with_one_state_keep_to_their_own(
    memories: Memories, waits: tuple[float, float]
) -> None:
    state: dict[str, Any] = {"db": "conn"}
    ana = agent(Slow(waits[0], "Hello Ana."), memories, "ana")
    ben = agent(Slow(waits[1], "Hello Ben."), memories, "ben")

    async def together() -> None:
        calls = [(ana, "I am Ana."), (ben, "I am Ben.")]
        await asyncio.gather(
            *(bot.invoke_async(said, invocation_state=state) for bot, said in calls)
        )

    asyncio.run(together())
    assert texts(memories, "ana") == ["I am Ana.", "Hello Ana."]
    assert texts(memories, "ben") == ["I am Ben.", "Hello Ben."]
    assert not [name for name in state if name.startswith("demem")]


@pytest.mark.parametrize("first", [0, 1])
def test_streams_of_two_agents_read_in_turn_with_one_state_keep_to_their_own(
    memories: Memories, first: int
) -> None:
    state: dict[str, Any] = {}
    names = ("ana", "ben")

    async def read() -> None:
        left = [
            agent(Fake(f"Hi {name}."), memories, name).stream_async(
                f"I am {name}.", invocation_state=state
            )
            for name in (names[first], names[1 - first])
        ]
        while left:
            left = [stream for stream in left if await anext(stream, None) is not None]

    asyncio.run(read())
    assert [texts(memories, name) for name in names] == [
        [f"I am {name}.", f"Hi {name}."] for name in names
    ]


def graph(*agents: Agent, edges: Sequence[tuple[str, str]] = ()) -> Any:
    built = GraphBuilder()
    for n, bot in enumerate(agents):
        built.add_node(bot, f"n{n}")
    for edge in edges:
        built.add_edge(*edge)
    for start in {f"n{n}" for n in range(len(agents))} - {end for _, end in edges}:
        built.set_entry_point(start)
    built.set_max_node_executions(9)
    return built.build()


def test_the_agents_of_a_graph_that_begin_together_each_remember_the_turn(
    memories: Memories,
) -> None:
    names = ("ana", "ben", "eve")
    bots = [agent(Slow(0.01 * n, f"Answer {n}."), memories, name) for n, name in enumerate(names)]
    graph(*bots)(VALVE)
    assert [texts(memories, name) for name in names] == [[VALVE, f"Answer {n}."] for n in range(3)]


def test_later_agents_of_a_graph_may_recall_by_a_store_and_remember_nothing(
    memories: Memories,
) -> None:
    memories.remember("ana", VALVE)
    later = Fake()
    manager = MemoryManager(stores=[SlotStore(memories, "ana")])
    graph(
        agent(Fake("Brass."), memories),
        Agent(model=later, memory_manager=manager, callback_handler=None),
        edges=[("n0", "n1")],
    )(ASKED)
    assert any(VALVE in text for text in later.seen[0])
    assert texts(memories) == [VALVE, ASKED, "Brass."]


@tool(context=True)
async def ask(tool_context: ToolContext) -> str:
    """Ask another agent."""
    state = tool_context.invocation_state
    return str(await state["other"].invoke_async("How heavy is it?", invocation_state=state))


def test_a_tool_may_pass_its_state_on_to_another_agent(memories: Memories) -> None:
    state: dict[str, Any] = {"other": agent(Fake("Two kilos."), memories, "other")}
    agent(Fake({"ask": "{}"}, "Done."), memories, tools=[ask])(VALVE, invocation_state=state)
    assert texts(memories, "ana") == [VALVE, "Done."]
    assert texts(memories, "other") == ["How heavy is it?", "Two kilos."]


REENTRANT = ConcurrentInvocationMode.UNSAFE_REENTRANT


def test_an_agent_may_be_called_inside_its_own_tool(memories: Memories) -> None:
    fake = Fake({"ask": "{}"}, "Two kilos.", "Done.")
    bot = agent(fake, memories, tools=[ask], concurrent_invocation_mode=REENTRANT)
    bot(VALVE, invocation_state={"other": bot})
    assert texts(memories) == [VALVE, "How heavy is it?", "Two kilos.", "Done."]


class Echo(Fake):
    async def stream(self, messages: Any, *given: Any, **about: Any) -> Any:
        said = messages[-1]["content"][0]["text"]
        await asyncio.sleep(0.02 if said == "One." else 0.05)
        async for chunk in Fake(f"You said {said}").stream(messages):
            yield chunk


def test_calls_of_one_agent_at_once_with_one_state_keep_question_and_answer_together(
    memories: Memories,
) -> None:
    bot = agent(Echo(), memories, concurrent_invocation_mode=REENTRANT)
    state: dict[str, Any] = {}

    async def together() -> None:
        first = asyncio.create_task(bot.invoke_async("One.", invocation_state=state))
        await asyncio.sleep(0)
        await asyncio.gather(first, bot.invoke_async("Two.", invocation_state=state))

    asyncio.run(together())
    contexts = memories.of("ana").contexts()
    assert {(context.query.partition(" [")[0], context.answer) for context in contexts} == {
        ("One.", "You said One."),
        ("Two.", "You said Two."),
    }


@pytest.mark.parametrize("made", [SlotStore, LongTermMemory])
@pytest.mark.parametrize("namespace", [7, b"ana", " "])
def test_a_namespace_that_is_no_text_is_refused_at_once(
    memories: Memories, made: Any, namespace: Any
) -> None:
    with pytest.raises(InvalidInput) as refused:
        made(memories, namespace)
    assert refused.value.field == "namespace"
