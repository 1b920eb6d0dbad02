"""What Letta gives: agent files, archival passages, and the messages of an agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, fact, items_of, mapping_of, text_of
from demem_agent.messages.hearing import Hearing
from demem_agent.messages.parts import Piece, calls_of, pieces, result
from demem_agent.messages.shapes import Message, Role
from demem_agent.messages.times import own_time
from demem_agent.turns import Turn

__all__ = ["read_letta"]

#: The tool by which older agents speak; what they write beside its calls are thoughts.
_SPEAKS = "send_message"
#: Roles of messages in which nobody says anything.
_UNSAID = ("system", "approval", "summary")
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
#: Messages of the service that were said, by their type, and the others.
_SAID: Mapping[str, Role] = {"user_message": "user", "assistant_message": "assistant"}
_NOT_SAID = {
    "system_message": "system",
    "reasoning_message": "thinking",
    "hidden_reasoning_message": "thinking",
    "tool_call_message": "tool call",
    "tool_return_message": "tool result",
    "summary_message": "summary",
}


def read_letta(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    """Yield what was said to and by agents, a turn a passage, and a turn a block of memory.

    Sessions are the agents' names; blocks are undated, of the speaker "block LABEL".

    Raises:
        InvalidInput: naming the message, passage or block, and its field.
    """
    alone = wanted.hearing(wanted.name, origin="letta", source="letta")
    for where, value in found:
        fields = mapping_of(value, where, "an agent file, a passage or a message")
        if "agents" in fields or "core_memory" in fields:
            yield from _agent_file(fields, where, wanted)
        elif "passages" in fields:
            for place, passage in items_of(fields, "passages", where, "passages"):
                yield _passage(passage, place, wanted)
        elif "message_type" in fields:
            yield from alone.heard(_served(fields, where))
        else:
            yield _passage(fields, where, wanted)


def _agent_file(fields: Mapping[str, Any], where: str, wanted: Wanted) -> Iterator[Turn]:
    """Yield the turns of an agent file; before August 2025 it was one agent with its memory."""
    if "agents" not in fields:
        yield from _agent(fields, where, wanted)
        yield from _blocks(fields, "core_memory", where)
        return
    for place, agent in items_of(fields, "agents", where, "agents"):
        yield from _agent(agent, place, wanted)
    yield from _blocks(fields, "blocks", where)


def _agent(agent: Mapping[str, Any], where: str, wanted: Wanted) -> Iterator[Turn]:
    name = agent.get("name")
    session = name if isinstance(name, str) and name else wanted.name
    thinks = str(agent.get("agent_type")).startswith("memgpt")
    hearing: Hearing = wanted.hearing(session, origin="letta", source="letta")
    for place, fields in items_of(agent, "messages", where, "messages"):
        yield from hearing.heard(_message(fields, place, thinks))


def _blocks(fields: Mapping[str, Any], name: str, where: str) -> Iterator[Turn]:
    for place, block in items_of(fields, name, where, "blocks"):
        value = block.get("value")
        if value is None or not str(value).strip():
            continue
        label = block.get("label") or "memory"
        text = text_of(block, place, "value").strip()
        yield fact("letta", block.get("id"), text, speaker=f"block {label}")


def _passage(passage: Mapping[str, Any], where: str, wanted: Wanted) -> Turn:
    text = text_of(passage, where, "text", "content")
    at = own_time(passage, where, ["created_at", "timestamp"])
    beside = dict(passage.get("metadata") or passage.get("metadata_") or {})
    if passage.get("tags"):
        beside["tags"] = passage["tags"]
    return fact("letta", passage.get("id"), text, at=at, metadata=wanted.metadata(beside, where))


def _message(fields: Mapping[str, Any], where: str, thinks: bool) -> Message:
    """Return a message of an agent file in one shape.

    Args:
        thinks: whether what the agent writes beside calls of any tool are thoughts.
    """
    given = fields.get("role")
    if given in _UNSAID:
        return _made(fields, "system", where, [Piece(where, "other", given)])
    role = _ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InvalidInput(f"{where}.role", given, f"one of {', '.join(_ROLES)}")
    if role == "tool":
        return _made(fields, role, where, [*result(fields, where)])
    said = [*pieces(fields.get("content"), f"{where}.content", strict=False)]
    if role == "user":
        return _made(fields, role, where, [_unpacked(piece) for piece in said])
    return _made(fields, role, where, _answered(said, [*calls_of(fields, where)], thinks))


def _answered(said: list[Piece], calls: list[Piece], thinks: bool) -> list[Piece]:
    """Return what an agent said, and its calls: it may speak by a tool."""
    speaks = any(piece.tool == _SPEAKS for piece in calls)
    found: list[Piece] = []
    for piece in said:
        is_thought = piece.kind == "text" and calls and (speaks or thinks)
        found.append(Piece(piece.where, "other", "thinking") if is_thought else piece)
    found += [_by_tool(piece) if piece.tool == _SPEAKS else piece for piece in calls]
    return found


def _by_tool(piece: Piece) -> Piece:
    """Return what was said by a call of the tool that speaks."""
    said = _json(piece.text).get("message")
    return Piece(piece.where, "text", said) if isinstance(said, str) else piece


def _unpacked(piece: Piece) -> Piece:
    """Return what a user said: older agents get it in JSON, with news of the system beside it."""
    packed = _json(piece.text) if piece.kind == "text" else {}
    kind = packed.get("type")
    if not isinstance(kind, str) or not ({"message", "time"} & packed.keys()):
        return piece
    said = packed.get("message")
    if kind == "user_message" and isinstance(said, str):
        return Piece(piece.where, "text", said)
    return Piece(piece.where, "other", "system")


def _json(text: str) -> Mapping[str, Any]:
    """Return the object that a text is in JSON, or an empty one."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _served(fields: Mapping[str, Any], where: str) -> Message:
    """Return a message as the service lists it, by its type."""
    kind = str(fields["message_type"])
    if kind not in _SAID:
        found = [Piece(where, "other", _NOT_SAID.get(kind, kind))]
        return _made(fields, "system", where, found)
    said = [*pieces(fields.get("content"), f"{where}.content", strict=False)]
    role = _SAID[kind]
    if role == "user":
        said = [_unpacked(piece) for piece in said]
    return _made(fields, role, where, said)


def _made(fields: Mapping[str, Any], role: Role, where: str, found: list[Piece]) -> Message:
    name, id = fields.get("name"), fields.get("id")
    is_named = isinstance(name, str) and name and role in ("user", "assistant")
    return Message(
        where=where,
        role=role,
        name=name if is_named else None,
        id=id if isinstance(id, str) else None,
        at=own_time(fields, where, ["created_at", "date"]),
        pieces=tuple(found),
    )
