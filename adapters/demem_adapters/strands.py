"""Memory for Strands Agents: a manager that recalls before model calls and remembers afterwards."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from demem_adapters.common import (
    ASSISTANT,
    BESIDE,
    DECLARED,
    USER,
    Asker,
    Conditions,
    Filter,
    Heard,
    Memories,
    Recent,
    Said,
    Situation,
    Spoken,
    came_to_its_end,
    digest,
    in_conversation,
    kept_as,
    said_last,
    text_of,
)
from demem_agent import Reading
from demem_agent.reading import Asking
from demem_agent.turns import text_field

try:
    from strands import Agent
    from strands.agent import AgentResult
    from strands.hooks import AfterInvocationEvent, BeforeInvocationEvent, BeforeModelCallEvent
    from strands.memory import (
        InjectionFormatContext,
        InjectionQueryContext,
        MemoryEntry,
        MemoryInjectionConfig,
        MemoryManager,
        MemoryStore,
        SearchOptions,
    )
    from strands.middleware import InvokeModelContext, InvokeModelStage
    from strands.types.content import Message
except ImportError as error:
    raise ImportError(
        "this adapter needs strands-agents: pip install 'demem-agent[strands]'"
    ) from error

__all__ = ["LongTermMemory", "SlotStore"]

#: What Strands hands from hook to hook in one call of an agent.
State = dict[str, Any]
#: What a call of the model gives, piece by piece.
Events = AsyncGenerator[Any, None]

#: Readings that wait for the answer to their query.
_MOST_READINGS = 64
#: Turns of an agent that others are inside of.
_MOST_INSIDE = 64


class SlotStore(MemoryStore):
    """Search a memory: one entry with all that was read for the query, in order of time.

    Its text is within the limit, with the sentence that declares it to be data. Strands tells a
    store neither the ids of messages nor how an answer ended, so this one takes statements alone;
    :class:`LongTermMemory` remembers the conversation.

    Args:
        memories: where it is remembered.
        namespace: whose memory. Strands tells a store nothing of the call, so it is fixed.
        asker, conditions: who asks ("user" unless given), and what holds; also as functions
            without arguments.
        where: which items may be recalled; also as a function.
        name: of the store, as Strands' tools show it to the model.
        description: of the store, for the same tools.

    Raises:
        InvalidInput: if the namespace is no text.
    """

    def __init__(
        self,
        memories: Memories,
        namespace: str = "default",
        *,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        name: str = "memory",
        description: str | None = None,
    ) -> None:
        self.memories = memories
        self.namespace = text_field("namespace", namespace)
        self.situation = Situation(asker, conditions, where)
        self.name = name
        self.description = description
        self.max_search_results: int | None = None
        self.writable = True
        self.extraction = None
        self._readings: Recent[str, tuple[Reading | None, Asking]] = Recent(_MOST_READINGS)
        #: By query, what was said before it: Strands gives a search the query alone.
        self._before: Recent[str, list[str]] = Recent(_MOST_READINGS)

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Read for a query: one entry however many are asked for, none where nothing is found."""
        before = self._before.pop(query, None)
        if before is not None and query in self._readings:
            # The model goes on with a turn: what was recalled for it stays.
            return _entries(self._readings[query][0])
        asking = in_conversation(self.situation.asking(), before or [])
        reading = await asyncio.to_thread(
            self.memories.recall,
            self.namespace,
            query,
            shown=[kept_as(query)],
            beside=BESIDE,
            **asking,
        )
        self._readings[query] = reading, asking
        return _entries(reading)

    async def add(self, content: str, metadata: object = None) -> None:
        """Remember a statement once, as the model gives it to ``add_memory``.

        The metadata is left out.
        """
        key = digest("add_memory", content)
        said: Said = {"text": content, "speaker": "assistant", "source": "add_memory", "key": key}
        await self.memories.akeep(self.namespace, [said])

    def expect(self, query: str, before: list[str]) -> None:
        """Tell what the user and the model said before a query that is searched for next."""
        self._before[query] = before

    def read_for(self, query: str) -> tuple[Reading | None, Asking]:
        """Return what was last read for a query, and for whom, and let go of it."""
        return self._readings.pop(query, (None, self.situation.asking()))


