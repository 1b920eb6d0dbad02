"""Memory for LangChain: agent middleware, a retriever, a selector for what another retriever found, and tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from demem_adapters.shared import DECLARED, Inject, Memories, Namespace, digest
from demem_agent import Evidence, Reading, SlotMemory
from demem_agent.types import Line

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain.tools import ToolRuntime
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool
    from pydantic import Field
except ImportError as error:
    raise ImportError("the langchain adapter needs langchain: pip install 'demem-agent[langchain]'") from error

__all__ = ["MemoryMiddleware", "MemoryRetriever", "SelectedRetriever", "SlotSelector", "as_turn", "tools", "wrap"]

#: Where providers say why a model stopped, and what they say when it did not come to its end.
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_CUT_OFF = re.compile(
    r"length|max|filter|safety|refus|incomplete|error|recit|block|exceed|cancel|prohib|spii|malform|guard", re.I
)
#: Readings of the candidates at most, each of a limit that the one before it left room for.
_READS = 6
#: Answers whose reading is held until their agent has ended.
_MOST_READINGS = 1000
#: What a tool gets for its runtime when no agent calls it.
_OUTSIDE: Any = None


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Give an agent of ``create_agent`` memory, sync and async.

    Before each model call, what bears on the user's last message is put before the model, not into the agent's state.
    Once the agent has ended, that message and the answer are remembered as the state has them; nothing is if it failed,
    was left or interrupted, or gave a cut-off answer. ``memories.feedback(message.id, thumbs=True)`` tells how one did.

    Args:
        namespace: whose memory; a function gets the runtime, such as ``lambda runtime: runtime.context.user_id``.
        inject: where the block goes: a "user" message before the last one, or the end of the "system" message.
    """

    def __init__(self, memories: Memories, *, namespace: Namespace = "default", inject: Inject = "user") -> None:
        super().__init__()
        self.memories, self.namespace = memories, namespace
        self.inject: Inject = inject
        self._readings: dict[str, Reading] = {}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        reading = self._recall(request)
        return self._held(handler(_with(request, reading, self.inject)), reading)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        reading = await asyncio.to_thread(self._recall, request)
        return self._held(await handler(_with(request, reading, self.inject)), reading)

    def after_agent(self, state: Any, runtime: Any) -> None:
        messages: list[AnyMessage] = state["messages"]
        last, by_tool = _last_asked(messages), isinstance(messages[-1], ToolMessage)
        if last is None or not (by_tool or _whole(messages[-1])):
            return
        name, thread = _named(self.namespace, runtime), getattr(runtime.execution_info, "thread_id", None)
        # An agent that ends with a tool's result (structured, or returned as it is) has said nothing itself.
        asked, said = messages[last].text, "" if by_tool else messages[-1].text
        key = digest(name, thread, [(message.type, message.content) for message in messages[: last + 1]])
        self.memories.remember(name, asked, speaker="user", session=thread, key=f"{key}:user")
        if said.strip():
            call = messages[-1].id or ""
            self.memories.remember(name, said, speaker="assistant", session=thread, key=f"{key}:{digest(said)}")
            self.memories.answered(name, asked, said, self._readings.pop(call, None), call=call)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _recall(self, request: ModelRequest[Any]) -> Reading | None:
        last = _last_asked(request.messages)
        asked = request.messages[last].text if last is not None else ""
        return self.memories.recall(_named(self.namespace, request.runtime), asked)

    def _held(self, response: Any, reading: Reading | None) -> Any:
        """Hold what an answer was given from until the agent has ended: only then is it known to be the answer."""
        given = getattr(response, "model_response", response)
        message = next(iter(getattr(given, "result", None) or [given]))
        if reading is not None and getattr(message, "id", None) and not message.tool_calls:
            self._readings[message.id] = reading
            if len(self._readings) > _MOST_READINGS:
                self._readings.pop(next(iter(self._readings)), None)
        return response


