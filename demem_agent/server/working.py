"""One request carried out in a thread: what it says is read, the endpoint does it, and what comes
of it is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from demem_agent.errors import MemoryGone, NotFound
from demem_agent.held import only_if
from demem_agent.later import dataclass
from demem_agent.server.endpoints import Call, Endpoint, Reply
from demem_agent.server.events import Event
from demem_agent.server.house import House
from demem_agent.server.keys import Key
from demem_agent.server.metrics import MEDIA_TYPE as TEXT
from demem_agent.server.parameters import parameters
from demem_agent.server.refusals import Refusal
from demem_agent.server.sending import Response
from demem_agent.stores.ages import at_most_old
from demem_agent.wire.values import Unreadable, decoded, encoded, lines_of

__all__ = ["Work", "carried_out"]

_JSON = {"Content-Type": "application/json"}
_LINES = {"Content-Type": "application/x-ndjson"}
_ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a thread is given.

    Attributes:
        names: what stands in the path.
        token: the idempotency key of the header.
        matches, matches_none: what ``If-Match`` and ``If-None-Match`` say; None where they are not
            there.
    """

    endpoint: Endpoint
    key: Key
    names: Mapping[str, str]
    query: bytes
    body: bytes
    token: str | None = None
    matches: str | None = None
    matches_none: str | None = None


def carried_out(house: House, work: Work) -> Response:
    """Carry out a request.

    Raises:
        Refusal: for what the server refuses.
        DeMemError: for what the library does.
    """
    endpoint = work.endpoint
    call = Call(
        house=house,
        operation=endpoint.name,
        key=work.key,
        names=work.names,
        body=_body(endpoint, work.body),
        query=parameters(work.query, endpoint.query),
        token=work.token if endpoint.keeps == "ledger" else None,
    )
    with _alone(call, endpoint), _aged(house, endpoint):
        version = _version(call) if endpoint.of_a_memory else None
        _require_match(work, endpoint, version)
        if _is_known(work, endpoint, version):
            return Response(304, _tag(version))
        with _under_condition(work, endpoint, version):
            reply = endpoint.does(call)
        if endpoint.changes and endpoint.tagged:
            version = _version(call)
            if version is not None:
                house.events.tell(call.memory_id, Event(endpoint.name, version))
    return _response(endpoint, reply, version)


def _alone(call: Call, endpoint: Endpoint) -> AbstractContextManager[None]:
    """Have a change of a memory be the only one."""
    if endpoint.changes and endpoint.of_a_memory:
        return call.house.writing(call.memory_id)
    return nullcontext()


def _aged(house: House, endpoint: Endpoint) -> AbstractContextManager[None]:
    """Have what changes nothing be answered from a replica, where that was allowed."""
    if endpoint.changes or house.read_age is None:
        return nullcontext()
    return at_most_old(house.read_age)


def _under_condition(
    work: Work, endpoint: Endpoint, version: str | None
) -> AbstractContextManager[None]:
    """Have a change be made of the version that is meant also where another process writes.

    Args:
        version: of the memory as it was looked at; None where there is none yet.
    """
    is_conditional = work.matches is not None or work.matches_none is not None
    if endpoint.changes and is_conditional and version is not None:
        return only_if(lambda version: _require_match(work, endpoint, version))
    return nullcontext()


def _version(call: Call) -> str | None:
    """Return the version of the memory; None where there is none."""
    try:
        return call.memory.version
    except (MemoryGone, NotFound):
        return None


def _require_match(work: Work, endpoint: Endpoint, version: str | None) -> None:
    """Refuse a change of another version than the one that is meant.

    Raises:
        Refusal: then.
    """
    if not endpoint.changes:
        return
    if work.matches is not None and not _named(work.matches, version):
        raise Refusal("changed", "the memory has moved on, or is not there; look at it again")
    if work.matches_none is not None and _named(work.matches_none, version):
        raise Refusal("changed", "the memory is there, or of this version")


def _is_known(work: Work, endpoint: Endpoint, version: str | None) -> bool:
    """Whether whoever asks has what would come back."""
    if endpoint.changes or not endpoint.tagged or work.matches_none is None:
        return False
    return endpoint.method == "GET" and _named(work.matches_none, version)


def _named(header: str, version: str | None) -> bool:
    """Whether a header names a version, or any."""
    if version is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return _ANY in tags or f'"{version}"' in tags


def _tag(version: str | None) -> dict[str, str]:
    return {} if version is None else {"ETag": f'"{version}"'}


def _body(endpoint: Endpoint, data: bytes) -> Any:
    try:
        if endpoint.lines:
            return lines_of(data)
        return None if endpoint.body is None else decoded(data or b"{}", endpoint.body)
    except Unreadable as error:
        raise Refusal("malformed", f"the body is no JSON: {error}") from error


def _response(endpoint: Endpoint, reply: Any, version: str | None) -> Response:
    given = reply if isinstance(reply, Reply) else Reply(reply, endpoint.status)
    tag = _tag(version) if endpoint.tagged else {}
    if endpoint.text:
        return Response(given.status, {"Content-Type": TEXT}, given.value)
    if given.lines:
        body = b"".join(json.dumps(line).encode() + b"\n" for line in given.value)
        return Response(given.status, {**_LINES, **tag}, body)
    if given.status == 204:
        return Response(204, tag)
    return Response(given.status, {**_JSON, **tag}, encoded(given.value))
