"""Selection for LangChain: what a memory would read of what another retriever found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demem_agent import SlotMemory
from demem_agent.types import Line

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field
except ImportError as error:
    raise ImportError(
        "the langchain adapter needs langchain: pip install 'demem-agent[langchain]'"
    ) from error

__all__ = ["RELEVANCE", "SelectedRetriever", "SlotSelector", "as_turn", "wrap"]

#: What a memory is to know of a document: the arguments of ``SlotMemory.ingest``.
Describe = Callable[[Document], Mapping[str, object]]
#: Readings of the candidates at most, each of a limit that the one before it left room for.
_READS = 6
#: Where the metadata of a document say how probably it bears on the query, as LangChain's own
#: compressors do.
RELEVANCE = "relevance_score"


def as_turn(document: Document) -> dict[str, Any]:
    """Describe a document to a memory by its metadata: speaker, at, session and source."""
    known = _known(document.metadata)
    about: dict[str, Any] = {"at": known.get("at"), "text": document.page_content}
    for name in ("speaker", "session", "source"):
        if name in known:
            about[name] = str(known[name])
    return about


class SlotSelector(BaseDocumentCompressor):
    """Select from retrieved documents with a memory: its reading of them, from K slots.

    A memory is made of the candidates of each query and forgotten again. What comes back has the
    metadata and ids of the candidates, besides them ``relevance_score``, the probability that it
    bears on the query, and of the text the passages that were read, trimmed as in any reading; in
    order of time and place. Candidates of one session are read as neighbours, in
    the order of "page" and "start_index" in their metadata.

    Args:
        limit: most that comes back, in characters, counting "speaker: " and a blank line for each
            document; of a memory in tokens or bytes, the limit of its reading.
        turn: describes a document as :func:`as_turn` does.
        options: of the memory, as :class:`~demem_agent.SlotMemory` takes them.
    """

    limit: int = 6000
    turn: Describe = as_turn
    options: dict[str, Any] = Field(default_factory=dict)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: object = None
    ) -> list[Document]:
        """Return what a memory of these documents reads for a query, in order of time and place."""
        given = [document for document in documents if document.page_content.strip()]
        given.sort(key=_place)
        if not given or not query.strip():
            return []
        # A document without a date was not written when it is searched.
        memory = SlotMemory(**{"clock": None, **self.options})
        memory.ingest_many([self._turn(n, document) for n, document in enumerate(given)])
        return _filled(memory, query, given, self.limit)

    def _turn(self, number: int, document: Document) -> dict[str, object]:
        # Documents of no session are no neighbours: of forty rooms the one asked for would be
        # behind two others.
        alone = {"session": f"#{number}"}
        return {**alone, **_known(self.turn(document)), "source_id": str(number)}


class SelectedRetriever(BaseRetriever):
    """What :func:`wrap` makes."""

    retriever: BaseRetriever
    selector: SlotSelector

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, **call: Any
    ) -> list[Document]:
        found = self.retriever.invoke(query, {"callbacks": run_manager.get_child()}, **call)
        return self.selector.compress_documents(found, query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: Any, **call: Any
    ) -> list[Document]:
        found = await self.retriever.ainvoke(query, {"callbacks": run_manager.get_child()}, **call)
        return list(await self.selector.acompress_documents(found, query))


def wrap(
    retriever: BaseRetriever, *, limit: int = 6000, turn: Describe = as_turn, **options: Any
) -> SelectedRetriever:
    """Make a retriever that selects from what this one finds.

    Have this one find many (100), as only they are seen: the paper's appendix "Drop-in Experiment".

    Args:
        limit, turn, options: as in :class:`SlotSelector`.
    """
    selector = SlotSelector(limit=limit, turn=turn, options=options)
    return SelectedRetriever(retriever=retriever, selector=selector)


def _filled(
    memory: SlotMemory, query: str, given: Sequence[Document], limit: int
) -> list[Document]:
    """Read as much as fits.

    A reading spends a part of its limit on marks and dates, which documents do not need.
    """
    asked = limit
    kept: list[Document] = []
    counted = memory.settings.unit == "chars"
    for _ in range(_READS):
        found = _read(memory, query, given, max(asked, 1))
        over = sum(map(_size, found)) - limit if counted else 0
        if over <= 0:
            kept = found
        if over == 0 or (over < 0 and len(found) == len(given)):
            break
        asked -= over
    return kept


def _read(memory: SlotMemory, query: str, given: Sequence[Document], limit: int) -> list[Document]:
    """Return what is read of each document, in the order of its text."""
    read: dict[int, list[Line]] = {}
    for line in memory.read(query, limit=limit).lines:
        read.setdefault(int(line.evidence.source_id or 0), []).append(line)
    return [_read_of(given[number], lines) for number, lines in read.items()]


def _read_of(document: Document, lines: Sequence[Line]) -> Document:
    """Return a document as far as it was read."""
    relevance = max(line.probability for line in lines)
    update = {
        "page_content": "\n".join(line.text for line in lines),
        "metadata": {**document.metadata, RELEVANCE: relevance},
    }
    return document.model_copy(update=update)


def _size(document: Document) -> int:
    speaker = document.metadata.get("speaker")
    said_by = f"{speaker}: " if speaker else ""
    return len(said_by) + len(document.page_content) + len("\n\n")


def _known(about: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in about.items() if value is not None}


def _place(document: Document) -> tuple[str, str, list[float]]:
    """Return where a document stands in its time and source.

    What was said next to each other is read together.
    """
    told = document.metadata
    place = [_number(told.get(name)) for name in ("page", "start_index")]
    return str(told.get("at") or ""), str(told.get("source") or ""), place


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
