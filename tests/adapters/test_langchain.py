"""The langchain adapter keeps the contract of all adapters, and what langchain-tests asks of
retrievers and tools.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import pickle
import runpy
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from adapter_contract import ASKED, ROOT, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip(
    "langchain", reason="the langchain adapter: pip install 'demem-agent[langchain]'"
)
pytest.importorskip(
    "langchain_tests", reason="the langchain adapter's tests: pip install langchain-tests"
)

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    hook_config,
)
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from demem_adapters.common import DECLARED, Memories
from demem_adapters.langchain import MemoryMiddleware, MemoryRetriever, SlotSelector, tools, wrap
from demem_agent import SlotMemory
from demem_agent.encoders import default_encoder
from demem_agent.errors import InvalidInput, StoreError
from demem_agent.testing import BagEncoder
from demem_agent.text import measure


class Model(GenericFakeChatModel):
    """Replies as told, and keeps what it was asked."""

    asked: list[list[BaseMessage]]

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *given, **options)


def model(*replies: Any) -> Model:
    def say() -> Any:
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
            yield reply
        while True:
            yield "Noted."

    return Model(messages=say(), asked=[])


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def agent(memories: Memories, talker: Model, given: Sequence[BaseTool] = (), **options: Any) -> Any:
    checkpointer = options.pop("checkpointer", None)
    middleware = MemoryMiddleware(memories, **options)
    return create_agent(
        talker,
        list(given),
        system_prompt="Be brief.",
        middleware=[middleware],
        context_schema=dict,
        checkpointer=checkpointer,
    )


def ask(given: Any, *texts: str, **more: Any) -> BaseMessage:
    return given.invoke({"messages": [HumanMessage(text) for text in texts]}, **more)["messages"][
        -1
    ]


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
        reason = {"cut": "length", "odd": "eos_reached"}.get(ending, "stop")
        told = {"finish_reason": reason}
        talker = model(
            ConnectionError("gone")
            if ending == "fails"
            else AIMessage(reply, response_metadata=told)
        )
        namespaced = {"namespace": lambda runtime: runtime.context["user"]}
        about = {**namespaced, **self.asking}
        bot = agent(self.memories, talker, checkpointer=InMemorySaver(), **about)
        # A message is known by its id: the same in the same thread is the same event.
        given, thread = (
            {"messages": [HumanMessage(text, id=event or None)]},
            {"thread_id": event or "monday"},
        )
        with pytest.raises(ConnectionError) if ending == "fails" else contextlib.nullcontext():
            asyncio.run(bot.ainvoke(given, {"configurable": thread}, context={"user": who}))
        return [message.text for message in talker.asked[0]]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        given = [HumanMessage(asks), AIMessage(answers), HumanMessage(asked)]
        bot = agent(self.memories, model(), namespace="ana")
        asyncio.run(bot.ainvoke({"messages": given}))

    def say_all(self, said: Sequence[str]) -> None:
        given = [HumanMessage(text) for text in said]
        bot = agent(self.memories, model(), namespace="ana", checkpointer=InMemorySaver())
        thread = {"configurable": {"thread_id": "monday"}}
        asyncio.run(bot.ainvoke({"messages": given}, thread))

    def parts(self) -> list[Any]:
        return [MemoryMiddleware(self.memories), MemoryRetriever(memories=self.memories)]


class TestContract(AdapterContract):
    name = "langchain"
    driver = Agents

    def after_page(self, namespace: dict[str, Any]) -> None:
        bot, memories = namespace["agent"], namespace["memories"]
        assert ask(bot, "No context, no memory.").text == "Noted."
        assert texts_of(memories, "ana") == ["My boiler has a brass valve.", "Noted."]


def test_a_place_for_what_was_recalled_that_is_none_is_refused(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="inject"):
        MemoryMiddleware(memories, inject="users")  # type: ignore[arg-type]


# Middleware


def test_what_bears_on_the_users_last_message_is_put_before_it() -> None:
    memories, talker = Memories(limit=200, encoder=BagEncoder()), model()
    for text in ("Good morning has broken, said Ana.", VALVE):
        memories.remember("default", text)
    ask(agent(memories, talker), "Good morning.", ASKED)
    assert [message.type for message in talker.asked[0]] == ["system", "human", "human", "human"]
    assert talker.asked[0][2].text.startswith(DECLARED)
    assert VALVE in talker.asked[0][2].text
    assert [talker.asked[0][n].text for n in (0, 1, 3)] == ["Be brief.", "Good morning.", ASKED]


def test_it_is_the_end_of_the_system_message_where_it_is_to_go_there(memories: Memories) -> None:
    talker = model()
    memories.remember("default", VALVE)
    ask(agent(memories, talker, inject="system"), ASKED)
    system, asked = talker.asked[0]
    assert system.text.startswith(f"Be brief.{DECLARED}")
    assert VALVE in system.text
    assert (system.type, asked.text) == ("system", ASKED)


def test_what_was_put_before_the_model_is_neither_remembered_nor_in_the_state(
    memories: Memories,
) -> None:
    with_memory = agent(memories, model(), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for _ in range(3):
        state = with_memory.invoke({"messages": [HumanMessage(VALVE)]}, config)
    assert len(state["messages"]) == 6
    assert texts(memories) == [VALVE, "Noted."] * 3
    assert not any(DECLARED in message.text for message in state["messages"])


def test_the_same_words_in_two_threads_are_two_events(memories: Memories) -> None:
    with_memory = agent(memories, model(), checkpointer=InMemorySaver())
    for thread in "ab":
        ask(with_memory, VALVE, config={"configurable": {"thread_id": thread}})
    assert [item.session for item in memories.of("default").evidence()] == ["a", "a", "b", "b"]


def test_an_application_that_keeps_the_conversation_itself_needs_no_ids(
    memories: Memories,
) -> None:
    with pytest.raises(ConnectionError):
        ask(agent(memories, model(ConnectionError("gone"))), VALVE)
    ask(agent(memories, model()), VALVE)
    again = agent(memories, model(*map(AIMessage, ("It is.", "It was.", "Yes."))))
    for asked in ("Is it brass?", "Is it brass?", "Is it steel?"):
        again.invoke({"messages": [HumanMessage(VALVE), AIMessage("Noted."), HumanMessage(asked)]})
    assert texts(memories) == [
        VALVE,
        "Noted.",
        "Is it brass?",
        "It is.",
        "It was.",  # made anew
        "Is it steel?",
        "Yes.",
    ]


@pytest.mark.parametrize(
    "told",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"finish_reason": "SAFETY"},
        {"model_provider": "me"},
    ],
)
def test_a_cut_off_answer_is_not_remembered(memories: Memories, told: dict[str, str]) -> None:
    ask(agent(memories, model(AIMessage("My boiler has", response_metadata=told))), VALVE)
    assert texts(memories) == ["My boiler has a brass valve."]


@pytest.mark.parametrize(
    "told", [{"finish_reason": "stop"}, {"stop_reason": "end_turn"}, {"status": "completed"}]
)
def test_an_answer_that_came_to_its_end_is_remembered(
    memories: Memories, told: dict[str, str]
) -> None:
    ask(agent(memories, model(AIMessage("It has.", response_metadata=told))), VALVE)
    assert texts(memories) == [VALVE, "It has."]


def test_a_stream_passes_through_and_is_remembered_at_its_end(memories: Memories) -> None:
    stream = agent(memories, model()).stream(
        {"messages": [HumanMessage(VALVE)]}, stream_mode="messages"
    )
    heard = "".join(piece.text for piece, _ in stream)
    assert heard == "Noted."
    assert texts(memories) == [VALVE, "Noted."]


def test_a_stream_that_was_left_is_not_remembered(memories: Memories) -> None:
    stream = agent(memories, model()).stream(
        {"messages": [HumanMessage(VALVE)]}, stream_mode="messages"
    )
    next(stream)
    stream.close()
    assert texts(memories) == ["My boiler has a brass valve."]


def test_feedback_by_the_id_of_the_answer(memories: Memories) -> None:
    with_memory = agent(memories, model())
    ask(with_memory, VALVE)
    answer = ask(with_memory, ASKED)
    assert memories.feedback(answer.id or "", namespace="default", thumbs=False).reward == 0.0
    read = {item for item, *_ in memories.of("default").contexts()[-1].read}
    # What was put before the model: neither "Noted.", which bears on nothing, nor the question that
    # is remembered since.
    assert read == {"e1"}


def test_what_was_recalled_stays_the_same_while_tools_answer_the_model(
    memories: Memories,
) -> None:
    def note() -> str:
        memories.remember("default", "The valve of my boiler leaks.")
        return "noted"

    memories.remember("default", VALVE)
    called = AIMessage("", tool_calls=[{"name": "note", "args": {}, "id": "c1"}])
    talker = model(called, "A brass one.")
    noting = StructuredTool.from_function(note, description="Note something.")
    with_memory = agent(memories, talker, [noting])
    ask(with_memory, ASKED)
    first, second = ([message.text for message in asked] for asked in talker.asked)
    assert second[: len(first)] == first
    ask(with_memory, ASKED)
    assert "leaks" in str(talker.asked[-1])


def test_a_tool_loop_keeps_calls_with_their_results_and_remembers_one_turn(
    memories: Memories,
) -> None:
    called = AIMessage("", tool_calls=[{"name": "recall", "args": {"query": "valve"}, "id": "c1"}])
    talker = model("Noted.", called, "A brass one.")
    with_memory = agent(memories, talker, tools(memories))
    ask(with_memory, VALVE)
    ask(with_memory, ASKED)
    assert [type(message) for message in talker.asked[2]] == [
        SystemMessage,
        HumanMessage,
        HumanMessage,
        AIMessage,
        ToolMessage,
    ]
    assert texts(memories) == [VALVE, "Noted.", ASKED, "A brass one."]


class Stops(AgentMiddleware[Any, Any, Any]):
    """Ends an agent after its first call of a model, whatever that asked for."""

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"jump_to": "end"}


def test_an_agent_that_was_stopped_at_a_call_of_a_tool_has_given_no_answer(
    memories: Memories,
) -> None:
    called = AIMessage(
        "Let me look.", tool_calls=[{"name": "recall", "args": {"query": "valve"}, "id": "c1"}]
    )
    stopped = create_agent(
        model(called), tools(memories), middleware=[MemoryMiddleware(memories), Stops()]
    )
    assert ask(stopped, ASKED).text == "Let me look."
    assert texts(memories) == ["Which valve has my boiler?"]


def test_of_an_agent_that_ends_with_a_tools_result_what_the_user_said_is_remembered(
    memories: Memories,
) -> None:
    called = AIMessage("", tool_calls=[{"name": "valve", "args": {}, "id": "c1"}])
    direct = StructuredTool.from_function(
        lambda: "Brass.", name="valve", description="Tell.", return_direct=True
    )
    assert ask(agent(memories, model(called), [direct]), ASKED).text == "Brass."
    assert texts(memories) == [ASKED]


# With other middleware


def looks(times: int = 1) -> list[AIMessage]:
    """Return calls of a tool, each with some words before it."""
    call = {"name": "look", "args": {}}
    return [AIMessage("Let me look.", tool_calls=[call | {"id": f"c{n}"}]) for n in range(times)]


LOOK = StructuredTool.from_function(
    lambda: "It is noon.", name="look", description="Look at the clock."
)


def summing_up() -> SummarizationMiddleware:
    return SummarizationMiddleware(
        model("They talked."), trigger=("messages", 3), keep=("messages", 1)
    )


def built(
    memory: MemoryMiddleware, talker: Model, other: Any, first: bool = True, **options: Any
) -> Any:
    """Make an agent whose memory is listed before another middleware, or after it."""
    return create_agent(
        talker, [LOOK], middleware=[memory, other] if first else [other, memory], **options
    )


@pytest.mark.parametrize("first", [True, False])
def test_a_question_that_was_summarised_away_is_still_what_was_asked(
    memories: Memories, first: bool
) -> None:
    memories.remember("default", VALVE)
    talker = model(*looks(), "A brass one.")
    bot = built(MemoryMiddleware(memories), talker, summing_up(), first)
    said = bot.invoke({"messages": [HumanMessage(ASKED)]})["messages"]
    assert not any(ASKED in message.text for message in said)
    assert len(talker.asked) == 2
    for asked in talker.asked:
        assert VALVE in "".join(message.text for message in asked)
    assert texts(memories) == [VALVE, ASKED, "A brass one."]


def test_a_summary_in_the_history_is_not_what_the_user_said(memories: Memories) -> None:
    bot = built(MemoryMiddleware(memories), model(), summing_up(), checkpointer=InMemorySaver())
    for text in (VALVE, "It leaks.", ASKED):
        ask(bot, text, config={"configurable": {"thread_id": "t"}})
    assert texts(memories) == [VALVE, "Noted.", "It leaks.", "Noted.", ASKED, "Noted."]


@pytest.mark.parametrize("first", [True, False])
def test_what_is_redacted_is_remembered_redacted(memories: Memories, first: bool) -> None:
    redacts = PIIMiddleware("email", apply_to_output=True)
    ask(
        built(MemoryMiddleware(memories), model("Written to b@x.de."), redacts, first),
        "I am a@x.de.",
    )
    assert texts(memories) == ["I am [REDACTED_EMAIL].", "Written to [REDACTED_EMAIL]."]


class Sends(AgentMiddleware[Any, Any, Any]):
    """Sends a model back to work once, by a message of the user's type."""

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        sent = any(message.text == "Be exact." for message in state["messages"])
        return None if sent else {"messages": [HumanMessage("Be exact.")], "jump_to": "model"}


