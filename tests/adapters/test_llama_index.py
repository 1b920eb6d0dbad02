"""The LlamaIndex adapter keeps the contract of all adapters, inside LlamaIndex's own memory,
engines and agents.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip(
    "llama_index.core", reason="the llama_index adapter: pip install 'demem-agent[llama-index]'"
)

from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.agent.workflow import CodeActAgent, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import (
    MockFunctionCallingLLM,
    MockLLM,
    MockLLMWithChatMemoryOfLastCall,
)
from llama_index.core.memory import InsertMethod, Memory
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import ImageNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn
from often import often
from pydantic import Field

from demem_adapters.common import DECLARED, Memories
from demem_adapters.llama_index import MemoryBlock, MemoryPostprocessor, MemoryRetriever
from demem_agent.testing import BagEncoder

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

# LlamaIndex's workflows look at every attribute of an agent, also at those that pydantic has
# deprecated.
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


@pytest.fixture(autouse=True)
def histories_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closes the databases that LlamaIndex's histories leave open."""
    made: list[Memory] = []
    make = Memory.from_defaults

    def noted(**given: Any) -> Memory:
        made.append(make(**given))
        return made[-1]

    monkeypatch.setattr(Memory, "from_defaults", noted)
    yield
    for memory in made:
        asyncio.run(closed(memory))


def chat_memory(
    block: MemoryBlock, session: str = "s1", insert: InsertMethod = InsertMethod.USER
) -> Memory:
    """Make a chat history so short that every earlier turn leaves it."""
    return Memory.from_defaults(
        session_id=session,
        token_limit=400,
        token_flush_size=1,
        chat_history_token_ratio=0.02,
        tokenizer_fn=str.split,
        memory_blocks=[block],
        insert_method=insert,
    )


async def closed(memory: Memory) -> None:
    engine, _ = await memory.sql_store._setup_connections()
    await engine.dispose()


def answering(text: str = "Noted") -> MockFunctionCallingLLM:
    return MockFunctionCallingLLM(blocks_to_content_callback=lambda *_: text)


def texts(memories: Memories, namespace: str = "default") -> list[str]:
    return texts_of(memories, namespace)


def said(*turns: str) -> list[ChatMessage]:
    roles = ("user", "assistant")
    return [ChatMessage(role=roles[n % 2], content=text) for n, text in enumerate(turns)]


def nodes(*texts: str) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=text, id_=f"n{n}"), score=1 - n / 10)
        for n, text in enumerate(texts)
    ]


class Fixed(BaseRetriever):
    def __init__(self, found: Sequence[NodeWithScore]) -> None:
        super().__init__()
        self.found = list(found)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.found


class Watched(MockLLM):
    """A model that notes what it is sent."""

    reply: str = ""
    fails: bool = False
    seen: list[str] = Field(default_factory=list)

    def __init__(self, reply: str, fails: bool) -> None:
        super().__init__()
        self.reply, self.fails = reply, fails

    def chat(self, messages: Any, **_: Any) -> ChatResponse:
        self.seen.extend(message.content or "" for message in messages)
        if self.fails:
            raise ConnectionError("reset")
        return ChatResponse(message=ChatMessage(role="assistant", content=self.reply))


class Engines(Driver):
    several = False  # messages are remembered each on its own
    tells_reason = False  # LlamaIndex does not tell it

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        llm, block = (
            Watched(reply, ending == "fails"),
            MemoryBlock(memories=self.memories, namespace=who, **self.asking),
        )

        async def run() -> None:
            memory = Memory.from_defaults(
                session_id=event or uuid.uuid4().hex, memory_blocks=[block]
            )
            with contextlib.suppress(ConnectionError):
                await SimpleChatEngine.from_defaults(llm=llm, memory=memory).achat(text)
            # A block is not told how an answer ended: whoever knows that it did badly does not hand
            # it over.
            if ending == "whole":
                await block.aput(await memory.aget_all(), session_id=memory.session_id)

        asyncio.run(run())
        return llm.seen

    def recalled(self, seen: list[str]) -> str:
        return super().recalled(seen).split("\n</recalled>")[0]

    def put_in(self, seen: list[str]) -> str:
        # LlamaIndex's own marks stand around it.
        return f"{DECLARED}\n{self.recalled(seen)}"

    def go_on(self, before: Sequence[str], asked: str) -> None:
        block = MemoryBlock(memories=self.memories, namespace="ana")
        memory = Memory.from_defaults(memory_blocks=[block])

        async def run() -> None:
            await memory.aput_messages(said(*before))
            llm = Watched("Noted.", fails=False)
            await SimpleChatEngine.from_defaults(llm=llm, memory=memory).achat(asked)

        asyncio.run(run())

    def parts(self) -> list[Any]:
        made = {"memories": self.memories}
        return [MemoryBlock(**made), MemoryRetriever(**made), MemoryPostprocessor(**made)]


class TestContract(AdapterContract):
    name = "llama_index"
    driver = Engines


# The block


