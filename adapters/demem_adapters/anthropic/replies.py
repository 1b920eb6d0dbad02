"""Replies of a client of Anthropic's, whose calls end with them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from anthropic import AnthropicError, AsyncStream, NotGiven, Omit, Stream

from demem_adapters.common.calls import Call
from demem_adapters.common.protocols.anthropic.hearing import heard_of

__all__ = ["aheard", "heard", "is_given"]

#: By which the body of a raw response is read as a whole.
_READERS = ("parse", "json", "text", "read")


class _HeardStream(Stream[Any]):
    """A stream that is heard while it is read.

    The call ends with its stop reason, as many read no further.
    """

    def __init__(self, stream: Stream[Any], call: Call) -> None:
        self.__dict__.update(stream.__dict__)
        self._demem_call = call

    def __next__(self) -> Any:
        try:
            piece = super().__next__()
        except StopIteration:
            self._demem_call.broke_off()
            raise
        self._hear(piece)
        return piece

    def __iter__(self) -> Iterator[Any]:
        for piece in super().__iter__():
            self._hear(piece)
            yield piece
        self._demem_call.broke_off()

    def _hear(self, piece: Any) -> None:
        self._demem_call.hear(heard_of(piece))
        if self._demem_call.over:
            self._demem_call.end()


class _HeardAsyncStream(AsyncStream[Any]):
    """A stream of an async client, which does the same without blocking the event loop."""

    def __init__(self, stream: AsyncStream[Any], call: Call) -> None:
        self.__dict__.update(stream.__dict__)
        self._demem_call = call

    async def __anext__(self) -> Any:
        try:
            piece = await super().__anext__()
        except StopAsyncIteration:
            self._demem_call.broke_off()
            raise
        await self._hear(piece)
        return piece

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for piece in super().__aiter__():
            await self._hear(piece)
            yield piece
        self._demem_call.broke_off()

    async def _hear(self, piece: Any) -> None:
        self._demem_call.hear(heard_of(piece))
        if self._demem_call.over:
            await asyncio.to_thread(self._demem_call.end)


def heard(reply: Any, call: Call) -> Any:
    """Return a reply as it came; what it says is heard at once, or as soon as it is read."""
    if isinstance(reply, Stream):
        return _HeardStream(reply, call)
    if _is_raw(reply):
        return _heard_raw(reply, call)
    call.hear(heard_of(reply))
    call.end()
    return reply


async def aheard(reply: Any, call: Call) -> Any:
    """Do the same with a reply of an async client, without blocking the event loop."""
    if isinstance(reply, AsyncStream):
        return _HeardAsyncStream(reply, call)
    if _is_raw(reply):
        return await _aheard_raw(reply, call)
    call.hear(heard_of(reply))
    await asyncio.to_thread(call.end)
    return reply


def is_given(argument: object) -> bool:
    """Whether an argument was given: the client has marks for those that were not."""
    return not isinstance(argument, (NotGiven, Omit))


def _is_raw(reply: Any) -> bool:
    """Whether it is what ``with_raw_response`` and ``with_streaming_response`` give."""
    return hasattr(reply, "http_response")


class _Raw:
    """What is heard of a raw response, once."""

    def __init__(self, reply: Any, call: Call) -> None:
        self.parse = reply.parse
        self.call = call
        self.is_told = False
        self.stream: Any = None


def _heard_raw(reply: Any, call: Call) -> Any:
    raw = _Raw(reply, call)

    def tell() -> None:
        if raw.is_told:
            return
        raw.is_told = True  # to parse is to read, which tells
        with contextlib.suppress(AnthropicError, ValueError):  # whoever parses it will see these
            call.hear(heard_of(raw.parse()))
        call.end()

    def reading(read: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(read)
        def told(*args: Any, **options: Any) -> Any:
            given = read(*args, **options)
            if isinstance(given, Stream):
                raw.stream = raw.stream or _HeardStream(given, call)
                return raw.stream
            tell()
            return given

        return told

    for name in _READERS:
        setattr(reply, name, reading(getattr(reply, name)))
    if reply.is_closed:  # it was read as a whole before it was given
        tell()
    return reply


async def _aheard_raw(reply: Any, call: Call) -> Any:
    raw = _Raw(reply, call)

    async def tell() -> None:
        if raw.is_told:
            return
        raw.is_told = True
        with contextlib.suppress(AnthropicError, ValueError):
            call.hear(heard_of(await raw.parse()))
        await asyncio.to_thread(call.end)

    def reading(read: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(read)
        async def told(*args: Any, **options: Any) -> Any:
            given = await read(*args, **options)
            if isinstance(given, AsyncStream):
                raw.stream = raw.stream or _HeardAsyncStream(given, call)
                return raw.stream
            await tell()
            return given

        return told

    for name in _READERS:
        setattr(reply, name, reading(getattr(reply, name)))
    if reply.is_closed:
        await tell()
    return reply