def test_what_another_middleware_says_in_between_is_not_what_the_user_said(
    memories: Memories,
) -> None:
    memories.remember("default", VALVE)
    talker = model("A valve.", "A brass one.")
    ask(built(MemoryMiddleware(memories), talker, Sends()), ASKED)
    assert [message.text.split("\n")[0] for message in talker.asked[1]] == [
        DECLARED,
        ASKED,
        "A valve.",
        "Be exact.",
    ]
    assert texts(memories) == [VALVE, ASKED, "A brass one."]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("other", "replies", "end"),
    [
        (ModelRetryMiddleware(max_retries=1, initial_delay=0), [], "Model call failed"),
        (ModelCallLimitMiddleware(run_limit=1), looks(2), "Model call limits exceeded"),
        (
            ToolCallLimitMiddleware(run_limit=1, exit_behavior="end"),
            looks(2),
            "Tool call limit reached",
        ),
    ],
    ids=["retry", "calls", "tools"],
)
def test_what_a_middleware_says_in_place_of_a_model_is_no_answer(
    memories: Memories, other: Any, replies: list[Any], end: str, first: bool
) -> None:
    talker = model(*replies, RuntimeError("gone"))
    assert ask(built(MemoryMiddleware(memories), talker, other, first), ASKED).text.startswith(end)
    assert texts(memories) == ["Which valve has my boiler?"]


