"""The LlamaIndex adapter keeps the contract of all adapters, inside LlamaIndex's own memory, engines and agents."""

from __future__ import annotations

import asyncio
import copy
import pickle
import runpy
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from test_readme import blocks, run_python

pytest.importorskip("llama_index.core", reason="the llama_index adapter: pip install 'demem-agent[llama-index]'")

from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ImageBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLMWithChatMemoryOfLastCall
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore, QueryBundle, TextNode

from demem_adapters.llama_index import MemoryBlock, MemoryPostprocessor, MemoryRetriever
from demem_adapters.shared import DECLARED, Memories
from demem_agent.errors import StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

ROOT = Path(__file__).parents[1]
VALVE = "My boiler has a brass valve."
HOUSE = [
    "The boiler in the kitchen has a brass valve.",
    "The boiler in the cellar has a steel valve.",
    "The bathroom tap is red and was fitted in May.",
    "The roof was mended by a carpenter from Graz.",
    "The garden gate squeaks in winter.",
    "The stairs were painted green last summer.",
    "A plumber called Omar looks after the pipes.",
    "The attic window does not close.",
    "The chimney was swept in October.",
    "The doorbell rings twice.",
]
OMAR = "Who looks after the pipes?"
ChatMemory = Callable[..., Memory]

# LlamaIndex's workflows look at every attribute of an agent, also at those that pydantic has deprecated.
looks_at_all = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


