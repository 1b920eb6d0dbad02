"""Memory for LangChain's runnables and plain LangGraph graphs: around a model or a chain, or as two
nodes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from demem_adapters.common import (
    LOG,
    Asker,
    Conditions,
    Filter,
    Heard,
    Inject,
    Memories,
    Namespace,
    Recent,
    Situation,
    Spoken,
    block,
    came_to_its_end,
    checked,
    digest,
    in_conversation,
    named,
    said_last,
    text_of,
)
from demem_agent import InvalidInput, Reading
from demem_agent.reading import Asking

try:
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        convert_to_messages,
    )
    from langchain_core.prompt_values import PromptValue
    from langchain_core.runnables import Runnable, RunnableConfig
    from langchain_core.runnables.config import ensure_config
except ImportError as error:
    raise ImportError(
        "the runnables adapter needs langchain-core: pip install 'demem-agent[runnables]'"
    ) from error

__all__ = ["RecallNode", "RememberNode", "WithMemory", "memory_nodes", "user_of", "with_memory"]

#: Where providers say why a model stopped.
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")


def user_of(config: RunnableConfig) -> str | None:
    """Return whose memory a call has: the ``user_id`` of its ``configurable``; where there is none,
    it is the ``thread:`` of its ``thread_id``, which is no user's, whatever it is called.

    A call that names neither has no memory, which is logged.
    """
    told = config.get("configurable", {})
    for name, before in (("user_id", ""), ("thread_id", "thread:")):
        if told.get(name) not in (None, ""):
            return f"{before}{told[name]}"
    LOG.warning("a call without memory: its configurable names no user_id and no thread_id")
    return None


@dataclass(frozen=True, slots=True)
class _Talk:
    """What a conversation comes to.

    Attributes:
        shown: the texts of all messages.
        before: what was said before the user's last messages.
        said: these; none where the user has said nothing.
        ids: of these, where the framework has such.
        names: of those who said them, where the messages have such.
        goes_on: whether anything follows them, such as the results of tools.
    """

    shown: tuple[str, ...] = ()
    before: tuple[Spoken, ...] = ()
    said: tuple[str, ...] = ()
    ids: tuple[str | None, ...] = ()
    names: tuple[str | None, ...] = ()
    goes_on: bool = False

    @classmethod
    def of(cls, messages: Sequence[BaseMessage]) -> _Talk:
        last = _asked_at(messages)
        if last is None:
            return cls()
        spoken = [(message, one) for message in messages if (one := _spoken(message))]
        before, said = said_last([one for _, one in spoken])
        users = [message for message, one in spoken if one.by_user][-len(said) :]
        return cls(
            shown=tuple(str(message.text) for message in messages),
            before=tuple(before),
            said=tuple(said),
            ids=tuple(message.id for message in users),
            names=tuple(message.name for message in users),
            goes_on=last < len(messages) - 1,
        )


@dataclass(slots=True)
class _Turn:
    """One turn of a user's: whose it is, what was recalled for it, and how it was remembered."""

    namespace: str | None
    thread: str | None
    asked: str
    asking: Asking
    reading: Reading | None = None
    heard: Heard = field(default_factory=Heard)