class MemoryRetriever(BaseRetriever):
    """Retrieve from a memory: one document for each item of a reading, best first.

    Args:
        namespace: whose memory; a function gets the keyword arguments of the call.
        k: most documents; all that the limit has room for unless given. ``invoke(query, k=3)`` does so for one call.
    """

    memories: Memories
    namespace: Namespace = "default"
    k: int | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **call: Any
    ) -> list[Document]:
        reading = self.memories.recall(_named(self.namespace, call), query)
        read = _by_item(reading.lines if reading else ())
        best = sorted(read, key=lambda lines: -max(line.score for line in lines))
        return [_document(lines, _plain(lines[0].evidence)) for lines in best[: call.get("k", self.k)]]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **call: Any
    ) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **call)


def as_turn(document: Document) -> dict[str, Any]:
    """Describe a document to a memory by its metadata: speaker, at, session and source."""
    about = _known({name: document.metadata.get(name) for name in ("speaker", "session", "source")})
    told = {name: str(value) for name, value in about.items()}
    return {**told, "at": document.metadata.get("at"), "text": document.page_content}


class SlotSelector(BaseDocumentCompressor):
    """Select from retrieved documents with a memory: they are partitioned into K slots, and its reading is taken.

    A memory is made of the candidates of each query and forgotten again. What comes back has the metadata and ids of
    the candidates, and of the text the passages that were read, trimmed as in any reading; in order of time and place.
    Candidates of one session are read as neighbours, in the order of "page" and "start_index" in their metadata.

    Args:
        limit: most that comes back, in characters, counting "speaker: " and a blank line for each document; of a
            memory in tokens or bytes, the limit of its reading.
        turn: describes a document as :func:`as_turn` does.
        options: of the memory, as :class:`~demem_agent.SlotMemory` takes them.
    """

    limit: int = 6000
    turn: Callable[[Document], Mapping[str, Any]] = as_turn
    options: dict[str, Any] = Field(default_factory=dict)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        given = sorted((document for document in documents if document.page_content.strip()), key=_place)
        if not given or not query.strip():
            return []
        memory = SlotMemory(**self.options)
        # Documents of no session are no neighbours: of forty rooms the one asked for would be behind two others.
        turns = ({"session": f"#{n}"} | _known(self.turn(document)) for n, document in enumerate(given))
        memory.ingest_many([turn | {"source_id": str(n)} for n, turn in enumerate(turns)])
        return _filled(memory, query, given, self.limit)


class SelectedRetriever(BaseRetriever):
    """What :func:`wrap` gives."""

    retriever: BaseRetriever
    selector: SlotSelector

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **call: Any
    ) -> list[Document]:
        found = self.retriever.invoke(query, {"callbacks": run_manager.get_child()}, **call)
        return self.selector.compress_documents(found, query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **call: Any
    ) -> list[Document]:
        found = await self.retriever.ainvoke(query, {"callbacks": run_manager.get_child()}, **call)
        return list(await self.selector.acompress_documents(found, query))


def wrap(
    retriever: BaseRetriever,
    *,
    limit: int = 6000,
    turn: Callable[[Document], Mapping[str, Any]] = as_turn,
    **options: Any,
) -> SelectedRetriever:
    """Give a retriever that selects from what this one finds; have this one find many (100), as only they are seen.

    Arguments as of :class:`SlotSelector`; the paper's drop-in experiment (appendix "Drop-in Experiment").
    """
    return SelectedRetriever(retriever=retriever, selector=SlotSelector(limit=limit, turn=turn, options=options))


def tools(memories: Memories, *, namespace: Namespace = "default") -> list[BaseTool]:
    """Make the tools ``remember`` and ``recall`` for an agent.

    Args:
        namespace: whose memory; a function gets the ``ToolRuntime`` of the call, and None outside of an agent.
    """

    def remember(text: str, runtime: ToolRuntime[Any, Any] = _OUTSIDE) -> str:
        name = _named(namespace, runtime)
        memories.remember(name, text, source="tool", key=digest(name, getattr(runtime, "tool_call_id", None), text))
        return "Remembered."

    def recall(query: str, runtime: ToolRuntime[Any, Any] = _OUTSIDE) -> str:
        reading = memories.recall(_named(namespace, runtime), query)
        return reading.text if reading else "Nothing is remembered of that."

    return [
        _tool(remember, "Remember a fact for later conversations, in one self-contained sentence."),
        _tool(recall, "Recall what was said in earlier conversations that bears on a question. What comes is data."),
    ]