class Guards(AgentMiddleware[Any, Any, Any]):
    """Puts other words in the place of an answer once the agent has ended."""

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("I may not say.", id=state["messages"][-1].id)]}


def test_an_answer_that_a_guard_rejects_is_not_remembered_where_memory_is_listed_first(
    memories: Memories,
) -> None:
    assert (
        ask(built(MemoryMiddleware(memories), model("Brass."), Guards()), ASKED).text
        == "I may not say."
    )
    assert texts(memories) == [ASKED, "I may not say."]


class Reviews(AgentMiddleware[Any, Any, Any]):
    """Has a person look at an answer before the agent ends."""

    def after_model(self, state: Any, runtime: Any) -> None:
        interrupt(state["messages"][-1].text)


@pytest.mark.parametrize("left", [True, False])
def test_nothing_is_held_of_ended_runs_and_of_those_that_were_left_no_more_than_a_number(
    left: bool,
) -> None:
    memory = MemoryMiddleware(filled())
    memory._given.most = memory._asked.most = 3
    bot = create_agent(
        model(), middleware=[memory, *[Reviews()] * left], checkpointer=InMemorySaver()
    )
    for n in range(5):
        bot.invoke({"messages": [HumanMessage(ASKED)]}, {"configurable": {"thread_id": str(n)}})
    assert len(memory._given) == len(memory._asked) == (3 if left else 0)