def test_what_leaves_the_history_is_remembered_as_it_was_said(memories: Memories) -> None:
    memory = chat_memory(MemoryBlock(memories=memories))
    memory.put_messages(
        said(VALVE, "Good to know.", "And a red tap in the bathroom upstairs.", "Noted.")
    )
    assert texts(memories) == [VALVE, "Good to know."]
    (first, _) = memories.of("default").evidence()
    assert (first.speaker, first.session) == ("user", "s1")


@pytest.mark.parametrize("insert", list(InsertMethod))
def test_what_was_said_before_reaches_the_model_as_data(
    memories: Memories, insert: InsertMethod
) -> None:
    llm = MockLLMWithChatMemoryOfLastCall(max_tokens=2)
    engine = SimpleChatEngine.from_defaults(
        llm=llm, memory=chat_memory(MemoryBlock(memories=memories), insert=insert)
    )
    engine.chat(VALVE)
    engine.chat("The bathroom upstairs has a red tap and a green one.")
    engine.chat("Which valve has my boiler?")
    assert llm.last_chat_messages is not None
    (block,) = [m for m in llm.last_chat_messages if DECLARED in (m.content or "")]
    assert block.role == insert.value
    assert VALVE in (block.content or "")


def test_what_was_put_before_the_model_is_not_remembered_again(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)
    memory.put_messages(
        said(VALVE, "Good to know.", "Which valve has my boiler, and is it made of brass?")
    )
    augmented = memory.get()
    assert any(DECLARED in (message.content or "") for message in augmented)
    asyncio.run(block.aput(augmented, session_id="s1"))
    assert texts(memories) == [
        VALVE,
        "Good to know.",
        "Which valve has my boiler, and is it made of brass?",
    ]


def test_the_rest_of_a_session_can_be_handed_over_at_its_end(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)
    turns = [VALVE, "Good to know.", "And a red tap in the bathroom upstairs.", "Noted."]
    memory.put_messages(said(*turns))
    asyncio.run(block.aput(memory.get_all(), session_id=memory.session_id))
    assert texts(memories) == turns


HEATING = (
    "Set the heating to 20.",
    "Noted.",
    "Set the heating to 18.",
    "Noted.",
    "Set the heating to 20.",
    "Noted.",
)