class _Turns:
    """The turns of a runnable or of a pair of nodes: recalled for as they begin, remembered when
    they end.
    """

    def __init__(
        self,
        memories: Memories,
        namespace: Namespace,
        asker: Asker | None,
        conditions: Conditions,
        where: Filter | None,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.situation = Situation(asker, conditions, where)
        #: Those that were begun lately, by their name.
        self._begun: Recent[str, _Turn] = Recent()

    def begin(self, talk: _Talk, config: RunnableConfig) -> _Turn:
        """Recall for what the user has said, and remember that; once, however often tools answer
        the model before it does.
        """
        turn = self._turn(talk, config)
        name = self._name(turn, talk)
        known = self._begun.get(name)
        goes_on = known is not None and talk.goes_on
        if known is not None and goes_on:
            if self.memories.still_holds(known.namespace, known.reading, known.heard):
                return known
            turn.heard = known.heard
        turn.reading = self.memories.prepare(
            turn.namespace, turn.asked, shown=talk.shown, **turn.asking
        )
        if not goes_on:
            self._hear(turn, talk)
        self._begun[name] = turn
        return turn

    def end(self, turn: _Turn, said: str, call: str | None) -> None:
        """Remember the answer of a turn."""
        self.memories.converse(
            turn.namespace,
            turn.asked,
            said,
            key=turn.heard,
            reading=turn.reading,
            session=turn.thread,
            call=call,
            **turn.asking,
        )

    def begun(self, talk: _Talk, config: RunnableConfig) -> _Turn:
        """Return a turn that was begun; by another process, say, it is known by its words."""
        turn = self._turn(talk, config)
        known = self._begun.get(self._name(turn, talk))
        if known is not None:
            return known
        self._hear(turn, talk)
        return turn

    def _hear(self, turn: _Turn, talk: _Talk) -> None:
        turn.heard = self.memories.heard(
            turn.namespace,
            talk.said,
            before=talk.before,
            session=turn.thread,
            asker=turn.asking.get("asker"),
            names=talk.names,
            ids=talk.ids,
            goes_on=talk.goes_on,
        )

    def _turn(self, talk: _Talk, config: RunnableConfig) -> _Turn:
        thread = config.get("configurable", {}).get("thread_id")
        spoken = [one.text for one in talk.before]
        return _Turn(
            namespace=named(self.namespace, config),
            thread=None if thread is None else str(thread),
            asked=talk.said[-1] if talk.said else "",
            asking=in_conversation(self.situation.asking(config), spoken),
        )

    def _name(self, turn: _Turn, talk: _Talk) -> str:
        before = [(one.by_user, one.text) for one in talk.before]
        asker = turn.asking.get("asker")
        return digest(turn.namespace, turn.thread, asker, before, talk.said, talk.ids)


class WithMemory(Runnable[Any, Any]):
    """What :func:`with_memory` makes."""

    def __init__(
        self,
        runnable: Runnable[Any, Any],
        turns: _Turns,
        question: str | None,
        memory: str,
        inject: Inject,
    ) -> None:
        self.runnable = runnable
        self.question = question
        self.memory = memory
        self.inject: Inject = checked(inject)
        self._turns = turns

    @property
    def memories(self) -> Memories:
        """Where it is remembered."""
        return self._turns.memories

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Recall, call the runnable, and remember."""
        config = ensure_config(config)
        turn, given = self._begin(input, config)
        answer = self.runnable.invoke(given, config, **kwargs)
        self._end(turn, answer)
        return answer

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do as :meth:`invoke` does, without blocking the event loop."""
        config = ensure_config(config)
        turn, given = await asyncio.to_thread(self._begin, input, config)
        answer = await self.runnable.ainvoke(given, config, **kwargs)
        await asyncio.to_thread(self._end, turn, answer)
        return answer

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Recall, stream what the runnable gives, and remember it once it has come to its end."""
        config = ensure_config(config)
        turn, given = self._begin(input, config)
        answer: Any = None
        for chunk in self.runnable.stream(given, config, **kwargs):
            answer = _joined(answer, chunk)
            yield chunk
        self._end(turn, answer)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Do as :meth:`stream` does, without blocking the event loop."""
        config = ensure_config(config)
        turn, given = await asyncio.to_thread(self._begin, input, config)
        answer: Any = None
        async for chunk in self.runnable.astream(given, config, **kwargs):
            answer = _joined(answer, chunk)
            yield chunk
        await asyncio.to_thread(self._end, turn, answer)

    def _begin(self, input: Any, config: RunnableConfig) -> tuple[_Turn, Any]:
        """Begin a turn; return it with what the runnable is to get."""
        if isinstance(input, Mapping):
            return self._begin_fields(input, config)
        messages = _messages(input)
        turn = self._turns.begin(_Talk.of(messages), config)
        return turn, _put_before(messages, block(turn.reading), self.inject)

    def _begin_fields(self, input: Mapping[str, Any], config: RunnableConfig) -> tuple[_Turn, Any]:
        if self.question is None or self.question not in input:
            raise InvalidInput("question", self.question, "the field that holds what is asked")
        messages: list[BaseMessage] = []
        for name, value in input.items():
            if name != self.question and _is_talk(value):
                messages += value
        messages += _messages(input[self.question])
        turn = self._turns.begin(_Talk.of(messages), config)
        return turn, {**input, self.memory: block(turn.reading)}

    def _end(self, turn: _Turn, answer: Any) -> None:
        if isinstance(answer, str):
            self._turns.end(turn, answer, None)
        elif isinstance(answer, AIMessage) and _whole(answer):
            self._turns.end(turn, str(answer.text), answer.id)


class RecallNode(Runnable[Any, Any]):
    """The first of the nodes that :func:`memory_nodes` makes."""

    def __init__(self, turns: _Turns, messages: str, memory: str | None) -> None:
        self.name = "recall"
        self.messages = messages
        self.memory = memory
        self._turns = turns

    @property
    def memories(self) -> Memories:
        """Where it is remembered."""
        return self._turns.memories

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **_: Any
    ) -> dict[str, str] | None:
        """Recall for the user's last messages, and remember these."""
        turn = self._begin(input, config)[1]
        return {self.memory: block(turn.reading)} if self.memory else None

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **_: Any
    ) -> dict[str, str] | None:
        """Do as :meth:`invoke` does, without blocking the event loop."""
        return await asyncio.to_thread(self.invoke, input, ensure_config(config))

    def put_before(self, state: Any, config: RunnableConfig | None = None) -> list[BaseMessage]:
        """Return the messages of a state for a model, with what was recalled before the user's
        last.

        It is put there for one call and stays out of the state. In a run that is resumed by another
        process it is recalled anew.

        Args:
            config: of the run; that of the node that calls this, unless given.
        """
        messages, turn = self._begin(state, config)
        return _put_before(messages, block(turn.reading), "user")

    async def aput_before(
        self, state: Any, config: RunnableConfig | None = None
    ) -> list[BaseMessage]:
        """Do as :meth:`put_before` does, without blocking the event loop."""
        return await asyncio.to_thread(self.put_before, state, ensure_config(config))

    def _begin(self, state: Any, config: RunnableConfig | None) -> tuple[list[BaseMessage], _Turn]:
        messages = _of_state(state, self.messages)
        return messages, self._turns.begin(_Talk.of(messages), ensure_config(config))


