"""Memory for LiteLLM: a callback for ``acompletion``, router and proxy, and ``wrap`` for others."""

from __future__ import annotations

import asyncio
import functools
import inspect
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from demem_adapters.common import (
    LOG,
    Asker,
    Conditions,
    Filter,
    Memories,
    Namespace,
    Place,
    Recent,
    Situation,
    block,
    named,
)
from demem_adapters.common.protocols.openai.turns import BROKE_OFF, Call, Turn, Turns
from demem_adapters.openai.streams import Passing
from demem_agent import InvalidInput

try:
    from litellm import ModelResponse
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.utils import CallTypes
except ImportError as error:
    raise ImportError("this adapter needs litellm: pip install 'demem-agent[litellm]'") from error

__all__ = ["MemoryLogger", "wrap"]

#: ``completion`` or ``acompletion``, or a function of the same arguments.
Create = TypeVar("Create", bound=Callable[..., Any])

#: Calls under way; the oldest goes when there are more: of one that failed nobody says for sure
#: that it is over.
_MOST_CALLS = 2_000
#: What LiteLLM puts in place of a text that its callbacks are not to see.
_REDACTED = "redacted-by-litellm"
#: On a function with memory, which memories it has; and which the function has that is being
#: called: a callback of the same has nothing to do there.
_HELD = "_demem_memories"
_AT_WORK: ContextVar[tuple[Memories, ...]] = ContextVar("_demem_at_work", default=())
#: What is logged of calls of which a callback cannot change the messages, and of those before
#: which none is asked.
_UNNAMED = (
    "nothing was recalled for calls that give messages without the name: acompletion(messages=...)"
)
_UNASKED = "calls of litellm.completion have no memory by a callback: wrap it"