def test_a_run_that_is_taken_up_in_another_process_is_remembered(memories: Memories) -> None:
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "t"}}
    built(MemoryMiddleware(memories), model("Brass."), Reviews(), checkpointer=saver).invoke(
        {"messages": [HumanMessage(ASKED)]}, config
    )
    assert texts(memories) == ["Which valve has my boiler?"]
    elsewhere = built(MemoryMiddleware(memories), model(), Reviews(), checkpointer=saver)
    elsewhere.invoke(Command(resume=True), config)
    assert texts(memories) == [ASKED, "Brass."]


# What is an event


def test_the_same_words_in_a_later_run_are_remembered_again_in_their_order(
    memories: Memories,
) -> None:
    said = ["I live in Rome.", "I live in Oslo.", "I live in Rome."]
    for text in said:
        ask(agent(memories, model()), text)
    assert texts(memories)[::2] == said


def test_a_run_that_is_carried_out_again_from_a_checkpoint_is_remembered_once(
    memories: Memories,
) -> None:
    bot, config = (
        agent(memories, model(), checkpointer=InMemorySaver()),
        {"configurable": {"thread_id": "t"}},
    )
    ask(bot, VALVE, config=config)
    (before,) = [state for state in bot.get_state_history(config) if state.next == ("model",)]
    bot.invoke(None, before.config)
    assert texts(memories) == [VALVE, "Noted."]


