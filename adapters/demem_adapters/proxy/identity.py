"""Whose memory a request has: never one that nobody named, and never beyond the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from demem_adapters.proxy.addresses import Asked
from demem_adapters.proxy.headers import ASKER, MEMORY, OFF, text_in
from demem_adapters.proxy.splicing import JsonText
from demem_adapters.proxy.upstreams import Upstream
from demem_agent import InvalidInput
from demem_agent.server import Key, Refusal, Visit
from demem_agent.turns import text_field

__all__ = [
    "Identity",
    "asker_of",
    "is_off",
    "memory_of",
    "require_own_account",
    "require_scopes",
]

#: What needs nothing of the provider's account but that it pays.
_STATELESS = frozenset(
    {
        ("POST", b"/v1/chat/completions"),
        ("POST", b"/v1/completions"),
        ("POST", b"/v1/embeddings"),
        ("POST", b"/v1/messages"),
        ("POST", b"/v1/messages/count_tokens"),
        ("POST", b"/v1/moderations"),
        ("POST", b"/v1/responses"),
        ("POST", b"/v1/responses/input_tokens"),
    }
)
_MODELS = b"/v1/models"
#: Fields of a request that name something that the provider keeps.
_KEPT = ("previous_response_id", "conversation")


@dataclass(frozen=True, slots=True)
class Identity:
    """The field of a body that names a memory.

    Args:
        field: its name, or two names with a dot between them; None for none.
    """

    field: str | None

    def of(self, text: JsonText | None) -> str | None:
        """Return the name in a body; None where there is none."""
        if self.field is None or text is None:
            return None
        found: object = text.value
        for name in self.field.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, str) else None


def memory_of(visit: Visit, asked: Asked, named: str | None) -> str:
    """Return whose memory a request has: that of the key, else of the path, the header, the body.

    Args:
        named: by the body, where that may name it.

    Raises:
        Refusal: where none is named, or one that the key does not reach.
    """
    key = visit.key
    own = key.prefix if key.exact else None
    told = (own, asked.memory, text_in(visit.headers, MEMORY), named)
    memory = next(filter(None, told), None)
    if memory is None:
        says = "name it in the path, /m/{memory}/..., or in the header demem-memory, "
        says += "or use a key of one memory; or send demem-off: 1 to do without"
        raise Refusal("no-memory", says, closes=True)
    # A path that names another memory than the key's is meant otherwise than it would be taken.
    if not all(map(key.reaches, filter(None, (memory, asked.memory)))):
        raise Refusal("forbidden", "the key does not reach this memory", closes=True)
    try:
        return text_field("memory_id", memory)
    except InvalidInput as error:
        raise Refusal("no-memory", f"its id is {error.allowed}", closes=True) from None


def require_scopes(key: Key) -> None:
    """Refuse a key that may not do both, read and write: whoever asks a model here does.

    Raises:
        Refusal: then.
    """
    if not {"read", "write"} <= {*key.scopes}:
        raise Refusal("forbidden", "it needs a key with the scopes read and write", closes=True)


def asker_of(headers: Mapping[str, str]) -> str | None:
    """Return who asks, where a memory has several people's."""
    return text_in(headers, ASKER) or None


def is_off(headers: Mapping[str, str]) -> bool:
    """Whether a request is to have no memory: it says anything but nothing and 0, as a client may
    put the name of a task there.
    """
    return headers.get(OFF, "").strip() not in ("", "0")


def require_own_account(
    key: Key,
    upstream: Upstream,
    method: str,
    path: bytes,
    *,
    text: JsonText | None = None,
    is_read: bool = False,
) -> None:
    """Refuse what reaches into the account of the provider where its key is the server's own: what
    others keep there (responses, files, batches) is not for whoever has a key of this server.

    Args:
        text: of the body, where it was read, as ``is_read`` says; None for what cannot be.

    Raises:
        Refusal: for whoever has not the scope ``admin``.
    """
    if upstream.key is None or key.allows(frozenset({"admin"})):
        return
    stateless = (method, path) in _STATELESS
    models = method == "GET" and (path == _MODELS or path.startswith(_MODELS + b"/"))
    kept = is_read and (text is None or text.has_duplicates or _names_kept(text))
    if kept or not (stateless or models):
        says = "with the provider's key of the server it needs the scope admin: others keep "
        says += "responses, files and the like there"
        raise Refusal("forbidden", says, closes=True)


def _names_kept(text: JsonText) -> bool:
    """Whether a request names something that the provider keeps."""
    return any(text.members[name].value for name in _KEPT if name in text.members)
