"""The proxy as a guest of the server: each request is looked at, passed on, and heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from urllib.parse import quote

import httpx2

from demem_adapters.common.served import ServedMemories
from demem_adapters.proxy.addresses import Asked, Protocol, asked_by, is_ours, protocol_of
from demem_adapters.proxy.headers import key_in, up
from demem_adapters.proxy.identity import (
    Identity,
    asker_of,
    is_off,
    memory_of,
    require_own_account,
    require_scopes,
)
from demem_adapters.proxy.passing import Passing, body_passed
from demem_adapters.proxy.recalling import Recalled, Recalling, beside
from demem_adapters.proxy.refusing import refused
from demem_adapters.proxy.splicing import JsonText, Unreadable
from demem_adapters.proxy.surfaces import ASKER, WHOSE, Surface, surfaces_of
from demem_adapters.proxy.upstreams import Upstream, client_of, sent_on
from demem_agent import InvalidInput
from demem_agent.server import (
    House,
    Limits,
    Outcome,
    Refusal,
    Response,
    Seats,
    Visit,
    body_of,
)

__all__ = ["Proxy"]

#: Seconds that a memory may take to recall.
DEADLINE = 0.15
#: Requests that are with upstreams at once.
MOST = 256
#: Items that a response names as read, at most: a header has to end.
_MOST_NAMED = 100
_PASSED = "proxy_pass"


class Proxy:
    """A proxy with memory, to be given to ``make_app(guests=[...])``.

    Args:
        upstreams: where requests go, one for each protocol.
        deadline: seconds that a memory may take to recall; then the model is called without it.
        identity: the field of a body, such as ``safety_identifier`` or ``metadata.user_id``, that
            names the memory where neither key nor path nor header do; none unless given.
        most: requests that are with upstreams at once, >= 1; others are told to come later.
        patience: seconds to wait for the next bytes of an upstream's.

    Raises:
        InvalidInput: for two upstreams of one protocol, and for a number out of its range.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        *,
        deadline: float = DEADLINE,
        identity: str | None = None,
        most: int = MOST,
        patience: float = 600.0,
    ) -> None:
        self._upstreams = {one.protocol: one for one in upstreams}
        if len(self._upstreams) != len(upstreams):
            raise InvalidInput("upstreams", [one.protocol for one in upstreams], "each named once")
        if not 0 < deadline <= 60:
            raise InvalidInput("deadline", deadline, "seconds above 0, and at most 60")
        if most < 1:
            raise InvalidInput("most", most, "at least 1")
        self._deadline = deadline
        self._identity = Identity(identity)
        self._most = most
        self._patience = patience

    def __call__(self, house: House, limits: Limits) -> _Served:
        """Return it as a guest of a house."""
        return _Served(self, house, limits)

    def upstream(self, protocol: Protocol) -> Upstream:
        """Return where requests of a protocol go.

        Raises:
            Refusal: if nowhere.
        """
        found = self._upstreams.get(protocol)
        if found is None:
            says = f"the server was started without --proxy {protocol}=URL"
            raise Refusal("no-such-path", says, closes=True)
        return found


