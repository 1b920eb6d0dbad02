"""Memory for the ``openai`` client: ``wrap(client)`` recalls before a call of a model and remembers
after it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar

from demem_adapters.common import Memories, Namespace, Place
from demem_adapters.openai.turns import ResponseTurns, Turn, Turns

try:
    from openai import AsyncOpenAI, OpenAI
except ImportError as error:
    raise ImportError(
        "the openai adapter needs the openai client: pip install 'demem-agent[openai]'"
    ) from error

__all__ = ["wrap"]

Client = TypeVar("Client", OpenAI, AsyncOpenAI)


def wrap(
    client: Client, memories: Memories, *, namespace: Namespace = "default", inject: Place = "user"
) -> Client:
    """Give a client like this one whose ``chat.completions.create`` and ``responses.create`` have
    memory.

    Before a call, what bears on the user's last message is put before the model as one block of
    data. After it, that message as the user wrote it and the answer are remembered, once a finish
    reason was seen. Streams, tools and errors are passed through as they are. The client that was
    given is not changed. Of several choices one is remembered. What cannot be remembered (a store
    that fails) is logged by kind, and the response is given all the same. So it is with ``stream``
    of both. ``parse``, ``beta``, ``with_raw_response`` and ``with_streaming_response`` are the
    client's own, without memory. Where the provider keeps a conversation
    (``previous_response_id``), it keeps what was put into its messages as well; with
    ``inject="system"`` it goes to the instructions, which hold for one call.

    Args:
        memories: where it is remembered; ``memories.feedback(response.id, thumbs=True)`` tells how
            an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call:
            call.get("user")``. Where it gives None the call has no memory.
        inject: where the block goes: a message of the "user" before the last one, one of the
            "system", or "merged" with the last one, for models whose template wants user and
            assistant in turn.

    Raises:
        InvalidInput: for another ``inject``.
    """
    wrapped: Client = client.with_options()
    made = _acreate if isinstance(client, AsyncOpenAI) else _create
    for resource, turns in ((wrapped.chat.completions, Turns), (wrapped.responses, ResponseTurns)):
        _ = (
            resource.with_raw_response,
            resource.with_streaming_response,
        )  # made of the plain create, and kept so
        create = functools.partial(made, resource.create, turns(memories, namespace, inject))
        resource.create = create  # type: ignore[method-assign]
    again = functools.partial(wrap, memories=memories, namespace=namespace, inject=inject)
    for name in ("with_options", "copy"):
        setattr(
            wrapped, name, lambda *args, **options: again(client.with_options(*args, **options))
        )
    return wrapped


def _create(create: Callable[..., Any], turns: Turns, **call: Any) -> Any:
    turn, asked = turns.begin(call)
    response = create(**asked)
    if call.get("stream"):
        return _Stream(response, turn)
    turn.hear(response)
    turn.end()
    return response


async def _acreate(create: Callable[..., Any], turns: Turns, **call: Any) -> Any:
    turn, asked = await asyncio.to_thread(turns.begin, call)
    response = await create(**asked)
    if call.get("stream"):
        return _AsyncStream(response, turn)
    turn.hear(response)
    await asyncio.to_thread(turn.end)
    return response


class _Passing:
    """A stream that looks like the one it passes on. A turn ends with its finish reason: many read
    no further.
    """

    def __init__(self, stream: Any, turn: Turn) -> None:
        self._stream, self._turn = stream, turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Stream(_Passing):
    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        piece = next(self._stream)
        self._turn.hear(piece)
        if self._turn.finish:
            self._turn.end()
        return piece

    def __enter__(self) -> _Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.__exit__(*error)


class _AsyncStream(_Passing):
    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        piece = await anext(self._stream)
        self._turn.hear(piece)
        if self._turn.finish:
            await asyncio.to_thread(self._turn.end)
        return piece

    async def __aenter__(self) -> _AsyncStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stream.__aexit__(*error)
