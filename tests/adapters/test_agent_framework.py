"""The agent_framework adapter keeps the contract of all adapters, in the framework's agent with a
fake chat client.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending, blocks_among, texts

pytest.importorskip(
    "agent_framework",
    reason="the agent_framework adapter: pip install 'demem-agent[agent-framework]'",
)

from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    InMemoryHistoryProvider,
    Message,
    tool,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_adapters.agent_framework import MemoryProvider
from demem_adapters.common import DECLARED, Memories, block
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder


def blocks_of(seen: Iterable[Message]) -> list[str]:
    return blocks_among(message.text for message in seen)


class Reply(NamedTuple):
    """What the model sends: texts and calls of tools, and why it ended."""

    sent: Sequence[str | Content] = ("Noted.",)
    reason: str | None = "stop"
    id: str | None = "r1"


def call(name: str = "weigh", reason: str = "tool_calls") -> Reply:
    """Return the reply of a model that calls a tool."""
    arguments = '{"thing": "valve"}'
    return Reply([Content.from_function_call(call_id="c1", name=name, arguments=arguments)], reason)


class Fake(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A chat client that notes what it is sent and gives what it is made to."""

    def __init__(self, *replies: Reply | Exception) -> None:
        super().__init__()
        self.replies = list(replies)
        self.seen: list[list[Message]] = []
        self.instructions: list[str] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        self.seen.append([*messages])
        self.instructions.append(str(options.get("instructions") or ""))
        reply = self.replies.pop(0) if self.replies else Reply()
        return self._build_response_stream(self._pieces(reply)) if stream else self._whole(reply)

    async def _whole(self, reply: Reply | Exception) -> ChatResponse[Any]:
        if isinstance(reply, Exception):
            raise reply
        message = Message("assistant", [*reply.sent])
        return ChatResponse(messages=[message], response_id=reply.id, finish_reason=reply.reason)  # type: ignore[arg-type]

    async def _pieces(self, reply: Reply | Exception) -> AsyncIterator[ChatResponseUpdate]:
        if isinstance(reply, Exception):
            raise reply
        for sent in reply.sent:
            content = Content.from_text(sent) if isinstance(sent, str) else sent
            yield ChatResponseUpdate(contents=[content], role="assistant", response_id=reply.id)
            await asyncio.sleep(0)
        if reply.reason:
            yield ChatResponseUpdate(
                role="assistant", response_id=reply.id, finish_reason=reply.reason
            )  # type: ignore[arg-type]


@tool(approval_mode="never_require")
def weigh(thing: str) -> str:
    """Weigh a thing."""
    return f"The {thing} weighs two kilos."


@tool(approval_mode="always_require")
def sell(thing: str) -> str:
    """Sell a thing."""
    return f"The {thing} is sold."


#: A tool that the caller carries out, not the agent.
PICK = FunctionTool(
    name="pick", description="Pick a thing.", func=None, input_model=weigh.parameters()
)


class Bot:
    """An agent with memory, whose sessions are written down as JSON after each run and read before
    the next.
    """

    def __init__(self, memories: Memories, *replies: Reply | Exception, **about: Any) -> None:
        self.client = Fake(*replies)
        self.providers: list[Any] = [
            InMemoryHistoryProvider(),
            MemoryProvider(memories, **about.pop("memory", {})),
        ]
        self.agent = Agent(
            self.client,
            "Be brief.",
            context_providers=self.providers,
            tools=[weigh, sell, PICK],
            **about,
        )
        self.kept: dict[str, str] = {}

    def run(self, said: Any, *, session: str = "ana", stream: bool = False) -> Any:
        return asyncio.run(self.arun(said, session=session, stream=stream))

    async def arun(self, said: Any, *, session: str = "ana", stream: bool = False) -> Any:
        before = self.session(session)
        run: Any = self.agent.run  # its overloads know no stream that is not known beforehand
        running = run(said, session=before, stream=stream)
        response = await (running.get_final_response() if stream else running)
        self.kept[session] = json.dumps(before.to_dict(), allow_nan=False)
        return response

    def session(self, name: str = "ana") -> AgentSession:
        kept = self.kept.get(name)
        return (
            AgentSession.from_dict(json.loads(kept))
            if kept
            else self.agent.create_session(session_id=name)
        )

    @property
    def shown(self) -> list[str]:
        return [message.text for message in self.client.seen[-1]]


class AgentDriver(Driver):
    """The framework's agent; a user has a session of their own."""

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self.bot = Bot(memories, memory=asking)

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        reason = {"cut": "length", "odd": "eos_reached"}.get(ending, "stop")
        self.bot.client.replies = [Reply([reply], reason)]
        if ending == "fails":
            self.bot.client.replies = [ConnectionError("reset")]
        with contextlib.suppress(ConnectionError):
            self.bot.run(Message("user", [text], message_id=event or None), session=who)
        return [self.bot.client.instructions[-1], *self.bot.shown]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        self.say(asks, reply=answers)
        self.say(asked)

    def say_all(self, said: Sequence[str]) -> None:
        self.bot.client.replies = [Reply(["Noted."])]
        self.bot.run([Message("user", [text]) for text in said], session="ana")

    def parts(self) -> list[Any]:
        return [self.bot.providers[-1]]


