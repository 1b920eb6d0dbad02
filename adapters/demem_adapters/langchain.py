"""Memory for LangChain: agent middleware, a retriever and tools; ``langchain_rag`` selects for other retrievers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

from demem_adapters.passages import details, passages
from demem_adapters.shared import Inject, Memories, Namespace, block, digest, named
from demem_agent import Reading

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain.tools import ToolRuntime
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool

    from demem_adapters.langchain_rag import SelectedRetriever, SlotSelector, as_turn, wrap
except ImportError as error:
    raise ImportError("the langchain adapter needs langchain: pip install 'demem-agent[langchain]'") from error

__all__ = ["MemoryMiddleware", "MemoryRetriever", "SelectedRetriever", "SlotSelector", "as_turn", "tools", "wrap"]

#: Where providers say why a model stopped, and what they say when it did not come to its end.
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_CUT_OFF = re.compile(
    r"length|max|filter|safety|refus|incomplete|error|recit|block|exceed|cancel|prohib|spii|malform|guard", re.I
)
#: Answers whose reading is held until their agent has ended.
_MOST_READINGS = 1000
#: What a tool gets for its runtime when no agent calls it.
_OUTSIDE: Any = None


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Give an agent of ``create_agent`` memory, sync and async.

    Before each model call, what bears on the user's last message is put before the model, not into the agent's state.
    Once the agent has ended, that message and the answer are remembered as the state has them; nothing is if it failed,
    was left or interrupted, or gave a cut-off answer. ``memories.feedback(message.id, thumbs=True)`` tells how one did.
    A memory that fails costs no answer: what goes wrong is logged by kind.

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
        asked, end = _asked(messages), messages[-1]
        # An agent that ends with a tool's result (structured, or returned as it is) has said nothing itself.
        said = "" if isinstance(end, ToolMessage) else end.text
        if not asked or not (isinstance(end, ToolMessage) or _whole(end)):
            return
        name, thread = named(self.namespace, runtime), getattr(runtime.execution_info, "thread_id", None)
        key = digest(name, thread, [(message.type, message.content) for message in asked])
        reading = self._readings.pop(end.id or "", None)
        self.memories.converse(name, asked[-1].text, said, key=key, reading=reading, session=thread, call=end.id)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _recall(self, request: ModelRequest[Any]) -> Reading | None:
        asked = _asked(request.messages)
        return self.memories.prepare(named(self.namespace, request.runtime), asked[-1].text if asked else "")

    def _held(self, response: Any, reading: Reading | None) -> Any:
        """Hold what an answer was given from until the agent has ended: only then is it known to be the answer."""
        for message in response.result:
            if reading is not None and isinstance(message, AIMessage) and message.id and not message.tool_calls:
                self._readings[message.id] = reading
        for oldest in [*self._readings][:-_MOST_READINGS]:
            self._readings.pop(oldest, None)
        return response


class MemoryRetriever(BaseRetriever):
    """Retrieve from a memory: one document for each item of a reading, best first; of a summary, one document.

    The documents with blank lines between them are within the limit of the memories.

    Args:
        namespace: whose memory; a function gets the keyword arguments of the call.
        k: most documents; all that the limit has room for unless given. ``invoke(query, k=3)`` does so for one call.
    """

    memories: Memories
    namespace: Namespace = "default"
    k: int | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: Any, **call: Any) -> list[Document]:
        best = passages(self.memories.recall(named(self.namespace, call), query))[: call.get("k", self.k)]
        found = ((passage.text, details(passage.evidence)) for passage in best)
        return [Document(text, id=about.get("evidence_id"), metadata=about) for text, about in found]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any, **call: Any) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=None, **call)


def tools(memories: Memories, *, namespace: Namespace = "default") -> list[BaseTool]:
    """Make the tools ``remember`` and ``recall`` for an agent.

    Args:
        namespace: whose memory; a function gets the ``ToolRuntime`` of the call, and None outside of an agent.
    """

    def remember(text: str, runtime: ToolRuntime[Any, Any] = _OUTSIDE) -> str:
        name = named(namespace, runtime)
        memories.remember(name, text, source="tool", key=digest(name, getattr(runtime, "tool_call_id", None), text))
        return "Remembered."

    def recall(query: str, runtime: ToolRuntime[Any, Any] = _OUTSIDE) -> str:
        return block(memories.recall(named(namespace, runtime), query)) or "Nothing is remembered of that."

    return [
        _tool(remember, "Remember a fact for later conversations, in one self-contained sentence."),
        _tool(recall, "Recall what was said in earlier conversations that bears on a question."),
    ]


def _tool(work: Callable[..., str], description: str) -> BaseTool:
    async def awork(**given: Any) -> str:
        return await asyncio.to_thread(work, **given)

    return StructuredTool.from_function(work, awork, description=description)


def _asked(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """Give the messages up to the user's last one; none where the user has said nothing."""
    return messages[: max((n for n, message in enumerate(messages, 1) if isinstance(message, HumanMessage)), default=0)]


def _with(request: ModelRequest[Any], reading: Reading | None, inject: Inject) -> ModelRequest[Any]:
    if reading is None:
        return request
    if inject == "system":
        told: Any = request.system_message.content_blocks if request.system_message else ()
        return request.override(system_message=SystemMessage([*told, {"type": "text", "text": block(reading)}]))
    place = len(_asked(request.messages)) - 1
    return request.override(
        messages=[*request.messages[:place], HumanMessage(block(reading)), *request.messages[place:]]
    )


def _whole(message: AnyMessage) -> bool:
    """Tell whether a message is an answer that came to its end, as far as its provider says."""
    told = message.response_metadata
    reasons = [str(told[name]) for name in _REASONS if told.get(name)]
    # A provider that is named and gives no reason was cut off: a stream that ends early raises nothing.
    cut_off = any(map(_CUT_OFF.search, reasons)) or ("model_provider" in told and not reasons)
    return isinstance(message, AIMessage) and not message.tool_calls and not cut_off
