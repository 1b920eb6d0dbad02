"""Where requests are passed on to: addresses from the configuration, and nothing that comes in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import httpx2

from demem_adapters.proxy.addresses import PROTOCOLS, Protocol
from demem_agent import InvalidInput
from demem_agent.server import Refusal

__all__ = ["Upstream", "client_of", "sent_on"]

#: Seconds to connect, and to send or receive the next bytes: a model may think for long.
_CONNECT, _SEND, _RECEIVE = 10.0, 60.0, 600.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """A provider of models, or what stands before several of them.

    Args:
        protocol: ``openai`` or ``anthropic``: below which path it is served.
        address: its base URL, with or without ``/v1`` at its end.
        key: the provider's key, which then goes with every request in the place of what the caller
            sent; None to pass on what the caller sends.

    Raises:
        InvalidInput: naming the field and its range.
    """

    protocol: Protocol
    address: str
    key: str | None = None

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InvalidInput("protocol", self.protocol, " or ".join(PROTOCOLS))
        parts = urlsplit(self.address)
        plain = parts.scheme in ("http", "https") and parts.hostname
        if not plain or parts.query or parts.fragment or parts.username:
            allowed = (
                "an http or https URL such as https://api.openai.com, without a user or a query"
            )
            shown = self.address.rpartition("@")[2]  # a password is for no log
            raise InvalidInput("address", shown, allowed)
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise InvalidInput("key", "a key", "printable ASCII characters")

    @property
    def base(self) -> str:
        """The address without ``/v1`` at its end."""
        return self.address.rstrip("/").removesuffix("/v1")


def client_of(most: int, seconds: float = _RECEIVE) -> httpx2.AsyncClient:
    """Return what asks upstreams: it follows nothing, keeps no cookies, and decodes nothing.

    Args:
        most: connections at once.
        seconds: to wait for the next bytes of a response.
    """
    return httpx2.AsyncClient(
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
        timeout=httpx2.Timeout(connect=_CONNECT, write=_SEND, read=seconds, pool=_CONNECT),
    )


async def sent_on(
    client: httpx2.AsyncClient,
    upstream: Upstream,
    method: str,
    target: bytes,
    headers: list[tuple[bytes, bytes]],
    body: bytes | AsyncIterator[bytes] | None,
) -> httpx2.Response:
    """Send a request to an upstream, and return the response of which only the beginning came.

    Args:
        target: the path and the query, as they came, from ``/v1`` on.

    Raises:
        Refusal: if it cannot be reached, does not answer in time, has no status that there is, or
            sends whoever asks elsewhere.
    """
    base = httpx2.URL(upstream.base)
    extensions = {"target": base.raw_path.rstrip(b"/") + target}
    request = httpx2.Request(method, base, headers=headers, content=body, extensions=extensions)
    try:
        response = await client.send(request, stream=True)
    except httpx2.PoolTimeout:
        says = "too many requests are with the upstream"
        raise Refusal("busy", says, {"Retry-After": "1"}, closes=True) from None
    except httpx2.ConnectTimeout:
        says = "the upstream did not let us connect in time"
        raise Refusal("upstream-late", says, closes=True) from None
    except httpx2.TimeoutException:
        raise Refusal("upstream-late", "the upstream did not answer", closes=True) from None
    except httpx2.TransportError as error:
        says = f"the upstream cannot be reached, or broke off ({type(error).__name__})"
        raise Refusal("upstream-failed", says, closes=True) from None
    if not 200 <= response.status_code < 600:
        await response.aclose()
        says = "the upstream answers with a status that there is not"
        raise Refusal("upstream-failed", says, closes=True)
    if response.has_redirect_location:
        # Whoever followed it would take his keys along, past the memory.
        await response.aclose()
        raise Refusal("upstream-failed", "the upstream redirects, which is not followed")
    return response