def test_what_is_said_again_later_in_a_session_is_remembered_again(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    for _ in range(2):
        asyncio.run(block.aput(said(*HEATING), session_id="s1"))
    assert texts(memories) == [*HEATING]


@settings(deadline=None, max_examples=often(15))
@given(st.lists(st.sampled_from(["Yes.", "No.", VALVE]), max_size=8))
def test_what_left_the_history_and_is_handed_over_at_the_end_is_remembered_once(
    turns: list[str],
) -> None:
    block = MemoryBlock(memories=Memories(encoder=BagEncoder()))

    async def run() -> None:
        memory = chat_memory(block, uuid.uuid4().hex)
        for message in said(*turns):
            await memory.aput(message)
        for _ in range(2):
            await block.aput(await memory.aget_all(), session_id=memory.session_id)
        await closed(memory)

    asyncio.run(run())
    assert sorted(texts(block.memories)) == sorted(turns)


def put_all(block: MemoryBlock, session: str, *turns: str) -> None:
    """Have a conversation in LlamaIndex's memory and hand it over at its end."""

    async def run() -> None:
        memory = chat_memory(block, session)
        for message in said(*turns):
            await memory.aput(message)
        for _ in range(2):
            await block.aput(await memory.aget_all(), session_id=session)

    asyncio.run(run())


ORDER = ("Order pizza for me.", "Shall I order it?", "Yes.", "Done.")
CANCEL = ("Cancel my flight.", "Shall I cancel it?", "Yes.", "Done.")


@pytest.mark.parametrize("restarts", [False, True])
def test_the_same_words_in_another_conversation_of_a_session_are_remembered_again(
    memories: Memories, restarts: bool
) -> None:
    """Many give a user one session; each conversation in it begins with an empty history."""
    block = MemoryBlock(memories=memories)
    for turns in (ORDER, CANCEL, ("Yes.", "To what?")):
        put_all(MemoryBlock(memories=memories) if restarts else block, "ana", *turns)
    assert texts(memories) == [*ORDER, *CANCEL, "Yes.", "To what?"]


@pytest.mark.parametrize("restarts", [False, True])
def test_of_two_conversations_of_a_session_the_second_is_handed_over(
    memories: Memories, restarts: bool
) -> None:
    block = MemoryBlock(memories=memories)
    for turns in (ORDER, CANCEL):
        block = MemoryBlock(memories=memories) if restarts else block
        memory = chat_memory(block, "ana")
        memory.put_messages(said(*turns))
    assert texts(memories) == [*ORDER[:2], *CANCEL[:2]]
    asyncio.run(block.aput(memory.get_all(), session_id="ana"))
    assert texts(memories) == [*ORDER[:2], *CANCEL]


ROME, OSLO = said("I live in Rome.", "Noted."), said("I live in Oslo.", "Noted.")


def shown(block: MemoryBlock, *messages: ChatMessage) -> None:
    """Show a history to a block, as LlamaIndex does before it calls the model."""
    asyncio.run(block.aget([*messages], session_id="ana"))


@pytest.mark.parametrize("restarts", [False, True])
def test_a_conversation_that_begins_as_an_earlier_one_of_its_session_is_another(
    memories: Memories, restarts: bool
) -> None:
    block = MemoryBlock(memories=memories)
    for end in (1, 3):
        shown(block, *[*ROME, *OSLO][:end])
    block = MemoryBlock(memories=memories) if restarts else block
    again = [*ROME, *OSLO, *ROME]
    for end in (1, 1, 3, 5):  # the first call is made again
        shown(block, *again[:end])
    told = ["I live in Rome.", "Noted.", "I live in Oslo."]
    assert texts(memories) == [*told, *told, "Noted.", "I live in Rome."]
    asyncio.run(block.aput(again, session_id="ana"))
    assert texts(memories)[3:] == [one.content for one in again]


HELLO, BYE = said("Hello.", "Hi!"), said("Good night.", "Good night!")


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(
    "earlier", [[*HELLO, *OSLO, *BYE], [*HELLO, *OSLO], [*OSLO, *BYE]], ids=["amid", "end", "begin"]
)
def test_a_conversation_whose_words_stand_in_an_earlier_one_of_its_session_is_another(
    memories: Memories, earlier: list[ChatMessage], restarts: bool
) -> None:
    block = MemoryBlock(memories=memories)
    asyncio.run(block.aput(earlier, session_id="ana"))
    shown(block, *OSLO[:1])
    block = MemoryBlock(memories=memories) if restarts else block
    for messages in (OSLO, earlier):  # what is handed over once more doubles nothing
        asyncio.run(block.aput(messages, session_id="ana"))
    assert texts(memories) == [one.content for one in [*earlier, *OSLO]]


def test_a_conversation_is_handed_over_again_though_another_has_begun_alike_since(
    memories: Memories,
) -> None:
    block = MemoryBlock(memories=memories)
    asyncio.run(block.aput([*OSLO, *BYE], session_id="ana"))
    shown(block, *OSLO[:1])
    asyncio.run(block.aput([*OSLO, *BYE], session_id="ana"))
    assert texts(memories) == [one.content for one in [*OSLO, *BYE, *OSLO[:1]]]


def test_two_conversations_of_a_session_that_go_on_in_turn_are_remembered_once(
    memories: Memories,
) -> None:
    block = MemoryBlock(memories=memories)
    first = said("Hello.", "Hi!", "My boiler has a brass valve.", "Noted.", "It leaks.")
    second = said("Hello.", "Good day!", "My gate squeaks.", "Noted.", "It is green.")
    for one, end in ((first, 1), (first, 3), (second, 1), (first, 5), (second, 3), (second, 5)):
        shown(block, *one[:end])
    assert sorted(texts(memories)) == sorted(one.content or "" for one in (*first, *second))


def test_an_answer_that_is_made_anew_doubles_nothing(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    for messages in (ROME[:1], ROME[:1], [*ROME, *OSLO[:1]], [*ROME, *OSLO[:1]]):
        shown(block, *messages)
    assert texts(memories) == ["I live in Rome.", "Noted.", "I live in Oslo."]


def test_what_the_user_says_is_remembered_whatever_becomes_of_the_call(
    memories: Memories,
) -> None:
    """Though nothing leaves the history, and nobody hands it over."""
    engine = SimpleChatEngine.from_defaults(
        llm=Watched("Noted.", fails=True), memory=MemoryBlock(memories=memories).history()
    )
    for text in (VALVE, VALVE, "It leaks."):
        with pytest.raises(ConnectionError):
            engine.chat(text)
    assert texts(memories) == [VALVE, VALVE, "It leaks."]


def test_a_history_that_the_application_has_edited_is_remembered_beside_what_was_there(
    memories: Memories,
) -> None:
    block = MemoryBlock(memories=memories)
    memory = block.history(session_id="s1")
    engine = SimpleChatEngine.from_defaults(llm=Watched("Noted.", fails=False), memory=memory)
    engine.chat(VALVE)
    engine.chat("Which one?", chat_history=said("My boiler has a steel valve.", "Good."))
    engine.chat("Which one?", chat_history=said(VALVE, "Noted."))
    asyncio.run(block.aput(memory.get_all(), session_id="s1"))
    assert texts(memories) == [
        VALVE,
        "My boiler has a steel valve.",
        "Good.",
        "Which one?",
        "Noted.",
        "Which one?",
        "Noted.",
    ]


@settings(deadline=None, max_examples=often(30))
@given(
    st.lists(st.sampled_from(["Yes.", "No.", VALVE]), min_size=1, max_size=12),
    st.lists(st.sampled_from(["leave", "restart", "hand over"]), max_size=8),
    st.data(),
)
def test_a_history_that_is_kept_over_restarts_is_remembered_once(
    turns: list[str], steps: list[str], data: st.DataObject
) -> None:
    """LlamaIndex keeps it in a database; a block knows no more than what it is handed."""
    memories = Memories(encoder=BagEncoder())
    block = MemoryBlock(memories=memories)
    messages = said(*turns)
    at = 0
    for step in steps:
        if step == "restart":
            block = MemoryBlock(memories=memories)
        elif step == "hand over":
            asyncio.run(block.aput(messages, session_id="s1"))
        else:
            more = data.draw(st.integers(0, len(messages) - at))
            left = messages[at : at + more]
            at += more
            asyncio.run(block.aput(left, from_short_term_memory=True, session_id="s1"))
    asyncio.run(block.aput(messages, session_id="s1"))
    remembered = texts(memories)
    assert all(remembered.count(text) >= turns.count(text) for text in turns)
    if "hand over" not in steps:
        assert remembered == turns


def test_what_was_forgotten_stays_so_when_its_session_is_handed_over_again(
    memories: Memories,
) -> None:
    block = MemoryBlock(memories=memories)
    asyncio.run(block.aput(said(*HEATING), session_id="s1"))
    memories.forget("default", "e3")
    left = texts(memories)
    for again in (block, MemoryBlock(memories=memories)):
        asyncio.run(again.aput(said(*HEATING), session_id="s1"))
    assert len(left) < len(HEATING)
    assert texts(memories) == left


@pytest.mark.parametrize("restarts", [False, True])
def test_what_was_forgotten_stays_so_while_the_history_still_shows_it(
    memories: Memories, restarts: bool
) -> None:
    block = MemoryBlock(memories=memories)
    messages = said(*CANCEL, "My PIN is 1234.", "Noted.", ASKED)
    asyncio.run(block.aput(messages[:4], from_short_term_memory=True, session_id="s1"))
    asyncio.run(block.aget(messages[4:], session_id="s1"))
    (pin,) = [item for item in memories.of("default").evidence() if "PIN" in item.text]
    memories.forget("default", pin.id)
    left = texts(memories)
    block = MemoryBlock(memories=memories) if restarts else block
    asyncio.run(block.aget(messages[4:], session_id="s1"))
    asyncio.run(block.aput(messages, session_id="s1"))
    assert texts(memories) == left


def test_what_the_model_is_shown_anyway_is_not_recalled(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    asyncio.run(block.aput(said(VALVE, "Noted."), session_id="s1"))
    assert asyncio.run(block.aget(said(VALVE, "Noted.", ASKED), session_id="s1")) == ""
    assert VALVE in asyncio.run(block.aget(said(ASKED), session_id="s2"))


def test_a_block_that_wants_nothing_of_the_history_gets_what_is_handed_over(
    memories: Memories,
) -> None:
    block = MemoryBlock(memories=memories, accept_short_term_memory=False)
    memory = chat_memory(block)
    memory.put_messages(said(VALVE, "Good to know.", "And a red tap in the bathroom upstairs."))
    assert memories.known("default") is None
    asyncio.run(block.aput(memory.get_all(), session_id=memory.session_id))
    assert len(texts(memories)) == 3


def test_of_a_recalled_block_that_is_pasted_back_only_what_is_new_is_remembered(
    memories: Memories,
) -> None:
    memories.remember("default", "Set the heating to 18.", speaker="user")
    block = MemoryBlock(memories=memories)
    recalled = asyncio.run(block.aget(said("Which heating?")))
    assert DECLARED in recalled
    asyncio.run(block.aput(said(f"{recalled}\nThis is wrong! I moved to Oslo in May.")))
    assert [text.strip() for text in texts(memories)] == [
        "Set the heating to 18.",
        "Which heating?",
        "This is wrong! I moved to Oslo in May.",
    ]


def test_a_history_puts_the_block_before_the_question_and_behind_all_else(
    memories: Memories,
) -> None:
    memories.remember("default", VALVE)
    memory = MemoryBlock(memories=memories).history(session_id="monday")
    llm = Watched("Noted.", fails=False)
    system = [ChatMessage(role="system", content="Be brief.")]
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, prefix_messages=system)
    asyncio.run(engine.achat(ASKED))
    first, last = llm.seen
    assert first == "Be brief."
    assert last.index(DECLARED) < last.index(ASKED)


@pytest.mark.parametrize(("limit", "kept"), [(300, True), (40, True), (20, False)])
def test_a_block_that_is_over_the_budget_of_the_history_is_read_again_for_less(
    limit: int, kept: bool
) -> None:
    memories = Memories(limit=2000, encoder=BagEncoder())
    memories.of("ana").ingest_many(
        [{"text": f"The boiler in room {n} has a brass valve."} for n in range(60)]
    )
    blocks = [MemoryBlock(memories=memories, namespace="ana", priority=1)]
    asked = "Which valve has the boiler in room 3?"

    async def run() -> list[ChatMessage]:
        memory = Memory.from_defaults(
            token_limit=limit, tokenizer_fn=str.split, memory_blocks=blocks
        )
        await memory.aput(ChatMessage(role="user", content=asked))
        return await memory.aget()

    shown = [message.content or "" for message in asyncio.run(run())]
    assert any("in room 3 has a brass valve" in text for text in shown) == kept
    assert (
        sum(len(text.split()) for text in shown) <= limit + 4
    )  # LlamaIndex does not count its own marks


def test_a_block_that_was_never_recalled_is_cut_to_nothing(memories: Memories) -> None:
    assert asyncio.run(MemoryBlock(memories=memories).atruncate("What is this?", 1)) is None


def test_where_the_namespace_is_none_nothing_is_recalled_remembered_or_left_out(
    memories: Memories,
) -> None:
    block = MemoryBlock(memories=memories, namespace=lambda _: None)
    asyncio.run(block.aput(said(VALVE)))
    assert asyncio.run(block.aget(said("Which valve?"))) == ""
    assert MemoryRetriever(memories, namespace=lambda _: None).retrieve("Which valve?") == []
    select = MemoryPostprocessor(memories=memories, namespace=lambda _: None, limit=40)
    assert select.postprocess_nodes(nodes(*HOUSE), query_str=OMAR) == nodes(*HOUSE)
    assert memories.export() == {}


def test_only_what_somebody_said_is_remembered(memories: Memories) -> None:
    messages = [
        ChatMessage(role=role, content=f"From {role}.")
        for role in ("system", "user", "tool", "assistant")
    ]
    messages += [
        ChatMessage(role="user", blocks=[ImageBlock(image=b"png")]),
        ChatMessage(role="assistant", blocks=[]),
    ]
    asyncio.run(MemoryBlock(memories=memories).aput(messages))
    assert texts(memories) == ["From user.", "From assistant."]


def test_one_session_never_sees_anothers_where_sessions_are_namespaces(memories: Memories) -> None:
    block = MemoryBlock(memories=memories, namespace=lambda session: session)
    ana, ben = chat_memory(block, "ana"), chat_memory(block, "ben")
    ana.put_messages(
        said(VALVE, "Good to know.", "Which valve has my boiler, and is it made of brass?")
    )
    ben.put_messages(said("Which valve has my boiler?"))
    assert any(VALVE in (message.content or "") for message in ana.get())
    assert [message.content for message in ben.get()] == ["Which valve has my boiler?"]
    assert texts(memories, "ben") == ["Which valve has my boiler?"]


@looks_at_all
def test_an_agent_whose_model_fails_leaves_only_what_the_user_said(memories: Memories) -> None:
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
def test_an_agent_remembers_both_sides(memories: Memories) -> None:
    memory = chat_memory(MemoryBlock(memories=memories))
    green = "The bathroom upstairs has a red tap and a green one."

    async def run() -> None:
        agent = FunctionAgent(llm=answering("Good to know."), tools=[])
        await agent.run(user_msg=VALVE, memory=memory)
        await agent.run(user_msg=green, memory=memory)

    asyncio.run(run())
    assert texts(memories) == [VALVE, "Good to know.", green, "Good to know."]


def stepping(*steps: str) -> MockLLM:
    """Give a model that says one thing after another."""
    told = iter(steps)

    class Stepping(MockLLM):
        async def achat(self, messages: Any, **_: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(role="assistant", content=next(told)))

    return Stepping()


def look(what: str) -> str:
    """Look something up."""
    return f"Answer: {what} is brass.\nThought: of a tool"


THINKS = 'Thought: I must look.\nAction: look\nAction Input: {"what": "the valve"}'
ANSWERS = "Thought: I can answer now.\nAnswer: It is brass.\nAnswer: that is all."


@looks_at_all
def test_of_an_agent_that_thinks_aloud_its_answer_is_remembered(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)

    async def run() -> None:
        agent = ReActAgent(llm=stepping(THINKS, ANSWERS), tools=[look], streaming=False)
        answer = await agent.run(user_msg=ASKED, memory=memory)
        assert str(answer) == "It is brass.\nAnswer: that is all."
        await block.aput(await memory.aget_all(), session_id=memory.session_id)

    asyncio.run(run())
    assert texts(memories) == [ASKED, "It is brass.\nAnswer: that is all."]


@looks_at_all
def test_of_an_agent_that_runs_code_its_answer_is_remembered(memories: Memories) -> None:
    block = MemoryBlock(memories=memories)
    memory = chat_memory(block)

    class Coding(MockFunctionCallingLLM):
        async def achat(self, messages: Any, **_: Any) -> ChatResponse:
            ran = "Result of executing" in (messages[-1].content or "")
            text = "It is 4." if ran else "I look.\n<execute>print(2 + 2)</execute>"
            return ChatResponse(message=ChatMessage(role="assistant", content=text))

    async def execute(code: str) -> str:
        return "4"

    async def run() -> None:
        agent = CodeActAgent(code_execute_fn=execute, llm=Coding(), streaming=False)
        await agent.run(user_msg="What is 2 + 2?", memory=memory)
        await block.aput(await memory.aget_all(), session_id=memory.session_id)

    asyncio.run(run())
    assert texts(memories) == ["What is 2 + 2?", "It is 4."]


def test_what_a_model_says_beside_a_call_of_a_tool_is_not_remembered(memories: Memories) -> None:
    called = ToolCallBlock(tool_call_id="t1", tool_name="look", tool_kwargs={})
    older = {"tool_calls": [{"id": "t1", "function": {"name": "look"}}]}
    messages = [
        ChatMessage(role="user", content=ASKED),
        ChatMessage(role="assistant", blocks=[TextBlock(text="I look."), called]),
        ChatMessage(role="assistant", content="I look again.", additional_kwargs=older),
        ChatMessage(role="tool", content="brass"),
        ChatMessage(role="assistant", content="Thought: a thing to have."),
    ]
    asyncio.run(MemoryBlock(memories=memories).aput(messages))
    assert texts(memories) == [ASKED, "Thought: a thing to have."]


def test_a_block_keeps_to_the_budget_of_the_history_unless_told_otherwise() -> None:
    memories = Memories(limit=2000, encoder=BagEncoder())
    memories.of("ana").ingest_many(
        [{"text": f"The boiler in room {n} has a brass valve."} for n in range(60)]
    )

    async def size(**options: Any) -> int:
        block = MemoryBlock(memories=memories, namespace="ana", **options)
        memory = block.history(token_limit=60, tokenizer_fn=str.split)
        await memory.aput(ChatMessage(role="user", content="Which valve has the boiler?"))
        return sum(len((message.content or "").split()) for message in await memory.aget())

    assert 20 < asyncio.run(size()) <= 64  # LlamaIndex does not count its own marks
    assert asyncio.run(size(priority=0)) > 100


# The retriever


def test_a_node_says_what_was_said_when_by_whom_and_where_it_comes_from(memories: Memories) -> None:
    memories.remember(
        "ana",
        "I moved yesterday.",
        speaker="Ana",
        at="2025-05-08T10:00",
        session="s1",
        source_id="t1",
    )
    (found,) = MemoryRetriever(memories, namespace="ana").retrieve("When did Ana move?")
    assert found.node.get_content(MetadataMode.LLM).startswith("2025-05-08, Ana: I moved yesterday")
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


@settings(deadline=None, max_examples=often(20))
@given(LINES, st.integers(60, 400), st.sampled_from(["chars", "bytes", "tokens"]))
def test_the_limit_holds_in_what_the_nodes_show_a_model(
    lines: list[Any], limit: int, unit: Any
) -> None:
    memories = Memories(
        limit=limit,
        unit=unit,
        encoder=BagEncoder(),
        **({"counter": len} if unit == "tokens" else {}),
    )
    memories.of("default").ingest_many(
        {"text": text, "at": at, "speaker": who} for text, at, who in lines
    )
    found = MemoryRetriever(memories).retrieve("boiler")
    shown = "\n\n".join(node.node.get_content(MetadataMode.LLM) for node in found)
    assert (len(shown.encode()) if unit == "bytes" else len(shown)) <= limit


def test_there_is_a_node_for_each_item_that_is_read(memories: Memories) -> None:
    memories.of("default").ingest_many(
        [{"text": f"Room {n}\nhas # a brass\n- valve."} for n in range(5)]
    )
    found = MemoryRetriever(memories).retrieve("Which valve?")
    assert {node.node.metadata["evidence_id"] for node in found} == {"e1", "e2", "e3", "e4", "e5"}
    assert {node.text for node in found} == {f"2025-05-08, {text}" for text in texts(memories)}


def test_nodes_come_best_first(memories: Memories) -> None:
    memories.of("default").ingest_many([{"text": text} for text in HOUSE])
    assert (
        MemoryRetriever(memories).retrieve(OMAR)[0].text
        == "2025-05-08, A plumber called Omar looks after the pipes."
    )


def test_a_summary_is_one_node() -> None:
    memories = Memories(mode="strict", encoder=BagEncoder())
    memories.remember("default", VALVE, at="2025-05-08")
    (found,) = MemoryRetriever(memories).retrieve("Which valve has my boiler?")
    reading = memories.recall("default", "Which valve has my boiler?")
    assert reading is not None
    assert found.text == reading.text


def test_retrieving_from_a_namespace_never_written_gives_nothing_and_makes_nothing(
    memories: Memories,
) -> None:
    retriever = MemoryRetriever(memories, namespace="nobody")
    assert retriever.retrieve("anything") == []
    assert asyncio.run(retriever.aretrieve("anything")) == []
    assert memories.known("nobody") is None


LEAVES = st.one_of(
    st.builds(
        MetadataFilter,
        key=st.sampled_from(["speaker", "room", "source_id", "at", "none"]),
        value=st.sampled_from(["Ana", "bath", "d2", "2024-05-01T00:00:00", 1, None]),
        operator=st.sampled_from([FilterOperator.EQ, FilterOperator.EQ, FilterOperator.NE]),
    ),
    st.builds(
        MetadataFilter,
        key=st.sampled_from(["speaker", "room", "evidence_id"]),
        value=st.lists(st.sampled_from(["Ana", "bath", "e3"]), max_size=2),
        operator=st.sampled_from([FilterOperator.IN, FilterOperator.NIN]),
    ),
    st.builds(
        MetadataFilter,
        key=st.just("floor"),
        value=st.integers(0, 3),
        operator=st.sampled_from([FilterOperator.GT, FilterOperator.LTE]),
    ),
)
CONDITIONS = st.sampled_from(
    [FilterCondition.AND, FilterCondition.AND, FilterCondition.OR, FilterCondition.NOT]
)


def joined(inner: Any) -> Any:
    return st.builds(
        MetadataFilters, filters=st.lists(inner, min_size=1, max_size=3), condition=CONDITIONS
    )


FLAT = joined(LEAVES)


def furnished(**options: Any) -> Memories:
    """Make a memory with six items that differ in all that a filter can ask for."""
    memories = Memories(encoder=BagEncoder(), clock=None, **options)
    for n in range(6):
        memories.remember(
            "ana",
            f"The boiler in room {n} of the house has a brass valve.",
            speaker=("Ana", "Ben", None)[n % 3],
            at=("2024-05-01", "2024-06-01", None)[n // 2],
            source_id=f"d{n}",
            metadata={"room": ("bath", "hall", 1)[n // 2], "floor": n, "source_id": "d2"},
        )
    return memories


def found_of(filters: MetadataFilters | None, memories: Memories) -> dict[str, dict[str, Any]]:
    retriever = MemoryRetriever(memories, namespace="ana", filters=filters)
    nodes = retriever.retrieve("Which valve has the boiler in the house?")
    return {found.node.metadata["evidence_id"]: found.node.metadata for found in nodes}


@settings(max_examples=often(150), deadline=None)
@given(FLAT)
def test_what_is_retrieved_is_what_llama_index_itself_says_that_matches(
    filters: MetadataFilters,
) -> None:
    memories = furnished()
    every = found_of(None, memories)
    assert len(every) == 6
    matches = build_metadata_filter_fn(every.__getitem__, filters)
    assert set(found_of(filters, memories)) == set(filter(matches, every))


@settings(max_examples=often(50), deadline=None)
@given(FLAT, FLAT, CONDITIONS)
def test_filters_may_stand_in_one_another(
    one: MetadataFilters, other: MetadataFilters, condition: FilterCondition
) -> None:
    memories = furnished()
    both = MetadataFilters(filters=[one, other], condition=condition)
    first, second = set(found_of(one, memories)), set(found_of(other, memories))
    either = first | second
    meant = {"and": first & second, "or": either, "not": set(found_of(None, memories)) - either}
    assert set(found_of(both, memories)) == meant[condition.value]


@pytest.mark.parametrize("operator", [FilterOperator.EQ, FilterOperator.TEXT_MATCH])
def test_the_limit_of_a_retriever_is_filled_from_what_filters_leave(
    operator: FilterOperator,
) -> None:
    memories = furnished(limit=400)
    for n in range(60):
        memories.remember("ana", f"{VALVE} In room {n}.", metadata={"room": "cellar"})
    room = MetadataFilter(key="room", value="bath", operator=operator)
    filters = MetadataFilters(filters=[MetadataFilter(key="source_id", value="d1"), room])
    found = found_of(filters, memories)
    assert [*found] == ["e2"]
    assert found["e2"]["floor"] == 1


def test_filters_hold_beside_where(memories: Memories) -> None:
    where = {"speaker": "Ana"}
    filters = MetadataFilters(filters=[MetadataFilter(key="room", value="bath")])
    retriever = MemoryRetriever(furnished(), namespace="ana", where=where, filters=filters)
    found = retriever.retrieve("Which valve has the boiler?")
    assert [node.metadata["source_id"] for node in found] == ["d0"]


def test_a_retriever_reads_the_namespace_of_its_query_alone(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    memories.remember("ben", "My boiler has no valve.")
    retriever = MemoryRetriever(memories, namespace=lambda query: query.query_str.split(":")[0])
    assert [node.text for node in retriever.retrieve("ana: which valve?")] == [
        f"2025-05-08, {VALVE}"
    ]


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
        await MemoryPostprocessor(memories=memories).apostprocess_nodes(
            nodes(VALVE), query_str="Which one?"
        )

    asyncio.run(run())
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("cutoff", [0.1, 0.2, 0.3, 0.4])
def test_a_similarity_cutoff_lets_an_engine_abstain(cutoff: float) -> None:
    memories = Memories(limit=150)
    memories.of("default").ingest_many([{"text": text} for text in HOUSE])
    asked = {
        "What is the valve of the kitchen boiler made of?": True,
        "Who won the chess cup in Reykjavik?": False,
    }
    keep = SimilarityPostprocessor(similarity_cutoff=cutoff)
    found = {
        query: bool(keep.postprocess_nodes(MemoryRetriever(memories).retrieve(query)))
        for query in asked
    }
    assert found == asked


def test_it_can_be_fused_with_another_retriever(memories: Memories) -> None:
    memories.remember("default", VALVE)
    both = [MemoryRetriever(memories), Fixed(nodes("Brass is an alloy of copper and zinc."))]
    fused = QueryFusionRetriever(
        both, llm=answering(), num_queries=1, similarity_top_k=5, use_async=False
    )
    assert sorted(node.text for node in fused.retrieve("What is brass?")) == [
        f"2025-05-08, {VALVE}",
        "Brass is an alloy of copper and zinc.",
    ]


def test_scores_fall_from_one_node_to_the_next_and_are_their_own(memories: Memories) -> None:
    memories.of("default").ingest_many([{"text": text} for text in HOUSE])
    scores = [node.score for node in MemoryRetriever(memories).retrieve(OMAR)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1


# The postprocessor


def test_a_cutoff_after_the_postprocessor_keeps_what_bears_on_the_query() -> None:
    select = MemoryPostprocessor(memories=Memories())
    selected = select.postprocess_nodes(nodes(*HOUSE), query_str=OMAR)
    keep = SimilarityPostprocessor(similarity_cutoff=0.2)
    assert [node.node.node_id for node in keep.postprocess_nodes(selected)] == ["n6"]


@pytest.mark.parametrize("times", [1, 5, 60])
@pytest.mark.parametrize(
    "filler",
    ["All was quiet.", "Entry {n}: nothing to report.", "Handbook of the house, page {n} of 60."],
)
def test_lines_that_are_repeated_do_not_pass_for_what_bears_on_the_query(
    filler: str, times: int
) -> None:
    found = [*HOUSE, *[filler.format(n=n) for n in range(times)]]
    for query, answers in ((OMAR, ["n6"]), ("Who won the chess cup in Reykjavik?", [])):
        select = MemoryPostprocessor(memories=Memories())
        selected = select.postprocess_nodes(nodes(*found), query_str=query)
        scored = [node.node.node_id for node in selected if (node.score or 0) >= 0.2]
        assert scored == answers


def test_selected_nodes_are_those_that_bear_on_the_query(memories: Memories) -> None:
    selected = MemoryPostprocessor(memories=memories, limit=130).postprocess_nodes(
        nodes(*HOUSE), query_str=OMAR
    )
    assert "n6" in [node.node.node_id for node in selected]
    assert len(selected) <= 3


@settings(deadline=None, max_examples=often(20))
@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=120), max_size=10),
    st.integers(60, 400),
    st.sampled_from(["chars", "bytes"]),
)
def test_the_limit_holds_in_the_selected_nodes(
    given_texts: list[str], limit: int, unit: Any
) -> None:
    memories = Memories(limit=limit, unit=unit, encoder=BagEncoder())
    memories.of("documents").ingest_many([{"text": text} for text in HOUSE])
    select = MemoryPostprocessor(memories=memories)
    shown = "\n\n".join(
        n.text
        for n in select.postprocess_nodes(nodes(*given_texts), query_str="boiler")
        if n.text.strip()
    )
    assert (len(shown.encode()) if unit == "bytes" else len(shown)) <= limit


def test_selected_nodes_keep_their_order_and_metadata_and_the_given_ones_their_text(
    memories: Memories,
) -> None:
    given_nodes = nodes(*HOUSE)
    for node in given_nodes:
        node.node.metadata = {"file": "house.txt"}
    selected = MemoryPostprocessor(memories=memories, limit=300).postprocess_nodes(
        given_nodes, query_str=OMAR
    )
    kept = [node.node.node_id for node in selected]
    assert kept == [node.node.node_id for node in given_nodes if node.node.node_id in kept]
    assert {node.node.metadata["file"] for node in selected} == {"house.txt"}
    assert [node.text for node in given_nodes] == HOUSE


def test_what_is_kept_of_a_node_stands_in_the_order_of_its_text(memories: Memories) -> None:
    long = " ".join([f"{text} " * 8 + text for text in HOUSE])
    (selected,) = MemoryPostprocessor(memories=memories).postprocess_nodes(
        nodes(long), query_str=OMAR
    )
    places = [long.index(line) for line in selected.text.splitlines()]
    assert len(places) > 2
    assert places == sorted(places)


def test_what_another_query_brought_is_never_given(memories: Memories) -> None:
    select = MemoryPostprocessor(memories=memories)
    select.postprocess_nodes(nodes(*HOUSE), query_str=OMAR)
    selected = select.postprocess_nodes(nodes("Nothing about pipes."), query_str=OMAR)
    assert [node.text for node in selected] == ["Nothing about pipes."]


def test_the_limit_is_filled_though_the_memory_holds_more_than_the_nodes(
    memories: Memories,
) -> None:
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
    (selected,) = select.postprocess_nodes(
        nodes("My boiler has a steel valve."), query_str="Which valve?"
    )
    assert selected.text == "My boiler has a steel valve."


def test_metadata_that_a_memory_understands_is_remembered_and_the_rest_does_no_harm(
    memories: Memories,
) -> None:
    told: dict[str, Any] = {"speaker": "Ana", "at": "2024-01-02", "session": "s1", "source": "chat"}
    odd: dict[str, Any] = {"speaker": 3, "at": "on Monday", "session": None, "source": ["a"]}
    given_nodes = [
        NodeWithScore(node=TextNode(text=VALVE, metadata=metadata)) for metadata in (told, odd)
    ]
    assert (
        len(
            MemoryPostprocessor(memories=memories).postprocess_nodes(
                given_nodes, query_str="Which valve?"
            )
        )
        == 2
    )
    first, second = memories.of("documents").evidence()
    assert (first.speaker, first.at, first.session, first.source) == (
        "Ana",
        datetime(2024, 1, 2),
        "s1",
        "chat",
    )
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


def test_what_a_memory_holds_does_not_travel_in_its_json(memories: Memories) -> None:
    memory = chat_memory(MemoryBlock(memories=memories))
    memory.put_messages(said(VALVE, "Good to know.", "And a red tap in the bathroom upstairs."))
    assert VALVE not in memory.model_dump_json()