class RememberNode(Runnable[Any, Any]):
    """The second of the nodes that :func:`memory_nodes` makes."""

    def __init__(self, turns: _Turns, messages: str) -> None:
        self.name = "remember"
        self.messages = messages
        self._turns = turns

    @property
    def memories(self) -> Memories:
        """Where it is remembered."""
        return self._turns.memories

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> None:
        """Remember the answer that the messages end with, if it came to its end."""
        messages = _of_state(input, self.messages)
        last: Any = messages[-1] if messages else None
        talk = _Talk.of(messages[:-1])
        if isinstance(last, AIMessage) and talk.said and _whole(last):
            turn = self._turns.begun(talk, ensure_config(config))
            self._turns.end(turn, str(last.text), last.id)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> None:
        """Do as :meth:`invoke` does, without blocking the event loop."""
        await asyncio.to_thread(self.invoke, input, ensure_config(config))


def with_memory(
    runnable: Runnable[Any, Any],
    memories: Memories,
    *,
    namespace: Namespace = user_of,
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
    question: str | None = None,
    memory: str = "memory",
    inject: Inject = "user",
) -> WithMemory:
    """Give a chat model, or a chain that ends with one, a memory; sync, async and streamed.

    What bears on the user's last message is put before the model as one block of data. What the
    user has said since the last answer is remembered as the call begins, and the answer once it has
    come to its end; nothing is of one that fails, is cut off, is left by its reader or only calls
    tools. ``memories.feedback(message.id, namespace="ana", thumbs=True)`` tells how an answer did.

    Args:
        runnable: gets a list of messages (of a text, a prompt or messages), or the fields that it
            is called with. Of a chain whose answer is a text nobody can say whether it was cut off.
        namespace: whose memory; a function gets the ``RunnableConfig``. Unless given, it is the
            ``user_id`` of its ``configurable``, or else ``thread:`` and the ``thread_id``, which is
            the session in any case.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the same.
        where: which items may be recalled; a function of it too.
        question: the field that holds what is asked, a text or messages, of a chain that is called
            with fields; others that are lists of messages are what was said before. The chain gets
            the block in the field ``memory``, "" for none.
        inject: where the block goes among messages: into one of the "user" before what was asked,
            or into one of the "system" after the first ones.
    """
    turns = _Turns(memories, namespace, asker, conditions, where)
    return WithMemory(runnable, turns, question, memory, inject)


