"""One message, in whatever shape: who said it, when, by which id, and its pieces.

The shapes are those of OpenAI (chat completions, and the items of responses), of Anthropic, and of
LangChain (its objects, what ``messages_to_dict`` and ``dumpd`` make of them).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.messages.parts import (
    Fields,
    Piece,
    call,
    calls_of,
    fields_of,
    pieces,
    result,
)
from demem_agent.messages.times import own_time

__all__ = ["Message", "Role", "message_of"]

Role = Literal["user", "assistant", "system", "tool"]

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
#: Items of a response that are no messages, calls or results.
_OTHERS = {
    "reasoning": "thinking",
    "compaction": "summary",
    "image_generation_call": "image",
}
_BESIDES = frozenset(
    "item_reference compaction_trigger configuration_update additional_tools program remove "
    "mcp_list_tools mcp_approval_request mcp_approval_response tool_search_call".split()
)
_MESSAGE = "a message: a mapping or an object with a role and a content"
_ROLE = "one of user, assistant, system, developer, tool"


@dataclass(frozen=True, slots=True)
class Message:
    """A message in one shape.

    Attributes:
        name: of who said it, where the message has one.
        at: when, by its own account.
    """

    where: str
    role: Role
    name: str | None
    id: str | None
    at: datetime | None
    pieces: tuple[Piece, ...]


def message_of(given: object, where: str) -> Message:
    """Return a message, or an item of a response, in one shape.

    Raises:
        InvalidInput: naming the message and its field.
    """
    fields, where = _unwrapped(fields_of(given, where, _MESSAGE), where)
    role, kind = fields.get("role"), fields.get("type")
    if role is not None:
        return _message(fields, _role(role, f"{where}.role"), where)
    if isinstance(kind, str):
        named = kind.removesuffix("MessageChunk").removesuffix("Message").lower()
        if named in _ROLES:
            return _message(fields, _ROLES[named], where)
        return _made(fields, "assistant", where, tuple(_item(fields, kind, where)))
    raise InvalidInput(f"{where}.role", role, _ROLE)


def _unwrapped(fields: Fields, where: str) -> tuple[Fields, str]:
    """Return what LangChain wraps when it writes messages down."""
    if isinstance(fields.get("data"), Mapping) and "content" not in fields:
        return {"type": fields.get("type"), **fields["data"]}, f"{where}.data"
    if fields.get("type") == "constructor" and isinstance(fields.get("kwargs"), Mapping):
        path = fields.get("id") or ("",)
        return {"type": path[-1], **fields["kwargs"]}, f"{where}.kwargs"
    return fields, where


def _role(given: object, field: str) -> Role:
    role = _ROLES.get(given.lower()) if isinstance(given, str) else None
    if role is None:
        raise InvalidInput(field, given, _ROLE)
    return role


def _message(fields: Fields, role: Role, where: str) -> Message:
    found: tuple[Piece, ...]
    if role == "system":
        found = (Piece(where, "other", "system"),)
    elif "lc_source" in (fields.get("additional_kwargs") or ()):
        found = (Piece(where, "other", "summary"),)
    elif role == "tool":
        found = tuple(result(fields, where, _optional(fields, "name", where) or ""))
    else:
        found = tuple(_spoken(fields, where))
    return _made(fields, role, where, found)


def _spoken(fields: Fields, where: str) -> Iterator[Piece]:
    """Yield what a user or an assistant said, and the calls beside it, each once.

    LangChain has the calls of some providers in the content as well.
    """
    if not any(name in fields for name in ("content", "tool_calls", "function_call")):
        raise InvalidInput(f"{where}.content", None, "a text or a list of parts")
    known: set[str] = set()
    for piece in pieces(fields.get("content"), f"{where}.content"):
        if piece.kind == "call" and piece.call is not None:
            known.add(piece.call)
        yield piece
    for piece in calls_of(fields, where):
        if piece.call not in known:
            yield piece
    for name in ("refusal", "audio"):
        if fields.get(name):
            yield Piece(f"{where}.{name}", "other", name)


def _item(fields: Fields, kind: str, where: str) -> Iterator[Piece]:
    """Yield the pieces of an item of a response that is no message."""
    if kind in _OTHERS:
        yield Piece(where, "other", _OTHERS[kind])
    elif kind in _BESIDES:
        yield Piece(where, "other", kind)
    elif kind.endswith("_call"):
        yield call(fields, where)
        if fields.get("output") is not None:
            yield from result({**fields, "call_id": fields.get("id")}, where)
    elif kind.endswith("_output"):
        yield from result(fields, where)
    else:
        allowed = "message, or that of an item of a response, such as function_call or reasoning"
        raise InvalidInput(f"{where}.type", kind, allowed)


def _made(fields: Fields, role: Role, where: str, found: tuple[Piece, ...]) -> Message:
    return Message(
        where=where,
        role=role,
        name=_optional(fields, "name", where) if role in ("user", "assistant") else None,
        id=_optional(fields, "id", where),
        at=own_time(fields, where),
        pieces=found,
    )


def _optional(fields: Fields, name: str, where: str) -> str | None:
    value: Any = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{where}.{name}", value, "a text or None")
    return value or None
