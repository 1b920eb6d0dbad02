"""A key: what it allows, and how what came with a request is compared with it."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, get_args

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass

__all__ = [
    "EVERYTHING",
    "NOBODY",
    "SCOPES",
    "Key",
    "Scope",
    "digest_of",
    "parts_of",
    "scopes_field",
    "written",
]

#: What may be done: read what changes nothing; write what is remembered, answered and decided;
#: feedback answers, decides and tells how it went; forget erases; metrics reads the server's
#: numbers; admin makes keys.
Scope = Literal["read", "write", "feedback", "forget", "metrics", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_MARK = "dm"


@dataclass(frozen=True, slots=True)
class Key:
    """What is kept of a key: all but its secret.

    Attributes:
        id: the middle part of the key.
        digest: SHA-256 of the secret. It is random, of 256 bits, and needs no slower function.
        prefix: the key reaches memories whose ids begin with it; "" reaches all.
        exact: whether it reaches the memory alone whose id the prefix is.
        scopes: what it allows, sorted.
        name: whose it is, for people.
        made, expires: in UTC; it is valid before ``expires``, for ever if that is None.
        revoked: whether it was taken back.
    """

    id: str
    digest: bytes
    prefix: str
    scopes: tuple[Scope, ...]
    name: str
    made: datetime
    expires: datetime | None = None
    revoked: bool = False
    exact: bool = False

    def is_valid(self, now: datetime | None = None) -> bool:
        """Whether it may be used now."""
        at = datetime.now(UTC) if now is None else now
        return not self.revoked and (self.expires is None or at < self.expires)

    def fits(self, secret: str) -> bool:
        """Whether a secret is its own; it takes the same time for any."""
        return hmac.compare_digest(self.digest, digest_of(secret))

    def reaches(self, memory_id: str) -> bool:
        """Whether it is for this memory."""
        return memory_id == self.prefix if self.exact else memory_id.startswith(self.prefix)

    def covers(self, prefix: str, *, exact: bool) -> bool:
        """Whether it reaches all that a key of this prefix does."""
        if self.exact:
            return exact and prefix == self.prefix
        return prefix.startswith(self.prefix)

    def allows(self, scopes: frozenset[Scope]) -> bool:
        """Whether it has one of these."""
        return not scopes.isdisjoint(self.scopes)


#: Who calls from this machine while there are no keys.
EVERYTHING = Key("", b"", "", SCOPES, "this machine", datetime.min.replace(tzinfo=UTC))

#: Who calls what needs no key; and what is compared where there is no key of an id, so that this
#: takes as long.
NOBODY = replace(EVERYTHING, digest=bytes(32), scopes=(), name="", revoked=True)


def digest_of(secret: str) -> bytes:
    """Return the SHA-256 of a secret."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()


def parts_of(key: str) -> tuple[str, str] | None:
    """Return the id and the secret of a key as it was shown; None for what is none."""
    mark, _, rest = key.partition("_")
    id, _, secret = rest.partition("_")
    return (id, secret) if mark == _MARK and id and secret else None


def written(id: str, secret: str) -> str:
    """Return a key as it is shown once."""
    return f"{_MARK}_{id}_{secret}"


def scopes_field(given: object) -> tuple[Scope, ...]:
    """Return scopes, each once and sorted; raise InvalidInput for any other, and for none."""
    known = ", ".join(SCOPES)
    allowed = f"some of {known}"
    if not isinstance(given, list | tuple) or not given:
        raise InvalidInput("scopes", given, allowed)
    for one in given:
        if one not in SCOPES:
            raise InvalidInput("scopes", one, allowed)
    return tuple(sorted(set(given)))
