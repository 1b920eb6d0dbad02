"""Which headers go on, in both directions; what is about this server alone does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

from demem_adapters.proxy.upstreams import Upstream
from demem_agent.server import Refusal

__all__ = ["ASKER", "MEMORY", "OFF", "Headers", "down", "key_in", "text_in", "up"]

Headers = list[tuple[bytes, bytes]]

KEY, MEMORY, ASKER, OFF = "demem-key", "demem-memory", "demem-asker", "demem-off"
_OURS = b"demem-"
_MARK = "dm_"
#: Of one connection, and not of what is said over it (RFC 9110, 7.6.1); and what a server itself
#: answers to.
_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer"
    b" transfer-encoding upgrade expect".split()
)
#: Who called here, by which name, and with which cookies of ours.
_UP = _HOP | frozenset(
    b"host forwarded via x-real-ip x-client-ip cf-connecting-ip true-client-ip cookie origin"
    b" referer".split()
)
_UP_PREFIXES = (_OURS, b"x-forwarded", b"sec-fetch-")
#: What a host says of itself: its cookies, its other addresses, how it is to be called, what
#: browsers are to do with it.
_DOWN = _HOP | frozenset(
    b"date set-cookie alt-svc strict-transport-security clear-site-data service-worker-allowed nel"
    b" report-to reporting-endpoints".split()
)
#: Which pages may read what comes back, which is for this server to say.
_DOWN_PREFIXES = (_OURS, b"access-control-")
_CREDENTIALS = (b"authorization", b"x-api-key", b"api-key")
#: Which we can read what comes back in.
_READABLE = ("identity", "gzip", "x-gzip", "deflate")


def key_in(headers: Mapping[str, str]) -> str | None:
    """Return the key of this server as it came: in ``demem-key``, or where a provider's would be.

    Args:
        headers: by their names in small letters.
    """
    if KEY in headers:
        return headers[KEY]
    for name in _CREDENTIALS:
        given = _bare(headers.get(name.decode(), ""))
        if given.startswith(_MARK):
            return given
    return None


def text_in(headers: Mapping[str, str], name: str) -> str | None:
    """Return what a header of ours says; what is no ASCII is written with percent signs.

    Raises:
        Refusal: for what is no UTF-8.
    """
    given = headers.get(name)
    if given is None:
        return None
    try:
        return unquote(given.strip(), errors="strict")
    except UnicodeDecodeError:
        says = f"{name} is text in UTF-8, written with percent signs as in a URL"
        raise Refusal("malformed", says, closes=True) from None


def up(raw: Iterable[tuple[bytes, bytes]], upstream: Upstream, *, heard: bool) -> Headers:
    """Return the headers that go to an upstream, in their order.

    Args:
        heard: whether what comes back is to be read here.
    """
    given = [*raw]
    dropped = _UP | _named(given)
    found: Headers = []
    for name, value in given:
        if name in dropped or name.startswith(_UP_PREFIXES):
            continue
        if name in _CREDENTIALS and (upstream.key is not None or _is_key(value)):
            continue
        if heard and name == b"accept-encoding":
            value = _readable(value)
        found.append((name, value))
    if upstream.key is not None:
        found.append(_credential(upstream, upstream.key))
    return found


def down(raw: Iterable[tuple[bytes, bytes]], told: Mapping[str, str]) -> Headers:
    """Return the headers that go back to who called.

    Args:
        told: what this server adds, by names.
    """
    given = [(name.lower(), value) for name, value in raw]
    dropped = _DOWN | _named(given)
    if any(name == b"transfer-encoding" for name, _ in given):
        dropped |= {b"content-length"}  # where both are told, the pieces hold (RFC 9112, 6.3)
    found = [
        (name, value)
        for name, value in given
        if name not in dropped and not name.startswith(_DOWN_PREFIXES)
    ]
    for name, text in told.items():
        found.append((name.encode(), quote(text, safe=" ,;=/:@%").encode()))
    return found


def _named(headers: Headers) -> frozenset[bytes]:
    """Return what ``Connection`` says is of the connection alone."""
    found: set[bytes] = set()
    for name, value in headers:
        if name == b"connection":
            found.update(part.strip().lower() for part in value.split(b","))
    return frozenset(found)


def _credential(upstream: Upstream, key: str) -> tuple[bytes, bytes]:
    if upstream.protocol == "anthropic":
        return b"x-api-key", key.encode()
    return b"authorization", b"Bearer " + key.encode()


def _is_key(value: bytes) -> bool:
    """Whether a credential has a key of this server in it, in whatever way it is written."""
    return any(word.startswith(_MARK.encode()) for word in re.split(rb"[\s,;:=\"]+", value))


def _bare(credential: str) -> str:
    """Return a credential without the word before it."""
    kind, _, rest = credential.strip().partition(" ")
    return rest.strip() if kind.casefold() == "bearer" else credential.strip()


def _readable(accepted: bytes) -> bytes:
    """Return which of some codings we can read."""
    codings = [part.strip() for part in accepted.decode("latin-1").split(",")]
    kept = [one for one in codings if one.partition(";")[0].strip().casefold() in _READABLE]
    return ", ".join(kept or ["identity"]).encode("latin-1")
