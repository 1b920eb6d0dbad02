"""Whether a URL is that of a server of memories, and what may be said with it."""

from __future__ import annotations

from demem_agent.errors import InvalidInput

__all__ = ["is_remote", "refuse_here", "refuse_key"]

_SCHEMES = ("http://", "https://")


def is_remote(url: object) -> bool:
    """Whether a URL is that of a server of memories."""
    return isinstance(url, str) and url.startswith(_SCHEMES)


def refuse_here(**asked: bool) -> None:
    """Raise InvalidInput for what is asked of a memory that a server has."""
    for name, value in asked.items():
        if value:
            raise InvalidInput(name, value, "left out: it is done where the store is")


def refuse_key(key: str | None) -> None:
    """Raise InvalidInput for a key where there is no server."""
    if key is not None:
        raise InvalidInput("key", "a key", "left out: it is for servers, http://...")
