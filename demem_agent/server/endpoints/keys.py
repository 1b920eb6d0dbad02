"""Keys: listed, made, rotated, revoked; nobody can give more than he has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from demem_agent.errors import InvalidInput, NotFound
from demem_agent.server.endpoints.base import Call, Endpoint, scopes
from demem_agent.server.keys import Key
from demem_agent.server.keys.records import SCOPES
from demem_agent.server.refusals import Refusal
from demem_agent.wire.requests import KeyMade, KeyShown, MakeKey, Page, Rotate

__all__ = ["ENDPOINTS", "shown_of"]


def listed(call: Call) -> Page[KeyShown]:
    return Page(records=[_shown(key) for key in call.house.ring.all() if _is_under(call, key)])


def made(call: Call) -> KeyMade:
    body: MakeKey = call.body
    if not call.key.covers(body.prefix, exact=body.exact):
        allowed = f"a text that begins with {call.key.prefix!r}"
        if call.key.exact:
            allowed = f"{call.key.prefix!r} with exact, which is all that the key reaches"
        raise InvalidInput("prefix", body.prefix, allowed)
    if not set(body.scopes) <= set(call.key.scopes):
        raise Refusal("forbidden", "the key cannot give scopes that it has not")
    if call.key.expires is not None and not _ends_with(call.key.expires, body.days):
        allowed = f"so few that it ends with the key that makes it, {call.key.expires.isoformat()}"
        raise InvalidInput("days", body.days, allowed)
    key, written = call.house.ring.make(
        body.prefix, body.scopes, name=body.name, days=body.days, exact=body.exact
    )
    return _made(key, written)


def own(call: Call) -> KeyShown:
    return _shown(call.key)


def rotated(call: Call) -> KeyMade:
    old = _known(call)
    if not _lives_within(call, old):
        raise Refusal("forbidden", "the key cannot give one that lives longer than itself")
    key, written = call.house.ring.rotate(old.id, hours=call.body.hours)
    return _made(key, written)


def revoked(call: Call) -> KeyShown:
    id = _known(call).id
    call.house.ring.revoke(id)
    return _shown(_known(call))


def shown_of(key: Key) -> dict[str, object]:
    """Return what is told of a key, without its secret, as JSON values."""
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "exact": key.exact,
        "scopes": list(key.scopes),
        "made": key.made.isoformat(),
        "expires": None if key.expires is None else key.expires.isoformat(),
        "revoked": key.revoked,
    }


def _known(call: Call) -> Key:
    """Return the key that is meant, if whoever calls may see it."""
    for key in call.house.ring.all():
        if key.id == call.names["id"] and _is_under(call, key):
            return key
    raise NotFound("key", call.names["id"])


def _is_under(call: Call, key: Key) -> bool:
    """Whether a key allows nothing that the one who calls does not."""
    within = call.key.covers(key.prefix, exact=key.exact)
    return within and set(key.scopes) <= set(call.key.scopes)


def _lives_within(call: Call, key: Key) -> bool:
    """Whether a key ends when the one who calls does, or before."""
    end = call.key.expires
    return end is None or (key.expires is not None and key.expires <= end)


def _ends_with(end: datetime, days: float | None) -> bool:
    """Whether a key that is made now for so many days ends by then."""
    return days is not None and timedelta(days=days) <= end - datetime.now(UTC)


def _shown(key: Key) -> KeyShown:
    return KeyShown(**shown_of(key))  # type: ignore[arg-type]  # as written above


def _made(key: Key, written: str) -> KeyMade:
    return KeyMade(key=written, **shown_of(key))  # type: ignore[arg-type]


_ADMIN = scopes("admin")
_ALL = "/v1/keys"
_KEY = f"{_ALL}/{{id}}"

ENDPOINTS = (
    Endpoint(
        name="own_key",
        method="GET",
        path="/v1/key",
        does=own,
        says="Show the key that asks: what it allows, without its secret.",
        scopes=scopes(*SCOPES),
        gives=KeyShown,
        tagged=False,
    ),
    Endpoint(
        name="list_keys",
        method="GET",
        path=_ALL,
        does=listed,
        says="List the keys that allow no more than the one that asks.",
        scopes=_ADMIN,
        gives=Page[KeyShown],
        tagged=False,
    ),
    Endpoint(
        name="make_key",
        method="POST",
        path=_ALL,
        does=made,
        says="Make a key; it is shown this once.",
        scopes=_ADMIN,
        lane="write",
        gives=KeyMade,
        body=MakeKey,
        status=201,
        keeps="refused",
        tagged=False,
    ),
    Endpoint(
        name="rotate_key",
        method="POST",
        path=f"{_KEY}/rotate",
        does=rotated,
        says="Make a key that allows the same; the old one holds beside it for some hours.",
        scopes=_ADMIN,
        lane="write",
        gives=KeyMade,
        body=Rotate,
        status=201,
        keeps="refused",
        tagged=False,
    ),
    Endpoint(
        name="revoke_key",
        method="DELETE",
        path=_KEY,
        does=revoked,
        says="Take a key back: from now on it is refused.",
        scopes=_ADMIN,
        lane="write",
        gives=KeyShown,
        keeps="refused",
        tagged=False,
    ),
)
