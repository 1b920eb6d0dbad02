"""Memory for LlamaIndex: a block for ``Memory``, a retriever, a selector of retrieved nodes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from itertools import groupby
from typing import Any

from demem_adapters.common import (
    ASSISTANT,
    BESIDE,
    DECLARED,
    USER,
    Asker,
    Conditions,
    Filter,
    Memories,
    Namespace,
    Recent,
    Said,
    Situation,
    block,
    digest,
    in_conversation,
    logged,
    named,
    text_of,
)
from demem_adapters.common.passages import (
    Passage,
    details,
    fitting,
    passages,
    where_of,
)
from demem_agent import Evidence, Reading, SlotMemory
from demem_agent.reading import Asking
from demem_agent.text import Measure

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.core.vector_stores.types import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
    )
    from llama_index.core.vector_stores.utils import build_metadata_filter_fn
    from pydantic import Field, PrivateAttr
except ImportError as error:
    raise ImportError(
        "this adapter needs llama-index-core: pip install 'demem-agent[llama-index]'"
    ) from error

__all__ = ["MemoryBlock", "MemoryPostprocessor", "MemoryRetriever"]

#: Speakers whose messages are remembered; instructions and results of tools are not what anybody
#: said.
_SPEAKERS = (USER, ASSISTANT)
#: A reading of a memory that holds more than the retrieved nodes leaves room: the postprocessor
#: reads longer ones, each of twice the limit, this many at most, until what it has of the nodes
#: fills its limit to this share.
_LONGER = 7
_FULL = 0.9
#: Stands between the texts of nodes that are put before a model.
_APART = "\n\n"
#: A block that is to be cut is read again, this many times at most, each time for this share of the
#: room or less, down to the least that a reading can have.
_SHORTER = 4
_LESS = 0.8
_LEAST = 40


class MemoryBlock(BaseMemoryBlock[str]):
    """Recall for the user's last message; remember the messages that leave the chat history.

    LlamaIndex hands over only what no longer fits its history. At the end of a session ``await
    block.aput(await memory.aget_all(), session_id=memory.session_id)`` hands over the rest: give it
    the session from its beginning, as a message is known by which of those with the same speaker
    and text in its session it is, and remembered once. A memory that fails is logged by kind, and
    the conversation goes on.

    With a ``priority`` other than 0 LlamaIndex may ask for less than was recalled; it is then read
    again for less room.

    Args:
        memories: where it is remembered. What is recalled is at most their limit.
        namespace: whose memory; a function gets the ``session_id`` of LlamaIndex's memory, None
            where it has none, and may give None: nothing is recalled then, and nothing remembered.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            ``session_id`` as well.
        where: which items may be recalled; a function of it too.
    """

    name: str = "recalled"
    memories: Memories = Field(exclude=True)
    namespace: Namespace = Field(default="default", exclude=True)
    asker: Asker | None = Field(default=None, exclude=True)
    conditions: Conditions = Field(default=(), exclude=True)
    where: Filter | None = Field(default=None, exclude=True)
    #: By session, how often each thing was said among the messages that have left the history.
    _left: Recent[str | None, Counter[str]] = PrivateAttr(default_factory=Recent)
    #: By what was recalled, for whom and for what: LlamaIndex does not say it again when it asks
    #: for less.
    _recalled: Recent[str, tuple[str | None, str, Reading, Asking]] = PrivateAttr(
        default_factory=Recent
    )

    def history(self, **options: Any) -> Memory:
        """Make LlamaIndex's ``Memory`` with this block before what the user asks.

        Left to itself it puts blocks before the application's own system prompt, so that the whole
        prompt is another whenever what is recalled changes, and providers do not find it in their
        caches.

        Args:
            options: as ``Memory.from_defaults`` takes them; other ``memory_blocks`` come first.
        """
        blocks = [*options.pop("memory_blocks", ()), self]
        given = {"insert_method": InsertMethod.USER, **options}
        return Memory.from_defaults(memory_blocks=blocks, **given)

    async def _aget(self, messages: list[ChatMessage] | None = None, **about: Any) -> str:
        asked, before = _asked_in(messages or [])
        session = about.get("session_id")
        namespace = named(self.namespace, session)
        asking = in_conversation(self._asking(session), before)
        reading = await self.memories.aprepare(namespace, asked, **asking)
        if reading is not None:
            self._recalled[block(reading)] = namespace, asked, reading, asking
        return block(reading)

    def _asking(self, session: str | None) -> Asking:
        return Situation(self.asker, self.conditions, self.where).asking(session)

    def _user(self, session: str | None) -> str:
        """Return the name under which what the user says in a session is remembered."""
        return self._asking(session).get("asker") or USER

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Read again for less room; None where too little is left.

        A word is taken for a token: it is one or more.
        """
        if not content or content not in self._recalled:
            return None
        namespace, asked, reading, asking = self._recalled[content]
        room = _words(content) - tokens_to_truncate
        size = self.memories.measure(reading.unit)
        limit = size(reading.text)
        shorter = content
        for _ in range(_SHORTER):
            limit = int(_LESS * limit * min(1, room / _words(shorter)))
            if limit < _LEAST:
                return None
            most = limit + size(BESIDE)
            shorter = block(await self.memories.aprepare(namespace, asked, limit=most, **asking))
            if _words(shorter) <= room:
                return shorter or None
        return None

    async def aput(
        self,
        messages: list[ChatMessage],
        from_short_term_memory: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Remember messages: those that leave the history, or a session from its beginning."""
        if from_short_term_memory and not self.accept_short_term_memory:
            return
        before: Counter[str] = Counter()
        if from_short_term_memory:
            before = self._left.get(session_id, before)
            self._left[session_id] = before
        # Other blocks get the same messages and take the session out of them: read it before
        # anything is awaited.
        turns = [*_turns(messages, session_id, before, self._user)]
        await asyncio.to_thread(self._remember, turns)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self.aput(messages)

    def _remember(self, turns: Sequence[Said]) -> None:
        by_session = groupby(turns, key=lambda turn: turn["session"])
        for session, given in by_session:
            with logged("a turn was not remembered"):
                self.memories.keep(named(self.namespace, session), given)


class MemoryRetriever(BaseRetriever):
    """Retrieve from a memory: one node for each item of a reading, best first.

    A node's text is what was read of the item with its day and speaker; its metadata, which is not
    put before a model, says where it comes from, and has what is kept beside the item. All texts
    together, with blank lines between, are within the limit. The score is the probability, from 0
    to 1, that a node bears on the query, so that a ``SimilarityPostprocessor`` leaves out what
    hardly does.

    Args:
        memories: where to read.
        namespace: whose memory; a function gets the ``QueryBundle``.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the same.
        where: which items may be read; a function of the same as well.
        limit: most that is read at once, in the memories' unit; their own limit unless given.
        filters: which nodes are meant, by their metadata, as LlamaIndex's own stores match them;
            the limit is filled from these alone. Filters may stand in one another.
    """

    def __init__(
        self,
        memories: Memories,
        *,
        namespace: Namespace = "default",
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        limit: int | None = None,
        filters: MetadataFilters | None = None,
        **base: Any,
    ) -> None:
        super().__init__(**base)
        self.memories = memories
        self.namespace = namespace
        self.situation = Situation(asker, conditions, where)
        self.limit = limit
        self.filters = filters

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        namespace = named(self.namespace, query_bundle)
        asking, matching = _within(self.filters, self.situation.asking(query_bundle))
        reading = self.memories.recall(
            namespace, query_bundle.query_str, limit=self.limit, matching=matching, **asking
        )
        if reading is None:
            return []
        return [*_nodes(reading, self.memories.measure(reading.unit))]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class MemoryPostprocessor(BaseNodePostprocessor):
    """Keep what a memory would read of retrieved nodes, within its limit.

    Nodes are remembered once as they come, each text a piece of evidence of its own, and so divided
    among the memory's slots. Of those that came with this query, what the memory reads for it
    stays: the same nodes with the passages that were read, in the order in which they came. Their
    score is then the probability, from 0 to 1, that they bear on the query. Nodes without text
    pass; so do all nodes where there is no query, or no namespace. ``speaker``, ``at``
    (ISO 8601), ``session`` and ``source`` in a node's metadata help to choose; without a session it
    is the document that the node comes from.

    Args:
        memories: where the nodes are remembered; of their own rather than those of a conversation.
        namespace: whose memory; a function gets the ``QueryBundle``.
        asker, conditions: who asks (nobody in particular unless given), and what holds; functions
            of the same.
        limit: most that all texts may come to, in the memories' unit; their own limit unless given.
    """

    memories: Memories = Field(exclude=True)
    namespace: Namespace = Field(default="documents", exclude=True)
    asker: Asker | None = Field(default=None, exclude=True)
    conditions: Conditions = Field(default=(), exclude=True)
    limit: int | None = None

    @classmethod
    def class_name(cls) -> str:
        """Name the class to LlamaIndex's serialisation."""
        return "DeMemPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        namespace = named(self.namespace, query_bundle)
        if namespace is None or not query_bundle.query_str.strip():
            return nodes
        given = _by_key(nodes)
        told = _told(given)
        situation = Situation(self.asker, self.conditions, unnamed=None)
        asking = situation.asking(query_bundle)
        read = self._read(namespace, query_bundle.query_str, told, asking)
        kept: list[NodeWithScore] = []
        for key, node in given.items():
            if key in read:
                kept.append(_cut(node, read[key]))
            elif key not in told:  # it has no text
                kept.append(node)
        return kept

    def _read(
        self, namespace: str, query: str, told: dict[str, Said], asking: Asking
    ) -> dict[str, Passage]:
        """Return what is read of these nodes, by key: as much as fits.

        The memory may hold more than them, and its readings other things.
        """
        memory = self.memories.of(namespace)
        memory.ingest_many({**turn, "source_id": key, "key": key} for key, turn in told.items())
        limit = self.limit or self.memories.limit
        reading = memory.read(query, limit=limit, mode="evidence", **asking)
        # Within the limit, as the reading is.
        read = {_source(passage): passage for passage in _of(told, reading)}
        self._fill(read, told.keys(), memory, query, reading, asking)
        return read

    def _fill(
        self,
        read: dict[str, Passage],
        keys: AbstractSet[str],
        memory: SlotMemory,
        query: str,
        reading: Reading,
        asking: Asking,
    ) -> None:
        """Add what longer readings have of the nodes, within the limit of the first one."""
        most = reading.limit
        measure = self.memories.measure(reading.unit)
        for _ in range(_LONGER):
            held = sum(measure(_with_gap(passage)) for passage in read.values())
            if len(read) == len(keys) or held > _FULL * most:
                return
            limit = 2 * reading.limit
            reading = memory.read(query, limit=limit, mode="evidence", **asking)
            more = _of(keys - read.keys(), reading)
            for passage in fitting(more, _with_gap, most - held, measure):
                read[_source(passage)] = passage


def _within(
    filters: MetadataFilters | None, asking: Asking
) -> tuple[Asking, Callable[[Evidence], bool] | None]:
    """Return how to read within LlamaIndex's filters: with ``where``, or what else items match."""
    if filters is None or not filters.filters:
        return asking, None
    where = _where_of(filters)
    if where is not None and "where" not in asking:
        return {**asking, "where": where}, None
    return asking, lambda item: _matches(filters, details(item))


def _where_of(filters: MetadataFilters) -> dict[str, Any] | None:
    """Return filters as ``where``, None where that cannot say the same."""
    if filters.condition not in (None, FilterCondition.AND):
        return None
    conditions: list[tuple[str, object]] = []
    for one in filters.filters:
        if isinstance(one, MetadataFilters):
            return None
        several = isinstance(one.value, list)
        if one.operator != (FilterOperator.IN if several else FilterOperator.EQ):
            return None
        conditions.append((one.key, one.value))
    return where_of(conditions)


def _matches(one: MetadataFilters | MetadataFilter, about: dict[str, Any]) -> bool:
    """Whether metadata match a filter, as LlamaIndex's own stores tell of a single one."""
    if not isinstance(one, MetadataFilters):
        alone = MetadataFilters(filters=[one])
        return bool(build_metadata_filter_fn(lambda _: about, alone)(""))
    told = (_matches(inner, about) for inner in one.filters)
    if one.condition == FilterCondition.OR:
        return any(told)
    if one.condition == FilterCondition.NOT:
        return not any(told)
    return all(told)


def _text(message: ChatMessage) -> str:
    """Return the text of a message, without what this adapter put into it.

    LlamaIndex puts that before what was said, which is the last part.
    """
    own = [part for part in message.blocks[:-1] if DECLARED in text_of(part)]
    return text_of([part for part in message.blocks if part not in own])


def _asked_in(messages: Sequence[ChatMessage]) -> tuple[str, list[str]]:
    """Return what the user said last, and what user and model said before it, in order."""
    spoken = [message for message in messages if message.role in _SPEAKERS]
    for place in reversed(range(len(spoken))):
        if spoken[place].role == USER:
            return _text(spoken[place]), [_text(message) for message in spoken[:place]]
    return "", []


def _turns(
    messages: Iterable[ChatMessage],
    session_id: str | None,
    before: Counter[str],
    user: Callable[[str | None], str],
) -> Iterator[Said]:
    """Yield what was said, with a key of session, speaker, text and how often it was said.

    Args:
        user: tells the name of a session's user.
    """
    for message in messages:
        if message.role not in _SPEAKERS:
            continue
        text = _text(message)
        session = session_id or message.additional_kwargs.get("session_id")
        by_user = message.role == USER
        speaker = user(session) if by_user else str(MessageRole(message.role).value)
        key = digest(session, speaker, text)
        again = before[key]
        before[key] += 1
        yield {
            "text": text,
            "speaker": speaker,
            "session": session,
            "key": f"{key}:{again}" if again else key,
        }


def _words(text: str) -> int:
    return len(text.split())


def _nodes(reading: Reading, measure: Measure) -> Iterator[NodeWithScore]:
    found: Iterable[Passage] = passages(reading)
    if reading.mode == "evidence":  # a summary is within the limit as it is
        found = fitting(found, _shown_with_gap, reading.limit, measure)
    for passage in found:
        about = details(passage.evidence)
        node = TextNode(text=_shown(passage), metadata=about, excluded_llm_metadata_keys=[*about])
        yield NodeWithScore(node=node, score=passage.probability)


def _shown(passage: Passage) -> str:
    about = details(passage.evidence)
    day = f"{about['at'][:10]}, " if "at" in about else ""
    speaker = f"{about['speaker']}: " if "speaker" in about else ""
    return day + speaker + passage.text


def _shown_with_gap(passage: Passage) -> str:
    return _shown(passage) + _APART


def _with_gap(passage: Passage) -> str:
    return passage.text + _APART


def _of(keys: Container[str], reading: Reading) -> list[Passage]:
    return [passage for passage in passages(reading) if _source(passage) in keys]


def _source(passage: Passage) -> str:
    if passage.evidence is None:
        return ""
    return passage.evidence.source_id or ""


def _by_key(nodes: Iterable[NodeWithScore]) -> dict[str, NodeWithScore]:
    """Return nodes by the key that they are remembered by: one that came twice is there once."""
    given: dict[str, NodeWithScore] = {}
    for node in nodes:
        given.setdefault(digest(node.node_id, _about(node)), node)
    return given


def _told(nodes: Mapping[str, NodeWithScore]) -> dict[str, Said]:
    """Describe those of the nodes that have text."""
    told: dict[str, Said] = {}
    for key, node in nodes.items():
        if node.get_content().strip():
            told[key] = _about(node)
    return told


def _about(node: NodeWithScore) -> Said:
    """Describe a node to a memory: its text, and of its metadata what a memory understands."""
    about: Said = {"text": node.get_content(), "session": node.node.ref_doc_id}
    for name in ("speaker", "session", "source"):
        if isinstance(node.metadata.get(name), str):
            about[name] = node.metadata[name]
    with contextlib.suppress(ValueError):
        about["at"] = datetime.fromisoformat(str(node.metadata.get("at")))
    return about


def _cut(node: NodeWithScore, read: Passage) -> NodeWithScore:
    made = node.node.model_copy()
    made.set_content(read.text)
    return NodeWithScore(node=made, score=read.probability)