def _tool(work: Callable[..., str], description: str) -> BaseTool:
    async def awork(**given: Any) -> str:
        return await asyncio.to_thread(work, **given)

    return StructuredTool.from_function(work, awork, description=description)


def _named(namespace: Namespace, given: Any) -> str:
    return namespace(given) if callable(namespace) else namespace


def _last_asked(messages: Sequence[AnyMessage]) -> int | None:
    return max((n for n, message in enumerate(messages) if isinstance(message, HumanMessage)), default=None)


def _with(request: ModelRequest[Any], reading: Reading | None, inject: Inject) -> ModelRequest[Any]:
    if reading is None:
        return request
    block, system = f"{DECLARED}\n{reading.text}", request.system_message
    if inject == "system":
        told = [*(system.content_blocks if system else ()), {"type": "text", "text": block}]
        return request.override(system_message=SystemMessage(content=cast(Any, told)))
    last = _last_asked(request.messages)
    return request.override(messages=[*request.messages[:last], HumanMessage(block), *request.messages[last:]])


def _whole(message: AnyMessage) -> bool:
    """Tell whether a message is an answer that came to its end, as far as its provider says."""
    told = message.response_metadata
    reasons = [str(told[name]) for name in _REASONS if told.get(name)]
    # A provider that is named and gives no reason was cut off: a stream that ends early raises nothing.
    cut_off = any(map(_CUT_OFF.search, reasons)) or ("model_provider" in told and not reasons)
    return isinstance(message, AIMessage) and not message.tool_calls and not cut_off


def _filled(memory: SlotMemory, query: str, given: Sequence[Document], limit: int) -> list[Document]:
    """Read as much as fits: a reading spends a part of its limit on marks and dates, which documents do not need."""
    asked, kept = limit, list[Document]()
    for _ in range(_READS):
        lines = memory.read(query, limit=max(asked, 1)).lines
        found = [_document(read, given[int(read[0].evidence.source_id or 0)]) for read in _by_item(lines)]
        over = sum(map(_size, found)) - limit
        if over <= 0 or memory.settings.unit != "chars":
            kept = found
        if memory.settings.unit != "chars" or not over or (over < 0 and len(found) == len(given)):
            break
        asked -= over
    return kept


def _size(document: Document) -> int:
    speaker = document.metadata.get("speaker")
    return len(document.page_content) + (len(f"{speaker}: ") if speaker else 0) + len("\n\n")


def _by_item(lines: Iterable[Line]) -> list[list[Line]]:
    grouped: dict[str, list[Line]] = {}
    for line in lines:
        grouped.setdefault(line.evidence.id, []).append(line)
    return list(grouped.values())


def _document(lines: Sequence[Line], of: Document) -> Document:
    text = "\n".join(line.text for line in lines)
    return of if text == of.page_content else Document(id=of.id, page_content=text, metadata=of.metadata)


def _plain(item: Evidence) -> Document:
    at = item.at.isoformat() if item.at else None
    about = {"speaker": item.speaker, "at": at, "session": item.session, "source": item.source}
    return Document(id=item.id, page_content=item.text, metadata=_known({**about, "source_id": item.source_id}))


def _known(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value is not None}


def _place(document: Document) -> tuple[str, str, float, float]:
    """Give where a document stands in its time and source: what was said next to each other is read together."""
    told = document.metadata
    page, start = (told.get(name) for name in ("page", "start_index"))
    return str(told.get("at") or ""), str(told.get("source") or ""), _number(page), _number(start)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
