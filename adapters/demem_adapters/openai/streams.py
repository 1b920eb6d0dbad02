"""Streams of a client of OpenAI's, whose turns end with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from demem_adapters.common.protocols.openai.turns import Turn

__all__ = ["AsyncStream", "Passing", "Stream"]


class Passing:
    """A stream that looks like the one it passes on."""

    def __init__(self, stream: Any, turn: Turn) -> None:
        self._stream = stream
        self._turn = turn

    @property  # type: ignore[misc]  # typeshed has a plain attribute, as unittest.mock overrides it
    def __class__(self) -> Any:
        """Of the class of the stream that it passes on, whosever that is."""
        return type(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Stream(Passing):
    """A stream of a sync client.

    The turn ends with its finish reason, as many read no further.
    """

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            piece = next(self._stream)
        except StopIteration:
            self._turn.broke_off()
            raise
        self._turn.hear(piece)
        if self._turn.finish:
            self._turn.end()
        return piece

    def __enter__(self) -> Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.__exit__(*error)


class AsyncStream(Passing):
    """A stream of an async client, which does the same without blocking the event loop."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            piece = await anext(self._stream)
        except StopAsyncIteration:
            self._turn.broke_off()
            raise
        self._turn.hear(piece)
        if self._turn.finish:
            await asyncio.to_thread(self._turn.end)
        return piece

    async def __aenter__(self) -> AsyncStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stream.__aexit__(*error)
