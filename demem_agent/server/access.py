"""Who may call: by which name of the server, from which pages, and with which key."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

from demem_agent.later import pattern
from demem_agent.server.keys import Key, KeyRing
from demem_agent.server.keys.records import EVERYTHING
from demem_agent.server.refusals import Refusal

__all__ = ["Access", "is_loopback"]

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
#: What a proxy adds: the caller is then not who the connection is from.
_FORWARDED = ("forwarded", "via", "x-real-ip", "x-client-ip", "cf-connecting-ip", "true-client-ip")
_FORWARDED_PREFIX = "x-forwarded"
#: A name, or an address of IPv6 in brackets, and perhaps a port.
_HOST = pattern(r"(?:\[([^\[\]]+)\]|([^:\[\]]+))(?::[0-9]*)?")
_SAME_SITE = ("same-origin", "none")
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="demem"'}


class Access:
    """What is looked at before anything else of a request.

    Args:
        ring: the keys.
        names: by which the server may be called besides those of this machine, without a port.
    """

    def __init__(self, ring: KeyRing, names: Iterable[str] = ()) -> None:
        self._ring = ring
        self._names = frozenset(name.casefold() for name in (*_LOCAL_NAMES, *names))

    def require_name(self, headers: Mapping[str, str]) -> None:
        """Refuse a request to another name: a page may have a name of its own lead here.

        Raises:
            Refusal: also where no name is given.
        """
        name = _host_of(headers.get("host", ""))
        if name not in self._names:
            says = "call the server by a name that it was started with (--allow-host)"
            raise Refusal("misdirected", says, closes=True)

    def require_own_page(self, headers: Mapping[str, str]) -> None:
        """Refuse a request that a browser makes for a page of another site.

        Raises:
            Refusal: then.
        """
        site = headers.get("sec-fetch-site")
        origin = headers.get("origin")
        foreign = site is not None and site.casefold() not in _SAME_SITE
        if origin is not None:
            _, _, host = origin.partition("://")
            foreign = foreign or host.casefold() != headers.get("host", "").casefold()
        if foreign:
            raise Refusal("cross-origin", "a page of another site may not call", closes=True)

    def require_asked_for(self, headers: Mapping[str, str]) -> None:
        """Refuse a browser that would show what comes back, or run it, as a page of this server.

        Raises:
            Refusal: then.
        """
        if headers.get("sec-fetch-dest", "empty").casefold() != "empty":
            says = "a browser may fetch this, and not show it as a page"
            raise Refusal("cross-origin", says, closes=True)

    def key_of(self, headers: Mapping[str, str], client: str | None) -> Key:
        """Return the key that came with a request, or what this machine may do without one.

        Args:
            client: the address that the connection is from; None where that is not known.

        Raises:
            Refusal: for none that is valid.
        """
        given = headers.get("authorization")
        if given is None:
            return self.key_written(None, headers, client)
        kind, _, written = given.partition(" ")
        return self.key_written(written if kind.casefold() == "bearer" else "", headers, client)

    def key_written(
        self, written: str | None, headers: Mapping[str, str], client: str | None
    ) -> Key:
        """Return the key that is written so, or what this machine may do without one.

        Args:
            written: as it came; None where none did.
            client: as in :meth:`key_of`.

        Raises:
            Refusal: for none that is valid.
        """
        if written is not None:
            key = self._ring.key_of(written.strip())
            if key is None:
                says = "the key is none that is valid: Authorization: Bearer dm_..."
                raise Refusal("unauthorised", says, _CHALLENGE, closes=True)
            return key
        if not _is_from_here(headers, client) or self._ring.has_any():
            says = "send a key: Authorization: Bearer dm_..."
            raise Refusal("unauthorised", says, _CHALLENGE, closes=True)
        return EVERYTHING

    def still_holds(self, key: Key) -> bool:
        """Whether a key that was valid is so still; of this machine, whether there is none yet."""
        if key is EVERYTHING:
            return not self._ring.has_any()
        return self._ring.is_valid(key.id)


def is_loopback(address: str) -> bool:
    """Whether an address, or a name, is of this machine alone."""
    if address.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _is_from_here(headers: Mapping[str, str], client: str | None) -> bool:
    """Whether whoever calls is on this machine, and no proxy for others."""
    if client is None or not is_loopback(client):
        return False
    return not any(name in _FORWARDED or name.startswith(_FORWARDED_PREFIX) for name in headers)


def _host_of(given: str) -> str:
    """Return the name in a Host header, without its port; "" for what is none."""
    found = _HOST.fullmatch(given.strip().casefold())
    return "" if found is None else found[1] or found[2]
