"""What a client of OpenAI's gives that is yet to be read: streams, and the raw responses of
``with_raw_response`` and ``with_streaming_response``.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from openai import AsyncStream as PlainAsyncStream
from openai import OpenAIError

from demem_adapters.common.protocols.openai.turns import Call, Turn
from demem_adapters.openai.streams import AsyncStream, Stream

__all__ = ["asked_how", "hear_of", "hear_when_read", "with_memory"]

#: By this header the client tells itself that a raw response is wanted, and whether its body is to
#: be read at once ("true") or later ("stream").
_HEADER = "x-stainless-raw-response"
#: What the client raises of a body that it cannot make a response of.
_UNREADABLE = (OpenAIError, ValueError)


def asked_how(call: Call) -> str:
    """Return how a call wants its raw response: "true", "stream", or "" for none."""
    for name, value in (call.get("extra_headers") or {}).items():
        if name.lower() == _HEADER:
            return str(value)
    return ""


def hear_of(response: Any, turn: Turn) -> None:
    """Take in a raw response whose body was read at once.

    One that its client cannot read tells nothing; who asked for it gets it all the same.
    """
    with contextlib.suppress(*_UNREADABLE):
        turn.hear(response.parse())


def hear_when_read(response: Any, turn: Turn, *, stream: bool) -> None:
    """Have a raw response end its turn once it was read.

    It stays the object it is: only its methods that read the body know of the turn. Who goes
    through its bytes or lines reads past them, and nothing is remembered.

    Args:
        stream: whether a stream was asked for: it is one with memory when it is parsed.
    """
    is_async = inspect.iscoroutinefunction(response.parse)
    if stream:
        response.parse = (_aopened if is_async else _opened)(response.parse, turn)
    else:
        # Its parse, text and json read by it.
        response.read = (_aread if is_async else _read)(response, response.read, turn)


def with_memory(stream: Any, turn: Turn) -> Stream | AsyncStream:
    """Return a stream of either client, whose turn ends with it."""
    kind = AsyncStream if isinstance(stream, PlainAsyncStream) else Stream
    return kind(stream, turn)


def _opened(parse: Callable[..., Any], turn: Turn) -> Callable[..., Any]:
    def opened(**to: Any) -> Any:
        stream = parse(**to)
        return stream if to else with_memory(stream, turn)

    return opened


def _aopened(parse: Callable[..., Any], turn: Turn) -> Callable[..., Any]:
    async def opened(**to: Any) -> Any:
        stream = await parse(**to)
        return stream if to else with_memory(stream, turn)

    return opened


def _read(response: Any, read: Callable[[], bytes], turn: Turn) -> Callable[[], bytes]:
    def reading() -> bytes:
        body = read()
        del response.read  # once is enough
        with contextlib.suppress(*_UNREADABLE):
            turn.hear(response.parse())
        turn.end()
        return body

    return reading


def _aread(
    response: Any, read: Callable[[], Awaitable[bytes]], turn: Turn
) -> Callable[[], Awaitable[bytes]]:
    async def reading() -> bytes:
        body = await read()
        del response.read
        with contextlib.suppress(*_UNREADABLE):
            turn.hear(await response.parse())
        await asyncio.to_thread(turn.end)
        return body

    return reading
