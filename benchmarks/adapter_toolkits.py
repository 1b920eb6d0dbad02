"""One turn, one retrieval or one writing through each toolkit for retrieval, with its adapter and
without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adapter_talk import Case, Talk

from demem_adapters.common import Memories
from demem_agent import Reading, SlotMemory

__all__ = ["TOOLKITS"]


def _langchain_agents(talk: Talk, memories: Memories) -> tuple[Any, Any]:
    from langchain.agents import create_agent
    from langchain_core.language_models import SimpleChatModel

    from demem_adapters.langchain import MemoryMiddleware

    class Fake(SimpleChatModel):
        @property
        def _llm_type(self) -> str:
            return "fake"

        def _call(self, *_: Any, **__: Any) -> str:
            return talk.said

        async def _agenerate(self, *given: Any, **more: Any) -> Any:
            return self._generate(
                *given, **more
            )  # not in a thread, as a model behind a network is not either

    return create_agent(Fake(), middleware=[MemoryMiddleware(memories)]), create_agent(Fake())


def langchain(talk: Talk, memories: Memories) -> Case:
    """Make an agent of LangChain with memory as middleware."""

    def turn(agent: Any) -> None:
        agent.invoke({"messages": [{"role": "user", "content": talk.asked}]})

    ours, bare = _langchain_agents(talk, memories)
    return Case(lambda: turn(ours), lambda: turn(bare))


def langchain_async(talk: Talk, memories: Memories) -> Case:
    """Make the same, called from an event loop."""

    def turn(agent: Any) -> None:
        talk.run(agent.ainvoke({"messages": [{"role": "user", "content": talk.asked}]}))

    ours, bare = _langchain_agents(talk, memories)
    return Case(lambda: turn(ours), lambda: turn(bare))


def langchain_retriever(talk: Talk, memories: Memories) -> Case:
    """Make a retriever of LangChain that reads from memory."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    from demem_adapters.langchain import MemoryRetriever

    class Nothing(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return []

    bare = Nothing()
    ours = MemoryRetriever(memories=memories)
    return Case(lambda: ours.invoke(talk.asked), lambda: bare.invoke(talk.asked), keeps=())


def langgraph_store(talk: Talk, memories: Memories) -> Case:
    """Make a store of LangGraph whose searches are answered from memory."""
    from langgraph.store.memory import InMemoryStore

    from demem_adapters.langgraph import wrap

    facts = ("facts", "ana")
    most = 5
    bare = InMemoryStore()
    ours = wrap(InMemoryStore(), memories)
    for n, item in enumerate(talk.earlier()):
        bare.put(facts, f"k{n}", {"text": item["text"]})
        ours.put(facts, f"k{n}", {"text": item["text"]})

    def turn(store: Any) -> None:
        store.search(facts, query=talk.asked, limit=most)
        store.put(facts, f"job {talk.number}", {"text": talk.said})

    def read(memory: SlotMemory, query: str) -> Reading:
        # As much as the adapter reads at first.
        return memory.read(query, limit=500 * most, mode="evidence")

    return Case(
        lambda: turn(ours), lambda: turn(bare), namespace="facts.ana", keeps=("said",), read=read
    )


def llama_index(talk: Talk, memories: Memories, others: tuple[str, ...] = ()) -> Case:
    """Make an agent's memory of LlamaIndex with a block of ours, and others of its own."""
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock
    from llama_index.core.chat_engine import SimpleChatEngine
    from llama_index.core.llms.mock import MockLLM
    from llama_index.core.memory import Memory, StaticMemoryBlock

    from demem_adapters.llama_index import MemoryBlock

    class Fake(MockLLM):
        async def achat(self, *_: Any, **__: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(role="assistant", content=talk.said))

    async def turn(memory: Memory, *blocks: Any) -> None:
        await memory.areset()
        await SimpleChatEngine.from_defaults(llm=Fake(), memory=memory).achat(talk.asked)
        said = await memory.aget_all()
        for block in blocks:
            await block.aput(said, session_id=memory.session_id)

    beside = [
        StaticMemoryBlock(name=text, static_content=[TextBlock(text=text)]) for text in others
    ]
    block = MemoryBlock(memories=memories)
    ours = Memory.from_defaults(memory_blocks=[*beside, block])
    bare = Memory.from_defaults(memory_blocks=beside)
    return Case(lambda: talk.run(turn(ours, block)), lambda: talk.run(turn(bare)))


def llama_index_retriever(talk: Talk, memories: Memories) -> Case:
    """Make a retriever of LlamaIndex that reads from memory."""
    from llama_index.core.retrievers import BaseRetriever

    from demem_adapters.llama_index import MemoryRetriever

    class Nothing(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            return []

    bare, ours = Nothing(), MemoryRetriever(memories)
    return Case(lambda: ours.retrieve(talk.asked), lambda: bare.retrieve(talk.asked), keeps=())


def haystack(talk: Talk, memories: Memories) -> Case:
    """Make an agent of Haystack with hooks that recall and remember."""
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.dataclasses import ChatMessage

    from demem_adapters.haystack import memory_hooks

    bare = Agent(chat_generator=MockChatGenerator(response_fn=lambda _: talk.said))
    model = MockChatGenerator(response_fn=lambda _: talk.said)
    ours = Agent(chat_generator=model, hooks=memory_hooks(memories))

    def turn(agent: Agent) -> None:
        agent.run([ChatMessage.from_user(talk.asked)])

    return Case(lambda: turn(ours), lambda: turn(bare))


def _pipeline(part: Any) -> Any:
    from haystack import Pipeline

    made = Pipeline()
    made.add_component("part", part)
    return made


def haystack_retriever(talk: Talk, memories: Memories) -> Case:
    """Make a component of Haystack that reads from memory."""
    from haystack import Document, component

    from demem_adapters.haystack import MemoryRetriever

    @component
    class Nothing:
        @component.output_types(documents=list[Document], text=str)
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [], "text": ""}

    ours, bare = _pipeline(MemoryRetriever(memories)), _pipeline(Nothing())

    def turn(pipeline: Any) -> None:
        pipeline.run({"part": {"query": talk.asked}})

    return Case(lambda: turn(ours), lambda: turn(bare), keeps=())


def haystack_writer(talk: Talk, memories: Memories) -> Case:
    """Make a component of Haystack that remembers messages."""
    from haystack import component
    from haystack.dataclasses import ChatMessage

    from demem_adapters.haystack import MemoryWriter

    @component
    class Nothing:
        @component.output_types(written=int)
        def run(self, messages: list[ChatMessage]) -> dict[str, int]:
            return {"written": 0}

    ours, bare = _pipeline(MemoryWriter(memories)), _pipeline(Nothing())

    def turn(pipeline: Any) -> None:
        said = [ChatMessage.from_user(talk.asked), ChatMessage.from_assistant(talk.said)]
        pipeline.run({"part": {"messages": said}})

    return Case(lambda: turn(ours), lambda: turn(bare), read=None)


TOOLKITS: dict[str, Callable[[Talk, Memories], Case]] = {
    "langchain": langchain,
    "langchain, async": langchain_async,
    "langchain retriever": langchain_retriever,
    "langgraph store": langgraph_store,
    "llama_index block": llama_index,
    # LlamaIndex compiles its template of blocks anew in each turn, as soon as there is a block;
    # here there was one.
    "llama_index 2nd block": partial(llama_index, others=("house",)),
    "llama_index retriever": llama_index_retriever,
    "haystack hooks": haystack,
    "haystack retriever": haystack_retriever,
    "haystack writer": haystack_writer,
}
