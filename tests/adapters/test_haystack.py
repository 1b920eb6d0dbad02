"""The Haystack adapter keeps the contract of all adapters, in Haystack's pipelines and agents."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import os
import threading
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # Haystack reads it when it is imported
pytest.importorskip("haystack", reason="the haystack adapter: pip install 'demem-agent[haystack]'")

from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers import MultiRetriever
from haystack.core.errors import DeserializationError, SerializationError
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.hooks import hook
from haystack.tools import tool
from haystack.utils.filters import document_matches_filter
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_adapters.common import DECLARED, Memories
from demem_adapters.haystack import MemoryRetriever, MemoryWriter, SharedMemories, memory_hooks
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder

OURS = ["demem_adapters.*"]


def clock() -> datetime:
    return datetime(2025, 5, 8)


@pytest.fixture
def memories() -> SharedMemories:
    return SharedMemories(encoder=BagEncoder(), clock=clock)


def texts(memories: Memories, namespace: str = "default") -> list[str]:
    return texts_of(memories, namespace)


def user(text: str) -> ChatMessage:
    return ChatMessage.from_user(text)


def reply(text: str, **meta: Any) -> ChatMessage:
    return ChatMessage.from_assistant(text, meta=meta)


def calls(name: str, said: str | None = None) -> ChatMessage:
    return ChatMessage.from_assistant(said, tool_calls=[ToolCall(name, {})])


class Watched:
    """A model that notes what it is sent."""

    def __init__(self, *replies: ChatMessage, fails: bool = False) -> None:
        self.seen: list[list[ChatMessage]] = []
        self.replies, self.fails = list(replies), fails

    def __call__(self, messages: list[ChatMessage]) -> ChatMessage:
        self.seen.append(list(messages))
        if self.fails:
            raise ConnectionError("reset")
        return self.replies.pop(0) if self.replies else reply("Noted.")

    def agent(self, memories: Memories, **more: Any) -> Agent:
        ours = ("inject", "namespace", "asker", "conditions", "where")
        hooks = memory_hooks(memories, **{name: more.pop(name) for name in ours if name in more})
        return Agent(chat_generator=MockChatGenerator(response_fn=self), hooks=hooks, **more)


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
        meta = {"finish_reason": {"cut": "length", "odd": "eos_reached"}.get(ending, "stop")}
        watched = Watched(ChatMessage.from_assistant(reply, meta=meta), fails=ending == "fails")
        context = {"namespace": who, **({"turn": event} if event else {})}
        bot = watched.agent(self.memories, **self.asking)
        run = bot.run_async([user(text)], hook_context=context)
        with contextlib.suppress(ConnectionError):
            asyncio.run(run)
        return [message.text or "" for message in watched.seen[-1]]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        bot = Watched().agent(self.memories)
        messages = [user(asks), reply(answers, finish_reason="stop"), user(asked)]
        asyncio.run(bot.run_async(messages, hook_context={"namespace": "ana"}))

    def say_all(self, said: Sequence[str]) -> None:
        bot = Watched(reply("Noted.", finish_reason="stop")).agent(self.memories)
        asyncio.run(bot.run_async([*map(user, said)], hook_context={"namespace": "ana"}))

    def parts(self) -> list[Any]:
        hooks = chain.from_iterable(memory_hooks(self.memories).values())
        return [MemoryRetriever(self.memories), MemoryWriter(self.memories), *hooks]


class TestContract(AdapterContract):
    name = "haystack"
    driver = Agents
    shows = (*AdapterContract.shows, "from YAML: The boiler in the kitchen")


# Components


def test_a_pipeline_reads_a_dated_text_and_documents(memories: SharedMemories) -> None:
    memories.remember("ana", VALVE, speaker="Ana", session="s1", source_id="t1")
    found = MemoryRetriever(memories).run(ASKED, namespace="ana")
    assert found["text"].startswith(DECLARED)
    assert "# 8 May 2025\n- Ana: My boiler" in found["text"]
    (document,) = found["documents"]
    about = {
        "evidence_id": "e1",
        "at": "2025-05-08T00:00:00",
        "speaker": "Ana",
        "session": "s1",
        "source_id": "t1",
    }
    assert (document.content, document.meta) == (VALVE, about)
    assert 0 <= document.score <= 1


@pytest.mark.parametrize("unit", ["chars", "bytes"])
def test_the_limit_holds_in_the_text_and_in_the_documents(unit: Any) -> None:
    memories = SharedMemories(limit=250, unit=unit, encoder=BagEncoder())
    memories.of("default").ingest_many(
        [{"text": f"Der Kessel in Raum {n} hat ein Überventil."} for n in range(30)]
    )
    found = MemoryRetriever(memories).run("Welches Ventil hat der Kessel?")
    text = found["text"]
    assert text.startswith(DECLARED)
    contents = "\n".join(document.content for document in found["documents"])
    assert [
        0 < (len(t.encode()) if unit == "bytes" else len(t)) <= 250 for t in (text, contents)
    ] == [True, True]


def test_documents_come_best_first_at_most_top_k_and_by_filters(memories: SharedMemories) -> None:
    for n in range(9):
        memories.remember(
            "default", f"The gate {n} squeaks in winter.", speaker="Ana" if n % 2 else "Ben"
        )
    memories.remember("default", VALVE, speaker="Ana")
    retriever = MemoryRetriever(memories)
    assert [document.content for document in retriever.run(ASKED, top_k=1)["documents"]] == [VALVE]
    by_ben = {"field": "meta.speaker", "operator": "==", "value": "Ben"}
    for asked in (retriever, MemoryRetriever(memories, filters=by_ben)):
        given = by_ben if asked is retriever else None
        found = asked.run(ASKED, filters=given, top_k=3)["documents"]
        assert [document.meta["speaker"] for document in found] == ["Ben"] * 3


def test_a_threshold_leaves_out_documents_that_hardly_bear_on_the_query() -> None:
    memories = SharedMemories()
    memories.of("default").ingest_many([{"text": "The gate squeaks."}, {"text": VALVE}])
    retriever = MemoryRetriever(memories, score_threshold=0.3)
    assert [document.content for document in retriever.run(ASKED)["documents"]] == [VALVE]
    foreign = "Who won the chess cup in Reykjavik?"
    assert retriever.run(foreign)["documents"] == []
    every = retriever.run(foreign, score_threshold=0.0)["documents"]
    scores = [document.score for document in every]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 2


def has(field: str, operator: str, value: object) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def both(*conditions: dict[str, Any], operator: str = "AND") -> dict[str, Any]:
    return {"operator": operator, "conditions": [*conditions]}


LEAVES = st.one_of(
    st.builds(
        has,
        st.sampled_from(["meta.speaker", "meta.room", "meta.source_id", "meta.none", "room"]),
        st.sampled_from(["==", "!="]),
        st.sampled_from(["Ana", "Ben", "bath", "d2", "2024-05-01", 1, True, None]),
    ),
    st.builds(
        has,
        st.sampled_from(["meta.speaker", "meta.room", "meta.evidence_id"]),
        st.sampled_from(["in", "not in"]),
        st.lists(st.sampled_from(["Ana", "bath", "e3", 1]), max_size=2),
    ),
    st.builds(has, st.just("meta.floor"), st.sampled_from([">", "<="]), st.integers(0, 3)),
    st.builds(
        has, st.just("meta.at"), st.sampled_from(["==", ">="]), st.just("2024-05-01T00:00:00")
    ),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        both, inner, inner, operator=st.sampled_from(["AND", "AND", "OR", "NOT"])
    ),
    max_leaves=4,
)


def furnished() -> Memories:
    """Make a memory with six items that differ in all that a filter can ask for."""
    memories = Memories(encoder=BagEncoder(), clock=None)
    for n in range(6):
        memories.remember(
            "default",
            f"The boiler in room {n} of the house has a brass valve.",
            speaker=("Ana", "Ben", None)[n % 3],
            at=("2024-05-01", "2024-06-01", None)[n // 2],
            source_id=f"d{n}",
            metadata={"room": ("bath", "hall", 1)[n // 2], "floor": n, "source_id": "d2"},
        )
    return memories


@settings(max_examples=often(150), deadline=None)
@given(FILTERS)
def test_what_is_retrieved_is_what_haystack_itself_says_that_matches(
    filters: dict[str, Any],
) -> None:
    memories = furnished()
    retriever = MemoryRetriever(memories)
    every = retriever.run(ASKED)["documents"]
    assert len(every) == 6
    meant = {document.content for document in every if document_matches_filter(filters, document)}
    found = retriever.run(ASKED, filters=filters)
    assert {document.content for document in found["documents"]} == meant
    in_text = {document.content for document in every if document.content in found["text"]}
    assert in_text == meant


@pytest.mark.parametrize(
    "filters",
    [has("meta.speaker", "==", "Ben"), both(has("meta.floor", ">", 0), has("meta.floor", "<", 2))],
    ids=["by where", "by going through"],
)
def test_the_limit_is_filled_from_what_filters_leave(filters: dict[str, Any]) -> None:
    memories = Memories(encoder=BagEncoder(), limit=400)
    for n in range(60):
        memories.remember("default", f"{VALVE} In room {n}.", speaker="Ana", metadata={"floor": 0})
    memories.remember("default", "The boiler is warm.", speaker="Ben", metadata={"floor": 1})
    found = MemoryRetriever(memories).run(ASKED, filters=filters)
    assert [document.content for document in found["documents"]] == ["The boiler is warm."]
    assert "In room" not in found["text"]


@pytest.mark.parametrize("operator", ["==", "!="])
def test_filters_on_summaries_are_refused(operator: str) -> None:
    memories = Memories(encoder=BagEncoder(), mode="strict")
    memories.remember("default", VALVE, speaker="Ana")
    with pytest.raises(InvalidInput):
        MemoryRetriever(memories).run(ASKED, filters=has("meta.speaker", operator, "Ben"))


def test_retrieving_from_a_namespace_never_written_gives_nothing_and_makes_nothing(
    memories: SharedMemories,
) -> None:
    assert MemoryRetriever(memories).run(ASKED, namespace="nobody") == {"documents": [], "text": ""}
    assert memories.known("nobody") is None


def test_components_keep_to_a_namespace_of_theirs_or_of_a_run(memories: SharedMemories) -> None:
    MemoryWriter(memories).run(messages=[user(VALVE)], namespace="ana")
    assert MemoryRetriever(memories).run(ASKED, namespace="ben")["documents"] == []
    assert MemoryRetriever(memories, namespace="ana").run(ASKED)["documents"][0].content == VALVE


def test_a_writer_remembers_what_was_said_once(memories: SharedMemories) -> None:
    history = [
        ChatMessage.from_system("Be brief."),
        user(VALVE),
        reply("Noted.", finish_reason="stop"),
    ]
    writer = MemoryWriter(memories)
    assert writer.run(messages=history, session="s1") == {"written": 2}
    assert writer.run(messages=[*history, user(VALVE)], session="s1") == {"written": 3}
    assert texts(memories) == [VALVE, "Noted.", VALVE]


@pytest.mark.parametrize("reason", ["length", "content_filter", None])
def test_a_writer_does_not_remember_a_reply_that_was_cut_off(
    memories: SharedMemories, reason: str | None
) -> None:
    MemoryWriter(memories).run(messages=[user(VALVE), reply("Not", finish_reason=reason)])
    assert texts(memories) == [VALVE]


def test_a_writer_does_not_remember_what_a_retriever_read(memories: SharedMemories) -> None:
    memories.remember("default", VALVE)
    read = MemoryRetriever(memories).run(ASKED)["text"].removeprefix(DECLARED)
    MemoryWriter(memories).run(messages=[user(f"{read}\n{ASKED}")])
    assert [text.strip() for text in texts(memories)] == [VALVE, ASKED]


def test_a_writer_remembers_documents_with_what_their_meta_says(memories: SharedMemories) -> None:
    document = Document(content=VALVE, meta={"source": "house.txt", "at": "2024-01-02", "page": 3})
    for _ in range(2):
        assert MemoryWriter(memories).run(documents=[document, Document(content=" ")]) == {
            "written": 1
        }
    (item,) = memories.of("default").evidence()
    assert (item.text, item.source, item.source_id, item.at, item.metadata) == (
        VALVE,
        "house.txt",
        document.id,
        datetime(2024, 1, 2),
        {"page": 3},
    )
    (found,) = MemoryRetriever(memories).run(ASKED)["documents"]
    assert found.meta["page"] == 3


def test_of_a_documents_meta_what_is_no_json_or_too_much_is_not_kept(
    memories: SharedMemories,
) -> None:
    meta = {"made": datetime(2024, 1, 2), "long": "x" * 4000, "short": "y" * 400, "tags": ["a"]}
    MemoryWriter(memories).run(documents=[Document(content=VALVE, meta=meta)])
    (item,) = memories.of("default").evidence()
    assert item.metadata == {"short": "y" * 400, "tags": ["a"]}
    (found,) = MemoryRetriever(memories).run(ASKED)["documents"]
    assert found.meta["tags"] == ["a"]


def test_the_pieces_of_a_split_document_are_remembered_together(memories: SharedMemories) -> None:
    pieces = DocumentSplitter(split_by="word", split_length=6).run(
        [Document(content=f"{VALVE} The gate squeaks.")]
    )
    MemoryWriter(memories).run(documents=pieces["documents"])
    sessions = [item.session for item in memories.of("default").evidence()]
    assert len(sessions) == 2
    assert len(set(sessions)) == 1
    assert sessions[0]


def chat_pipeline(memories: SharedMemories) -> Pipeline:
    template = [ChatMessage.from_user("{{ memory }}\n{{ query }}")]
    pipeline = Pipeline()
    pipeline.add_component("recall", MemoryRetriever(memories))
    pipeline.add_component(
        "prompt", ChatPromptBuilder(template=template, required_variables=["query", "memory"])
    )
    pipeline.add_component("model", MockChatGenerator())
    pipeline.add_component("remember", MemoryWriter(memories))
    pipeline.connect("recall.text", "prompt.memory")
    pipeline.connect("prompt.prompt", "model.messages")
    return pipeline


ASKING = {
    "recall": {"query": ASKED},
    "prompt": {"query": ASKED},
    "remember": {"messages": [user(ASKED)]},
}


def test_a_pipeline_puts_what_was_recalled_before_its_model(memories: SharedMemories) -> None:
    memories.remember("default", VALVE)
    answer = chat_pipeline(memories).run(ASKING)["model"]["replies"][0].text
    assert VALVE in answer
    assert texts(memories) == [VALVE, ASKED]


def test_a_pipeline_that_is_awaited_does_not_block() -> None:
    threads: set[int] = set()

    class Noting(BagEncoder):
        def encode(self, sentences: list[str], /) -> Any:
            threads.add(threading.get_ident())
            return super().encode(sentences)

    memories = SharedMemories(encoder=Noting())
    result = asyncio.run(chat_pipeline(memories).run_async(ASKING))
    assert ASKED in result["model"]["replies"][0].text
    assert texts(memories) == [ASKED]
    assert threading.get_ident() not in threads


@pytest.mark.filterwarnings("ignore:'MultiRetriever' is an experimental component")
def test_it_can_be_one_of_several_retrievers(memories: SharedMemories) -> None:
    memories.remember("default", VALVE)
    several = MultiRetriever(retrievers={"memory": MemoryRetriever(memories)}, top_k=2)
    assert [document.content for document in several.run(query=ASKED)["documents"]] == [VALVE]


# YAML


def test_a_pipeline_from_yaml_has_the_memories_of_the_one_it_was_made_from() -> None:
    memories = SharedMemories(limit=500)
    memories.remember("default", VALVE)
    written = chat_pipeline(memories).dumps()
    assert VALVE not in written
    again = Pipeline.loads(written, allowed_modules=OURS)
    assert again.get_component("recall").memories is memories
    assert again.get_component("remember").memories is memories


def test_components_from_yaml_share_memories_where_none_live() -> None:
    written = chat_pipeline(SharedMemories(limit=500)).dumps()
    again = Pipeline.loads(written, allowed_modules=OURS)
    again.get_component("remember").run(messages=[user(VALVE)])
    assert again.get_component("recall").run(ASKED)["documents"][0].content == VALVE


def test_a_pipeline_from_yaml_goes_on_with_a_database(tmp_path: Path) -> None:
    with SharedMemories(f"sqlite:///{tmp_path}/bot.db", slots=3) as memories:
        MemoryWriter(memories).run(messages=[user(VALVE)])
        written = chat_pipeline(memories).dumps()
    with Pipeline.loads(written, allowed_modules=OURS).get_component("recall").memories as again:
        assert texts(again) == [VALVE]


def test_an_agent_goes_through_a_dictionary() -> None:
    memories = SharedMemories(limit=500)
    made = Agent(
        chat_generator=MockChatGenerator("Noted."), hooks=memory_hooks(memories, namespace="ana")
    )
    pipeline = Pipeline()
    pipeline.add_component("agent", made)
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=OURS)
    again.run({"agent": {"messages": [user(VALVE)]}})
    assert texts(memories, "ana") == [VALVE, "Noted."]


def test_what_cannot_be_written_down_is_said(memories: SharedMemories) -> None:
    pipeline = chat_pipeline(memories)
    with pytest.raises(SerializationError, match="BagEncoder"):
        pipeline.dumps()


def test_a_copy_is_known_by_a_name_of_its_own() -> None:
    memories = SharedMemories(limit=500)
    again = copy.deepcopy(memories)
    assert SharedMemories.from_dict(again.to_dict()) is again
    assert SharedMemories.from_dict(memories.to_dict()) is memories


def test_haystack_loads_it_only_where_it_was_allowed() -> None:
    with pytest.raises(DeserializationError):
        Pipeline.loads(chat_pipeline(SharedMemories()).dumps())


# Hooks


@pytest.mark.parametrize(("inject", "place"), [("user", 1), ("system", 1)])
def test_what_was_said_before_reaches_the_model_as_data(
    memories: SharedMemories, inject: Any, place: int
) -> None:
    watched = Watched()
    memories.remember("default", VALVE)
    watched.agent(memories, inject=inject, system_prompt="Be brief.").run([user(ASKED)])
    block = watched.seen[0][place]
    assert block.is_from(inject)
    assert (block.text or "").startswith(DECLARED)
    assert VALVE in (block.text or "")
    assert watched.seen[0][-1].text == ASKED


def test_what_is_recalled_stays_out_of_the_messages_and_of_the_memory(
    memories: SharedMemories,
) -> None:
    watched = Watched()
    agent = watched.agent(memories)
    first = agent.run([user(VALVE)])["messages"]
    second = agent.run([*first, user(ASKED)])["messages"]
    assert [message.text for message in second] == [VALVE, "Noted.", ASKED, "Noted."]
    assert any(DECLARED in (message.text or "") for message in watched.seen[1])
    assert texts(memories) == [VALVE, "Noted.", ASKED, "Noted."]


@tool
def look() -> str:
    """Look at the boiler."""
    return "a photograph"


def test_what_was_recalled_stays_the_same_while_tools_answer_the_model(
    memories: SharedMemories,
) -> None:
    @tool
    def note() -> str:
        """Note something that bears on the question."""
        memories.remember("default", "The valve of my boiler leaks.")
        return "noted"

    memories.remember("default", VALVE)
    watched = Watched(calls("note"))
    watched.agent(memories, tools=[note]).run([user(ASKED)])
    first, second = ([message.text for message in messages] for messages in watched.seen)
    assert second[: len(first)] == first
    assert watched.agent(memories).run([user(ASKED)])
    assert "leaks" in str(watched.seen[-1])


def test_there_is_one_block_in_every_call_of_a_run(memories: SharedMemories) -> None:
    memories.remember("default", VALVE)
    watched = Watched(calls("look"))
    result = watched.agent(memories, tools=[look]).run([user(ASKED)])
    for messages in watched.seen:
        assert sum(DECLARED in (message.text or "") for message in messages) == 1
    assert len(watched.seen) == 2
    assert [message.role.value for message in result["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


@pytest.mark.parametrize("reason", ["content_filter", None])
def test_a_cut_off_answer_is_not_remembered(memories: SharedMemories, reason: str | None) -> None:
    Watched(reply("Not", finish_reason=reason)).agent(memories).run([user(VALVE)])
    assert texts(memories) == [VALVE]


def test_a_run_out_of_steps_leaves_the_question(memories: SharedMemories) -> None:
    watched = Watched(*[calls("look") for _ in range(3)])
    watched.agent(memories, tools=[look], max_agent_steps=2).run([user(VALVE)])
    assert texts(memories) == [VALVE]


def test_a_run_that_a_tool_ends_leaves_the_question(memories: SharedMemories) -> None:
    watched = Watched(calls("look"))
    watched.agent(memories, tools=[look], exit_conditions=["look"]).run([user(VALVE)])
    assert texts(memories) == [VALVE]


def test_what_a_hook_remembered_a_writer_does_not_remember_again(memories: SharedMemories) -> None:
    watched = Watched(calls("look", "Let me look."))
    messages = watched.agent(memories, tools=[look]).run([user(VALVE)])["messages"]
    again = watched.agent(memories).run([*messages, user(ASKED)])["messages"]
    MemoryWriter(memories).run(messages=again)
    assert texts(memories) == [VALVE, "Noted.", ASKED, "Noted.", "Let me look."]


def test_the_same_question_later_in_a_conversation_is_remembered_again(
    memories: SharedMemories,
) -> None:
    messages = Watched().agent(memories).run([user("Yes.")])["messages"]
    Watched().agent(memories).run([*messages, user("Yes.")])
    assert texts(memories) == ["Yes.", "Noted."] * 2


def test_what_is_said_again_after_something_else_is_remembered_again(
    memories: SharedMemories,
) -> None:
    agent = Watched().agent(memories)
    for text in ("I live in Rome.", "I live in Oslo.", "I live in Rome.", "I live in Rome."):
        agent.run([user(text)])
    said = ["I live in Rome.", "Noted.", "I live in Oslo.", "Noted.", "I live in Rome.", "Noted."]
    assert texts(memories) == said
    agent.run([user("I live in Oslo.")])
    assert texts(memories) == [*said, "I live in Oslo.", "Noted."]


def test_a_turn_with_an_id_is_remembered_once_and_with_another_id_again(
    memories: SharedMemories,
) -> None:
    agent = Watched().agent(memories)
    for turn in ("t1", "t2", "t1"):
        agent.run([user("Yes.")], hook_context={"turn": turn})
    assert texts(memories) == ["Yes.", "Noted."] * 2


@pytest.mark.parametrize("nobody", [None, ""])
def test_a_run_whose_namespace_is_none_has_no_memory(
    memories: SharedMemories, nobody: str | None
) -> None:
    result = Watched().agent(memories).run([user(VALVE)], hook_context={"namespace": nobody})
    assert "demem_call" not in result["last_message"].meta
    Watched().agent(memories, namespace=None).run([user(VALVE)])
    assert MemoryWriter(memories, namespace=None).run(messages=[user(VALVE)]) == {"written": 0}
    assert MemoryRetriever(memories, namespace=None).run(ASKED) == {"documents": [], "text": ""}
    assert memories.export() == {}


def test_a_namespace_that_is_no_text_is_refused(memories: SharedMemories) -> None:
    with pytest.raises(InvalidInput, match="namespace"):
        Watched().agent(memories).run([user(VALVE)], hook_context={"namespace": 42})
    assert memories.export() == {}


def test_another_place_is_refused(memories: SharedMemories) -> None:
    with pytest.raises(InvalidInput, match="inject"):
        memory_hooks(memories, inject="bogus")  # type: ignore[arg-type]


def test_feedback_by_the_meta_of_the_reply(memories: SharedMemories) -> None:
    memories.remember("default", VALVE)
    watched = Watched(calls("look"))
    result = watched.agent(memories, tools=[look]).run([user(ASKED)])
    call = result["last_message"].meta["demem_call"]
    assert memories.feedback(call, namespace="default", thumbs=False).reward == 0.0
    assert memories.of("default").contexts()[-1].read[0][0] == "e1"


def test_the_state_of_a_run_can_be_written_down_between_its_steps(memories: SharedMemories) -> None:
    written: list[dict[str, Any]] = []

    @hook
    def write(state: State) -> None:
        written.append(json.loads(json.dumps(state.to_dict(skip_keys=["tools"]))))

    memories.remember("default", VALVE)
    hooks = {**memory_hooks(memories), "before_tool": [write]}
    generator = MockChatGenerator([calls("look"), "Noted."])
    Agent(chat_generator=generator, tools=[look], hooks=hooks).run(
        [user(ASKED)], hook_context={"trace": "t1"}
    )
    assert State.from_dict(written[0]).data["hook_context"] == {"trace": "t1"}


def test_a_run_says_who_asks_and_what_holds(memories: SharedMemories) -> None:
    told = {"namespace": "home", "asker": "ana", "conditions": ["rain"]}
    Watched().agent(memories).run([user(VALVE)], hook_context=told)
    (context,) = memories.of("home").contexts()
    assert (context.asker, context.conditions) == ("ana", ("rain",))
    assert [item.speaker for item in memories.of("home").evidence()] == ["ana", "assistant"]


def test_a_run_says_what_may_be_recalled(memories: SharedMemories) -> None:
    memories.remember("home", VALVE, speaker="Ana")
    for speaker, recalled in (("Ana", True), ("Ben", False)):
        watched = Watched()
        told = {"namespace": "home", "where": {"speaker": speaker}}
        watched.agent(memories).run([user(ASKED)], hook_context=told)
        assert (VALVE in str(watched.seen)) == recalled


def test_a_writer_and_a_retriever_are_told_who_speaks_and_asks(memories: SharedMemories) -> None:
    MemoryWriter(memories, asker="ana").run(messages=[user(VALVE), reply("Noted.")])
    MemoryWriter(memories).run(messages=[user("It leaks.")], asker="ben")
    said = memories.of("default").evidence()
    assert [item.speaker for item in said] == ["ana", "assistant", "ben"]
    found = MemoryRetriever(memories, asker="ana").run("What leaks?", asker="ben")["documents"]
    assert found[0].content == "It leaks."
