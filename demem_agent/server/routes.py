"""Which endpoint a path and a method name.

Paths are split before they are decoded, so that an id may have any character, a slash too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from demem_agent.later import dataclass
from demem_agent.server.endpoints import Endpoint
from demem_agent.server.refusals import Refusal

__all__ = ["Found", "Routes"]


class Found(NamedTuple):
    """An endpoint, and what stands in the path by name."""

    endpoint: Endpoint
    names: dict[str, str]


@dataclass(slots=True)
class _Crossing:
    """Where paths part: what may come next, and which endpoints end here by method."""

    ways: dict[str, _Crossing]
    named: tuple[str, _Crossing] | None
    ends: dict[str, Endpoint]


class Routes:
    """The endpoints by their paths."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root = _Crossing({}, None, {})
        for endpoint in endpoints:
            self._add(endpoint)

    def find(self, method: str, path: bytes) -> Found:
        """Return the endpoint of a method and a path as it came, percent signs and all.

        Raises:
            Refusal: for a path that there is not, or that has no such method.
        """
        crossing, names = self._end(path)
        if not crossing.ends:
            raise _nothing()
        known = {**crossing.ends}
        if "GET" in known and not known["GET"].streams:  # its body would never end
            known["HEAD"] = known["GET"]  # whoever serves leaves the body out
        if method not in known:
            methods = ", ".join(sorted(known))
            raise Refusal("no-such-method", f"the path has {methods}", {"Allow": methods})
        return Found(known[method], names)

    def _end(self, path: bytes) -> tuple[_Crossing, dict[str, str]]:
        crossing = self._root
        names: dict[str, str] = {}
        begin, *parts = path.split(b"/")
        if begin:
            raise _nothing()
        for part in parts:
            text = _text(part)
            if text in crossing.ways:
                crossing = crossing.ways[text]
            elif crossing.named is not None and text:
                name, crossing = crossing.named
                names[name] = text
            else:
                raise _nothing()
        return crossing, names

    def _add(self, endpoint: Endpoint) -> None:
        crossing = self._root
        for part in endpoint.path.split("/")[1:]:
            if part.startswith("{"):
                if crossing.named is None:
                    crossing.named = part.strip("{}"), _Crossing({}, None, {})
                crossing = crossing.named[1]
            else:
                crossing = crossing.ways.setdefault(part, _Crossing({}, None, {}))
        crossing.ends[endpoint.method] = endpoint


def _text(part: bytes) -> str:
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise _nothing() from None


def _nothing() -> Refusal:
    return Refusal("no-such-path", "see /openapi.json for what there is")
