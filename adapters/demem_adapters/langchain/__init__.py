"""Memory for LangChain: agent middleware, a retriever, tools, a selector for other retrievers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import Annotated, Any, NamedTuple, TypedDict
from uuid import uuid4

from demem_adapters.common import (
    BESIDE,
    Asker,
    Conditions,
    Ending,
    Filter,
    Heard,
    Inject,
    Memories,
    Namespace,
    Recent,
    Said,
    Situation,
    block,
    came_to_its_end,
    checked,
    digest,
    in_conversation,
    kept_as,
    named,
)
from demem_adapters.common.passages import Passage, details, passages
from demem_agent import Reading
from demem_agent.reading import Asking

try:
    from langchain.agents.middleware import AgentMiddleware, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain.tools import ToolRuntime
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool

    from demem_adapters.langchain.choosing import ToolChoiceMiddleware
    from demem_adapters.langchain.messages import (
        Request,
        goes_on,
        put_into,
        said,
        said_before,
        said_last_of,
    )
    from demem_adapters.langchain.rag import (
        RELEVANCE,
        SelectedRetriever,
        SlotSelector,
        as_turn,
        wrap,
    )
except ImportError as error:
    raise ImportError(
        "the langchain adapter needs langchain: pip install 'demem-agent[langchain]'"
    ) from error

__all__ = [
    "MemoryMiddleware",
    "MemoryRetriever",
    "SelectedRetriever",
    "SlotSelector",
    "ToolChoiceMiddleware",
    "as_turn",
    "tools",
    "wrap",
]

#: What carries out a call of the model by an agent.
Handler = Callable[[Request], ModelResponse]
AsyncHandler = Callable[[Request], Awaitable[ModelResponse]]

#: Where providers say why a model stopped.
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
#: How the ids begin that LangChain gives to what a model says; those that it gives to other
#: messages are bare.
_OF_A_MODEL = "lc_run-"
#: What a tool gets for its runtime when no agent calls it.
_OUTSIDE: Any = None


class _State(TypedDict, total=False):
    """What the state of an agent with memory has besides: the id of the message to answer."""

    demem_asked: Annotated[str | None, PrivateStateAttr]


class _Turn(NamedTuple):
    """What the user asked in a run.

    Attributes:
        id: of the message that asks.
        held: a key of the question, the same when the run is carried out again.
        asking: who asks, and what holds.
    """

    namespace: str | None
    thread: str | None
    id: str | None
    asked: str
    held: str
    asking: Asking


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Give an agent of ``create_agent`` memory, sync and async.

    Before each model call, what bears on what the user asked is put before the model, not into the
    agent's state. What the user has said since the last answer is remembered then, as the model is
    shown it; the answer is once the agent has ended, as the state has it. None is if it failed, was
    left or interrupted, was cut off, or ended with words that no model gave.
    ``memories.feedback(message.id, namespace="ana", thumbs=True)`` tells how an answer did. A
    memory that fails costs no answer: what goes wrong is logged by kind.

    List it before middleware that changes answers in ``after_agent``: LangChain runs these hooks
    last to first. The same message (by its id) in the same thread is remembered once, the same
    words in another message again.

    Args:
        namespace: whose memory; a function gets the runtime, such as ``lambda runtime:
            getattr(runtime.context, "user", None)``. None means a run without memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the runtime
            as well.
        where: which items may be recalled; a function of it too.
        inject: where the block goes: a "user" message before what was asked, or the end of the
            "system" message.
    """

    state_schema: Any = _State

    def __init__(
        self,
        memories: Memories,
        *,
        namespace: Namespace = "default",
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        inject: Inject = "user",
    ) -> None:
        super().__init__()
        self.memories = memories
        self.namespace = namespace
        self.situation = Situation(asker, conditions, where)
        self.inject: Inject = checked(inject)
        #: By the id of a model's answer, what it was given from, and for whom.
        self._given: Recent[str, tuple[Reading | None, Asking]] = Recent()
        #: What was recalled for what was asked: it stays the same while tools answer the model.
        self._recalled: Recent[str, tuple[Reading | None, Asking]] = Recent()
        #: What was heard in a run, by its question.
        self._heard: Recent[str, Heard] = Recent()
        #: What was asked, for when it is summarised away before the agent ends.
        self._asked: Recent[str, str] = Recent()

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Note which message the run is to answer."""
        return {"demem_asked": next(reversed(said(state["messages"])), None)}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Note which message the run is to answer."""
        return self.before_agent(state, runtime)

    def wrap_model_call(self, request: Request, handler: Handler) -> ModelResponse:
        """Call the model with what was recalled, which stays out of the agent's state."""
        reading, asking = self._recall(request)
        given = put_into(request, block(reading), self.inject)
        return self._held(handler(given), reading, asking)

    async def awrap_model_call(self, request: Request, handler: AsyncHandler) -> ModelResponse:
        """Call the model as :meth:`wrap_model_call` does, without blocking the event loop."""
        reading, asking = await asyncio.to_thread(self._recall, request)
        given = put_into(request, block(reading), self.inject)
        return self._held(await handler(given), reading, asking)

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Remember question and answer, if the agent came to its end."""
        end: AnyMessage = state["messages"][-1]
        turn = self._turn(state["messages"], state, runtime)
        said = self._said_at_end(end)
        reading, asking = self._given.pop(end.id or "", (None, turn.asking))
        self._asked.pop(turn.held, None)
        self._recalled.pop(turn.held, None)
        heard = self._heard.pop(turn.held, None)
        if not turn.asked or said is None:
            return
        self.memories.converse(
            turn.namespace,
            turn.asked,
            said,
            key=heard or self._hear(state["messages"], turn),
            reading=reading,
            session=turn.thread,
            call=end.id,
            **asking,
        )

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Remember as :meth:`after_agent` does, without blocking the event loop."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _recall(self, request: Request) -> tuple[Reading | None, Asking]:
        turn = self._turn(request.messages, request.state, request.runtime)
        before = self._recalled.get(turn.held)
        if before is not None and goes_on(request.messages, request.state.get("demem_asked")):
            heard = self._heard.get(turn.held)
            if self.memories.still_holds(turn.namespace, before[0], heard):
                return before
        shown = [message.text for message in request.messages]
        reading = self.memories.prepare(turn.namespace, turn.asked, shown=shown, **turn.asking)
        self._recalled[turn.held] = reading, turn.asking
        self._hear(request.messages, turn)
        return reading, turn.asking

    def _hear(self, messages: Sequence[AnyMessage], turn: _Turn) -> Heard:
        """Remember what the user has said since the last answer, once in a run."""
        heard = self._heard.get(turn.held)
        if heard is None or heard.said[-1:] != (kept_as(turn.asked),):
            before, texts, spoke = said_last_of(messages, turn.id)
            ids: list[str | None] = [message.id for message in spoke]
            names = [message.name for message in spoke]
            if texts[-1:] != [turn.asked]:  # it was summarised away
                texts, ids, names = [turn.asked], [turn.id], []
            # Where no thread keeps the messages, they may have other ids in each run.
            kept = turn.thread is not None
            heard = self.memories.heard(
                turn.namespace,
                texts,
                before=before,
                session=turn.thread,
                asker=turn.asking.get("asker"),
                names=names,
                ids=ids if kept else (),
                goes_on=not kept and goes_on(messages, turn.id),
            )
            self._heard[turn.held] = heard
        return heard

    def _turn(self, messages: Sequence[AnyMessage], state: Any, runtime: Any) -> _Turn:
        """Find what was asked by its message's id.

        It is taken as its text is now: a redacted message is to stay redacted.
        """
        name = named(self.namespace, runtime)
        thread = getattr(runtime.execution_info, "thread_id", None)
        users = said(messages)
        asked = state.get("demem_asked") or next(reversed(users), None)
        # With the namespace: where there is no thread, clients of many users may count their
        # messages from one.
        held = digest(name, thread, asked)
        text = users.get(asked, self._asked.get(held, next(reversed(users.values()), "")))
        self._asked[held] = text
        asking = in_conversation(self.situation.asking(runtime), said_before(messages, asked))
        return _Turn(name, thread, asked, text, held, asking)

    def _held(
        self, response: ModelResponse, reading: Reading | None, asking: Asking
    ) -> ModelResponse:
        """Hold what an answer was given from until the agent has ended.

        Only then is it known to be the answer.
        """
        for message in response.result:
            # What a middleware says in place of a model has no id yet, whichever of the two is the
            # inner one.
            if isinstance(message, AIMessage) and message.id and not message.tool_calls:
                self._given[message.id] = reading, asking
        return response

    def _said_at_end(self, end: AnyMessage) -> str | None:
        """Return what an agent has answered; None where its last message is no whole answer.

        One that ends with a tool's result (structured, or returned as it is) has said nothing
        itself: "".
        """
        if isinstance(end, ToolMessage):
            return ""
        if self._of_a_model(end) and _whole(end):
            return end.text
        return None

    def _of_a_model(self, message: AnyMessage) -> bool:
        """Whether a model call gave this; if that was in another process its id tells."""
        if message.id is None:
            return False
        return message.id in self._given or message.id.startswith(_OF_A_MODEL)


class MemoryRetriever(BaseRetriever):
    """Retrieve from a memory: one document for each item of a reading, best first.

    Of a summary there is one document.

    ``relevance_score`` in a document's metadata is the probability, from 0 to 1, that it bears on
    the query. The documents with blank lines between them are within the limit of the memories.

    Args:
        namespace: whose memory; a function gets the keyword arguments of the call.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the same.
        where: which items may be read; a function of them too.
        k: most documents; all that the limit has room for unless given. ``invoke(query, k=3)`` does
            so for one call; ``context=[...]`` tells it what was said last before the query.
        score_threshold: least probability of a document; that may be given for one call as well.
    """

    memories: Memories
    namespace: Namespace = "default"
    asker: Asker | None = None
    conditions: Conditions = ()
    where: Filter | None = None
    k: int | None = None
    score_threshold: float = 0.0

    def _get_relevant_documents(
        self, query: str, *, run_manager: object, **call: Any
    ) -> list[Document]:
        who = Situation(self.asker, self.conditions, self.where).asking(call)
        asking = in_conversation(who, call.get("context", ()))
        reading = self.memories.recall(named(self.namespace, call), query, **asking)
        least = call.get("score_threshold", self.score_threshold)
        found = [passage for passage in passages(reading) if passage.probability >= least]
        return [_document(passage) for passage in found[: call.get("k", self.k)]]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: object, **call: Any
    ) -> list[Document]:
        return await asyncio.to_thread(
            self._get_relevant_documents, query, run_manager=None, **call
        )


def tools(
    memories: Memories,
    *,
    namespace: Namespace = "default",
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
) -> list[BaseTool]:
    """Make the tools ``remember`` and ``recall`` for an agent.

    Args:
        namespace: whose memory; a function gets the ``ToolRuntime`` of the call, and None outside
            of an agent.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the same.
        where: which items may be recalled; a function of it too.
    """
    situation = Situation(asker, conditions, where)

    def remember(text: str, runtime: ToolRuntime[Any, Any] = _OUTSIDE) -> str:
        told: Said = {"text": text, "source": "tool", "key": _key(runtime, text)}
        memories.keep(named(namespace, runtime), lambda: [told])
        return "Remembered."

    def recall(query: str, runtime: ToolRuntime[Any, Any] = _OUTSIDE) -> str:
        asking = in_conversation(situation.asking(runtime), _spoken_in(runtime))
        reading = memories.recall(named(namespace, runtime), query, beside=BESIDE, **asking)
        return block(reading) or "Nothing is remembered of that."

    return [
        _tool(remember, "Remember a fact for later conversations, in one self-contained sentence."),
        _tool(recall, "Recall what was said in earlier conversations that bears on a question."),
    ]


def _key(runtime: Any, text: str) -> str:
    """Return the key of what a model remembers: the same as a run is made again, whose calls have
    other ids; another in another turn. Outside of an agent all that is remembered is an event.
    """
    call = getattr(runtime, "tool_call_id", None)
    state = getattr(runtime, "state", None)
    if call and state and "messages" in state:
        asked = [*said(state["messages"]).values()]
        return digest("remember", text, asked, date.today().isoformat())
    return digest("remember", text, call or uuid4().hex)


def _spoken_in(runtime: Any) -> list[str]:
    """Return what was said in the run that calls a tool, the question that it answers included."""
    state = getattr(runtime, "state", None)
    return said_before(state["messages"], "") if state and "messages" in state else []


def _document(passage: Passage) -> Document:
    about = details(passage.evidence)
    id = about.get("evidence_id")
    return Document(passage.text, id=id, metadata={**about, RELEVANCE: passage.probability})


def _tool(work: Callable[..., str], description: str) -> BaseTool:
    async def awork(**given: Any) -> str:
        return await asyncio.to_thread(work, **given)

    return StructuredTool.from_function(work, awork, description=description)


def _whole(message: AnyMessage) -> bool:
    """Whether a message is an answer that came to its end, as far as its provider says."""
    if not isinstance(message, AIMessage) or message.tool_calls:
        return False
    told = message.response_metadata
    reasons = [told[name] for name in _REASONS if told.get(name)]
    # A provider that is named and gives no reason was cut off: a stream that ends early raises
    # nothing.
    unsaid: Ending = "cut" if "model_provider" in told else "whole"
    return all(came_to_its_end(reason, unsaid=unsaid) for reason in reasons or [None])