@pytest.fixture(autouse=True)
def event_loop() -> Iterator[None]:
    """Closes the event loop that LlamaIndex's sync methods would make and leave open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def clock() -> datetime:
    return datetime(2025, 5, 8)


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder(), clock=clock)


@pytest.fixture
def chat_memory() -> Iterator[ChatMemory]:
    """Makes chat histories so short that every earlier turn leaves them; closes their databases."""
    made: list[Memory] = []

    def make(block: MemoryBlock, session: str = "s1", insert: InsertMethod = InsertMethod.USER) -> Memory:
        memory = Memory.from_defaults(
            session_id=session,
            token_limit=40,
            token_flush_size=1,
            chat_history_token_ratio=0.2,
            tokenizer_fn=str.split,
            memory_blocks=[block],
            insert_method=insert,
        )
        made.append(memory)
        return memory

    yield make
    for memory in made:
        asyncio.run(closed(memory))


async def closed(memory: Memory) -> None:
    engine, _ = await memory.sql_store._setup_connections()
    await engine.dispose()


def answering(text: str = "Noted") -> MockFunctionCallingLLM:
    return MockFunctionCallingLLM(blocks_to_content_callback=lambda *_: text)


def texts(memories: Memories, namespace: str = "default") -> list[str]:
    memory = memories.known(namespace)
    return [item.text for item in memory.evidence()] if memory else []


def said(*turns: str) -> list[ChatMessage]:
    roles = ("user", "assistant")
    return [ChatMessage(role=roles[n % 2], content=text) for n, text in enumerate(turns)]


def nodes(*texts: str) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text, id_=f"n{n}"), score=1 - n / 10) for n, text in enumerate(texts)]


class Fixed(BaseRetriever):
    def __init__(self, found: Sequence[NodeWithScore]) -> None:
        super().__init__()
        self.found = list(found)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.found


# The block


def test_what_leaves_the_history_is_remembered_as_it_was_said(memories: Memories, chat_memory: ChatMemory) -> None:
    memory = chat_memory(MemoryBlock(memories=memories))
    memory.put_messages(said(VALVE, "Good to know.", "And a red tap in the bathroom upstairs.", "Noted."))
    assert texts(memories) == [VALVE, "Good to know."]
    (first, _) = memories.of("default").evidence()
    assert (first.speaker, first.session) == ("user", "s1")


@pytest.mark.parametrize("insert", list(InsertMethod))
def test_what_was_said_before_reaches_the_model_as_data(
    memories: Memories, chat_memory: ChatMemory, insert: InsertMethod
) -> None:
    llm = MockLLMWithChatMemoryOfLastCall(max_tokens=2)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=chat_memory(MemoryBlock(memories=memories), insert=insert))
    engine.chat(VALVE)
    engine.chat("The bathroom upstairs has a red tap and a green one.")
    engine.chat("Which valve has my boiler?")
    assert llm.last_chat_messages is not None
    (block,) = [m for m in llm.last_chat_messages if DECLARED in (m.content or "")]
    assert block.role == insert.value
    assert VALVE in (block.content or "")


def test_what_was_put_before_the_model_is_not_remembered_again(memories: Memories, chat_memory: ChatMemory) -> None:
    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)
    memory.put_messages(said(VALVE, "Good to know.", "Which valve has my boiler, and is it made of brass?"))
    augmented = memory.get()
    assert any(DECLARED in (message.content or "") for message in augmented)
    asyncio.run(block.aput(augmented, session_id="s1"))
    assert texts(memories) == [VALVE, "Good to know.", "Which valve has my boiler, and is it made of brass?"]


def test_the_same_messages_again_are_remembered_once(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    for _ in range(2):
        asyncio.run(block.aput(said(VALVE, "Good to know."), session_id="s1"))
    assert texts(memories) == [VALVE, "Good to know."]


def test_the_rest_of_a_session_can_be_handed_over_at_its_end(memories: Memories, chat_memory: ChatMemory) -> None:
    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)
    turns = [VALVE, "Good to know.", "And a red tap in the bathroom upstairs.", "Noted."]
    memory.put_messages(said(*turns))
    asyncio.run(block.aput(memory.get_all(), session_id=memory.session_id))
    assert texts(memories) == turns


def test_a_memory_that_fails_does_not_stop_the_conversation(
    chat_memory: ChatMemory, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(MemoryStore):
        def commit(self, address: Any, delta: Any) -> None:
            raise StoreError("made to fail")

    memory = chat_memory(MemoryBlock(memories=Memories(Broken(), encoder=BagEncoder())))
    memory.put_messages(said(VALVE, "Good to know.", "And a red tap in the bathroom upstairs."))
    assert len(memory.get()) == 1
    assert caplog.messages == ["messages were not remembered: StoreError"]


def test_only_what_somebody_said_is_remembered(memories: Memories) -> None:
    messages = [ChatMessage(role=role, content=f"From {role}.") for role in ("system", "user", "tool", "assistant")]
    messages += [ChatMessage(role="user", blocks=[ImageBlock(image=b"png")]), ChatMessage(role="assistant", blocks=[])]
    asyncio.run(MemoryBlock(memories=memories).aput(messages))
    assert texts(memories) == ["From user.", "From assistant."]


def test_the_limit_holds_in_what_the_block_gives() -> None:
    memories = Memories(limit=120, encoder=BagEncoder())
    memories.of("default").ingest_many([{"text": f"The boiler in room {n} has a brass valve."} for n in range(30)])
    content = asyncio.run(MemoryBlock(memories=memories).aget(said("Which valve has the boiler?")))
    assert 0 < len(content.removeprefix(DECLARED).strip()) <= 120


def test_one_session_never_sees_anothers_where_sessions_are_namespaces(
    memories: Memories, chat_memory: ChatMemory
) -> None:
    block = MemoryBlock(memories=memories, namespace=lambda session: session)
    ana, ben = chat_memory(block, "ana"), chat_memory(block, "ben")
    ana.put_messages(said(VALVE, "Good to know.", "Which valve has my boiler, and is it made of brass?"))
    ben.put_messages(said("Which valve has my boiler?"))
    assert any(VALVE in (message.content or "") for message in ana.get())
    assert [message.content for message in ben.get()] == ["Which valve has my boiler?"]
    assert memories.known("ben") is None


@looks_at_all
def test_an_agent_whose_model_fails_leaves_only_what_the_user_said(memories: Memories, chat_memory: ChatMemory) -> None:
    class Broken(MockFunctionCallingLLM):
        async def astream_chat_with_tools(self, *_: Any, **__: Any) -> Any:
            raise ConnectionError("reset")

    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)

    async def run() -> None:
        with pytest.raises(ConnectionError):
            await FunctionAgent(llm=Broken(), tools=[]).run(user_msg=VALVE, memory=memory)
        await block.aput(await memory.aget_all(), session_id=memory.session_id)

    asyncio.run(run())
    assert texts(memories) == [VALVE]


@looks_at_all
def test_an_agent_remembers_both_sides(memories: Memories, chat_memory: ChatMemory) -> None:
    memory = chat_memory(MemoryBlock(memories=memories))

    async def run() -> None:
        agent = FunctionAgent(llm=answering("Good to know."), tools=[])
        await agent.run(user_msg=VALVE, memory=memory)
        await agent.run(user_msg="The bathroom upstairs has a red tap and a green one.", memory=memory)

    asyncio.run(run())
    assert texts(memories) == [VALVE, "Good to know."]


# The retriever


def test_a_node_says_what_was_said_when_by_whom_and_where_it_comes_from(memories: Memories) -> None:
    memories.remember("ana", "I moved yesterday.", speaker="Ana", at="2025-05-08T10:00", session="s1", source_id="t1")
    (found,) = MemoryRetriever(memories, namespace="ana").retrieve("When did Ana move?")
    assert found.node.get_content(MetadataMode.LLM).startswith("8 May 2025, Ana: I moved yesterday")
    assert found.node.metadata == {
        "evidence_id": "e1",
        "speaker": "Ana",
        "at": "2025-05-08T10:00:00",
        "session": "s1",
        "source_id": "t1",
    }


LINES = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=80).filter(str.strip),
        st.sampled_from([None, "2025-05-08T10:00", "2025-05-08T11:00", "2025-06-01T08:00"]),
        st.sampled_from([None, "Ana", "Ben"]),
    ),
    min_size=1,
    max_size=12,
)


@settings(deadline=None, max_examples=20)
@given(LINES, st.integers(60, 400), st.sampled_from(["chars", "bytes", "tokens"]))
def test_the_limit_holds_in_what_the_nodes_show_a_model(lines: list[Any], limit: int, unit: Any) -> None:
    memories = Memories(limit=limit, unit=unit, encoder=BagEncoder(), **({"counter": len} if unit == "tokens" else {}))
    memories.of("default").ingest_many({"text": text, "at": at, "speaker": who} for text, at, who in lines)
    found = MemoryRetriever(memories).retrieve("boiler")
    shown = "\n\n".join(node.node.get_content(MetadataMode.LLM) for node in found)
    assert (len(shown.encode()) if unit == "bytes" else len(shown)) <= limit


def test_there_is_a_node_for_each_line_that_is_read(memories: Memories) -> None:
    memories.of("default").ingest_many([{"text": f"Room {n}\nhas # a brass\n- valve."} for n in range(5)])
    found = MemoryRetriever(memories).retrieve("Which valve?")
    assert {node.node.metadata["evidence_id"] for node in found} == {"e1", "e2", "e3", "e4", "e5"}
    assert {node.text for node in found} == {f"8 May 2025, {text}" for text in texts(memories)}


def test_nodes_come_best_first(memories: Memories) -> None:
    memories.of("default").ingest_many([{"text": text} for text in HOUSE])
    assert (
        MemoryRetriever(memories).retrieve(OMAR)[0].text == "8 May 2025, A plumber called Omar looks after the pipes."
    )


def test_a_summary_is_one_node() -> None:
    memories = Memories(mode="strict", encoder=BagEncoder())
    memories.remember("default", VALVE, at="2025-05-08")
    (found,) = MemoryRetriever(memories).retrieve("Which valve has my boiler?")
    reading = memories.recall("default", "Which valve has my boiler?")
    assert reading is not None
    assert found.text == reading.text


def test_retrieving_from_a_namespace_never_written_gives_nothing_and_makes_nothing(memories: Memories) -> None:
    retriever = MemoryRetriever(memories, namespace="nobody")
    assert retriever.retrieve("anything") == []
    assert asyncio.run(retriever.aretrieve("anything")) == []
    assert memories.known("nobody") is None


def test_a_retriever_reads_the_namespace_of_its_query_alone(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    memories.remember("ben", "My boiler has no valve.")
    retriever = MemoryRetriever(memories, namespace=lambda query: query.query_str.split(":")[0])
    assert [node.text for node in retriever.retrieve("ana: which valve?")] == [f"8 May 2025, {VALVE}"]


def test_reading_in_an_event_loop_does_not_block_it(memories: Memories) -> None:
    threads: set[int] = set()

    class Watched(BagEncoder):
        def encode(self, sentences: list[str], /) -> Any:
            threads.add(threading.get_ident())
            return super().encode(sentences)

    memories = Memories(encoder=Watched())

    async def run() -> None:
        await MemoryBlock(memories=memories).aput(said(VALVE))
        await MemoryBlock(memories=memories).aget(said("Which valve?"))
        await MemoryRetriever(memories).aretrieve("Which boiler?")
        await MemoryPostprocessor(memories=memories).apostprocess_nodes(nodes(VALVE), query_str="Which one?")

    asyncio.run(run())
    assert threads
    assert threading.get_ident() not in threads


def test_a_similarity_cutoff_lets_an_engine_abstain() -> None:
    memories = Memories(limit=150)
    memories.of("default").ingest_many([{"text": text} for text in HOUSE])
    asked = {"What is the valve of the kitchen boiler made of?": True, "Who won the chess cup in Reykjavik?": False}
    keep = SimilarityPostprocessor(similarity_cutoff=0.5)
    found = {query: bool(keep.postprocess_nodes(MemoryRetriever(memories).retrieve(query))) for query in asked}
    assert found == asked


def test_it_can_be_fused_with_another_retriever(memories: Memories) -> None:
    memories.remember("default", VALVE)
    both = [MemoryRetriever(memories), Fixed(nodes("Brass is an alloy of copper and zinc."))]
    fused = QueryFusionRetriever(both, llm=answering(), num_queries=1, similarity_top_k=5, use_async=False)
    assert sorted(node.text for node in fused.retrieve("What is brass?")) == [
        f"8 May 2025, {VALVE}",
        "Brass is an alloy of copper and zinc.",
    ]


# The postprocessor


def test_selected_nodes_are_those_that_bear_on_the_query(memories: Memories) -> None:
    selected = MemoryPostprocessor(memories=memories, limit=130).postprocess_nodes(nodes(*HOUSE), query_str=OMAR)
    assert "n6" in [node.node.node_id for node in selected]
    assert len(selected) <= 3


@settings(deadline=None, max_examples=20)
@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=120), max_size=10),
    st.integers(60, 400),
    st.sampled_from(["chars", "bytes"]),
)
def test_the_limit_holds_in_the_selected_nodes(given_texts: list[str], limit: int, unit: Any) -> None:
    memories = Memories(limit=limit, unit=unit, encoder=BagEncoder())
    memories.of("documents").ingest_many([{"text": text} for text in HOUSE])
    select = MemoryPostprocessor(memories=memories)
    shown = "\n\n".join(
        n.text for n in select.postprocess_nodes(nodes(*given_texts), query_str="boiler") if n.text.strip()
    )
    assert (len(shown.encode()) if unit == "bytes" else len(shown)) <= limit


def test_selected_nodes_keep_their_order_score_and_metadata_and_the_given_ones_their_text(memories: Memories) -> None:
    given_nodes = nodes(*HOUSE)
    for node in given_nodes:
        node.node.metadata = {"file": "house.txt"}
    selected = MemoryPostprocessor(memories=memories, limit=300).postprocess_nodes(given_nodes, query_str=OMAR)
    kept = [(node.node.node_id, node.score) for node in selected]
    assert kept == [pair for node in given_nodes if (pair := (node.node.node_id, node.score)) in kept]
    assert {node.node.metadata["file"] for node in selected} == {"house.txt"}
    assert [node.text for node in given_nodes] == HOUSE


def test_what_another_query_brought_is_never_given(memories: Memories) -> None:
    select = MemoryPostprocessor(memories=memories)
    select.postprocess_nodes(nodes(*HOUSE), query_str=OMAR)
    selected = select.postprocess_nodes(nodes("Nothing about pipes."), query_str=OMAR)
    assert [node.text for node in selected] == ["Nothing about pipes."]


def test_the_limit_is_filled_though_the_memory_holds_more_than_the_nodes(memories: Memories) -> None:
    select = MemoryPostprocessor(memories=memories, limit=200)
    select.postprocess_nodes(nodes(*HOUSE), query_str=OMAR)
    selected = select.postprocess_nodes(nodes(*HOUSE)[:6], query_str=OMAR)
    assert sum(len(node.text) for node in selected) > 140


def test_a_node_is_remembered_once_and_given_once(memories: Memories) -> None:
    select = MemoryPostprocessor(memories=memories)
    for _ in range(2):
        assert len(select.postprocess_nodes(nodes(VALVE) * 2, query_str="Which valve?")) == 1
    assert texts(memories, "documents") == [VALVE]


def test_a_node_that_changed_is_read_as_it_is_now(memories: Memories) -> None:
    select = MemoryPostprocessor(memories=memories)
    select.postprocess_nodes(nodes(VALVE), query_str="Which valve?")
    (selected,) = select.postprocess_nodes(nodes("My boiler has a steel valve."), query_str="Which valve?")
    assert selected.text == "My boiler has a steel valve."


def test_metadata_that_a_memory_understands_is_remembered_and_the_rest_does_no_harm(memories: Memories) -> None:
    told: dict[str, Any] = {"speaker": "Ana", "at": "2024-01-02", "session": "s1", "source": "chat"}
    odd: dict[str, Any] = {"speaker": 3, "at": "on Monday", "session": None, "source": ["a"]}
    given_nodes = [NodeWithScore(node=TextNode(text=VALVE, metadata=metadata)) for metadata in (told, odd)]
    assert len(MemoryPostprocessor(memories=memories).postprocess_nodes(given_nodes, query_str="Which valve?")) == 2
    first, second = memories.of("documents").evidence()
    assert (first.speaker, first.at, first.session, first.source) == ("Ana", datetime(2024, 1, 2), "s1", "chat")
    assert (second.speaker, second.session, second.source) == (None, None, None)


def test_nodes_without_text_and_nodes_without_a_query_pass(memories: Memories) -> None:
    select = MemoryPostprocessor(memories=memories)
    picture = NodeWithScore(node=ImageNode(image="aGk="), score=0.5)
    assert select.postprocess_nodes([picture], query_str="Which valve?") == [picture]
    assert select.postprocess_nodes(nodes(VALVE)) == nodes(VALVE)


def test_it_selects_for_a_query_engine(memories: Memories) -> None:
    engine = RetrieverQueryEngine(
        Fixed(nodes(*HOUSE)),
        response_synthesizer=get_response_synthesizer(llm=MockLLMWithChatMemoryOfLastCall()),
        node_postprocessors=[MemoryPostprocessor(memories=memories, limit=150)],
    )
    response = engine.query(OMAR)
    assert len(response.source_nodes) < len(HOUSE)
    assert "called Omar" in str(response)


# Copies, docs, example


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deep", "pickle"])
def test_a_block_and_a_postprocessor_can_be_copied(memories: Memories, copied: Any) -> None:
    block, select = MemoryBlock(memories=memories), MemoryPostprocessor(memories=memories)
    asyncio.run(block.aput(said(VALVE)))
    again, selecting = copied(block), copied(select)
    asyncio.run(again.aput(said("Only the copy knows this.")))
    assert (len(texts(memories)), len(texts(again.memories))) == (1, 2)
    assert selecting.postprocess_nodes(nodes(VALVE), query_str="Which valve?")[0].text == VALVE


def test_what_a_memory_holds_does_not_travel_in_its_json(memories: Memories, chat_memory: ChatMemory) -> None:
    memory = chat_memory(MemoryBlock(memories=memories))
    memory.put_messages(said(VALVE, "Good to know.", "And a red tap in the bathroom upstairs."))
    assert VALVE not in memory.model_dump_json()


def test_the_python_of_its_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "adapters" / "llama_index.md").read_text(encoding="utf-8")
    assert page.count("\n") <= 40
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            run_python(block, namespace)
    asyncio.run(closed(namespace["memory"]))


def test_its_example_shows_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    done = runpy.run_path(str(ROOT / "examples" / "llama_index_memory.py"), run_name="__main__")
    asyncio.run(closed(done["memory"]))
    last = capsys.readouterr().out.split("Which valve is in the kitchen's boiler?")[-1]
    assert "has a brass valve" in last
    assert "Ines visits in October" in last.split("Retrieved")[-1]
