"""Asks a server for what is asked of a memory, and makes records and errors of what comes back."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from demem_agent.client.calls import Pages, Request, segment
from demem_agent.client.transport import Response, Transport
from demem_agent.errors import InvalidInput, RemoteError
from demem_agent.tracing import headers_to_send
from demem_agent.turns import text_field
from demem_agent.wire.problems import PROBLEMS, error_of
from demem_agent.wire.values import Unreadable, decoded

__all__ = ["Caller"]

Result = TypeVar("Result")

_JSON = "application/json"
_LINES = "application/x-ndjson"
#: Where nothing was done, it is asked again so often, after so many seconds each.
_AGAIN = (0.1, 0.3, 1.0, 2.0)
_NOTHING_DONE = ("busy", "stale")


class Caller:
    """Asks for what is asked of one memory; safe to share between threads.

    Args:
        transport: what takes requests to the server.
        key: ``dm_...``; None where the server asks for none.
        memory_id: of the memory.
    """

    def __init__(self, transport: Transport, key: str | None, memory_id: str) -> None:
        self.memory_id = memory_id
        self._transport = transport
        self._path = f"/v1/memories/{segment('memory_id', memory_id)}"
        self._headers = {"Accept": _JSON}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {_key(key)}"

    def ask(self, request: Request[Result]) -> Result:
        """Return what comes of a request; one that found no room is made again a few times.

        Raises:
            DeMemError: what the memory raises; RemoteError for what the server does.
        """
        for pause in _AGAIN:
            response = self._send(request)
            if not _is_to_be_repeated(response):
                break
            time.sleep(pause)
        else:
            response = self._send(request)
        return _result(response, request)

    def run(self, asking: Pages[Result]) -> Result:
        """Return what several requests come to."""
        try:
            request = next(asking)
            while True:
                request = asking.send(self.ask(request))
        except StopIteration as done:
            return cast(Result, done.value)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _send(self, request: Request[Any]) -> Response:
        headers = {**self._headers, **headers_to_send()}
        body = None
        if request.body is not None:
            body, headers["Content-Type"] = _written(request.body)
        elif request.method == "POST":
            body = b""
        return self._transport.send(request.method, self._path + request.path, headers, body)


def _key(key: object) -> str:
    given = text_field("key", key)
    if not given.isascii() or not given.isprintable():
        raise InvalidInput("key", "what holds other characters", "a key such as 'dm_..._...'")
    return given


def _written(body: Any) -> tuple[bytes, str]:
    if isinstance(body, list):
        return "".join(f"{line}\n" for line in body).encode(), _LINES
    return json.dumps(body, ensure_ascii=False).encode(), _JSON


def _is_to_be_repeated(response: Response) -> bool:
    """Whether nothing was done, for a reason that passes."""
    if response.status != 503:
        return False
    told = _problem(response)
    return any(told.get("type") == PROBLEMS[name].type for name in _NOTHING_DONE)


def _result(response: Response, request: Request[Result]) -> Result:
    if response.status >= 400:
        raise error_of(_problem(response), response.status)
    if response.status == 204:
        return cast(Result, None)
    try:
        if response.headers.get("content-type") == _LINES:
            return cast(Result, [json.loads(line) for line in response.body.splitlines()])
        return decoded(response.body, request.gives)
    except (Unreadable, InvalidInput, ValueError) as error:
        says = f"the server gave what is no {request.gives}: is it of another version?"
        raise RemoteError(says, problem="unknown", status=response.status) from error


def _problem(response: Response) -> Mapping[str, Any]:
    """Return the problem document of a response; an empty one where a proxy sent something else."""
    try:
        told = json.loads(response.body)
    except ValueError:
        return {}
    return told if isinstance(told, Mapping) else {}