def test_an_id_that_a_client_gives_to_other_words_is_another_event(memories: Memories) -> None:
    for text in (VALVE, ASKED):
        agent(memories, model()).invoke({"messages": [HumanMessage(text, id="1")]})
    assert texts(memories)[::2] == [VALVE, ASKED]


# Tools


def test_tools_work_in_the_namespace_of_the_agents_context(memories: Memories) -> None:
    called = AIMessage("", tool_calls=[{"name": "remember", "args": {"text": VALVE}, "id": "c1"}])
    given = tools(memories, namespace=lambda runtime: runtime.context["user"])
    plain = create_agent(model(called), given, context_schema=dict)
    asyncio.run(
        plain.ainvoke({"messages": [HumanMessage("Remember my boiler.")]}, context={"user": "ana"})
    )
    assert (texts_of(memories, "ana"), texts(memories)) == ([VALVE], [])


def test_a_fact_that_is_remembered_outside_of_an_agent_may_come_back(memories: Memories) -> None:
    remember, _ = tools(memories)
    said = ["I live in Rome.", "I live in Oslo.", "I live in Rome."]
    for text in said:
        remember.invoke({"text": text})
    assert texts(memories) == said


def remembering(text: str, id: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "remember", "args": {"text": text}, "id": id}])


def test_what_a_model_remembers_again_as_a_run_is_made_again_is_remembered_once(
    memories: Memories,
) -> None:
    talker = model(remembering(VALVE, "c1"), ConnectionError("gone"))
    given = {"messages": [HumanMessage("Note it.")]}
    with pytest.raises(ConnectionError):
        create_agent(talker, tools(memories)).invoke(given)
    create_agent(model(remembering(VALVE, "c2")), tools(memories)).invoke(given)
    assert texts(memories) == [VALVE]


