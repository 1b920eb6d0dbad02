"""What the path of a request says: which protocol and memory, and what the upstream is asked."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args
from urllib.parse import unquote_to_bytes

from demem_agent.server import Refusal

__all__ = ["PROTOCOLS", "Asked", "Protocol", "asked_by", "is_ours", "protocol_of"]

Protocol = Literal["openai", "anthropic"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
_OF_A_MEMORY = "m"
_VERSION = b"v1"


class Asked(NamedTuple):
    """What a path asks.

    Attributes:
        memory: the id of the memory that it names; None where it names none.
        path: of the upstream, from ``/v1`` on, as it came.
    """

    protocol: Protocol
    memory: str | None
    path: bytes


def is_ours(path: bytes) -> bool:
    """Whether a path is one of a proxy."""
    return path.startswith((b"/openai/", b"/anthropic/", b"/m/"))


def protocol_of(path: bytes) -> Protocol:
    """Return in whose way whoever asks for a path understands what is refused."""
    return "anthropic" if b"/anthropic/" in path else "openai"


def asked_by(path: bytes) -> Asked:
    """Return what a path asks.

    Raises:
        Refusal: for one that there is not, and for one that leads out of ``/v1``.
    """
    parts = path.split(b"/")[1:]
    memory = None
    if parts[0] == _OF_A_MEMORY.encode():
        memory = _text(parts[1]) if len(parts) > 1 else ""
        parts = parts[2:]
        if not memory:
            raise _nothing("a memory is named behind /m/")
    if len(parts) < 3 or parts[1] != _VERSION:
        raise _nothing("there is /openai/v1/... and /anthropic/v1/..., also behind /m/{memory}")
    protocol = next((one for one in PROTOCOLS if one.encode() == parts[0]), None)
    if protocol is None or any(_leads_out(part) for part in parts[2:]):
        raise _nothing("there is no such path behind /openai/v1/ and /anthropic/v1/")
    return Asked(protocol, memory, b"/" + b"/".join(parts[1:]))


def _leads_out(part: bytes) -> bool:
    """Whether a part of a path may be taken for one of the folder above, in any way of writing."""
    plain = part
    for _ in range(3):  # decoded once more by each server on the way
        plain = unquote_to_bytes(plain)
    pieces = plain.replace(b"\\", b"/").split(b"/")
    return any(piece.partition(b";")[0].strip() in (b".", b"..") for piece in pieces)


def _text(part: bytes) -> str:
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise _nothing("the id of a memory is UTF-8") from None


def _nothing(says: str) -> Refusal:
    return Refusal("no-such-path", says, closes=True)