class MemoryLogger(CustomLogger):
    """Recall before a chat completion and remember after it: a callback, of the proxy's as well.

    It works where LiteLLM asks its callbacks before a call: in ``litellm.acompletion``, in
    ``Router.acompletion`` and so in the proxy, of which the namespace sees who called.
    ``litellm.completion`` asks none, which is logged once: use :func:`wrap`. Calls of a function
    that has the same memories by that are left to it. Nothing is recalled for calls that give
    ``messages`` by their place, which LiteLLM does not let a callback change: that is logged once,
    and both sides are remembered.

    A stream is remembered when LiteLLM has passed on the provider's finish reason on its own. It
    also ends streams that broke off with "stop", and a reason that came together with text cannot
    be told from that: such a stream is not remembered, which is logged. :func:`wrap` tells the two
    apart.

    Args:
        memories: where it is remembered; ``memories.feedback(response.id, namespace="ana",
            thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call:
            call.get("user")``, with what the proxy adds in ``metadata``. A call whose namespace is
            None or "" has no memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            arguments as well.
        where: which items may be recalled; a function of them too.
        inject: where the block goes, "user" or "system".
    """

    def __init__(
        self,
        memories: Memories,
        *,
        namespace: Namespace = "default",
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        inject: Place = "user",
    ) -> None:
        super().__init__()
        self.memories = memories
        self.namespace = namespace
        self._calls = Turns(memories, namespace, inject, Situation(asker, conditions, where))
        #: What was put before calls: LiteLLM's own fallbacks carry out calls inside of calls.
        self._put: Recent[str, None] = Recent(_MOST_CALLS)
        # LiteLLM takes two callbacks of a class for the same one if no attribute of a plain type
        # tells them apart.
        self.mark = uuid.uuid4().hex
        #: By the id that LiteLLM gives a call: those to be remembered at their end, and streams not
        #: known to be whole.
        self._turns: Recent[str, Turn] = Recent(_MOST_CALLS)
        self._streams: Recent[str, Turn] = Recent(_MOST_CALLS)
        self._warned: set[str] = set()

    async def async_pre_call_deployment_hook(
        self, kwargs: Call, call_type: CallTypes | None
    ) -> Call | None:
        """Recall for the user's last message, and put it before the model in this call alone."""
        call = _with_messages(kwargs)
        messages = call.get("messages")
        if call_type != CallTypes.acompletion or not messages or self._has_memory(messages):
            return None
        if not named(self.namespace, call):
            return None
        turn, asked = await asyncio.to_thread(self._calls.begin, call)
        if "messages" not in kwargs:
            self._put_nothing(turn)
        elif turn.reading is not None:
            self._put[block(turn.reading)] = None
        under_way = self._streams if call.get("stream") else self._turns
        under_way[call["litellm_call_id"]] = turn
        return asked if "messages" in kwargs else None

    def _put_nothing(self, turn: Turn) -> None:
        """Note that the model is not shown what was recalled."""
        if turn.reading is not None:
            self._warn(_UNNAMED)
        turn.reading = None

    def log_pre_api_call(self, model: object, messages: object, kwargs: Call) -> None:
        """Warn once of calls that ask no callback, and so have no memory."""
        if kwargs.get("call_type") == CallTypes.completion and not self._is_at_work():
            self._warn(_UNASKED)

    def _warn(self, what: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            LOG.warning(what)

    def _is_at_work(self) -> bool:
        """Whether a function that has the same memories is being called."""
        return any(one is self.memories for one in _AT_WORK.get())

    def _has_memory(self, messages: list[Any]) -> bool:
        """Whether an outer call has put there what was recalled for it, or has seen to it."""
        if self._is_at_work():
            return True
        for message in messages:
            content = message.get("content") if isinstance(message, Mapping) else message.content
            if isinstance(content, str) and content.split("\n\n", 1)[0] in self._put:
                return True
        return False

    async def async_post_call_success_deployment_hook(
        self, request_data: Call, response: Any, call_type: CallTypes | None
    ) -> None:
        """Remember a turn before its answer is given, so that the next one knows of it."""
        await self._end(request_data, response)

    async def async_post_call_streaming_deployment_hook(
        self, request_data: Call, response_chunk: Any, call_type: CallTypes | None
    ) -> None:
        """Note that a stream came to its end: LiteLLM asks about reasons of the provider's only."""
        call = request_data["litellm_call_id"]
        ended = any(choice.finish_reason for choice in response_chunk.choices)
        if ended and call in self._streams:
            self._turns[call] = self._streams.pop(call)

    async def async_log_success_event(
        self, kwargs: Call, response_obj: Any, start_time: object, end_time: object
    ) -> None:
        """Remember what no other hook is told of: streams, and answers from LiteLLM's cache."""
        if self._streams.pop(kwargs["litellm_call_id"], None):
            LOG.warning(BROKE_OFF)
        await self._end(kwargs, response_obj)

    async def _end(self, call: Call, response: object) -> None:
        turn = self._turns.pop(call.get("litellm_call_id", ""), None)
        if turn is not None and isinstance(response, ModelResponse) and not _redacted(response):
            turn.hear(response)
            await asyncio.to_thread(turn.end)


def wrap(
    create: Create,
    memories: Memories,
    *,
    namespace: Namespace = "default",
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
    inject: Place = "user",
) -> Create:
    """Make a function like ``litellm.completion`` that has memory.

    Streams, tools and errors are passed through as they are; a stream is remembered when it has
    ended and the provider gave its finish reason. :class:`MemoryLogger` is not needed besides.

    Args:
        create: ``litellm.completion``, ``litellm.acompletion``, a method of a ``Router``, or any
            function of the same arguments.
        memories, namespace, asker, conditions, where, inject: as in :class:`MemoryLogger`.

    Raises:
        InvalidInput: for another ``inject``, and for a function that has these memories already.
    """
    held: tuple[Memories, ...] = getattr(create, _HELD, ())
    if any(one is memories for one in held):
        name = getattr(create, "__name__", create)
        raise InvalidInput("create", name, "one that does not have these memories already")
    begin = Turns(memories, namespace, inject, Situation(asker, conditions, where)).begin
    names = _names_of(create)

    @functools.wraps(create)
    def created(*args: Any, **call: Any) -> Any:
        given = _by_name(names, args, call)
        if given is None:
            return create(*args, **call)
        turn, asked = begin(given)
        with _at_work(memories):
            response = create(**asked)
        return _heard(response, turn)

    @functools.wraps(create)
    async def acreated(*args: Any, **call: Any) -> Any:
        given = _by_name(names, args, call)
        if given is None:
            return await create(*args, **call)
        turn, asked = await asyncio.to_thread(begin, given)
        with _at_work(memories):
            response = await create(**asked)
        if not isinstance(response, ModelResponse):
            return _Stream(response, turn)
        return await asyncio.to_thread(_heard, response, turn)

    made = acreated if inspect.iscoroutinefunction(create) else created
    setattr(made, _HELD, (*held, memories))
    return cast("Create", made)


@contextmanager
def _at_work(memories: Memories) -> Iterator[None]:
    before = _AT_WORK.set((*_AT_WORK.get(), memories))
    try:
        yield
    finally:
        _AT_WORK.reset(before)


def _names_of(create: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments that a function takes by their place as well."""
    names: list[str] = []
    for name, parameter in inspect.signature(create).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            names.append(name)
    return names or ["model", "messages"]


def _by_name(names: list[str], args: tuple[Any, ...], call: Call) -> Call | None:
    """Return the arguments of a call by their names; None where the function will refuse them."""
    given = dict(zip(names, args, strict=False))
    if len(given) < len(args) or not given.keys().isdisjoint(call):
        return None
    return {**given, **call}


def _with_messages(call: Call) -> Call:
    """Return a call with its messages, which may have been given by their place."""
    if "messages" in call:
        return call
    log = call.get("litellm_logging_obj")
    return {**call, "messages": getattr(log, "messages", None)}


def _heard(response: Any, turn: Turn) -> Any:
    if not isinstance(response, ModelResponse):
        return _Stream(response, turn)
    turn.hear(response)
    turn.end()
    return response


class _Stream(Passing):
    """A stream that looks like the one it passes on, for ``for`` and for ``async for``."""

    def __iter__(self) -> _Stream:
        return self

    def __aiter__(self) -> _Stream:
        return self

    def __next__(self) -> Any:
        piece = next(self._stream)
        self._turn.hear(piece)
        if self._turn.finish:
            self._end()
        return piece

    async def __anext__(self) -> Any:
        piece = await anext(self._stream)
        self._turn.hear(piece)
        if self._turn.finish:
            await asyncio.to_thread(self._end)
        return piece

    def _end(self) -> None:
        if self._told_why():
            self._turn.end()
        else:
            LOG.warning(BROKE_OFF)

    def _told_why(self) -> bool:
        """Whether the provider said why the model stopped.

        LiteLLM ends a stream that broke off with "stop" as well; what the provider gave it keeps in
        one of these.
        """
        if getattr(self._stream, "received_finish_reason", None):
            return True
        for piece in getattr(self._stream, "chunks", ()):
            if any(choice.finish_reason for choice in piece.choices):
                return True
        return False


def _redacted(response: ModelResponse) -> bool:
    return any(choice.message.content == _REDACTED for choice in response.choices)
