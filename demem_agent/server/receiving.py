"""What comes in: headers and bodies, within their limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from demem_agent.later import dataclass, pattern
from demem_agent.server.refusals import Refusal

__all__ = [
    "TAGS",
    "Limits",
    "Receive",
    "Scope",
    "Send",
    "body_of",
    "client_of",
    "headers_of",
    "require",
    "token_of",
]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_JSON = "application/json"
_LINES = "application/x-ndjson"
_LONGEST_TOKEN = 200
_ONE_TAG = r'(W/)?"[!#-~]*"'
#: What ``If-Match`` and ``If-None-Match`` have: any version, or some.
TAGS = rf"(\*|{_ONE_TAG}( *, *{_ONE_TAG})*)"
_TAGS = pattern(TAGS)
#: Of which a request may have one alone: two readers could each go by another.
_SINGLE = frozenset(
    {
        "authorization",
        "content-length",
        "content-type",
        "host",
        "idempotency-key",
        "if-match",
        "if-none-match",
        "origin",
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may have.

    Attributes:
        body: bytes of a body; ``whole`` of an export that is imported.
        seconds: in which a body must have come.
        headers: bytes of the first line and the headers; ``header_seconds`` in which they must
            have come.
        connections: at once, and no more than half of the files that the process may have; for one
            more that goes which has had nothing to do the longest.
        idle: seconds for which a connection may wait for its next request.
        rate: requests a second that each key may make; None for any number.
        heartbeat: seconds between two signs of life of a stream of events.
    """

    body: int = 8 * 2**20
    whole: int = 256 * 2**20
    seconds: float = 30.0
    headers: int = 32 * 2**10
    header_seconds: float = 8.0
    connections: int = 700
    idle: int = 30
    rate: float | None = None
    heartbeat: float = 15.0


def headers_of(raw: Iterable[tuple[bytes, bytes]], most: int) -> dict[str, str]:
    """Return headers by their names in small letters; several of one name are joined.

    Args:
        most: bytes that they may have together.

    Raises:
        Refusal: for more, for two of what there may be one of, and for a body whose end is told in
            two ways: who stands before the server could go by the other one.
    """
    given: dict[str, list[str]] = {}
    size = 0
    for name, value in raw:
        size += len(name) + len(value)
        given.setdefault(name.decode("latin-1").casefold(), []).append(value.decode("latin-1"))
    if size > most:
        raise Refusal("malformed", f"the headers may have {most:,} bytes at most", closes=True)
    for one in _SINGLE:
        if len(given.get(one, ())) > 1:
            raise Refusal("malformed", f"the header {one} is there twice", closes=True)
    if {"content-length", "transfer-encoding"} <= given.keys():
        says = "the length of the body is told, and that it comes in pieces: one of them holds"
        raise Refusal("malformed", says, closes=True)
    return {key: ", ".join(values) for key, values in given.items()}


def client_of(scope: Scope) -> str | None:
    """Return the address that a request is from, where it is known.

    Of one in HTTP/1.0 it is not: so asks a proxy that was told no more than where to pass requests
    on to, and it says nothing of whom it asks for.
    """
    client = scope.get("client")
    if not client or scope.get("http_version") == "1.0":
        return None
    return str(client[0])


def token_of(headers: Mapping[str, str]) -> str | None:
    """Return the idempotency key of a request; the quotes of a structured header are none of it.

    Raises:
        Refusal: for what cannot be one.
    """
    given = headers.get("idempotency-key")
    if given is None:
        return None
    token = given.strip()
    if len(token) >= 2 and token[0] == token[-1] == '"':
        token = token[1:-1]
    printable = token.isascii() and token.isprintable()
    if not token.strip() or not printable or len(token) > _LONGEST_TOKEN:
        says = f"Idempotency-Key is of 1 to {_LONGEST_TOKEN} printable ASCII characters"
        raise Refusal("malformed", says, closes=True)
    return token


def tags_of(headers: Mapping[str, str], name: str) -> str | None:
    """Return what a header says of versions; None where it is not there.

    Raises:
        Refusal: for what names none.
    """
    given = headers.get(name)
    if given is not None and not _TAGS.fullmatch(given.strip()):
        says = f'{name} is *, or ETags as they came, in their quotes: "0-12"'
        raise Refusal("malformed", says, closes=True)
    return given


def require(headers: Mapping[str, str], *, lines: bool, limit: int) -> None:
    """Refuse a body that is said to be of another kind or too large, before any of it is read.

    Args:
        lines: whether JSON lines are taken, and not one document.

    Raises:
        Refusal: then.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().casefold()
    wanted = _LINES if lines else _JSON
    if kind != wanted:
        says = f"the body must be {wanted}, said so by Content-Type"
        raise Refusal("not-json", says, {"Accept": wanted}, closes=True)
    if headers.get("content-encoding", "identity").strip().casefold() != "identity":
        raise Refusal("not-json", "the body must not be compressed", closes=True)
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length) > limit:
        raise _too_large(limit)


async def body_of(receive: Receive, limit: int, seconds: float) -> bytes:
    """Return a body.

    Raises:
        Refusal: if it is too large, does not come in time, or breaks off.
    """
    try:
        return await asyncio.wait_for(_read(receive, limit), seconds)
    except TimeoutError:
        says = f"the body did not come within {seconds:g} s"
        raise Refusal("too-slow", says, closes=True) from None


async def _read(receive: Receive, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal("malformed", "the request broke off", closes=True)
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(limit: int) -> Refusal:
    return Refusal("too-large", f"the body may have {limit:,} bytes at most", closes=True)