class _Served:
    """A proxy in a house."""

    def __init__(self, proxy: Proxy, house: House, limits: Limits) -> None:
        self._proxy = proxy
        self._limits = limits
        self._memories = ServedMemories(
            house, "proxy", background=True, recall_patience=proxy._deadline
        )
        self._surfaces = surfaces_of(self._memories)
        self._recalling = Recalling(self._memories, proxy._deadline)
        self._client: httpx2.AsyncClient | None = None
        self._warming: asyncio.Future[None] | None = None
        self._flying = Seats(proxy._most, "too many requests are with the upstream")

    def takes(self, path: bytes) -> bool:
        """Whether a path is one of the proxy's."""
        return is_ours(path)

    def key_in(self, headers: Mapping[str, str]) -> str | None:
        """Return the key of this server that came with a request."""
        return key_in(headers)

    def refused(self, path: bytes, response: Response) -> Response:
        """Return a problem as an error of the provider whose client asks."""
        return refused(protocol_of(path), response)

    async def begin(self) -> None:
        """Begin with the server."""
        self._client = client_of(self._proxy._most, self._proxy._patience)
        self._warming = asyncio.ensure_future(asyncio.to_thread(self._memories.warm))

    async def end(self) -> None:
        """End with the server: what is to be remembered is written."""
        if self._warming is not None:
            await self._warming
        await self._recalling.end()
        await asyncio.to_thread(self._memories.close)
        if self._client is not None:
            await self._client.aclose()

    async def answer(self, visit: Visit) -> Outcome:
        """Pass a request on, with memory if it is one that has it."""
        with self._flying.seat(visit.key.id):
            return await self._answered(visit)

    async def _answered(self, visit: Visit) -> Outcome:
        asked = asked_by(visit.path)
        require_scopes(visit.key)
        upstream = self._proxy.upstream(asked.protocol)
        surface = None
        if visit.scope["method"] == "POST":
            surface = self._surfaces.get((asked.protocol, asked.path))
        if surface is None:
            require_own_account(visit.key, upstream, visit.scope["method"], asked.path)
            body = body_passed(visit, self._limits)
            return await self._passed(visit, asked, upstream, _PASSED, body)
        if is_off(visit.headers):
            return await self._without(visit, asked, upstream, surface)
        return await self._remembering(visit, asked, upstream, surface)

    async def _passed(
        self,
        visit: Visit,
        asked: Asked,
        upstream: Upstream,
        operation: str,
        body: AsyncIterator[bytes] | bytes | None,
        told: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Pass a request on as it comes, and the response as well."""
        headers = up(visit.scope["headers"], upstream, heard=False)
        passing = Passing(visit, told or {})
        response = await passing.sending(
            sent_on(
                self._up, upstream, visit.scope["method"], _target(visit, asked), headers, body
            ),
            reads=not isinstance(body, bytes | None),
        )
        status = await passing.on(response, None, None)
        return Outcome(operation, status)

    async def _without(
        self, visit: Visit, asked: Asked, upstream: Upstream, surface: Surface
    ) -> Outcome:
        """Pass a request on that could have memory and is to have none."""
        data = await body_of(visit.receive, self._limits.body, self._limits.seconds)
        text = await beside(len(data), lambda: _json(visit, data))
        require_own_account(visit.key, upstream, "POST", asked.path, text=text, is_read=True)
        off = {"demem-recall": "off"}
        return await self._passed(visit, asked, upstream, surface.name, data, off)

    async def _remembering(
        self, visit: Visit, asked: Asked, upstream: Upstream, surface: Surface
    ) -> Outcome:
        """Pass a request on with what is remembered, and remember what comes of it."""
        if self._proxy._identity.field is None:
            memory_of(visit, asked, None)  # before the body is read
        data = await body_of(visit.receive, self._limits.body, self._limits.seconds)
        text = await beside(len(data), lambda: _json(visit, data))
        named = self._proxy._identity.of(text)
        memory = memory_of(visit, asked, named)
        require_own_account(visit.key, upstream, "POST", asked.path, text=text, is_read=True)
        recalled = Recalled("unread")
        if text is not None:
            about = {WHOSE: memory, ASKER: asker_of(visit.headers)}
            recalled = await self._recalling.recalled(surface, text, about)
        if recalled.talk is not None and recalled.reading is not None and text is not None:
            data = text.edited(recalled.talk.edits(text))
        headers = up(visit.scope["headers"], upstream, heard=True)
        headers = [one for one in headers if one[0] != b"content-length"]
        headers.append((b"content-length", str(len(data)).encode()))
        passing = Passing(visit, _told(memory, recalled))
        response = await passing.sending(
            sent_on(self._up, upstream, "POST", _target(visit, asked), headers, data), reads=False
        )
        status = await passing.on(response, recalled, self._recalling)
        return Outcome(surface.name, status, memory)

    @property
    def _up(self) -> httpx2.AsyncClient:
        assert self._client is not None, "the server has begun"
        return self._client


def _json(visit: Visit, data: bytes) -> JsonText | None:
    """Return a body as it can be changed in places; None for what cannot be read."""
    if visit.headers.get("content-encoding", "identity").strip().casefold() != "identity":
        return None
    try:
        return JsonText(data)
    except Unreadable:
        return None


def _target(visit: Visit, asked: Asked) -> bytes:
    query: bytes = visit.scope["query_string"]
    return asked.path + (b"?" + query if query else b"")


def _told(memory: str, recalled: Recalled) -> dict[str, str]:
    """Return what the headers of a response tell of memory: ids alone."""
    told = {"demem-memory": quote(memory, safe=""), "demem-recall": recalled.state}
    reading = recalled.reading
    if reading is not None:
        ids = list(dict.fromkeys(item.id for item in reading.evidence))
        told["demem-reading"] = ",".join(ids[:_MOST_NAMED])
    return told
