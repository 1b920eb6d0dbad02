"""The runnables adapter keeps the contract of all adapters, around a model and as nodes of a
graph.
"""

from __future__ import annotations

import asyncio
import contextlib
import operator
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip(
    "langgraph", reason="the runnables adapter: pip install 'demem-agent[langgraph]'"
)

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.channels import UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from demem_adapters.common import DECLARED, Memories
from demem_adapters.common.said import holding
from demem_adapters.runnables import memory_nodes, user_of, with_memory
from demem_agent import InvalidInput
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

REASONS = {"whole": "stop", "cut": "length", "odd": "eos_reached"}


class Model(GenericFakeChatModel):
    """A model that says what it is told to, and keeps what it was asked."""

    asked: list[list[BaseMessage]]

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *given, **options)


def model(*replies: Any) -> Model:
    def say() -> Iterator[Any]:
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
            yield reply
        while True:
            yield "Noted."

    return Model(messages=say(), asked=[])


def config(user: str | None = "ana", thread: str | None = None) -> RunnableConfig:
    told = {"user_id": user, "thread_id": thread}
    return {"configurable": {name: value for name, value in told.items() if value}}


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def texts(memories: Memories, namespace: str = "ana") -> list[str]:
    return texts_of(memories, namespace)


class State(MessagesState):
    memory: Annotated[str, UntrackedValue]


def graph(memories: Memories, talker: Model, *, approve: bool = False, **options: Any) -> Any:
    """Make a plain graph: recall, a node that calls a model, remember; with approval if wanted."""
    recall, remember = memory_nodes(memories, **options)

    def answer(state: State) -> dict[str, Any]:
        return {"messages": [talker.invoke(recall.put_before(state))]}

    async def aanswer(state: State, config: RunnableConfig) -> dict[str, Any]:
        return {"messages": [await talker.ainvoke(await recall.aput_before(state, config))]}

    def approved(state: State) -> None:
        if approve:
            interrupt("Send it?")

    built = StateGraph(State)
    built.add_node("recall", recall)
    built.add_node("answer", RunnableLambda(answer, aanswer))
    built.add_node("approved", approved)
    built.add_node("remember", remember)
    for one, other in (
        (START, "recall"),
        ("recall", "answer"),
        ("answer", "approved"),
        ("approved", "remember"),
        ("remember", END),
    ):
        built.add_edge(one, other)
    return built.compile(checkpointer=InMemorySaver())


class _Talks(Driver):
    """What both drivers have in common."""

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self.ids: dict[str, str | None] = {}

    async def _run(self, talker: Model, given: list[BaseMessage], who: str, thread: str) -> None:
        raise NotImplementedError

    def _id(self) -> str | None:
        """Return the id of a message that is another one than all before."""
        return None

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        talker = _answering(reply, ending)
        # A message is known by its id, where it has one: the same in the same thread is the same.
        self.ids[text] = event or self._id()
        given: list[BaseMessage] = [HumanMessage(text, id=self.ids[text])]
        with pytest.raises(ConnectionError) if ending == "fails" else contextlib.nullcontext():
            asyncio.run(self._run(talker, given, who, event or "t"))
        return [str(message.text) for message in talker.asked[0]]

    def say_all(self, said: Sequence[str]) -> None:
        given: list[BaseMessage] = [HumanMessage(text, id=self.ids.get(text)) for text in said]
        asyncio.run(self._run(model(), given, "ana", "all"))

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        given = [HumanMessage(asks), AIMessage(answers), HumanMessage(asked)]
        asyncio.run(self._run(model(), given, "ana", "on"))


def _answering(reply: str, ending: Ending) -> Model:
    if ending == "fails":
        return model(ConnectionError("gone"))
    return model(AIMessage(reply, response_metadata={"finish_reason": REASONS[ending]}))


class Around(_Talks):
    async def _run(self, talker: Model, given: list[BaseMessage], who: str, thread: str) -> None:
        bot = with_memory(talker, self.memories, **self.asking)
        await bot.ainvoke(given, config(who))

    def parts(self) -> list[Any]:
        return [with_memory(RunnableLambda(len), self.memories)]


