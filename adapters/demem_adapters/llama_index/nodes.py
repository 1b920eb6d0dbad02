"""Retrieval for LlamaIndex: a retriever of a memory, and a selector of retrieved nodes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

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
from pydantic import Field

from demem_adapters.common import (
    Asker,
    Conditions,
    Filter,
    Memories,
    Namespace,
    Said,
    Situation,
    digest,
    named,
)
from demem_adapters.common.passages import Passage, details, fitting, passages, where_of
from demem_agent import Evidence, Reading, SlotMemory
from demem_agent.reading import Asking
from demem_agent.text import Measure

__all__ = ["MemoryPostprocessor", "MemoryRetriever"]

#: A reading of a memory that holds more than the retrieved nodes leaves room: the postprocessor
#: reads longer ones, each of twice the limit, this many at most, until what it has of the nodes
#: fills its limit to this share.
_LONGER = 7
_FULL = 0.9
#: Stands between the texts of nodes that are put before a model.
_APART = "\n\n"


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
