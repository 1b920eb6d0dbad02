"""The server as an ASGI application: what is refused early, what is let in, and what comes back."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

from demem_agent.auditing import Audit
from demem_agent.errors import DeMemError, StoreError
from demem_agent.later import dataclass
from demem_agent.server.access import Access
from demem_agent.server.admission import LANES, Lane, Room
from demem_agent.server.endpoints import ENDPOINTS, Endpoint
from demem_agent.server.events import Stream
from demem_agent.server.guests import Guest, Invited, Outcome, Visit
from demem_agent.server.house import House
from demem_agent.server.keys import Key
from demem_agent.server.keys.records import NOBODY
from demem_agent.server.openapi import document
from demem_agent.server.page.files import page_response
from demem_agent.server.receiving import (
    Limits,
    Receive,
    Scope,
    Send,
    body_of,
    client_of,
    headers_of,
    require,
    tags_of,
    token_of,
)
from demem_agent.server.refusals import Refusal
from demem_agent.server.routes import Found, Routes
from demem_agent.server.sending import Response, problem, problem_from, sent
from demem_agent.server.working import Work, carried_out
from demem_agent.tracing import under_caller
from demem_agent.wire.problems import PROBLEMS
from demem_agent.wire.values import encoded

__all__ = ["App"]

log = logging.getLogger("demem.server")
_DOCUMENT = b"/openapi.json"
_RETRY = {"Retry-After": "1"}
#: Characters of the id of a memory, which none that there is has more of.
_LONGEST_ID = 1000
#: Of what has been sent already, event by event.
_SENT = Response(200, {})


@dataclass(slots=True)
class _Told:
    """What is known of a request when it has been answered, for the logs."""

    began: float
    operation: str = "unknown"
    key: Key | None = None
    memory: str | None = None
    is_audited: bool = False


class App:
    """An ASGI application that serves the memories of a house.

    Args:
        house: the memories and the keys; the application releases them when it ends.
        names: by which it may be called besides those of this machine.
        limits: of what comes in.
        rooms: by class of operation, how many there may be at once and waiting.
        audit: where each change is noted down; nowhere unless given.
        guests: what is served beside the endpoints.
    """

    def __init__(
        self,
        house: House,
        *,
        names: tuple[str, ...] = (),
        limits: Limits | None = None,
        rooms: Mapping[str, Room] | None = None,
        audit: Audit | None = None,
        guests: Sequence[Invited] = (),
    ) -> None:
        self.house = house
        self.limits = limits or Limits()
        self.lanes = {name: Lane(name, room) for name, room in {**LANES, **(rooms or {})}.items()}
        self._access = Access(house.ring, names)
        self._routes = Routes(ENDPOINTS)
        self._audit = audit
        self._is_closed = False
        self._ending = asyncio.Event()
        self._document = encoded(document(ENDPOINTS))
        house.metrics.watch(self.lanes, house.pool, house.events)
        self._guests = [invited(house, self.limits) for invited in guests]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or begin and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    def end(self) -> None:
        """Have streams of events end, which would keep the server from it; on its event loop."""
        self._ending.set()

    def close(self) -> None:
        """Wait for what was begun, and release everything; once."""
        if self._is_closed:
            return
        self._is_closed = True
        for lane in self.lanes.values():
            lane.close()
        self.house.close()
        if self._audit is not None:
            self._audit.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                for guest in self._guests:
                    await guest.begin()
                await send({"type": "lifespan.startup.complete"})
            else:
                for guest in self._guests:
                    await guest.end()
                await asyncio.to_thread(self.close)
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = _Told(time.perf_counter())
        path = scope.get("raw_path") or scope["path"].encode()
        for guest in self._guests:
            if guest.takes(path):
                await self._hosted(guest, path, scope, receive, send, told)
                return
        try:
            response = await self._response(path, scope, receive, told)
        except (DeMemError, Refusal) as error:
            response = problem_from(error)
        except Exception as error:
            # The outermost frame: a fault that was not foreseen is a problem document as well.
            response = _fault(error)
        if isinstance(response, Stream):
            response = await self._streamed(response, receive, send)
        try:
            self._note(told, response)
        except StoreError as error:  # what cannot be noted down is not told to have been done
            response = _SENT if response is _SENT else problem_from(error)
        if response is not _SENT:
            await sent(send, response)

    async def _hosted(
        self,
        guest: Guest,
        path: bytes,
        scope: Scope,
        receive: Receive,
        send: Send,
        told: _Told,
    ) -> None:
        """Have a guest answer a request."""
        begun = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        told.operation = "guest"
        try:
            visit = self._visit(guest, path, scope, receive, sending)
            told.key, told.is_audited = visit.key, True
            self.house.common.take(visit.key.id)
            with under_caller(visit.headers):
                outcome = await guest.answer(visit)
        except (DeMemError, Refusal) as error:
            response = problem_from(error)
        except Exception as error:
            # As above: nothing else stands between a fault of a guest and who called.
            response = _fault(error)
        else:
            told.operation, told.memory = outcome.operation, outcome.memory
            self._note(told, outcome)
            return
        self._note(told, response)
        # What has begun ends with the connection: who called knows that more was to come.
        if not begun:
            await sent(send, guest.refused(path, response))

    def _visit(
        self, guest: Guest, path: bytes, scope: Scope, receive: Receive, send: Send
    ) -> Visit:
        """Return a request of somebody who may call.

        Raises:
            Refusal: if nobody may so.
        """
        headers = headers_of(scope["headers"], self.limits.headers)
        self._access.require_name(headers)
        self._access.require_own_page(headers)
        self._access.require_asked_for(headers)  # a guest may bring what others have written
        written = guest.key_in(headers)
        key = self._access.key_written(written, headers, client_of(scope))
        return Visit(scope=scope, receive=receive, send=send, path=path, headers=headers, key=key)

    async def _streamed(self, stream: Stream, receive: Receive, send: Send) -> Response:
        """Tell what happens to a memory until somebody ends it; what is refused comes back."""
        try:
            await stream.run(receive, send)
        except (DeMemError, Refusal) as error:
            return problem_from(error)
        return _SENT

    async def _response(
        self, path: bytes, scope: Scope, receive: Receive, told: _Told
    ) -> Response | Stream:
        headers = headers_of(scope["headers"], self.limits.headers)
        self._access.require_name(headers)
        page = page_response(scope["method"], path, headers)
        if page is not None:  # a link of any site may lead here: the files are nobody's secret
            told.operation = "page"
            return page
        self._access.require_own_page(headers)
        if path == _DOCUMENT and scope["method"] == "GET":
            return Response(200, {"Content-Type": "application/json"}, self._document)
        found = self._routes.find(scope["method"], path)
        told.operation, told.memory = found.endpoint.name, found.names.get("memory")
        told.is_audited = bool(found.endpoint.scopes)
        told.key = key = self._key(found.endpoint, headers, scope)
        if found.endpoint.scopes:
            self.house.common.take(key.id)
        _require_allowed(found, key)
        if found.endpoint.streams:
            return self._stream(found, key, headers)
        return await self._admitted(found, key, headers, scope["query_string"], receive)

    def _stream(self, found: Found, key: Key, headers: Mapping[str, str]) -> Stream:
        memory_id = found.names["memory"]
        return Stream(
            events=self.house.events,
            memory_id=memory_id,
            who=key.id,
            version=lambda: self.house.memory(memory_id).version,
            moved=lambda seen: self.house.moved(memory_id, seen),
            is_allowed=lambda: self._access.still_holds(key),
            last=headers.get("last-event-id"),
            seconds=self.limits.heartbeat,
            ending=self._ending,
        )

    def _key(self, endpoint: Endpoint, headers: Mapping[str, str], scope: Scope) -> Key:
        """Return who calls; what needs no key is called by nobody."""
        if not endpoint.scopes:
            return NOBODY
        return self._access.key_of(headers, client_of(scope))

    async def _admitted(
        self,
        found: Found,
        key: Key,
        headers: Mapping[str, str],
        query: bytes,
        receive: Receive,
    ) -> Response:
        endpoint = found.endpoint
        token = token_of(headers)
        _require_keepable(endpoint, token)
        work = partial(
            Work,
            endpoint=endpoint,
            key=key,
            names=found.names,
            query=query,
            token=token,
            matches=tags_of(headers, "if-match"),
            matches_none=tags_of(headers, "if-none-match"),
        )
        if not endpoint.lane:
            return carried_out(self.house, work(body=b""))
        with self._alone(found, token), self.lanes[endpoint.lane].place(key.id) as place:
            body = await self._body(endpoint, headers, receive)
            with under_caller(headers):
                return await place.do(partial(carried_out, self.house, work(body=body)))

    async def _body(
        self, endpoint: Endpoint, headers: Mapping[str, str], receive: Receive
    ) -> bytes:
        if endpoint.body is None and not endpoint.lines:
            return b""
        limit = self.limits.whole if endpoint.lines else self.limits.body
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if has_body:
            require(headers, lines=endpoint.lines, limit=limit)
        return await body_of(receive, limit, self.limits.seconds)

    @contextmanager
    def _alone(self, found: Found, token: str | None) -> Iterator[None]:
        """Have one request at a time be at work under an idempotency key.

        Raises:
            Refusal: for a second one.
        """
        if token is None or found.endpoint.keeps != "ledger":
            yield
            return
        memory_id, common = found.names["memory"], self.house.common
        if not common.begin(memory_id, token):
            says = "wait for the first one, or ask again"
            raise Refusal("in-flight", says, _RETRY, closes=True)
        try:
            yield
        finally:
            common.end(memory_id, token)

    def _note(self, told: _Told, response: Response | Outcome) -> None:
        """Count and note down what was done: names, ids and numbers, no text."""
        name = told.operation
        seconds = time.perf_counter() - told.began
        took = round(seconds * 1000, 1)
        self.house.metrics.note(name, response.status, response.problem, seconds)
        key = told.key.id if told.key else ""
        says = f" {response.problem}" if response.problem else ""
        log.info("%s %d%s %.1f ms key %s", name, response.status, says, took, key or "none")
        if self._audit is None or not told.is_audited:
            return
        memory = told.memory and told.memory[:_LONGEST_ID]  # whoever has no key fills no disk
        self._audit.note(operation=name, memory=memory, key=key, status=response.status, ms=took)


def _require_allowed(found: Found, key: Key) -> None:
    """Refuse what a key does not allow; of a foreign memory it is not told whether it is there.

    Raises:
        Refusal: then.
    """
    endpoint = found.endpoint
    if endpoint.scopes and not key.allows(endpoint.scopes):
        one_of = " or ".join(sorted(endpoint.scopes))
        raise Refusal("forbidden", f"it needs a key with the scope {one_of}", closes=True)
    if endpoint.of_a_memory and not key.reaches(found.names["memory"]):
        raise Refusal("forbidden", "the key does not reach this memory", closes=True)


def _require_keepable(endpoint: Endpoint, token: str | None) -> None:
    if token is not None and endpoint.keeps == "refused":
        says = "leave Idempotency-Key out: what is done is not known again by one"
        raise Refusal("no-key-kept", says, closes=True)


def _fault(error: Exception) -> Response:
    """Log where a fault came about, without what it says, which may be text of a memory."""
    incident = uuid4().hex[:12]
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
    log.error("fault %s: %s at %s", incident, type(error).__name__, places)
    return problem(PROBLEMS["fault"], f"the log has more under {incident}")