class LongTermMemory(MemoryManager):
    """Recall for the user's last message before each model call; remember turns that end well.

    What is recalled stands behind the message as a block of data and reaches the model only. A turn
    that fails, is cut off, cancelled or refused is not remembered; one that waits for approval of a
    tool is when it goes on to its end. A structured output is remembered as JSON. What cannot be
    remembered is logged by kind, and the answer stands.

    Args:
        memories: where it is remembered; ``memories.feedback(result.message["tracking_id"],
            namespace="ana", thumbs=True)`` tells how an answer did.
        namespace: whose memory; an agent of Strands holds one conversation, so its user has it.
        asker, conditions, where: as in :class:`SlotStore`.
        session: id of the conversation; one for each agent unless given.
        stores: further stores, searched after this one.
        injection: as in ``MemoryManager``; what a config leaves out is as said above, False recalls
            by the tools only.
        options: as in ``MemoryManager``: ``search_tool_config``, ``add_tool_config``.

    Raises:
        InvalidInput: if the namespace or the session is no text.
    """

    def __init__(
        self,
        memories: Memories,
        namespace: str = "default",
        *,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        session: str | None = None,
        stores: Sequence[MemoryStore] = (),
        injection: bool | MemoryInjectionConfig = True,
        **options: Any,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.session = None if session is None else text_field("session", session)
        self._options = {
            "asker": asker,
            "conditions": conditions,
            "where": where,
            "session": session,
            "stores": stores,
            "injection": injection,
            **options,
        }
        self._store = SlotStore(
            memories, namespace, asker=asker, conditions=conditions, where=where
        )
        told = injection if isinstance(injection, dict) else {}
        # "userTurn", Strands' own trigger, would leave the model without memory once it has called
        # a tool.
        config: Any = {"trigger": "everyTurn", "query": self._query, "format": _block, **told}
        super().__init__(
            [self._store, *stores], injection=config if injection else False, **options
        )

    def _query(self, context: InjectionQueryContext) -> str:
        """Return what is asked, and tell the store what was said before."""
        messages = context.messages
        asked = _asked(messages)
        if asked is None:
            return ""
        query = _text(asked)
        self._store.expect(query, _before(messages, asked))
        return query

    async def init_agent(self, agent: Agent) -> None:
        """Attach to an agent: Strands calls this."""
        await super().init_agent(agent)
        session = self.session or uuid.uuid4().hex
        turns = _Turns(partial(self._hear, session))
        agent.add_middleware(InvokeModelStage, turns.watch)
        agent.add_hook(turns.begin, BeforeInvocationEvent)
        agent.add_hook(turns.call, BeforeModelCallEvent)
        agent.add_hook(partial(self._end, turns, session), AfterInvocationEvent)

    async def _end(self, turns: _Turns, session: str, event: AfterInvocationEvent) -> None:
        turn = turns.end(event)
        if turn is None or turn.asked is None:
            return
        question = _text(turn.asked)
        reading, asking = self._store.read_for(question)  # the next turn recalls anew
        said = "" if event.result is None else _said(event.result)
        if not turn.ended or event.result is None or turn.heard is None or not said:
            return
        call = event.result.message.get("tracking_id")
        await asyncio.to_thread(
            self.memories.converse,
            self.namespace,
            question,
            said,
            key=turn.heard,
            reading=reading,
            session=session,
            call=call,
            **asking,
        )

    async def _hear(self, session: str, turn: _Turn) -> None:
        """Remember what the user has said since the last answer."""
        before, said, ids = _said_last(turn.messages)
        turn.heard = await self.memories.aheard(
            self.namespace,
            said,
            before=before,
            session=session,
            asker=self._store.situation.asking().get("asker"),
            ids=ids,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Its tools are bound to it: a copy of them would search the memory of the first.
        return _made, (type(self), self.memories, self.namespace, self._options)


def _made(
    kind: Callable[..., LongTermMemory], memories: Memories, namespace: str, options: Any
) -> LongTermMemory:
    return kind(memories, namespace, **options)


@dataclass(slots=True, eq=False)
class _Turn:
    """What was asked in a turn, the task that carries it out, and whether it came to its end.

    Attributes:
        messages: up to what was asked.
    """

    messages: list[Message]
    task: asyncio.Task[object] | None
    ended: bool = False
    heard: Heard | None = None

    @property
    def asked(self) -> Message | None:
        """The last message with words of the user's."""
        return _asked(self.messages)


class _Turns:
    """Follow the turns of one agent by what Strands hands from hook to hook: the caller's own dict.

    Several agents may be called with one dict, at once or one inside another's tool, so each has a
    name of its own in it; and an agent that may be called inside itself has several turns there.
    """

    def __init__(self, hear: Callable[[_Turn], Awaitable[None]]) -> None:
        self._name = f"demem_{uuid.uuid4().hex}"
        self._hear = hear

    def begin(self, event: BeforeInvocationEvent) -> None:
        """Note what is asked when a turn begins."""
        # Kept here: before a turn ends the history may be shortened, and Strands may put words of
        # its own into it.
        messages = [*event.agent.messages, *(event.messages or [])]
        turns = event.invocation_state.setdefault(self._name, deque(maxlen=_MOST_INSIDE))
        turns.append(_Turn(messages, asyncio.current_task()))

    def call(self, event: BeforeModelCallEvent) -> None:
        """Note that the model is called, and has not come to its end."""
        # So it stays if a hook answers in place of the model.
        self._note(event.invocation_state, ended=False)

    async def watch(
        self, context: InvokeModelContext, call: Callable[[InvokeModelContext], Events]
    ) -> Events:
        """Note whether a stream came to its end: to Strands one that breaks off is "end_turn"."""
        cut = False
        turn = self._now(context.invocation_state)
        if turn is not None and turn.heard is None:
            await self._hear(turn)
        async for event in call(context):
            chunk = event.get("event") or {}
            cut = "messageStop" not in chunk and (cut or "contentBlockDelta" in chunk)
            yield event
        self._note(context.invocation_state, ended=not cut)

    def end(self, event: AfterInvocationEvent) -> _Turn | None:
        """Take out the turn that has ended; None where there is none."""
        turn = self._now(event.invocation_state)
        turns: deque[_Turn] = event.invocation_state.get(self._name, deque())
        if turn is not None:
            turns.remove(turn)
        if not turns:
            event.invocation_state.pop(self._name, None)
        return turn

    def _note(self, state: State, *, ended: bool) -> None:
        turn = self._now(state)
        if turn is not None:
            turn.ended = ended

    def _now(self, state: State) -> _Turn | None:
        """Return the turn that was begun last, of this task unless several read its stream."""
        turns = [*reversed(state.get(self._name, ()))]
        task = asyncio.current_task()
        for turn in turns:
            if turn.task is task:
                return turn
        return turns[0] if turns else None


def _entries(reading: Reading | None) -> list[MemoryEntry]:
    return [MemoryEntry(content=reading.text)] if reading else []


def _said(result: AgentResult) -> str:
    """Return the answer of a turn, "" where there is none or it did not come to its end."""
    if result.structured_output is not None:
        return result.structured_output.model_dump_json()
    return _text(result.message) if came_to_its_end(result.stop_reason) else ""


def _asked(messages: Sequence[Message]) -> Message | None:
    """Return the last message with words of the user's; results of tools are theirs as well."""
    for message in reversed(messages):
        if message["role"] == "user" and _text(message):
            return message
    return None


def _text(message: Message) -> str:
    return text_of(message["content"]).strip()


def _said_last(
    messages: Iterable[Message],
) -> tuple[list[Spoken], list[str], list[str | None]]:
    """Return what was said before, and what the user has said since the last answer, with ids.

    What a model said beside calls of tools is no answer.
    """
    spoken: list[Spoken] = []
    ids: list[str | None] = []
    for message in messages:
        calls = any("toolUse" in block for block in message["content"])
        if _text(message) and not calls:
            spoken.append(Spoken(message["role"] == USER, _text(message)))
            ids.append(message.get("tracking_id"))
    before, said = said_last(spoken)
    return before, said, ids[len(before) : len(before) + len(said)]


def _before(messages: Sequence[Message], asked: Message) -> list[str]:
    """Return what the user and the model said before a message, in order."""
    spoken: list[str] = []
    for message in messages:
        if message is asked:
            break
        if message["role"] in (USER, ASSISTANT):
            spoken.append(_text(message))
    return spoken


def _block(context: InjectionFormatContext) -> str:
    entries: Iterable[MemoryEntry] = context.entries
    return "\n".join([DECLARED, *(entry.content for entry in entries)])