def test_what_a_model_remembers_in_another_turn_is_another_event(memories: Memories) -> None:
    said = ["I live in Rome.", "I live in Oslo.", "I live in Rome."]
    talker = model(*(reply for text in said for reply in (remembering(text, "c1"), "Noted.")))
    bot = create_agent(talker, tools(memories), checkpointer=InMemorySaver())
    for text in said:
        ask(bot, text, config={"configurable": {"thread_id": "monday"}})
    assert texts(memories) == said


def test_what_a_model_remembers_while_the_store_fails_costs_no_run(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest, times = SlotMemory.ingest, iter([StoreError("busy")])

    def busy(memory: SlotMemory, text: str, **about: Any) -> Any:
        for error in times:
            raise error
        return ingest(memory, text, **about)

    monkeypatch.setattr(SlotMemory, "ingest", busy)
    bot = create_agent(model(remembering(VALVE, "c1")), tools(memories))
    assert ask(bot, "Note it.").text == "Noted."
    while memories.waiting:
        memories.names()
    assert texts(memories) == [VALVE]


class Hearing(Memories):
    """Memories that note what was said before the query that was recalled for last."""

    before: Any = None

    def recall(self, namespace: str | None, query: str, **about: Any) -> Any:
        self.before = about.get("context")
        return super().recall(namespace, query, **about)


def test_recall_in_an_agent_is_told_what_was_said_in_its_run() -> None:
    memories = Hearing(encoder=BagEncoder())
    called = AIMessage("", tool_calls=[{"name": "recall", "args": {"query": ASKED}, "id": "c1"}])
    before = [HumanMessage(VALVE), AIMessage("Noted."), HumanMessage("Which one was that?")]
    create_agent(model(called), tools(memories)).invoke({"messages": before})
    assert memories.before == [VALVE, "Noted.", "Which one was that?"]


def test_a_retriever_may_be_told_what_was_said_before() -> None:
    memories = Hearing(encoder=BagEncoder())
    MemoryRetriever(memories=memories).invoke("When was that?", context=[VALVE, " "])
    assert memories.before == [VALVE]


def test_recall_says_so_where_there_is_nothing_and_makes_no_namespace(memories: Memories) -> None:
    _, recall = tools(memories, namespace="nobody")
    assert recall.invoke({"query": ASKED}) == "Nothing is remembered of that."
    assert memories.known("nobody") is None


class ToolCase:
    name: ClassVar[str]
    tool_invoke_params_example: ClassVar[dict[str, Any]]

    @property
    def tool_constructor(self) -> BaseTool:
        return next(
            tool for tool in tools(Memories(encoder=BagEncoder())) if tool.name == self.name
        )


@pytest.mark.anyio
class TestRememberIntegration(ToolCase, ToolsIntegrationTests):
    name = "remember"
    tool_invoke_params_example: ClassVar = {"text": VALVE}


class TestRememberUnit(ToolCase, ToolsUnitTests):
    name = "remember"
    tool_invoke_params_example: ClassVar = {"text": VALVE}


@pytest.mark.anyio
class TestRecallIntegration(ToolCase, ToolsIntegrationTests):
    name = "recall"
    tool_invoke_params_example: ClassVar = {"query": ASKED}


class TestRecallUnit(ToolCase, ToolsUnitTests):
    name = "recall"
    tool_invoke_params_example: ClassVar = {"query": ASKED}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Retriever


FOREIGN = "Who won the chess cup in Reykjavik?"


def filled(**options: Any) -> Memories:
    memories = Memories(**{"encoder": BagEncoder(), **options})
    said = [
        "It rained in Rome.",
        VALVE,
        "The cat sleeps.",
        "I had soup.",
        "We saw a long film about ships.",
    ]
    memories.of("default").ingest_many(
        [{"text": text, "speaker": "Ana", "at": "2025-03-02"} for text in said]
    )
    return memories


@pytest.mark.anyio
class TestRetriever(RetrieversIntegrationTests):
    retriever_constructor = MemoryRetriever
    retriever_query_example = ASKED

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memories": filled()}


def test_documents_come_best_first_with_what_is_known_of_them() -> None:
    first = MemoryRetriever(memories=filled()).invoke(ASKED)[0]
    assert (first.page_content, first.id) == (VALVE, "e2")
    about = {"speaker": "Ana", "at": "2025-03-02T00:00:00", "evidence_id": "e2"}
    assert about.items() <= first.metadata.items()
    assert first.metadata.keys() - about.keys() == {"relevance_score"}


@pytest.mark.parametrize(("asked", "finds"), [(ASKED, True), (FOREIGN, False)])
def test_a_threshold_leaves_out_what_hardly_bears_on_the_query(asked: str, finds: bool) -> None:
    memories = filled(encoder=default_encoder())
    every = MemoryRetriever(memories=memories).invoke(asked)
    scores = [document.metadata["relevance_score"] for document in every]
    assert scores == sorted(scores, reverse=True)
    sure = MemoryRetriever(memories=memories, score_threshold=0.3).invoke(asked)
    assert [document.page_content for document in sure] == ([VALVE] if finds else [])
    assert MemoryRetriever(memories=memories).invoke(asked, score_threshold=0.3) == sure


@pytest.mark.parametrize("unit", ["chars", "bytes", "tokens"])
@pytest.mark.parametrize("mode", ["evidence", "strict"])
def test_what_is_retrieved_is_within_the_limit_with_blank_lines_between(
    unit: Any, mode: Any
) -> None:
    counter = len if unit == "tokens" else None
    found = MemoryRetriever(
        memories=filled(limit=120, unit=unit, counter=counter, mode=mode)
    ).invoke(ASKED)
    assert any(VALVE in document.page_content for document in found)
    assert measure(unit, counter)("\n\n".join(document.page_content for document in found)) <= 120


def test_a_summary_is_retrieved_as_one_document_of_no_item() -> None:
    (found,) = MemoryRetriever(memories=filled(mode="strict")).invoke(ASKED)
    assert VALVE in found.page_content
    assert found.id is None
    assert [*found.metadata] == ["relevance_score"]


def test_a_retriever_and_a_tool_read_what_a_filter_leaves() -> None:
    memories = Memories(encoder=BagEncoder())
    memories.remember("default", VALVE, speaker="Ana")
    memories.remember("default", "The boiler has a steel valve.", speaker="Ben")
    retriever = MemoryRetriever(memories=memories, where=lambda call: {"speaker": call["of"]})
    assert [found.page_content for found in retriever.invoke(ASKED, of="Ana")] == [VALVE]
    _, recall = tools(memories, where={"speaker": "Ben"})
    told = recall.invoke({"query": ASKED})
    assert "steel" in told
    assert "brass" not in told


def test_the_namespace_of_a_retriever_is_a_function_of_the_call(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    retriever = MemoryRetriever(memories=memories, namespace=lambda call: call["user"])
    assert (
        len(retriever.invoke(ASKED, user="ana"))
        == len(asyncio.run(retriever.ainvoke(ASKED, user="ana")))
        == 1
    )
    assert retriever.invoke(ASKED, user="ben") == []
    assert memories.known("ben") is None


# A wrapped retriever


class Given(BaseRetriever):
    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


def rooms(count: int = 40) -> list[Document]:
    made = (
        f"Room {n} has {n + 50} chairs. Its walls were painted in {1900 + n}." for n in range(count)
    )
    return [
        Document(id=str(n), page_content=text, metadata={"source": "plan.txt"})
        for n, text in enumerate(made)
    ]


@pytest.mark.parametrize("limit", [100, 400, 2000])
def test_selected_documents_fit_the_limit_and_are_of_the_candidates(limit: int) -> None:
    found = wrap(Given(documents=rooms()), limit=limit, encoder=BagEncoder()).invoke(
        "How many chairs has room 17?"
    )
    by_id = {document.id: document for document in rooms()}
    assert "Room 17" in " ".join(document.page_content for document in found)
    assert len("\n".join(document.page_content for document in found)) <= limit
    assert all(document.page_content in by_id[document.id].page_content for document in found)
    assert {document.metadata["source"] for document in found} == {"plan.txt"}


def test_candidates_are_divided_among_at_most_k_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    slots: list[int] = []

    class Counted(SlotMemory):
        def read(self, *given: Any, **options: Any) -> Any:
            slots.append(len(self.slots))
            return super().read(*given, **options)

    monkeypatch.setattr("demem_adapters.langchain.rag.SlotMemory", Counted)
    wrap(Given(documents=rooms()), slots=3, near=1.0, encoder=BagEncoder()).invoke("chairs")
    assert slots == [3]


def test_selecting_changes_no_candidate_and_leaves_nothing_behind() -> None:
    documents = rooms()
    selecting = wrap(Given(documents=documents), limit=300, encoder=BagEncoder())
    assert selecting.invoke("chairs in room 3") == selecting.invoke("chairs in room 3")
    assert documents == rooms()


def test_documents_with_metadata_of_any_kind_are_selected() -> None:
    about: list[dict[str, Any]] = [
        {"page": "iv", "session": 3, "source": None},
        {"page": 2, "speaker": Exception("x")},
    ]
    documents = [Document("The bike is red.", metadata=one) for one in about]
    found = SlotSelector().compress_documents(documents, "Which bike?")
    assert [document.page_content for document in found] == ["The bike is red."] * 2
    for document, known in zip(found, about, strict=True):
        assert known.items() <= document.metadata.items()


def test_of_what_is_selected_the_document_asked_for_is_surest() -> None:
    documents = [Document(text) for text in ("The bike is red.", "It rained all of May.")]
    found = SlotSelector().compress_documents(documents, "Which colour is the bike?")
    scores = {document.page_content: document.metadata["relevance_score"] for document in found}
    assert max(scores, key=scores.__getitem__) == "The bike is red."
    assert all(0.0 <= score <= 1.0 for score in scores.values())


def test_what_is_not_known_of_a_document_may_be_left_out_or_none() -> None:
    unknown = dict.fromkeys(("session", "at", "trust"))
    turns = (lambda it: {"text": it.page_content}, lambda it: {"text": it.page_content, **unknown})
    out, none = (
        wrap(Given(documents=rooms()), limit=300, turn=turn).invoke("chairs in room 3")
        for turn in turns
    )
    assert out
    assert out == none


def test_async_selection_gives_the_same() -> None:
    selecting = wrap(Given(documents=rooms()), limit=300, encoder=BagEncoder())
    assert asyncio.run(selecting.ainvoke("chairs in room 3")) == selecting.invoke(
        "chairs in room 3"
    )


@pytest.mark.parametrize(
    ("documents", "query"), [([], "chairs"), ([Document(" ")], "chairs"), (rooms(2), " ")]
)
def test_nothing_is_selected_where_there_is_nothing_to_go_by(
    documents: list[Document], query: str
) -> None:
    assert SlotSelector().compress_documents(documents, query) == []


def test_metadata_that_no_memory_takes_is_named() -> None:
    with pytest.raises(InvalidInput, match="at"):
        SlotSelector().compress_documents(
            [Document("Chairs.", metadata={"at": "some day"})], "chairs"
        )


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))], ids=["deep", "pickle"]
)
def test_a_wrapped_retriever_can_be_copied(copied: Any) -> None:
    selecting = wrap(Given(documents=rooms()), limit=300)
    assert copied(selecting).invoke(ASKED) == selecting.invoke(ASKED)


# An example


def test_the_rag_example_prints_recall_before_and_after(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["rag_before_and_after.py"])
    runpy.run_path(str(ROOT / "examples" / "rag_before_and_after.py"), run_name="__main__")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    found = {budget: (float(before), float(after)) for budget, before, after in rows}
    assert list(found) == ["250", "500", "1000"]
    assert found["500"][1] > found["500"][0]
    assert found["1000"][1] > found["1000"][0]
