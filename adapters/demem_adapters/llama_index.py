"""Memory for LlamaIndex: a block for ``Memory(memory_blocks=[...])``, a retriever, a selector of retrieved nodes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from demem_adapters.shared import DECLARED, Memories, Namespace, digest
from demem_agent import Evidence, Reading
from demem_agent.errors import DeMemError

try:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from pydantic import Field
except ImportError as error:
    raise ImportError("this adapter needs llama-index-core: pip install 'demem-agent[llama-index]'") from error

__all__ = ["MemoryBlock", "MemoryPostprocessor", "MemoryRetriever"]

_LOG = logging.getLogger("demem_adapters")
#: Speakers whose messages are remembered; instructions and results of tools are not what anybody said.
_SPEAKERS = ("user", "assistant")
#: A reading of a memory that holds more than the retrieved nodes leaves room: the postprocessor reads longer ones, this
#: often at most, until what it may give of them fills the limit to this share.
_READS, _FULL = 8, 0.9


class MemoryBlock(BaseMemoryBlock[str]):
    """Recall for the user's last message; remember the messages that leave the chat history.

    LlamaIndex hands over only what no longer fits its history. At the end of a session
    ``await block.aput(await memory.aget_all(), session_id=memory.session_id)`` hands over the rest: a message with the
    same speaker and text in the same session is remembered once. What cannot be remembered (a store that fails) is
    logged by kind, and the conversation goes on.

    Args:
        memories: where it is remembered. What is recalled is at most their limit.
        namespace: whose memory; a function gets the ``session_id`` of LlamaIndex's memory, None where it has none.
    """

    name: str = "recalled"
    memories: Memories = Field(exclude=True)
    namespace: Namespace = Field(default="default", exclude=True)

    async def _aget(self, messages: list[ChatMessage] | None = None, **about: Any) -> str:
        asked = next((_text(message) for message in reversed(messages or []) if message.role == "user"), "")
        reading = await self.memories.arecall(_named(self.namespace, about.get("session_id")), asked)
        return f"{DECLARED}\n{reading.text}" if reading is not None else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        # Other blocks get the same messages and take the session out of them: read it before anything is awaited.
        turns = [_turn(message) for message in messages if message.role in _SPEAKERS]
        await asyncio.to_thread(self._remember, turns)

    def _remember(self, turns: Sequence[dict[str, Any]]) -> None:
        try:
            for turn in turns:
                self.memories.remember(_named(self.namespace, turn["session"]), **turn)
        except DeMemError as error:
            _LOG.warning("messages were not remembered: %s", type(error).__name__)


class MemoryRetriever(BaseRetriever):
    """Retrieve from a memory: one node for each line of a reading, best first.

    A node's text is the line with its day and speaker; its metadata, which is not put before a model, says where it
    comes from. All texts together, with blank lines between, are within the limit. The score is the same for all: the
    probability that the memory holds what is asked, so that a ``SimilarityPostprocessor`` can abstain.

    Args:
        memories: where to read.
        namespace: whose memory; a function gets the ``QueryBundle``.
        limit: most that is read at once, in the memories' unit; their own limit unless given.
    """

    def __init__(
        self, memories: Memories, *, namespace: Namespace = "default", limit: int | None = None, **base: Any
    ) -> None:
        super().__init__(**base)
        self.memories, self.namespace, self.limit = memories, namespace, limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._read(_named(self.namespace, query_bundle), query_bundle.query_str)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._read, _named(self.namespace, query_bundle), query_bundle.query_str)

    def _read(self, namespace: str, query: str) -> list[NodeWithScore]:
        reading = self.memories.recall(namespace, query, limit=self.limit)
        most = reading.limit if reading is not None else 0
        while reading is not None and (over := reading.size + _repeated_days(reading) - most) > 0:
            reading = self.memories.recall(namespace, query, limit=max(1, reading.limit - over))
        if reading is None:
            return []
        score = self.memories.of(namespace).route(query).probability
        return [NodeWithScore(node=node, score=score) for node in _nodes(reading)]


class MemoryPostprocessor(BaseNodePostprocessor):
    """Keep what a memory would read of retrieved nodes, within its limit.

    Nodes are remembered once as they come, each text a piece of evidence of its own, and so divided among the memory's
    slots. Of those that came with this query, what the memory reads for it stays: the same nodes with the passages that
    were read, in the order in which they came. Nodes without text pass; so do all nodes where there is no query.
    ``speaker``, ``at`` (ISO 8601), ``session`` and ``source`` in a node's metadata help to choose; without a session it
    is the document that the node comes from.

    Args:
        memories: where the nodes are remembered; of their own rather than those of a conversation.
        namespace: whose memory; a function gets the ``QueryBundle``.
        limit: most that all texts may come to, in the memories' unit; their own limit unless given.
    """

    memories: Memories = Field(exclude=True)
    namespace: Namespace = Field(default="documents", exclude=True)
    limit: int | None = None

    @classmethod
    def class_name(cls) -> str:
        """Name the class to LlamaIndex's serialisation."""
        return "DeMemPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None or not query_bundle.query_str.strip():
            return nodes
        keys = [_key(node) for node in nodes]
        read = self._read(query_bundle, {key: node for key, node in zip(keys, nodes, strict=True) if key})
        kept: list[NodeWithScore] = []
        for key, node in zip(keys, nodes, strict=True):
            if not key:
                kept.append(node)
            elif key in read:
                kept.append(_cut(node, read.pop(key)))  # popped: a node that came twice is given once
        return kept

    def _read(self, query: QueryBundle, nodes: dict[str, NodeWithScore]) -> dict[str, str]:
        """Give what is read of these nodes, by key: as much as fits, though the memory may hold more than them."""
        memory = self.memories.of(_named(self.namespace, query))
        memory.ingest_many({**_about(node), "source_id": key, "key": key} for key, node in nodes.items())
        reading = memory.read(query.query_str, limit=self.limit or self.memories.limit, mode="evidence")
        most = fits = reading.limit
        read, over = _passages(reading, nodes), None
        for _ in range(_READS):
            if len(read) == len(nodes) or _at_most(read.values(), reading) > _FULL * most:
                break
            limit = (fits + over) // 2 if over else 2 * fits
            found = _passages(memory.read(query.query_str, limit=limit, mode="evidence"), nodes)
            if _at_most(found.values(), reading) > most:
                over = limit
            else:
                fits, read = limit, found
        return read