class Nodes(_Talks):
    def _id(self) -> str | None:
        return uuid.uuid4().hex  # as LangGraph gives one to each

    async def _run(self, talker: Model, given: list[BaseMessage], who: str, thread: str) -> None:
        made = graph(self.memories, talker, **self.asking)
        about = {"user_id": who, "thread_id": uuid.uuid4().hex}
        about["thread_id"] = "t" if thread != "on" else about["thread_id"]
        await made.ainvoke({"messages": given}, {"configurable": about})

    def parts(self) -> list[Any]:
        return [*memory_nodes(self.memories)]


class TestContract(AdapterContract):
    name = "runnables"
    driver = Around


class TestContractOfNodes(AdapterContract):
    name = "runnables"
    driver = Nodes


# Around a model or a chain


def test_what_bears_on_the_question_is_put_right_before_it(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    talker = model()
    given = [SystemMessage("Be brief."), HumanMessage("Hello."), AIMessage("Hi."), ASKED]
    with_memory(talker, memories).invoke(given, config())
    assert [message.type for message in talker.asked[0]] == [
        "system",
        "human",
        "ai",
        *["human"] * 2,
    ]
    assert talker.asked[0][3].text.startswith(DECLARED)
    assert talker.asked[0][4].text == ASKED


def test_it_stands_after_the_instructions_where_it_is_to_go_there(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    talker = model()
    given = [SystemMessage("Be brief."), HumanMessage(ASKED)]
    with_memory(talker, memories, inject="system").invoke(given, config())
    assert [message.type for message in talker.asked[0]] == ["system", "system", "human"]
    assert VALVE in talker.asked[0][1].text


@pytest.mark.parametrize("inject", ["users", "merged"])
def test_a_place_that_is_none_is_refused(memories: Memories, inject: Any) -> None:
    with pytest.raises(InvalidInput, match="inject"):
        with_memory(model(), memories, inject=inject)


def test_a_chain_gets_the_block_in_a_field_and_its_history_is_what_was_said_before(
    memories: Memories,
) -> None:
    memories.remember("ana", VALVE)
    talker = model()
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("user", "{memory}\n\n{asked}")])
    bot = with_memory(prompt | talker | StrOutputParser(), memories, question="asked")
    said = [HumanMessage("Hello."), AIMessage("Hi.")]
    assert bot.invoke({"history": said, "asked": ASKED}, config()) == "Noted."
    assert VALVE in talker.asked[0][-1].text
    assert texts(memories) == [VALVE, ASKED, "Noted."]


def test_a_field_that_is_not_there_is_refused_by_its_name(memories: Memories) -> None:
    for question in (None, "query"):
        with pytest.raises(InvalidInput, match="question"):
            with_memory(model(), memories, question=question).invoke({"asked": ASKED}, config())


def test_a_stream_in_a_chain_is_remembered_once_it_has_come_to_its_end(memories: Memories) -> None:
    chain = ChatPromptTemplate([("user", "{asked}")]) | with_memory(model("It is brass."), memories)
    chunks = [str(chunk.text) for chunk in chain.stream({"asked": ASKED}, config())]
    assert len(chunks) > 2
    assert texts(memories) == [ASKED, "".join(chunks)] == [ASKED, "It is brass."]


def test_of_a_stream_that_is_left_only_what_was_asked_is_remembered(memories: Memories) -> None:
    stream = with_memory(model("It is brass."), memories).stream(ASKED, config())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert texts(memories) == [ASKED]


def test_a_stream_without_blocking_is_remembered_as_well(memories: Memories) -> None:
    async def run() -> list[str]:
        bot = with_memory(model("It is brass."), memories)
        return [str(chunk.text) async for chunk in bot.astream(ASKED, config())]

    assert "".join(asyncio.run(run())) == "It is brass."
    assert texts(memories) == [ASKED, "It is brass."]


