"""ChatGPT's export, ``conversations.json``: each conversation is a tree of messages.

The format is not documented by its maker; this follows what those who read it have written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.branches import branch
from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, mapping_of
from demem_agent.messages.parts import Piece, written
from demem_agent.messages.shapes import Message, Role
from demem_agent.messages.times import own_time
from demem_agent.turns import Turn

__all__ = ["read_chatgpt"]

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
#: What a message holds, by its type of content, that nobody has said in the conversation.
_LEFT_OUT = {
    "user_editable_context": "system",
    "model_editable_context": "system",
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "system_error": "system",
}
_MEDIA = ("image", "audio", "video")
#: Where an answer points to its sources, in marks of private use; they are not in the export.
_CITED = re.compile("\ue200[^\ue200\ue201]*\ue201")


def read_chatgpt(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    """Yield what was said in the branch of each conversation that was gone on with.

    Sessions are the conversations' ids, keys are of the messages'.

    Raises:
        InvalidInput: naming the conversation and the field.
    """
    for number, (where, value) in enumerate(found, 1):
        conversation = mapping_of(value, where, "a conversation")
        yield from _conversation(conversation, where, number, wanted)


def _conversation(
    conversation: Mapping[str, Any], where: str, number: int, wanted: Wanted
) -> Iterator[Turn]:
    given = conversation.get("conversation_id") or conversation.get("id")
    session = given if isinstance(given, str) else f"{wanted.name} #{number}"
    hearing = wanted.hearing(session, origin="chatgpt", source="chatgpt")
    at = own_time(conversation, where, ["create_time"])
    nodes = _nodes(conversation, f"{where}.mapping")
    path = _path(conversation, nodes)
    for id in path:
        message = nodes[id].get("message")
        if message is not None:
            heard = _message(message, f"{where}.mapping.{id}.message", id, at)
            at = heard.at
            yield from hearing.heard(heard)
    for id in nodes.keys() - {*path}:
        if nodes[id].get("message") is not None:
            wanted.leave_out(f"{where}.mapping", "other branch")


def _nodes(conversation: Mapping[str, Any], where: str) -> dict[str, Mapping[str, Any]]:
    given = mapping_of(conversation.get("mapping"), where, "a tree of messages by their ids")
    return {
        id: mapping_of(node, f"{where}.{id}", "a node with a message and a parent")
        for id, node in given.items()
    }


def _path(conversation: Mapping[str, Any], nodes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the ids of the nodes from the first to the current one."""
    current = conversation.get("current_node")
    if current not in nodes:
        leaves = [id for id, node in nodes.items() if not node.get("children")]
        current = leaves[-1] if leaves else None

    def parent_of(id: str) -> str | None:
        parent = nodes[id].get("parent")
        return parent if parent in nodes else None

    return branch(current, parent_of)


def _message(given: object, where: str, id: str, before: datetime | None) -> Message:
    """Return a message in one shape.

    Args:
        id: of the node, which is nearly always the message's own.
        before: when what came before was said, for a message that does not say when.
    """
    fields = mapping_of(given, where, "a message")
    author = mapping_of(fields.get("author"), f"{where}.author", "an author with a role")
    content = mapping_of(fields.get("content"), f"{where}.content", "a content with its type")
    own = fields.get("id")
    return Message(
        where=where,
        role=_ROLES.get(author.get("role", ""), "system"),
        name=None,
        id=own if isinstance(own, str) else id,
        at=own_time(fields, where, ["create_time"]) or before,
        pieces=tuple(_pieces(fields, author, content, where)),
    )


def _pieces(
    fields: Mapping[str, Any],
    author: Mapping[str, Any],
    content: Mapping[str, Any],
    where: str,
) -> Iterator[Piece]:
    role = author.get("role")
    recipient = fields.get("recipient")
    kind = str(content.get("content_type"))
    if role not in _ROLES:
        yield Piece(where, "other", "system")
    elif _is_hidden(fields):
        yield Piece(where, "other", "hidden")
    elif kind in _LEFT_OUT:
        yield Piece(where, "other", _LEFT_OUT[kind])
    elif role == "tool":
        yield from _used("result", content, str(author.get("name") or ""), where)
    elif role == "assistant" and recipient not in (None, "all"):
        yield from _used("call", content, str(recipient), where)
    else:
        yield from _said(content, f"{where}.content")


def _is_hidden(fields: Mapping[str, Any]) -> bool:
    about = fields.get("metadata")
    hidden = isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation")
    return bool(hidden) or fields.get("weight") == 0


def _used(kind: str, content: Mapping[str, Any], tool: str, where: str) -> Iterator[Piece]:
    """Yield a call of a tool, or its result, as one piece; and what of it is no text."""
    texts: list[str] = []
    for piece in _said(content, f"{where}.content"):
        if piece.kind == "text":
            texts.append(piece.text)
        else:
            yield piece
    text = "\n".join(texts)
    yield Piece(where, "call" if kind == "call" else "result", text, tool)


def _said(content: Mapping[str, Any], where: str) -> Iterator[Piece]:
    """Yield the texts of a content, and what it holds besides."""
    for name in ("text", "result"):
        if isinstance(content.get(name), str):
            yield Piece(where, "text", _uncited(content[name]))
            return
    parts = content.get("parts")
    if parts is None:
        yield Piece(where, "other", str(content.get("content_type")))
        return
    if not isinstance(parts, list):
        raise InvalidInput(f"{where}.parts", parts, "a list of parts")
    for n, part in enumerate(parts):
        yield _part(part, f"{where}.parts[{n}]")


def _part(part: object, where: str) -> Piece:
    if isinstance(part, str):
        return Piece(where, "text", _uncited(part))
    fields = mapping_of(part, where, "a text or an object with its type")
    if isinstance(fields.get("text"), str):  # what was spoken, as it was understood
        return Piece(where, "text", _uncited(fields["text"]))
    kind = str(fields.get("content_type") or written(fields)[:40])
    return Piece(where, "other", next((name for name in _MEDIA if name in kind), kind))


def _uncited(text: str) -> str:
    return _CITED.sub("", text)