def memory_nodes(
    memories: Memories,
    *,
    namespace: Namespace = user_of,
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
    messages: str = "messages",
    memory: str | None = None,
) -> tuple[RecallNode, RememberNode]:
    """Make two nodes for a graph of your own, sync and async: one that recalls, one that remembers.

    The first remembers what the user said; ``recall.put_before(state)`` gives the node that calls
    the model its messages, with what was recalled as one block of data before the user's last one.
    The block is in no state and so in no checkpoint: what is forgotten is gone there as well. The
    second node remembers the answer that the messages end with, if it came to its end: put it where
    the answer is final, behind an interrupt for approval, say. A run that is resumed or carried out
    again is remembered once.

    Args:
        namespace, asker, conditions, where: as in :func:`with_memory`.
        messages: the field of the state that holds the conversation.
        memory: a field of the state that the block is put into as well, a text, "" where nothing
            was recalled; none unless given. A checkpointer keeps it, unless the field is
            ``Annotated[str, UntrackedValue]``: then a run that is resumed has it no more.
    """
    turns = _Turns(memories, namespace, asker, conditions, where)
    return RecallNode(turns, messages, memory), RememberNode(turns, messages)


def _messages(given: Any) -> list[BaseMessage]:
    """Return what a runnable is called with as messages."""
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, str):
        return [HumanMessage(given)]
    if isinstance(given, BaseMessage):
        return [given]
    return convert_to_messages(given)


def _of_state(state: Any, name: str) -> list[BaseMessage]:
    """Return the conversation in the state of a graph, which may be an object."""
    given = state.get(name) if isinstance(state, Mapping) else getattr(state, name, None)
    return _messages(given or [])


def _is_talk(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, BaseMessage) for one in value)


def _spoken(message: BaseMessage) -> Spoken | None:
    """Return what the user or the model said; None for instructions, calls and results of tools.

    A summary, which is LangChain's own, has the user's type and is left out.
    """
    is_user = isinstance(message, HumanMessage)
    text = text_of(message.content) if is_user else str(message.text)
    if not text.strip() or "lc_source" in message.additional_kwargs:
        return None
    if is_user:
        return Spoken(True, text)
    is_answer = isinstance(message, AIMessage) and not message.tool_calls
    return Spoken(False, text) if is_answer else None


def _asked_at(messages: Sequence[BaseMessage]) -> int | None:
    """Return where the user's last message stands."""
    for number in range(len(messages) - 1, -1, -1):
        spoken = _spoken(messages[number])
        if spoken is not None and spoken.by_user:
            return number
    return None


def _put_before(messages: Sequence[BaseMessage], told: str, inject: Inject) -> list[BaseMessage]:
    """Return messages with a block before what was asked, or after the instructions."""
    if not told:
        return [*messages]
    if inject == "system":
        place = 0
        while place < len(messages) and isinstance(messages[place], SystemMessage):
            place += 1
        return [*messages[:place], SystemMessage(told), *messages[place:]]
    asked = _asked_at(messages) or 0
    return [*messages[:asked], HumanMessage(told), *messages[asked:]]


def _joined(answer: Any, chunk: Any) -> Any:
    """Add a chunk to what has come of an answer; the last one where chunks cannot be added."""
    if answer is None:
        return chunk
    try:
        return answer + chunk
    except TypeError:
        return chunk


def _whole(message: AIMessage) -> bool:
    """Whether a message is an answer that came to its end, as far as its provider says."""
    if message.tool_calls:
        return False
    told = message.response_metadata
    reasons = [told[name] for name in _REASONS if told.get(name)]
    if not reasons:
        # A provider that is named and gives no reason was cut off: a stream that ends early raises
        # nothing.
        return "model_provider" not in told
    return all(map(came_to_its_end, reasons))
