"""Bytes that are passed on as they come, as fast as who asked for them takes them in."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any

import httpx2

from demem_adapters.proxy.headers import down
from demem_adapters.proxy.hearing import Ear, can_hear, ear_for
from demem_adapters.proxy.recalling import Recalled, Recalling, beside
from demem_agent.server import Limits, Refusal, Visit

__all__ = ["Gone", "Passing", "body_passed"]

_LOG = logging.getLogger("demem.server")
_OK = 200
#: Bytes a second that a body must come in, beside the seconds that any may take.
_SLOWEST = 50_000


class Gone(Exception):
    """Report that who called has gone."""


def body_passed(visit: Visit, limits: Limits) -> AsyncIterator[bytes] | bytes | None:
    """Return the body of a request, to be passed on piece by piece; None where it has none."""
    headers = visit.headers
    length = headers.get("content-length", "0")
    if length == "0" and "transfer-encoding" not in headers:
        return None
    if not (length.isascii() and length.isdigit()) or int(length) > limits.whole:
        raise Refusal("too-large", f"a body may have {limits.whole:,} bytes at most", closes=True)
    return _pieces(visit, limits)


async def _pieces(visit: Visit, limits: Limits) -> AsyncIterator[bytes]:
    size = 0
    began = time.monotonic()
    while True:
        left = limits.seconds + size / _SLOWEST - (time.monotonic() - began)
        try:
            message = await asyncio.wait_for(visit.receive(), left)
        except TimeoutError:
            says = f"the body comes slower than {_SLOWEST:,} bytes a second"
            raise Refusal("too-slow", says, closes=True) from None
        if message["type"] == "http.disconnect":
            raise Gone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limits.whole:
            raise Refusal("too-large", f"a body may have {limits.whole:,} bytes", closes=True)
        if piece:
            yield piece
        if not message.get("more_body", False):
            return


class Passing:
    """One request on its way, and its response on the way back.

    Args:
        told: headers that this server adds to the response.
    """

    def __init__(self, visit: Visit, told: Mapping[str, str]) -> None:
        self._visit = visit
        self._told = told
        self._gone: asyncio.Task[None] | None = None

    async def sending(
        self, request: Coroutine[Any, Any, httpx2.Response], *, reads: bool
    ) -> httpx2.Response | None:
        """Return what a request comes to; None where who called has gone meanwhile.

        Args:
            reads: whether it still reads what who called sends.
        """
        if reads:  # two cannot listen to who called
            try:
                return await request
            except Gone:
                return None
        asking = asyncio.ensure_future(request)
        try:
            await asyncio.wait({asking, self._left()}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            asking.cancel()
            raise
        if asking.done():
            return asking.result()
        asking.cancel()
        await asyncio.wait({asking})
        if not asking.cancelled() and asking.exception() is None:
            await asking.result().aclose()
        return None

    async def on(
        self,
        response: httpx2.Response | None,
        recalled: Recalled | None,
        recalling: Recalling | None,
    ) -> int:
        """Pass a response on, and have it remembered where there is a memory for it.

        Returns:
            Its status; 499 where who called went before it was whole, 502 where it broke off.
        """
        if response is None:
            self._stop()
            return 499
        hearing = _Hearing(response, recalled, recalling)
        try:
            return await self._whole(response, hearing)
        finally:
            self._stop()
            await asyncio.shield(response.aclose())

    async def _whole(self, response: httpx2.Response, hearing: _Hearing) -> int:
        status = response.status_code
        headers = down(response.headers.raw, self._told)
        await self._visit.send(
            {"type": "http.response.start", "status": status, "headers": headers}
        )
        pieces = response.aiter_raw()
        held = b""
        while True:
            coming = asyncio.ensure_future(anext(pieces, None))
            try:
                await asyncio.wait({coming, self._left()}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.wait({coming})
            if coming.cancelled():
                hearing.broke_off()
                return 499
            try:
                piece = coming.result()
            except httpx2.TransportError as error:
                # The connection is closed before its end, so that nobody takes it for a whole one.
                _LOG.warning("an upstream broke off: %s", type(error).__name__)
                hearing.broke_off()
                return 502
            if piece is None:
                break
            await hearing.take(piece)
            held, piece = (piece, held) if hearing.holds_back else (b"", piece)
            if piece:
                await self._sent(piece)
        await hearing.end()
        await self._sent(held, more=False)
        return status

    async def _sent(self, data: bytes, *, more: bool = True) -> None:
        await self._visit.send({"type": "http.response.body", "body": data, "more_body": more})

    def _left(self) -> asyncio.Task[None]:
        """Return what is done when who called has gone."""
        if self._gone is None:
            self._gone = asyncio.ensure_future(self._until_gone())
        return self._gone

    async def _until_gone(self) -> None:
        while (await self._visit.receive())["type"] != "http.disconnect":
            pass

    def _stop(self) -> None:
        if self._gone is not None:
            self._gone.cancel()


class _Hearing:
    """Hears a response, if there is a memory for it and it can be heard."""

    def __init__(
        self,
        response: httpx2.Response,
        recalled: Recalled | None,
        recalling: Recalling | None,
    ) -> None:
        self._recalled = recalled
        self._recalling = recalling
        self._ear: Ear | None = None
        self._is_over = False
        coding = response.headers.get("content-encoding", "")
        if recalled is None or recalled.talk is None:
            return
        if response.status_code == _OK and can_hear(coding):
            kind = response.headers.get("content-type", "")
            self._ear = ear_for(recalled.talk, kind, coding)

    @property
    def holds_back(self) -> bool:
        """Whether the last piece waits until it was heard."""
        return self._ear is not None and self._ear.holds_back

    async def take(self, piece: bytes) -> None:
        """Hear a piece."""
        ear = self._ear
        if ear is not None:
            await beside(ear.waiting + len(piece), lambda: ear.take(piece))
            await self._end_if_over(ear)

    async def end(self) -> None:
        """Hear that the response is whole."""
        ear = self._ear
        if ear is not None:
            await beside(ear.waiting, ear.end)
            await self._end_if_over(ear)
            self.broke_off()

    def broke_off(self) -> None:
        """Hear that nothing more comes; it breaks off unless the model has come to its end."""
        if self._ear is not None and not self._is_over:
            self._ear.talk.broke_off()

    async def _end_if_over(self, ear: Ear) -> None:
        """Have the answer remembered as soon as the model has said why it stopped."""
        if self._is_over or not ear.talk.over:
            return
        self._is_over = True
        if self._recalling is not None and self._recalled is not None:
            await self._recalling.ended(self._recalled)
