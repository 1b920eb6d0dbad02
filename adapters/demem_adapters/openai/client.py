"""A client of OpenAI's that recalls before a call of a model and remembers after it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from demem_adapters.common import (
    Asker,
    Conditions,
    Filter,
    Memories,
    Namespace,
    Place,
    Situation,
)
from demem_adapters.common.protocols.openai.turns import Call, ResponseTurns, Turn, Turns
from demem_agent import InvalidInput

try:
    from openai import AsyncOpenAI, NotGiven, Omit, OpenAI

    from demem_adapters.openai.raw import asked_how, hear_of, hear_when_read, with_memory
except ImportError as error:
    raise ImportError(
        "the openai adapter needs the openai client: pip install 'demem-agent[openai]'"
    ) from error

__all__ = ["wrap"]

Client = TypeVar("Client", OpenAI, AsyncOpenAI)
#: The ``create`` of completions or of responses, or their ``parse``.
Create = Callable[..., Any]

#: Where a client has completions and responses; older ones do not have all of them.
_COMPLETIONS = ("chat.completions", "beta.chat.completions")
_RESPONSES = ("responses", "beta.responses")
#: What the client's own helpers give for arguments that were left out.
_LEFT_OUT = (NotGiven, Omit)
#: On a client with memory, which memories it has.
_HELD = "_demem_memories"


def wrap(
    client: Client,
    memories: Memories,
    *,
    namespace: Namespace = "default",
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
    inject: Place = "user",
) -> Client:
    """Make a client like this one, whose completions and responses have memory.

    They are those of ``create``, ``parse`` and ``stream`` of ``chat.completions`` and
    ``responses``, and of the same under ``beta``; those of ``with_raw_response`` and
    ``with_streaming_response`` too, once their body is read by ``parse``, ``read``, ``text`` or
    ``json`` (a stream: by ``parse``). All else is the client's own, without memory: assistants,
    threads, agents and realtime under ``beta``, the older ``completions``, batches, responses over
    a web socket. No answer is remembered of raw bodies that are read as bytes or lines, nor of
    responses that run in the background.

    Before a call, what bears on the user's last message is put before the model as one block of
    data, and what the user has said since the last answer is remembered as it was written. The
    answer is remembered once it came to its end. Streams, tools and errors are passed through as
    they are. The client that was given is not changed. Of several choices one is remembered. What
    cannot be remembered (a store that fails) is logged by kind, and the response is given all the
    same. Where the provider keeps a conversation (``previous_response_id``), it keeps what was put
    into its messages as well; with ``inject="system"`` it goes to the instructions, which hold for
    one call.

    Args:
        memories: where it is remembered; ``memories.feedback(response.id, namespace="ana",
            thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call:
            call.get("user")``. Where it gives None the call has no memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            arguments as well.
        where: which items may be recalled; a function of them too.
        inject: where the block goes: a message of the "user" before the last one, one of the
            "system", or "merged" with the last one, for models whose template wants user and
            assistant in turn. With "system" the prompt changes at its beginning, and providers do
            not find the rest of it in their caches.

    Raises:
        InvalidInput: for another ``inject``, and for a client that has these memories already.
    """
    situation = Situation(asker, conditions, where)
    return _Remembering(memories, namespace, situation, inject).client_of(client)


@dataclass(frozen=True, slots=True)
class _Remembering:
    """How the calls of a client have memory."""

    memories: Memories
    namespace: Namespace
    situation: Situation
    inject: Place

    def client_of(self, plain: Client) -> Client:
        """Return a client like this one, with memory."""
        held: tuple[Memories, ...] = getattr(plain, _HELD, ())
        if any(one is self.memories for one in held):
            kind = type(plain).__name__
            raise InvalidInput("client", kind, "one that does not have these memories already")
        wrapped: Client = plain.with_options()
        setattr(wrapped, _HELD, (*held, self.memories))
        self._give_to(wrapped, _COMPLETIONS, Turns)
        self._give_to(wrapped, _RESPONSES, ResponseTurns)

        def again(*args: Any, **options: Any) -> Client:
            return self.client_of(plain.with_options(*args, **options))

        for name in ("with_options", "copy"):
            setattr(wrapped, name, again)
        return wrapped

    def _give_to(self, client: object, paths: Iterable[str], kind: type[Turns]) -> None:
        turns = kind(self.memories, self.namespace, self.inject, self.situation)
        for resource in _resources(client, paths):
            _give_memory(resource, turns, is_async=isinstance(client, AsyncOpenAI))


def _resources(client: object, paths: Iterable[str]) -> Iterator[Any]:
    """Yield the parts of a client that are at these paths, as far as it has them."""
    for path in paths:
        with contextlib.suppress(AttributeError):
            yield operator.attrgetter(path)(client)


def _give_memory(resource: Any, turns: Turns, *, is_async: bool) -> None:
    """Have what calls a model in a part of a client recall before and remember after it.

    Its ``stream`` calls its ``create``; its raw responses are made of both when they are first
    asked for.
    """
    made = _acreate if is_async else _create
    for name in ("create", "parse"):
        method = getattr(resource, name, None)
        if method is not None:
            setattr(resource, name, functools.partial(made, method, turns))


def _create(create: Create, turns: Turns, *args: Any, **call: Any) -> Any:
    if args:  # the client takes none, and says so
        return create(*args, **call)
    given = _given(call)
    turn, asked = turns.begin(given)
    response = create(**asked)
    if _is_read_later(given):
        return _watched(response, turn, given)
    _hear(response, turn, given)
    turn.end()
    return response


async def _acreate(create: Create, turns: Turns, *args: Any, **call: Any) -> Any:
    if args:
        return await create(*args, **call)
    given = _given(call)
    turn, asked = await asyncio.to_thread(turns.begin, given)
    response = await create(**asked)
    if _is_read_later(given):
        return _watched(response, turn, given)
    _hear(response, turn, given)
    await asyncio.to_thread(turn.end)
    return response


def _given(call: Call) -> Call:
    """Return the arguments of a call that were given, as functions of it are to see them."""
    return {name: value for name, value in call.items() if not isinstance(value, _LEFT_OUT)}


def _is_read_later(call: Call) -> bool:
    """Whether a call gives something that is yet to be read: a stream, or a body."""
    return bool(call.get("stream")) or asked_how(call) == "stream"


def _watched(response: Any, turn: Turn, call: Call) -> Any:
    """Return what is yet to be read so that the turn ends with it."""
    if asked_how(call):
        hear_when_read(response, turn, stream=bool(call.get("stream")))
        return response
    return with_memory(response, turn)


def _hear(response: Any, turn: Turn, call: Call) -> None:
    if asked_how(call):
        hear_of(response, turn)
    else:
        turn.hear(response)