class TestContract(AdapterContract):
    name = "agent_framework"
    driver = AgentDriver

    def after_page(self, namespace: dict[str, Any]) -> None:
        assert texts(namespace["memories"]) == [VALVE, "Noted.", ASKED, "Noted."]


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


# What reaches the model


def test_what_is_recalled_stands_before_the_question_and_stays_out_of_the_history(
    memories: Memories,
) -> None:
    bot = Bot(memories, Reply(), Reply(["A brass one."]))
    for said in (VALVE, ASKED):
        bot.run(said)
    assert bot.shown[:2] == [VALVE, "Noted."]
    assert bot.shown[2].startswith(DECLARED)
    assert bot.shown[3] == ASKED
    history = bot.session().state["in_memory"]["messages"]
    assert [message.text for message in history] == [VALVE, "Noted.", ASKED, "A brass one."]


def test_it_is_among_the_instructions_where_it_is_to_go_to_the_system(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    bot = Bot(memories, memory={"inject": "system"})
    bot.run(ASKED)
    assert bot.client.instructions[-1].startswith(f"Be brief.\n{DECLARED}")
    assert VALVE in bot.client.instructions[-1]
    assert not any("brass" in text for text in bot.shown)


def test_it_is_there_in_each_call_of_a_run_with_tools(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    bot = Bot(memories, call(), Reply())
    bot.run("How heavy is the valve?")
    first, second = map(blocks_of, bot.client.seen)
    assert len(first) == 1
    assert first == second


def test_it_is_marked_with_the_other_sessions_that_it_is_from(memories: Memories) -> None:
    bot = Bot(memories, memory={"namespace": "ana"})
    for session in ("monday", "tuesday", "tuesday"):
        bot.run(ASKED, session=session)
    (block,) = [message for message in bot.client.seen[-1] if DECLARED in message.text]
    assert block.additional_properties["_attribution"] == {
        "source_id": "demem",
        "source_type": "MemoryProvider",
        "origin_session_ids": ["monday"],
    }


def test_a_namespace_may_come_from_the_state_of_the_session(memories: Memories) -> None:
    bot = Bot(memories, memory={"namespace": lambda session: session.state["user"]})
    for user, session in (("ana", "monday"), ("ben", "monday's"), ("ana", "tuesday")):
        begun = AgentSession(session_id=session)
        begun.state["user"] = user
        bot.kept[session] = json.dumps(begun.to_dict())
        bot.run(VALVE if session == "monday" else ASKED, session=session)
        assert any(VALVE in text for text in bot.shown) is (user == "ana")
    assert texts(memories, "ben") == [ASKED, "Noted."]


def test_runs_at_the_same_time_keep_to_their_own(memories: Memories) -> None:
    names = [f"user{n}" for n in range(6)]
    for name in names:
        memories.remember(name, f"I am called {name}.")
    bot = Bot(memories, *[Reply(["Hello", "."])] * len(names))

    async def together() -> None:
        await asyncio.gather(
            *(bot.arun("What am I called?", session=name, stream=True) for name in names)
        )

    asyncio.run(together())
    blocks = [*chain.from_iterable(map(blocks_of, bot.client.seen))]
    for name in names:
        assert sum(f"I am called {name}." in block for block in blocks) == 1
        assert _read(memories, name) == [f"I am called {name}."]


def _read(memories: Memories, namespace: str = "ana") -> list[str]:
    """Return what the only answer so far was given from, as the memory has it on record."""
    (context,) = memories.of(namespace).contexts()
    said = {item.id: item.text for item in memories.of(namespace).evidence()}
    return [said[id] for id, _, _ in context.read]


# What is remembered


@settings(max_examples=often(20), deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=4))
def test_a_stream_is_remembered_at_its_end_as_it_was_sent(pieces: list[str]) -> None:
    memories = Memories(encoder=BagEncoder())
    Bot(memories, Reply(pieces)).run(VALVE, stream=True)
    said = "".join(pieces)
    assert texts(memories) == [VALVE, *([said] if said.strip() else [])]


def test_of_a_stream_left_early_the_answer_is_not_remembered(memories: Memories) -> None:
    bot = Bot(memories, Reply(["It is ", "brass."]))

    async def leave() -> str:
        stream = bot.agent.run(VALVE, session=bot.session(), stream=True)
        return (await anext(aiter(stream))).text

    assert asyncio.run(leave()) == "It is "
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("reason", ["length", "content_filter", "refusal", None])
def test_an_answer_without_a_good_end_is_not_remembered(
    memories: Memories, reason: str | None, stream: bool
) -> None:
    Bot(memories, Reply(["It is bra"], reason)).run(VALVE, stream=stream)
    assert texts(memories) == [VALVE]


def test_a_stream_that_breaks_off_after_a_tool_is_not_whole_by_the_reason_of_the_call(
    memories: Memories,
) -> None:
    # There are providers that end a call of a tool with "stop".
    Bot(memories, call(reason="stop"), Reply(["Two ki"], None)).run(
        "How heavy is the valve?", stream=True
    )
    assert texts(memories) == ["How heavy is the valve?"]


def test_answers_of_a_client_that_gives_no_reason_are_remembered_if_it_is_said_so(
    memories: Memories,
) -> None:
    Bot(memories, Reply(reason=None), memory={"whole": ("stop", None)}).run(VALVE)
    assert texts(memories) == [VALVE, "Noted."]


@pytest.mark.parametrize("stream", [False, True])
def test_neither_calls_of_tools_nor_their_results_are_remembered(
    memories: Memories, stream: bool
) -> None:
    weighing = Reply(["Let me weigh it.", *call().sent], "tool_calls")
    Bot(memories, weighing, Reply(["Two kilos."])).run("How heavy is the valve?", stream=stream)
    assert texts(memories) == ["How heavy is the valve?", "Two kilos."]


def test_that_a_client_gives_no_reason_is_said_once_with_what_to_do(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    bot = Bot(memories, *[Reply(reason=None)] * 3)
    for said in (VALVE, ASKED, "Hello."):
        bot.run(said)
    (told,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "whole=('stop', None)" in told
    assert not any(said in told for said in (VALVE, "Noted."))


@pytest.mark.parametrize(
    ("field", "value"),
    [("namespace", 7), ("namespace", ""), ("inject", "System"), ("whole", "stop")],
)
def test_what_cannot_be_meant_is_refused_at_once(
    memories: Memories, field: str, value: Any
) -> None:
    with pytest.raises(InvalidInput) as refused:
        MemoryProvider(memories, **{field: value})
    assert refused.value.field == field


def test_a_function_that_gives_no_text_is_named_in_the_log_and_costs_no_answer(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    assert Bot(memories, memory={"namespace": lambda _: 7.5}).run(VALVE).text == "Noted."
    told = [record.getMessage() for record in caplog.records if record.name == "demem_adapters"]
    assert {*told} == {
        f"{what}: InvalidInput (namespace)"
        for what in ("nothing was recalled", "a turn was not remembered")
    }


def _approved(response: Any) -> Message:
    return Message("user", [response.user_input_requests[0].to_function_approval_response(True)])


def _picked(_: Any) -> Message:
    return Message("tool", [Content.from_function_result(call_id="c1", result="A brass one.")])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reply", "going_on"),
    [(call("sell"), _approved), (call("sell", "stop"), _approved), (call("pick"), _picked)],
)
def test_a_run_that_waits_is_remembered_when_it_has_gone_on_to_its_end(
    memories: Memories, reply: Reply, going_on: Any, stream: bool
) -> None:
    memories.remember("ana", VALVE)
    bot = Bot(memories, reply, Reply(["Done."]))
    response = bot.run("Take the valve.", stream=stream)
    assert texts(memories) == [VALVE, "Take the valve."]
    bot.run(going_on(response), stream=stream)
    assert texts(memories) == [VALVE, "Take the valve.", "Done."]
    assert any(DECLARED in text for text in bot.shown)


def test_what_was_asked_before_a_failure_is_not_taken_for_the_next_question(
    memories: Memories,
) -> None:
    bot = Bot(
        memories, ConnectionError("reset"), Reply(["Half an ans"], "length"), Reply(["A picture."])
    )
    with contextlib.suppress(ConnectionError):
        bot.run(VALVE)
    bot.run(VALVE)
    bot.run(Content.from_uri("data:image/png;base64,AAAA", media_type="image/png"))
    assert texts(memories) == [VALVE, "A picture."]


def test_of_a_transcript_that_is_sent_again_the_last_words_of_the_user_are_remembered(
    memories: Memories,
) -> None:
    before = [Message("user", ["Hello."]), Message("assistant", ["Hello."])]
    Bot(memories).run([*before, Message("user", [VALVE]), Message("user", ["It leaks."])])
    assert texts(memories) == [VALVE, "It leaks.", "Noted."]


def test_a_run_from_the_same_stored_session_is_remembered_once(memories: Memories) -> None:
    bot = Bot(memories)
    bot.run(VALVE)
    stored = dict(bot.kept)
    for _ in range(2):
        bot.kept = dict(stored)
        bot.run("Yes.")
    assert texts(memories) == [VALVE, "Noted.", "Yes.", "Noted."]


@pytest.mark.parametrize("kept", [True, False], ids=["with its state", "with its history alone"])
def test_the_same_words_later_in_a_conversation_are_remembered_again(
    memories: Memories, kept: bool
) -> None:
    # The same turn twice on end would be taken for a replay by the history itself.
    bot = Bot(memories, *(Reply([f"Noted {n}."]) for n in range(3)))
    if kept:  # and the history by a service
        bot.client.STORES_BY_DEFAULT = True  # type: ignore[misc]
        bot.agent.context_providers.pop(0)
    for _ in range(3):
        bot.run("Yes.")
        if not kept:
            stored = json.loads(bot.kept["ana"])
            bot.kept["ana"] = json.dumps(
                {**stored, "state": {"in_memory": stored["state"]["in_memory"]}}
            )
    assert texts(memories) == ["Yes.", "Noted 0.", "Yes.", "Noted 1.", "Yes.", "Noted 2."]


@pytest.mark.parametrize("id", [None, "1"], ids=["without ids", "with the same ids"])
def test_the_same_words_in_two_sessions_of_a_user_are_two_turns(
    memories: Memories, id: str | None
) -> None:
    bot = Bot(memories, memory={"namespace": "ana"})
    for session in ("monday", "tuesday"):
        bot.run(Message("user", ["Hello."], message_id=id), session=session)
    assert texts(memories) == ["Hello.", "Noted."] * 2


def test_what_was_changed_and_changed_back_in_sessions_made_anew_is_remembered(
    memories: Memories,
) -> None:
    for said in ("I live in Rome.", "I live in Oslo.", "I live in Rome.", "I live in Rome."):
        Bot(memories).run(said)  # the last one is the turn before it, carried out again
    assert texts(memories)[::2] == ["I live in Rome.", "I live in Oslo.", "I live in Rome."]


def test_a_turn_with_a_pasted_block_is_remembered_once_when_it_is_carried_out_again(
    memories: Memories,
) -> None:
    memories.remember("ana", VALVE)
    pasted = f"You said\n{block(memories.recall('ana', ASKED))}\nbut it leaks."
    for _ in range(2):
        Bot(memories).run(pasted)
    assert [text for text in texts(memories)[1:] if "leaks" not in text] == ["Noted."]
    assert len(texts(memories)) == 3


@pytest.mark.filterwarnings("ignore:.*AgentLoopMiddleware is experimental")
@pytest.mark.parametrize("stream", [False, True])
def test_of_a_loop_what_the_user_asked_and_the_last_answer_are_remembered(
    memories: Memories, stream: bool
) -> None:
    rounds = iter([True, False])
    loop = AgentLoopMiddleware(should_continue=lambda **_: next(rounds))
    Bot(memories, Reply(["A draft."]), Reply(["It is done."]), middleware=[loop]).run(
        VALVE, stream=stream
    )
    assert texts(memories) == [VALVE, "It is done."]


# State and feedback


@pytest.mark.parametrize(
    "replies", [(), (call("sell"),), (Reply(["cut"], "length"),)], ids=["whole", "waits", "cut"]
)
def test_the_state_of_a_session_is_the_same_after_it_was_written_down(
    memories: Memories, replies: Iterable[Reply]
) -> None:
    bot = Bot(memories, Reply(), *replies)
    for said in (VALVE, ASKED):
        bot.run(said)
    before = bot.session()
    again = AgentSession.from_dict(json.loads(json.dumps(before.to_dict())))
    assert again.state["demem"] == before.state["demem"]
    assert set(before.state["demem"]) <= {"waiting", "runs", "call"}


@pytest.mark.parametrize("stream", [False, True])
def test_feedback_is_given_by_the_id_of_the_response(memories: Memories, stream: bool) -> None:
    bot = Bot(memories, Reply(id="resp-7"))
    memories.remember("ana", VALVE)
    response = bot.run(ASKED, stream=stream)
    assert response.response_id == "resp-7"
    report = memories.feedback(response.response_id, namespace="ana", thumbs=True)
    assert set(report.rewards.values()) == {1.0}
    assert _read(memories) == [VALVE]


@pytest.mark.parametrize(
    ("id", "about"),
    [(None, {}), ("r1", {"require_per_service_call_history_persistence": True})],
    ids=["none is sent", "it is kept back"],
)
def test_where_a_response_has_no_id_the_session_has_one(
    memories: Memories, id: str | None, about: dict[str, Any]
) -> None:
    bot = Bot(memories, Reply(id=id), **about)
    assert bot.run(VALVE).response_id is None
    memories.feedback(bot.session().state["demem"]["call"], namespace="ana", thumbs=False)
    (context,) = memories.of("ana").contexts()
    assert (context.answer, context.rewards) == ("Noted.", (0.0,))
