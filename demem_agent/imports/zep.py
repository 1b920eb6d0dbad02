"""What Zep gives: the messages of a thread, facts, and the edges of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, fact, items_of, mapping_of, text_of
from demem_agent.messages.hearing import Hearing
from demem_agent.messages.parts import Piece
from demem_agent.messages.shapes import Message, Role
from demem_agent.messages.times import own_time
from demem_agent.turns import Turn

__all__ = ["read_zep"]

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "norole": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_SESSIONS = ("thread_id", "session_id", "thread_uuid", "uuid")
_FACTS = ("edges", "facts", "relevant_facts")
_LISTS = ("messages", "episodes", *_FACTS, "nodes")
_TIMES = ("valid_at", "reference_time", "created_at")


def read_zep(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    """Yield a turn a message and a turn a fact.

    A fact is dated by when it became true, and says until when it was, if it is no more. Nodes
    are left out: what they say is in the facts.

    Raises:
        InvalidInput: naming the message or fact, and its field.
    """
    alone = _hearing(wanted, wanted.name)
    for where, value in found:
        if isinstance(value, str):  # a fact of older versions
            yield fact("zep", None, value)
            continue
        fields = mapping_of(value, where, "messages, facts or edges")
        if "fact" in fields:
            yield _fact(fields, where, wanted)
        elif any(name in fields for name in _LISTS):
            yield from _listed(fields, where, wanted)
        elif "content" in fields:
            yield from _said(fields, where, alone)
        else:
            _leave_out_node(fields, where, wanted)


def _listed(fields: Mapping[str, Any], where: str, wanted: Wanted) -> Iterator[Turn]:
    """Yield the turns of what an answer of the service holds."""
    names = (fields[name] for name in _SESSIONS if isinstance(fields.get(name), str))
    hearing = _hearing(wanted, next(names, wanted.name))
    for name in ("messages", "episodes"):
        for place, message in items_of(fields, name, where, "messages"):
            yield from _said(message, place, hearing)
    for name in _FACTS:
        yield from _facts(fields.get(name) or (), f"{where}.{name}", wanted)
    for place, node in items_of(fields, "nodes", where, "nodes"):
        _leave_out_node(node, place, wanted)


def _facts(given: object, where: str, wanted: Wanted) -> Iterator[Turn]:
    """Yield the facts of a list; those of older versions are texts."""
    if not isinstance(given, list | tuple):
        raise InvalidInput(where, given, "a list of facts")
    for n, one in enumerate(given):
        if isinstance(one, str):
            yield fact("zep", None, one)
        else:
            yield _fact(mapping_of(one, f"{where}[{n}]", "a fact"), f"{where}[{n}]", wanted)


def _said(fields: Mapping[str, Any], where: str, hearing: Hearing) -> Iterator[Turn]:
    """Yield the turn of a message; an episode that nobody said, such as a document, is a fact."""
    if fields.get("role_type") or fields.get("role") or fields.get("name"):
        yield from hearing.heard(_message(fields, where))
    else:
        text = text_of(fields, where, "content")
        yield fact("zep", _id(fields), text, at=own_time(fields, where, _TIMES))


def _hearing(wanted: Wanted, session: str) -> Hearing:
    return wanted.hearing(session, origin="zep", source="zep")


def _fact(edge: Mapping[str, Any], where: str, wanted: Wanted) -> Turn:
    text = text_of(edge, where, "fact")
    until = own_time(edge, where, ["invalid_at"])
    if until is not None:
        text = f"{text} (until {until.date().isoformat()})"
    beside = dict(edge.get("attributes") or {})
    if edge.get("name"):
        beside["relation"] = edge["name"]
    at = own_time(edge, where, _TIMES)
    return fact("zep", _id(edge), text, at=at, metadata=wanted.metadata(beside, where))


def _message(fields: Mapping[str, Any], where: str) -> Message:
    """Return a message in one shape.

    Versions differ: in the second ``role`` is a name and ``role_type`` the role, in the third and
    fourth ``role`` is the role and ``name`` the name.
    """
    field = "role_type" if fields.get("role_type") else "role"
    given = fields.get(field) or "norole"
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InvalidInput(f"{where}.{field}", given, f"one of {', '.join(_ROLES)}")
    name = fields.get("role") if "role_type" in fields else fields.get("name")
    is_name = isinstance(name, str) and name and name not in _ROLES
    return Message(
        where=where,
        role=role,
        name=name if is_name else None,
        id=_id(fields),
        at=own_time(fields, where, _TIMES),
        pieces=(_piece(fields, role, where),),
    )


def _piece(fields: Mapping[str, Any], role: Role, where: str) -> Piece:
    if role == "system":
        return Piece(where, "other", "system")
    if not fields.get("content"):
        return Piece(where, "text", "")
    text = text_of(fields, where, "content")
    if role == "tool":
        return Piece(where, "result", text, str(fields.get("name") or ""))
    return Piece(where, "text", text)


def _id(fields: Mapping[str, Any]) -> str | None:
    given = fields.get("uuid") or fields.get("uuid_")
    return given if isinstance(given, str) else None


def _leave_out_node(fields: Mapping[str, Any], where: str, wanted: Wanted) -> None:
    if "name" not in fields:
        raise InvalidInput(where, dict(fields), "a message with a content, a fact or a node")
    wanted.leave_out(where, "node")