def test_what_was_recalled_stays_while_tools_answer_the_model(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    call = {"name": "weigh", "args": {}, "id": "c1", "type": "tool_call"}
    calls = AIMessage("", tool_calls=[call])
    talker = model(calls)
    bot = with_memory(talker, memories)
    asked = HumanMessage(ASKED)
    bot.invoke([asked], config())
    memories.remember("ana", "My boiler has a steel valve too.")
    bot.invoke([asked, calls, ToolMessage("2 kg", tool_call_id="c1")], config())
    first, second = talker.asked
    assert second[: len(first)] == first
    assert texts(memories)[1:] == [ASKED, "My boiler has a steel valve too.", "Noted."]


def test_feedback_goes_by_the_id_of_the_answer(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    answer = with_memory(model(), memories).invoke(ASKED, config())
    report = memories.feedback(answer.id, namespace="ana", thumbs=True)
    assert report.reward == 1.0


@pytest.mark.parametrize(
    ("told", "namespace"),
    [(config("ana", "t"), "ana"), (config(None, "t"), "thread:t"), (config(None), None)],
)
def test_whose_memory_it_is_says_the_config(told: RunnableConfig, namespace: str | None) -> None:
    assert user_of(told) == namespace


def test_a_call_that_names_nobody_has_no_memory(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    assert with_memory(model(), memories).invoke(VALVE).text == "Noted."
    assert memories.names() == []
    assert "no user_id and no thread_id" in caplog.text


def test_a_thread_is_a_session(memories: Memories) -> None:
    with_memory(model(), memories).invoke(VALVE, config("ana", "monday"))
    memory = memories.of("ana")
    assert {item.session for item in memory.evidence()} == {"monday"}


# In a graph


def test_a_model_in_a_plain_node_knows_the_config_of_the_run(memories: Memories) -> None:
    bot = with_memory(model(), memories)
    built = StateGraph(MessagesState)
    built.add_node("answer", lambda state: {"messages": [bot.invoke(state["messages"])]})
    made = built.add_edge(START, "answer").compile()
    made.invoke({"messages": [HumanMessage(VALVE)]}, config())
    assert texts(memories) == [VALVE, "Noted."]


@pytest.mark.parametrize("mode", ["messages", "updates", "values"])
def test_a_graph_that_is_streamed_is_remembered(memories: Memories, mode: str) -> None:
    made = graph(memories, model("It is brass."))
    given = {"messages": [HumanMessage(ASKED)]}
    assert [*made.stream(given, config("ana", "t"), stream_mode=mode)]
    assert texts(memories) == [ASKED, "It is brass."]


def test_the_tokens_of_a_model_with_memory_are_streamed_by_the_graph(memories: Memories) -> None:
    bot = with_memory(model("It is brass."), memories)
    built = StateGraph(MessagesState)
    built.add_node("answer", lambda state: {"messages": [bot.invoke(state["messages"])]})
    made = built.add_edge(START, "answer").compile()
    given = {"messages": [HumanMessage(ASKED)]}
    tokens = [one.text for one, _ in made.stream(given, config(), stream_mode="messages")]
    assert "".join(tokens) == "It is brass."
    assert len(tokens) > 2


@pytest.mark.parametrize("field", [None, "memory"])
def test_the_block_is_in_no_checkpoint_and_is_not_remembered(
    memories: Memories, field: str | None
) -> None:
    talker = model()
    made = graph(memories, talker, memory=field)
    for thread, text in (("monday", VALVE), ("tuesday", ASKED)):
        state = made.invoke({"messages": [HumanMessage(text)]}, config("ana", thread))
    assert VALVE in state.get("memory", VALVE)
    assert VALVE in talker.asked[1][0].text
    saver = made.checkpointer
    kept = repr([saver.storage, dict(saver.writes), dict(saver.blobs)])
    assert ASKED in kept
    assert "demem:memory" not in kept
    assert texts(memories) == [VALVE, "Noted.", ASKED, "Noted."]


def test_a_run_that_is_resumed_in_another_process_is_shown_what_is_remembered_then(
    memories: Memories,
) -> None:
    """Also of what was forgotten while it waited nothing is shown."""
    saver = InMemorySaver()
    memories.remember("ana", VALVE)
    memories.remember("ana", "My boiler has a copper pipe.")
    told = config("ana", "t")
    for talker in (model(), model()):
        recall, remember = memory_nodes(memories)

        def answer(state: MessagesState, recall: Any = recall, talker: Any = talker) -> Any:
            interrupt("May it be asked?")
            return {"messages": [talker.invoke(recall.put_before(state))]}

        built = StateGraph(MessagesState).add_node("recall", recall).add_node("answer", answer)
        built.add_edge(START, "recall").add_edge("recall", "answer")
        built.add_node("remember", remember).add_edge("answer", "remember")
        made = built.compile(checkpointer=saver)
        if saver.storage:
            memories.forget("ana", "e2")
            made.invoke(Command(resume=True), told)
        else:
            made.invoke({"messages": [HumanMessage(ASKED)]}, told)
    shown = talker.asked[0][0].text
    assert VALVE in shown
    assert "copper" not in shown
    assert texts(memories) == [VALVE, ASKED, "Noted."]


def test_what_is_put_before_a_model_stays_the_same_while_tools_answer_it(
    memories: Memories,
) -> None:
    memories.remember("ana", VALVE)
    recall, _ = memory_nodes(memories)
    asked = [HumanMessage(ASKED, id="m1")]
    first = recall.put_before({"messages": asked}, config("ana", "t"))
    memories.remember("ana", "My boiler has a steel valve too.")
    call = {"name": "look", "args": {}, "id": "t1"}
    results = [AIMessage("", tool_calls=[call]), ToolMessage("brass", tool_call_id="t1")]
    second = recall.put_before({"messages": [*asked, *results]}, config("ana", "t"))
    assert len(first) == 2
    assert second[:2] == first


def test_what_waits_for_approval_is_remembered_once_it_is_resumed(memories: Memories) -> None:
    made = graph(memories, model("It is brass."), approve=True)
    told = config("ana", "t")
    made.invoke({"messages": [HumanMessage(ASKED)]}, told)
    assert texts(memories) == [ASKED]
    made.invoke(Command(resume=True), told)
    assert texts(memories) == [ASKED, "It is brass."]


def test_a_run_that_is_resumed_in_another_process_is_remembered_once(memories: Memories) -> None:
    saver = InMemorySaver()
    told = config("ana", "t")
    first = graph(memories, model("It is brass."), approve=True)
    first.checkpointer = saver
    first.invoke({"messages": [HumanMessage(ASKED)]}, told)
    second = graph(memories, model(), approve=True)
    second.checkpointer = saver
    second.invoke(Command(resume=True), told)
    assert texts(memories) == [ASKED, "It is brass."]


def test_a_tool_loop_that_goes_on_in_another_process_makes_the_answer_anew() -> None:
    store = MemoryStore()
    call: Any = {"name": "weigh", "args": {}, "id": "t1", "type": "tool_call"}
    tool = [AIMessage("", tool_calls=[call]), ToolMessage("Two kilos.", tool_call_id="t1")]
    here = Memories(store, encoder=BagEncoder())
    first = with_memory(model("Hello.", "It is tin.", tool[0]), here)
    for said in ("I am Ana.", ASKED, ASKED):
        first.invoke([HumanMessage(said)], config())
    elsewhere = Memories(store, encoder=BagEncoder())
    second = with_memory(model("It is brass."), elsewhere)
    second.invoke([HumanMessage(ASKED), *tool], config())
    held = [item.text for item in holding(elsewhere.of("ana"))]
    assert held == ["I am Ana.", "Hello.", ASKED, "It is brass."]


def test_a_state_may_be_an_object_with_fields_of_other_names(memories: Memories) -> None:
    recall, remember = memory_nodes(memories, messages="talk", memory="known")

    @dataclass
    class Talk:
        talk: Annotated[list[Any], operator.add] = field(default_factory=list)
        known: str = ""

    built = StateGraph(Talk)
    built.add_node("recall", recall)
    built.add_node("answer", lambda state: {"talk": [AIMessage(state.known or "Noted.")]})
    built.add_node("remember", remember)
    made = (
        built.add_edge(START, "recall")
        .add_edge("recall", "answer")
        .add_edge("answer", "remember")
        .compile()
    )
    made.invoke({"talk": [("user", VALVE)]}, config())
    assert texts(memories) == [VALVE, "Noted."]


def test_two_users_of_one_graph_never_see_each_others(memories: Memories) -> None:
    made = graph(memories, model(), memory="memory")
    made.invoke({"messages": [HumanMessage(VALVE)]}, config("ana", "t1"))
    state = made.invoke({"messages": [HumanMessage(ASKED)]}, config("ben", "t2"))
    assert state["memory"] == ""