def _named(namespace: Namespace, given: object) -> str:
    return namespace(given) if callable(namespace) else namespace


def _text(message: ChatMessage) -> str:
    """Give the text of a message, without what this adapter put into it."""
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    return "\n".join(text for text in texts if DECLARED not in text)


def _turn(message: ChatMessage) -> dict[str, Any]:
    session, speaker, text = message.additional_kwargs.get("session_id"), str(message.role.value), _text(message)
    return {"text": text, "speaker": speaker, "session": session, "key": digest(session, speaker, text)}


def _told(reading: Reading) -> Iterator[tuple[str, str]]:
    """Give each line of a reading with the day that it stands under, as it stands there."""
    day, words = "", ""
    for line in [*reading.text.split("\n")[1:-1], "# "]:
        if line.startswith("  "):
            words += f"\n{line[2:]}"
            continue
        if words:
            yield day, words
        words = line[2:] if line.startswith("- ") else ""
        day = line[2:] if line.startswith("# ") else day


def _nodes(reading: Reading) -> list[TextNode]:
    if reading.mode == "strict":
        return [TextNode(text=reading.text)]
    told = zip(_told(reading), reading.lines, strict=True)
    ordered = sorted(told, key=lambda pair: -pair[1].score)
    return [_node(day, words, line.evidence) for (day, words), line in ordered]


def _node(day: str, words: str, evidence: Evidence) -> TextNode:
    about = {"evidence_id": evidence.id, "speaker": evidence.speaker, "session": evidence.session}
    about |= {"source": evidence.source, "source_id": evidence.source_id}
    if evidence.at is not None:
        words, about["at"] = f"{day}, {words}", evidence.at.isoformat()
    known = {name: value for name, value in about.items() if value is not None}
    return TextNode(text=words, metadata=known, excluded_llm_metadata_keys=[*known])


def _repeated_days(reading: Reading) -> int:
    """Give by how much a reading grows when each line has its day, at most, whatever the unit."""
    days = [day for day, _ in _told(reading) if day] if reading.mode == "evidence" else []
    return sum(len(day) + len(", ") for day, after in pairwise(days) if day == after and day != "undated")


def _passages(reading: Reading, keys: Container[str]) -> dict[str, str]:
    """Give what is read of these sources, by source id."""
    found: dict[str, list[str]] = {}
    for line in reading.lines:
        if (key := line.evidence.source_id) is not None and key in keys:
            found.setdefault(key, []).append(line.text)
    return {key: "\n".join(texts) for key, texts in found.items()}


def _at_most(texts: Iterable[str], reading: Reading) -> int:
    """Give the size of texts with a blank line after each; for tokens a bound that always holds."""
    return sum(len(text if reading.unit == "chars" else text.encode("utf-8", "surrogatepass")) + 2 for text in texts)


def _key(node: NodeWithScore) -> str:
    """Give what a node is remembered under, "" for one without text."""
    return digest(node.node_id, _about(node)) if node.get_content().strip() else ""


def _about(node: NodeWithScore) -> dict[str, Any]:
    """Describe a node to a memory: its text, and of its metadata what a memory knows the meaning of."""
    told = {
        name: value for name in ("speaker", "session", "source") if isinstance(value := node.metadata.get(name), str)
    }
    about = {"text": node.get_content(), "session": node.node.ref_doc_id, **told}
    try:
        return {**about, "at": datetime.fromisoformat(str(node.metadata.get("at")))}
    except ValueError:
        return about


def _cut(node: NodeWithScore, text: str) -> NodeWithScore:
    made = node.node.model_copy()
    made.set_content(text)
    return NodeWithScore(node=made, score=node.score)
