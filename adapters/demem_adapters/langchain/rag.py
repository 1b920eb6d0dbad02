"""Selection for LangChain: what a memory would read of the documents that another retriever found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from demem_agent import SlotMemory

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field
except ImportError as error:
    raise ImportError(
        "the langchain adapter needs langchain: pip install 'demem-agent[langchain]'"
    ) from error

__all__ = ["SelectedRetriever", "SlotSelector", "as_turn", "wrap"]

#: What a memory is to know of a document: the arguments of ``SlotMemory.ingest``.
Describe = Callable[[Document], Mapping[str, Any]]
#: Readings of the candidates at most, each of a limit that the one before it left room for.
_READS = 6


def as_turn(document: Document) -> dict[str, Any]:
    """Describe a document to a memory by its metadata: speaker, at, session and source."""
    known = _known(document.metadata)
    about: dict[str, Any] = {
        name: str(known[name]) for name in ("speaker", "session", "source") if name in known
    }
    return {**about, "at": known.get("at"), "text": document.page_content}


class SlotSelector(BaseDocumentCompressor):
    """Select from retrieved documents with a memory: they are partitioned into K slots, and its
    reading is taken.

    A memory is made of the candidates of each query and forgotten again. What comes back has the
    metadata and ids of the candidates, and of the text the passages that were read, trimmed as in
    any reading; in order of time and place. Candidates of one session are read as neighbours, in
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
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> list[Document]:
        given = sorted(
            (document for document in documents if document.page_content.strip()), key=_place
        )
        if not given or not query.strip():
            return []
        memory = SlotMemory(**self.options)
        # Documents of no session are no neighbours: of forty rooms the one asked for would be
        # behind two others.
        turns = (
            {"session": f"#{n}"} | _known(self.turn(document)) for n, document in enumerate(given)
        )
        memory.ingest_many([turn | {"source_id": str(n)} for n, turn in enumerate(turns)])
        return _filled(memory, query, given, self.limit)


class SelectedRetriever(BaseRetriever):
    """What :func:`wrap` gives."""

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
    """Give a retriever that selects from what this one finds; have this one find many (100), as
    only they are seen.

    Arguments as of :class:`SlotSelector`; the paper's drop-in experiment (appendix "Drop-in
    Experiment").
    """
    return SelectedRetriever(
        retriever=retriever, selector=SlotSelector(limit=limit, turn=turn, options=options)
    )


def _filled(
    memory: SlotMemory, query: str, given: Sequence[Document], limit: int
) -> list[Document]:
    """Read as much as fits: a reading spends a part of its limit on marks and dates, which
    documents do not need.
    """
    asked, kept, counted = limit, list[Document](), memory.settings.unit == "chars"
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
    """Give what is read of each document, in the order of its text: a reading has the lines of an
    item together.
    """
    by_document = groupby(
        memory.read(query, limit=limit).lines, lambda line: int(line.evidence.source_id or 0)
    )
    read = ((given[n], "\n".join(line.text for line in lines)) for n, lines in by_document)
    return [document.model_copy(update={"page_content": text}) for document, text in read]


def _size(document: Document) -> int:
    speaker = document.metadata.get("speaker")
    return len(document.page_content) + (len(f"{speaker}: ") if speaker else 0) + len("\n\n")


def _known(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value is not None}


def _place(document: Document) -> tuple[str, str, list[float]]:
    """Give where a document stands in its time and source: what was said next to each other is read
    together.
    """
    told = document.metadata
    numbers = (told.get(name) for name in ("page", "start_index"))
    place = [float(number) if isinstance(number, int | float) else 0.0 for number in numbers]
    return str(told.get("at") or ""), str(told.get("source") or ""), place
